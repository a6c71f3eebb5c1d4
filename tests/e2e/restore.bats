#!/usr/bin/env bats
# A backup of the database is restored (row 22 of the failure table).

load common

setup() {
  common_setup
  config=config.toml
  cat > config.toml <<TOML
database = "$PWD/n.db"
environment = "production"
[channels.f]
driver = "file"
path = "$PWD/out.jsonl"
TOML
  chmod 600 config.toml
  unset NOTIFYCTL_DB
  n init
  expect 0
}

ok() { n "$@" && expect 0; }
deliver() { ok relay && ok work --drain; }
sent() { wc -l < out.jsonl; }

# A copy as docs/operations.md says, then life goes on, then the copy comes back.
put_back() {
  rm -f n.db n.db-wal n.db-shm
  cp backup.db n.db
}

scene() {
  ok enqueue --channel f --to early --body hello --key early
  deliver
  ok enqueue --channel f --to waiting --body hello --key waiting
  sqlite3 n.db "VACUUM INTO 'backup.db'"
  deliver
  ok enqueue --channel f --to late --body hello --key late
  deliver
  [ "$(sent)" = 3 ]
  put_back
}

@test "row 22: a restored backup is refused by everybody who writes" {
  scene
  for command in relay "work --drain" "enqueue --channel f --to x --body y"; do
    n $command
    expect 78
    [[ "$err" == *"older copy of itself"* ]]
    [[ "$err" == *"init --after-restore"* ]]
  done
  ok status
  [[ "$err" == *"warning"*"older copy"* ]]
  [ "$(sent)" = 3 ]
  # Whoever watches learns it, too.
  n status --check
  expect 2
  [[ "$out" == "CRITICAL: every write is refused"* ]]
  n check --offline
  expect 78
  [[ "$out" == *fence* ]]
}

@test "row 22: after init --after-restore nothing is sent twice, and what is in doubt shows" {
  scene
  ok --json init --after-restore
  [ "$(jq .restored.in_doubt <<< "$out")" = 1 ]
  deliver
  [ "$(sent)" = 3 ]
  ok status --json
  [ "$(jq -c .inbox <<< "$out")" = '{"SENDING":0,"SENT":1,"FAILED":0,"ERROR":1,"SKIPPED":0}' ]
  [ "$(jq .identity.holds <<< "$out")" = true ]
  [ "$(jq .unaccounted <<< "$out")" = 0 ]
  ok list inbox --state ERROR
  [[ "$out" == *restored* ]]

  # The id of a message that is lost with the time after the backup is never used again.
  ok enqueue --channel f --to new --body hello
  new=$out
  deliver
  [ "$(sent)" = 4 ]
  [ "$(jq -r .message_id out.jsonl | sort | uniq -d)" = "" ]
  [ "$(tail -n 1 out.jsonl | jq -r .message_id)" = "$new" ]
}

serve() {   # work as a service; $worker is its process
  "$NOTIFYCTL" --config config.toml work 2> work.log 3>&- &
  worker=$!
}

arrived() {   # COUNT: until so many messages were sent
  for _ in $(seq 600); do
    [ -e out.jsonl ] && [ "$(sent)" -ge "$1" ] && return
    sleep 0.05
  done
  return 1
}

@test "row 22: a backup made while only services ran is known for old" {
  serve
  ok enqueue --channel f --to early --body hello --key early
  ok relay
  arrived 1
  ok enqueue --channel f --to waiting --body hello --key waiting
  sqlite3 n.db "VACUUM INTO 'backup.db'"
  ok relay
  arrived 2
  kill "$worker"
  wait "$worker"
  put_back
  n work --drain
  expect 78
  [[ "$err" == *"init --after-restore"* ]]
  n init --wal   # what the mode alone might suggest
  expect 78
  [[ "$err" == *"init --after-restore"* ]]
  ok init --after-restore
  deliver
  [ "$(sent)" = 2 ]
}

@test "row 22: an older copy written over the database of a running service stops it" {
  ok enqueue --channel f --to early --body hello --key early
  ok enqueue --channel f --to waiting --body hello --key waiting
  sqlite3 n.db "VACUUM INTO 'backup.db'"
  serve
  ok relay
  arrived 2
  sqlite3 n.db ".timeout 5000" ".restore backup.db"
  n relay
  expect 78
  status=0
  wait "$worker" || status=$?
  [ "$status" = 78 ]
  [ "$(sent)" = 2 ]
}

@test "row 22: it is not taken over while a service runs, nor without need" {
  n init --after-restore
  expect 64
  [[ "$err" == *"nothing says"* ]]
  scene
  ok --db other.db init
  ln -f n.db-procs other.db-procs  # a worker elsewhere holds a byte of the same lock file
  "$NOTIFYCTL" --config config.toml --db other.db work 3>&- &
  worker=$!
  for _ in $(seq 600); do
    [ "$(sqlite3 other.db 'SELECT count(*) FROM notification_run')" = 1 ] && break
    sleep 0.05
  done
  n init --after-restore
  kill "$worker"
  wait "$worker" || true
  expect 75
  [[ "$err" == *"stop the services"* ]]
  ok init --after-restore
}

@test "row 22: without its fence file a database that was in use is refused" {
  ok enqueue --channel f --to early --body hello
  deliver
  mv n.db-fence aside
  n relay
  expect 78
  [[ "$err" == *"n.db-fence is missing"* ]]
  mv aside n.db-fence
  ok relay
}

@test "row 22: a fence file that another database left behind is in nobody's way" {
  ok enqueue --channel f --to early --body hello
  deliver
  rm -f n.db n.db-wal n.db-shm
  ok init
  ok enqueue --channel f --to early --body hello
  deliver
  [ "$(sent)" = 2 ]
}

@test "row 22: everything of a machine that was rolled back is in doubt when asked for" {
  ok enqueue --channel f --to waiting --body hello
  n init --after-restore
  expect 64
  ok init --after-restore --yes
  deliver
  ok status --json
  [ "$(jq .inbox.ERROR <<< "$out")" = 1 ]
  [ ! -s out.jsonl ]
}

@test "row 22: a broadcast that was being fanned out does not go on from the backup's place" {
  seq 3 | sed 's/$/@example.com/' > list.txt
  ok enqueue --channel f --broadcast all --recipients list.txt --body hello
  sqlite3 n.db "VACUUM INTO 'backup.db'"
  deliver
  [ "$(sent)" = 3 ]
  put_back
  ok init --after-restore
  deliver
  [ "$(sent)" = 3 ]
  ok status --broadcast all
  [[ "$out" == *"CANCELLED: restored"* ]]
  ok enqueue --channel f --broadcast all --recipients list.txt --body hello
  deliver
  [ "$(sent)" = 3 ]
}

@test "a database without messages is taken over without naming a time" {
  ok init --after-restore --yes
  contains "$err" "holds no message"
  lacks "$err" 1970
  rm n.db*
  ok init
  ok init --after-restore --yes --json
  [ "$(json "$out" 'j["restored"]["unknown_since"]')" = None ]
}
