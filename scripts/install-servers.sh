#!/bin/sh
# Debian's PostgreSQL and Redis, for the tests of journals on a server and of shared limits, Prometheus and Alertmanager for
# those of monitoring, and what makes networks of the tests' own. The tests start servers of their own: none is left running.
set -eu
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && command -v redis-server && command -v ip && command -v nft \
  && command -v prometheus && command -v prometheus-alertmanager; then
  ls -d /usr/lib/postgresql/*/bin
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo 'install PostgreSQL, Redis, Prometheus and Alertmanager: initdb, pg_ctl, redis-server, prometheus, promtool, prometheus-alertmanager and amtool in /usr/local/bin or /usr/bin; on Linux also ip, tc and nft' >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then asRoot=; else asRoot=sudo; fi
$asRoot apt-get update -q
# Without a cluster that starts by itself.
$asRoot mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' | $asRoot tee /etc/postgresql-common/createcluster.conf >/dev/null
# Nor a service, where the packages would start one: this is what they ask first (101: do not).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | $asRoot tee "$policy" >/dev/null
  $asRoot chmod 755 "$policy"
  trap '$asRoot rm -f "$policy"' EXIT
fi
missing=
for service in redis-server prometheus prometheus-alertmanager; do
  command -v "$service" >/dev/null || missing="$missing $service"
done
$asRoot apt-get install -y --no-install-recommends postgresql redis-server prometheus prometheus-alertmanager iproute2 nftables
# Nor at the next start of the machine; one that was there before is somebody's.
if [ -n "$missing" ] && [ -d /run/systemd/system ]; then $asRoot systemctl disable $missing; fi
