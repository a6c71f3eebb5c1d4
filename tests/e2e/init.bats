#!/usr/bin/env bats
# init: the database, somebody else's database, the configuration.

load common
setup() { common_setup; }

mode() { stat -c %a "$1"; }

@test "makes a private database in WAL mode and says nothing" {
  umask 0000
  n init
  expect 0
  [ -z "$out$err" ]
  [ "$(mode notify.db)" = 600 ]
  [ "$(sql 'PRAGMA journal_mode')" = wal ]
  n init
  expect 0
  [ -z "$out$err" ]
}

@test "F21: the mode is 0600 under any umask" {
  for mask in 0000 0022 0077; do
    (umask "$mask" && "$NOTIFYCTL" --config empty.toml --db "m$mask.db" enqueue --channel a --to b --body x > /dev/null)
    [ "$(mode "m$mask.db")" = 600 ]
  done
}

@test "the source is the first part of every message id and fixed" {
  n init --source shop
  expect 0
  n enqueue --channel a --to b --body x
  [[ "$out" == shop-????????-1 ]]
  n init --source shop
  expect 0
  n init --source other
  expect 4
  n init --source "Not Valid"
  [ "$status" -ne 0 ]
}

@test "somebody else's database keeps its mode and journal mode" {
  sqlite3 app.db 'CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1)'
  chmod 0644 app.db
  n --db app.db init
  expect 0
  contains "$err" "warning: "
  contains "$err" "init --wal"
  [ "$(sqlite3 app.db 'PRAGMA journal_mode')" = delete ]
  [ "$(mode app.db)" = 644 ]
  n --db app.db init --wal
  expect 0
  [ -z "$err" ]
  [ "$(sqlite3 app.db 'PRAGMA journal_mode')" = wal ]
  [ "$(mode app.db)" = 644 ]
  [ "$(sqlite3 app.db 'SELECT count(*) FROM orders')" = 1 ]
}

@test "what is not a database is refused and left alone" {
  echo "this is not a database, whatever its name says; and it is long enough to be looked at" > text.db
  cp text.db before
  n --db text.db init
  [ "$status" -ne 0 ]
  cmp text.db before
}

@test "init --json tells what was done" {
  n init --json --source shop
  [ "$(json "$out" '(j["created_file"], j["source"], j["journal_mode"])')" = "(True, 'shop', 'wal')" ]
  n init --json
  [ "$(json "$out" '(j["created_file"], j["created_schema"], j["source"])')" = "(False, False, 'shop')" ]
}

@test "init --config writes a configuration that loads, and never over another" {
  status=0
  "$NOTIFYCTL" init --config=new.toml 2> err.txt || status=$?
  [ "$status" -eq 0 ]
  [ -z "$(cat err.txt)" ]
  [ "$(mode new.toml)" = 600 ]
  config=new.toml n check --offline
  expect 0
  echo '# mine' > new.toml
  "$NOTIFYCTL" init --config=new.toml
  [ "$(cat new.toml)" = '# mine' ]
}

@test "init --config without a file writes where it is looked for" {
  [ "$(id -u)" -ne 0 ] || skip "root's place is /etc"
  "$NOTIFYCTL" init --config
  [ -e config/notifyctl/config.toml ]
}

@test "a missing directory is made for the default database only" {
  n --db deep/er/x.db init
  expect 73
  [ ! -e deep ]
}

@test "--after-restore is not silently ignored" {
  n init --after-restore
  expect 64
}
