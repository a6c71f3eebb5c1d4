#!/bin/sh
# The whole way of a thousand messages: enqueue → relay → work → a receiver on this machine.
#
#   examples/quickstart/run.sh [PATH-OF-NOTIFYCTL]
#
# Everything happens in a temporary directory, which is removed at the end; nothing is left running. Exit status 0
# means that the receiver got each message exactly once.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
notifyctl=${1:-${NOTIFYCTL:-$here/../../build/notifyctl}}
count=${QUICKSTART_MESSAGES:-1000}

command -v python3 > /dev/null || { echo "quickstart: the receiver needs python3" >&2; exit 69; }
[ -x "$notifyctl" ] || { echo "quickstart: no $notifyctl; run make first" >&2; exit 69; }
notifyctl=$(cd "$(dirname "$notifyctl")" && pwd)/$(basename "$notifyctl")

dir=$(mktemp -d)
receiver=
clean_up() {
  [ -z "$receiver" ] || kill "$receiver" 2> /dev/null || true
  rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || step() { printf '\n%s\n' "$*"; }
fail() { echo "quickstart: $*" >&2; exit 1; }
# Shows the command as one would type it, then runs it.
exec 3>&1
run() {
  printf '$ notifyctl %s\n' "$*" >&3
  "$notifyctl" "$@"
}
# What the receiver counts, by name.
counted() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$dir/counts"; }
ask_receiver() {
  python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' \
    "$QUICKSTART_URL" > "$dir/counts"
}

step "1. A receiver on this machine (examples/quickstart/receiver.py)"
python3 "$here/receiver.py" "$dir/received" > "$dir/port" 3>&- &
receiver=$!
while [ ! -s "$dir/port" ]; do
  kill -0 "$receiver" 2> /dev/null || fail "the receiver did not start"
  sleep 0.05
done
QUICKSTART_URL=http://127.0.0.1:$(cat "$dir/port")/
export QUICKSTART_URL
echo "listening on $QUICKSTART_URL"

export NOTIFYCTL_CONFIG="$here/config.toml" NOTIFYCTL_DB="$dir/notify.db"
sh "$here/messages.sh" "$count" > "$dir/messages.jsonl"

step "2. A batch job hands over $count messages; then it runs again by mistake"
echo "the first of them:"
head -n 1 "$dir/messages.jsonl"
run --json enqueue --jsonl "$dir/messages.jsonl" > "$dir/first"
tail -n 1 "$dir/first"
run --json enqueue --jsonl "$dir/messages.jsonl" > "$dir/second"
tail -n 1 "$dir/second"
grep -q "\"created\":$count," "$dir/first" || fail "not every message was taken"
grep -q '"created":0,' "$dir/second" || fail "the second run added something"

step "3. What cron does every few minutes: relay, then work"
run relay
run work --drain
run work --drain   # once more: there is nothing left to do

step "4. What became of them"
run status

step "5. What the receiver really got"
ask_receiver
cat "$dir/counts"
[ "$(counted requests)" = "$count" ] || fail "$(counted requests) requests for $count messages"
[ "$(counted distinct_ids)" = "$count" ] || fail "$(counted distinct_ids) different messages, not $count"
[ "$(cut -f2 "$dir/received" | sort -u | wc -l)" -eq "$count" ] || fail "a recipient is missing"
echo "$count messages, each exactly once"
