#!/bin/sh
# Debian's PostgreSQL, for the tests of journals on a server. The tests start servers of their own: none is left running.
set -eu
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
  ls -d /usr/lib/postgresql/*/bin
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo 'install PostgreSQL: initdb and pg_ctl in /usr/local/bin or /usr/bin' >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then asRoot=; else asRoot=sudo; fi
$asRoot apt-get update -q
# Without a cluster that starts by itself.
$asRoot mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' | $asRoot tee /etc/postgresql-common/createcluster.conf >/dev/null
$asRoot apt-get install -y --no-install-recommends postgresql
