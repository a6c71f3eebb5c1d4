#!/usr/bin/env bats
# No room on the disk, or no right to write on it (row 19 of the failure table), on a small file system of its own.

load common

setup() {
  common_setup
  mkdir disk
  mount -t tmpfs -o size=3m tmpfs disk 2> /dev/null || skip "needs the right to mount"
  config=config.toml
  cat > config.toml <<TOML
database = "$PWD/disk/n.db"
environment = "production"
[channels.f]
driver = "file"
path = "$PWD/out.jsonl"
TOML
  chmod 600 config.toml
  unset NOTIFYCTL_DB
}

teardown() {
  [ -z "${worker:-}" ] || kill -KILL "$worker" 2> /dev/null || true
  umount --lazy "$BATS_TEST_TMPDIR/disk" 2> /dev/null || true
}

ok() { n "$@" && expect 0; }
room() { mount -o "remount,size=$1" disk; }
fill() { dd if=/dev/zero of=disk/filler bs=4k 2> /dev/null || true; }
sent() { if [ -e out.jsonl ]; then wc -l < out.jsonl; else echo 0; fi; }
rows() { sqlite3 disk/n.db 'SELECT count(*) FROM notification_outbox'; }
calls() { grep -o '"message_id"' calls 2> /dev/null | wc -l; }
lines() {  # lines COUNT
  python3 -c '
import sys
for i in range(int(sys.argv[1])):
    print("""{"channel":"f","to":"d%d","key":"k%d","body":"%s"}""" % (i, i, "x" * 500))' "$1"
}

@test "row 19: enqueue --jsonl into a full disk keeps what it has committed, and a rerun takes the rest" {
  lines 5000 > lines.jsonl
  n enqueue --jsonl lines.jsonl
  expect 74
  contains "$err" "no space left"
  contains "$err" "hint: make room"
  lacks "$err" "nothing was changed"
  lacks "$err" "cannot read"
  contains "$err" "a key are not added twice"
  taken=$(rows)
  contains "$err" "$taken lines: $taken created"
  [ "$taken" -gt 0 ]
  [ "$taken" -lt 5000 ]
  room 40m
  ok --json enqueue --jsonl lines.jsonl
  [ "$(tail -n 1 <<< "$out" | jq .summary.existing)" = "$taken" ]
  [ "$(rows)" = 5000 ]
  ok status --json
  [ "$(jq .identity.holds <<< "$out")" = true ]
}

@test "row 19: on a full disk nothing is sent, and everything once when there is room" {
  room 40m
  lines 300 > lines.jsonl
  ok enqueue --jsonl lines.jsonl
  ok relay
  fill
  for command in "work --drain" relay "enqueue --channel f --to x --body y"; do
    n $command
    expect 74
    contains "$err" "no space left"
  done
  [ "$(sent)" = 0 ]
  rm disk/filler
  ok relay
  ok work --drain
  [ "$(jq -r .message_id out.jsonl | sort -u | wc -l)" = 300 ]
  [ "$(sent)" = 300 ]
  ok status --json
  [ "$(jq .inbox.SENT <<< "$out")" = 300 ]
  [ "$(jq .identity.holds <<< "$out")" = true ]
}

# The claims are durable and the calls are out when the room ends: their results wait in memory, and no new call begins.
@test "row 19, F01: results that find no room are kept, and written when there is some" {
  room 40m
  cat >> config.toml <<TOML
[channels.slow]
driver = "exec"
command = ["/bin/sh", "-c", "cat >> '$PWD/calls'; echo >> '$PWD/calls'; while [ ! -e '$PWD/go' ]; do sleep 0.05; done"]
concurrency = 4
timeout = "60s"
[work]
shutdown_grace = "90s"
TOML
  for i in $(seq 12); do ok enqueue --channel slow --to "p$i" --body hello; done
  ok relay
  "$NOTIFYCTL" --config config.toml work --drain > work.out 2> work.err 3>&- &
  worker=$!
  for _ in $(seq 600); do
    [ "$(calls)" = 4 ] && break
    sleep 0.05
  done
  sqlite3 disk/n.db 'PRAGMA wal_checkpoint(TRUNCATE)' > checkpoint  # or the log would have room in itself
  [ "$(cat checkpoint)" = "0|0|0" ]
  fill
  touch go
  sleep 1  # not a measure of time: whatever it does within it, no fifth call may begin
  [ "$(calls)" = 4 ]
  rm disk/filler
  wait "$worker" || true
  ok work --drain
  [ "$(grep -o '"message_id":"[^"]*"' calls | sort | uniq -d)" = "" ]
  ok status --json
  [ "$(jq '.inbox.SENT + .inbox.ERROR' <<< "$out")" = 12 ]
  [ "$(jq .inbox.SENDING <<< "$out")" = 0 ]
  [ "$(jq .identity.holds <<< "$out")" = true ]
}

@test "row 19: a read-only file system is named as such, and may be looked at" {
  ok enqueue --channel f --to x --body y
  mount -o remount,ro disk
  for command in "enqueue --channel f --to x --body y" relay "work --drain"; do
    n $command
    expect 77
    contains "$err" "read-only"
  done
  ok status
  ok list outbox
}
