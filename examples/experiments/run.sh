#!/usr/bin/env bash
# The experiments that notifyctl grew from, with a vendor that misbehaves on the same machine:
#
#   examples/experiments/run.sh [--devices N] [plain | overload | dead | hopeless | twice | killed]…
#
# Each prints one line: what was sent, what the vendor saw, how long it took. `make experiments` builds what is needed
# and runs all of them. Programs: NOTIFYCTL (default build/notifyctl), VENDOR_STUB (build/release-static/tests/vendor_stub).
set -euo pipefail
cd "$(dirname "$0")/../.."
notifyctl=$(realpath "${NOTIFYCTL:-build/notifyctl}")
stub=$(realpath "${VENDOR_STUB:-build/release-static/tests/vendor_stub}")
devices=10000
[ "${1:-}" != --devices ] || { devices=$2; shift 2; }
[ $# -gt 0 ] || set -- plain overload dead hopeless twice killed
work=$(mktemp -d)
vendor_pid=
trap 'kill $vendor_pid 2> /dev/null || true; rm -rf "$work"' EXIT
failed=0

# vendor OPTION…: a fresh database, configuration and vendor. Each device is a URL of its own.
vendor() {
  [ -z "$vendor_pid" ] || { kill "$vendor_pid"; wait "$vendor_pid" || true; }
  rm -rf "${work:?}"/*
  "$stub" --listen 127.0.0.1:0 --port-file "$work/port" --log "$work/log" --no-body --no-path-modes --parent-death \
    --latency 30ms±10ms "$@" > "$work/vendor.out" 2>&1 &
  vendor_pid=$!
  until [ -s "$work/port" ]; do sleep 0.05; done
  url=http://127.0.0.1:$(< "$work/port")
  cat > "$work/config.toml" << TOML
environment = "production"
database = "$work/notify.db"
[work]
concurrency = 256
[channels.push]
driver = "webhook"
allow_private = true
not_sent = [503]
concurrency = 256
retry = ["1s", "1s", "2s"]
TOML
  export NOTIFYCTL_CONFIG=$work/config.toml
  "$notifyctl" init
}

# enqueue NAME COUNT: so many messages, to NAME-1, NAME-2 …
enqueue() {
  awk -v url="$url" -v name="$1" -v count="$2" 'BEGIN {
    for (i = 1; i <= count; ++i)
      printf "{\"channel\":\"push\",\"to\":\"%s/%s-%d\",\"key\":\"%s-%d\",\"body\":\"hello\"}\n", url, name, i, name, i }' |
    "$notifyctl" enqueue --jsonl - -q
}

deliver() { "$notifyctl" relay && "$notifyctl" -q work --drain --max-run 10m; }

# check WHAT EXPRESSION: s is the status, v what the vendor counted.
check() {
  local title=$1 expression=$2 took=$3 seen
  seen=$("$stub" --summary "$work/log" || true)
  "$notifyctl" status --json | python3 -c '
import json, sys
title, expression, took, seen = sys.argv[1:]
s, v = json.load(sys.stdin), json.loads(seen)
good = s["identity"]["holds"] and eval(expression)
print("%-9s %s  sent %d, failed %d, error %d, parked %d; the vendor saw %d requests for %d messages; %s s" % (
    title, "ok " if good else "NO ", s["inbox"]["SENT"], s["inbox"]["FAILED"], s["inbox"]["ERROR"], s["parked"]["total"],
    v["requests"], v["distinct"], took))
sys.exit(not good)' "$title" "$expression" "$took" "$seen" || failed=1
}

timed() {
  local start=$EPOCHREALTIME
  "$@"
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
}

# Every device answers after 30 ± 10 ms.
plain() {
  vendor
  enqueue device "$devices"
  timed deliver
  check plain "s['inbox']['SENT'] == $devices and v['requests'] == $devices" "$took"
}

# 3 % of the requests are refused with 503, which this vendor documents as "not processed": they are tried again.
overload() {
  vendor --fail 0.03:503
  enqueue device "$devices"
  timed deliver
  check overload "s['inbox']['SENT'] == $devices and v['distinct'] == $devices and v['taken_duplicates'] == 0" "$took"
}

# A hundred tokens are dead: refused once, and the address is never called again.
dead() {
  vendor --rule 'path=/dead-* status=410'
  enqueue device "$devices"
  enqueue dead 100
  timed deliver
  "$notifyctl" enqueue --channel push --to "$url/dead-1" --body again -q > /dev/null
  deliver
  check dead "s['inbox']['SENT'] == $devices and s['inbox']['FAILED'] == 100 and v['requests'] == $devices + 100" "$took"
}

# A hundred devices always answer 503: tried to the end of the ladder, then parked. Nobody else waits for them.
hopeless() {
  vendor --rule 'path=/hopeless-* status=503'
  enqueue hopeless 100
  enqueue device "$devices"
  timed deliver
  check hopeless "s['inbox']['SENT'] == $devices and s['parked']['total'] == 100" "$took"
}

# The same job three times, and two relays and two workers at once.
twice() {
  vendor
  enqueue device "$devices"
  enqueue device "$devices"
  "$notifyctl" relay & "$notifyctl" relay
  wait $!
  enqueue device "$devices"
  local start=$EPOCHREALTIME
  "$notifyctl" -q work --drain & "$notifyctl" -q work --drain
  wait $!
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  check twice "s['inbox']['SENT'] == $devices and v['requests'] == $devices" "$took"
}

# A worker is killed in the middle. What was out becomes ERROR, everything else is sent, nothing twice.
killed() {
  vendor
  enqueue device "$devices"
  "$notifyctl" relay
  "$notifyctl" -q work --drain 2> /dev/null &
  local worker=$! start=$EPOCHREALTIME
  until [ "$(wc -l < "$work/log")" -ge $((devices * 3 / 10)) ]; do sleep 0.01; done
  kill -9 "$worker"
  wait "$worker" 2> /dev/null || true
  "$notifyctl" -q work --drain
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  check killed "s['inbox']['SENT'] + s['inbox']['ERROR'] == $devices and 0 < s['inbox']['ERROR'] <= 256 and v['duplicates'] == 0" "$took"
}

for experiment; do "$experiment"; done
exit $failed
