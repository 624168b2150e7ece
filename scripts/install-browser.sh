#!/bin/sh
# Debian's Chromium, for the tests of the dashboard and the picture of the README.
set -eu
if command -v chromium >/dev/null; then
  chromium --version
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo 'install Chromium, and name it: CHROMIUM=/path/to/chromium' >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then asRoot=; else asRoot=sudo; fi
$asRoot apt-get update -q
$asRoot apt-get install -y --no-install-recommends chromium
