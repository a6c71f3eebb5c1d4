#!/usr/bin/env bats
# The SQL contract: any SQLite client inserts into notification_outbox, inside its own transaction, in its own database
# file. Nothing of notifyctl is linked or called.

load common

setup() {
  common_setup
  here=$BATS_TEST_DIRNAME/sql_contract
  # The application's file is there first; notifyctl adds its tables.
  sqlite3 app.db "PRAGMA journal_mode = WAL; CREATE TABLE customers (id INTEGER PRIMARY KEY)" > /dev/null
  chmod 0640 app.db
  export NOTIFYCTL_DB=$PWD/app.db
  n init
  expect 0
}

# What status says about what there is, EXPRESSION over j being Python.
status_is() {
  n status --json
  expect 0
  [ "$(json "$out" "$1")" = "$2" ] || { echo "$1 is $(json "$out" "$1") instead of $2"; return 1; }
}

@test "init leaves mode, journal mode and tables of the application alone" {
  [ "$(stat -c %a app.db)" = 640 ]
  [ "$(sql 'PRAGMA journal_mode')" = wal ]
  [ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'customers'")" = 1 ]
  n init
  expect 0
}

@test "the sqlite3 shell: the example of the manual, commit and rollback" {
  sql "BEGIN; CREATE TABLE orders (id); INSERT INTO orders VALUES (1);
       INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)
       VALUES ('order-paid:1', 'mail', 'a@example.com', '{\"subject\":\"Paid\",\"body\":\"Thank you\"}')
       ON CONFLICT (dedup_key) DO NOTHING; ROLLBACK"
  status_is "j['outbox']['PENDING']" 0
  for _ in 1 2; do
    sql "BEGIN;
         INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)
         VALUES ('order-paid:42', 'mail', 'a@example.com', '{\"subject\":\"Paid\",\"body\":\"Thank you\"}')
         ON CONFLICT (dedup_key) DO NOTHING; COMMIT"
  done
  status_is "j['outbox']['PENDING']" 1
  status_is "j['identity']['enqueued']" 1
  # The same request by the command is the same message, and another one is a conflict.
  n enqueue --channel mail --to a@example.com --key order-paid:42 --subject Paid --body "Thank you"
  expect 0
  contains "$out" "-$(sql "SELECT id FROM notification_outbox WHERE dedup_key = 'order-paid:42'")"
  n enqueue --channel mail --to a@example.com --key order-paid:42 --subject Paid --body "Other"
  expect 4
}

@test "Python: its own transaction, rollback, duplicates, refusals" {
  run /usr/bin/python3 "$here/app.py" app.db
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  status_is "j['outbox']['PENDING']" 3
  status_is "j['identity']['enqueued']" 3
  status_is "j['unaccounted']" 0
}

@test "Node: its own transaction, rollback, duplicates, refusals" {
  node=${NODE:-node}
  "$node" -e "try { require('node:sqlite') } catch { require('better-sqlite3') }" 2> /dev/null ||
    skip "this Node has neither node:sqlite (22.5) nor the package better-sqlite3"
  run "$node" "$here/app.cjs" app.db
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  status_is "j['outbox']['PENDING']" 2
  status_is "j['unaccounted']" 0
}

# Nothing here waits for a time to pass: the lock is held until this test says so.
@test "another program holds the write lock while enqueue waits" {
  mkfifo held release
  /usr/bin/python3 - app.db << 'EOF' &
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
db.execute("INSERT INTO notification_outbox (channel, recipient, payload) VALUES ('mail', 'theirs', '{\"body\":\"x\"}')")
open("held", "w").close()
open("release").read()
db.execute("COMMIT")
EOF
  holder=$!
  : < held
  "$NOTIFYCTL" --config empty.toml enqueue --channel mail --to ours --body x > out.txt 2> err.txt &
  ours=$!
  # It can only wait: what it has not been given cannot be there.
  [ "$(sql "SELECT count(*) FROM notification_outbox")" = 0 ]
  kill -0 "$ours"
  : > release
  wait "$holder"
  wait "$ours"
  [ "$(sql "SELECT group_concat(recipient) FROM (SELECT recipient FROM notification_outbox ORDER BY id)")" = theirs,ours ]
}
