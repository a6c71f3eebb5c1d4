#!/usr/bin/env bats
# check and the errors of the configuration.

load common
setup() { common_setup; }

write() { cat > c.toml; chmod "${1:-600}" c.toml; config=c.toml; }

@test "check says what is all right, one line each" {
  n init
  n check --offline
  expect 0
  for word in configuration database disk clock integrity counters accounting; do contains "$out" "$word: "; done
  lacks "$out" WRONG
}

@test "check reports every problem of the configuration with its place" {
  write <<'TOML'
environment = "x"
[relay]
batsh = 5
[channels.a]
driver = "webhok"
TOML
  n check --offline
  expect 78
  contains "$out" "c.toml:3:"
  contains "$out" 'did you mean "batch"?'
  contains "$out" "c.toml:5:"
  contains "$out" 'did you mean "webhook"?'
  n enqueue --channel a --to b --body x
  expect 78
  contains "$err" "c.toml:3:"
  contains "$err" "(and one more problem)"
}

@test "check --json is one object a line" {
  n init
  n check --offline --json
  while read -r line; do json "$line" '(j["check"], j["result"], j["message"], j["hint"])'; done < out.txt
}

@test "F57: a secret file that others can read is refused, and the secret is nowhere" {
  echo SECRETPART > key
  chmod 644 key
  write <<'TOML'
environment = "x"
[channels.ops]
driver = "webhook"
url = "https://example.com/"
secret = { file = "key" }
TOML
  n init
  n check --offline
  expect 77
  contains "$out" "channels.ops.secret"
  lacks "$out$err" SECRETPART
  chmod 600 key
  n check --offline
  lacks "$out" "WRONG    channel ops"
}

@test "F57: a plain secret needs a configuration that nobody else can read" {
  write 644 <<'TOML'
environment = "x"
[channels.ops]
driver = "webhook"
url = "https://example.com/"
secret = "SECRETPART"
TOML
  n check --offline
  expect 78
  contains "$out" "chmod 600"
  lacks "$out$err" SECRETPART
  chmod 600 c.toml
  n init
  n check --offline
  expect 0
}

@test "check finds programs and files that are not there" {
  write <<'TOML'
environment = "x"
[channels.a]
driver = "exec"
command = ["/nonexistent/program"]
[channels.b]
driver = "file"
path = "/nonexistent/dir/out"
TOML
  n init
  n check --offline
  [ "$status" -ne 0 ]
  contains "$out" "channel a: /nonexistent/program cannot be run"
  contains "$out" "channel b: /nonexistent/dir/out cannot be written"
}

@test "F35: without certificate authorities check says where it looked" {
  write <<'TOML'
environment = "x"
ca_bundle = "/nonexistent/ca.pem"
[channels.a]
driver = "webhook"
url = "https://example.com/"
TOML
  n init
  n check --offline
  expect 78
  contains "$out" "/nonexistent/ca.pem"
}

@test "check tells a server that cannot be reached" {
  write <<'TOML'
environment = "x"
[channels.a]
driver = "webhook"
url = "http://127.0.0.1:1/"
TOML
  n init
  n check
  expect 69
  contains "$out" "channel a: 127.0.0.1"
}

@test "check finds damage" {
  n init
  for i in $(seq 300); do echo "{\"channel\":\"a\",\"to\":\"x$i\",\"key\":\"k$i\",\"body\":\"$(printf %0200d "$i")\"}"; done > in.jsonl
  n enqueue --jsonl in.jsonl
  sql 'PRAGMA wal_checkpoint(TRUNCATE)' > /dev/null
  size=$(stat -c %s notify.db)
  for page in 10 12 14 16 18; do
    [ $((page * 4096)) -lt "$size" ] && dd if=/dev/urandom of=notify.db bs=4096 seek="$page" count=1 conv=notrunc 2> /dev/null
  done
  n check --offline
  [ "$status" -ne 0 ]
  contains "$out" WRONG
}

@test "F21: a database of somebody else is named with its owner" {
  [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
  command -v setpriv > /dev/null || skip "needs setpriv"
  place=$(mktemp -d)
  chmod 755 "$place"
  export NOTIFYCTL_DB=$place/notify.db
  n init
  cp "$NOTIFYCTL" "$place/notifyctl"
  : > "$place/empty.toml"
  for command in "enqueue --channel a --to b --body x" "status" "list outbox"; do
    status=0
    # shellcheck disable=SC2086
    setpriv --reuid 65534 --clear-groups "$place/notifyctl" --config "$place/empty.toml" $command > out.txt 2> err.txt || status=$?
    out=$(cat out.txt) err=$(cat err.txt)
    expect 77
    contains "$err" "$place/notify.db"
    contains "$err" "user id 0"
  done
  rm -rf "$place"
}

@test "check says what is wrong with the path of a file channel, and makes nothing" {
  n init
  mkdir directory
  ln -s loop loop
  ln -s elsewhere link
  while IFS='|' read -r path code words; do
    printf 'environment = "x"\n[channels.f]\ndriver = "file"\npath = "%s"\n' "$path" > c.toml
    chmod 600 c.toml
    config=c.toml
    n check --offline
    expect "$code"
    contains "$out" "$words"
  done <<LIST
$PWD/directory|78|is a directory
/dev/full|78|is not a regular file
$PWD/link|78|is a symbolic link
$PWD/missing/messages|78|mkdir -p $PWD/missing
$PWD/loop/messages|78|symbolic links
$PWD/directory/messages|0|file, $PWD/directory/messages
LIST
  [ -z "$(ls directory)" ]
  [ ! -e elsewhere ]
}

@test "check by a user who cannot write the database is 77, and the hint fits that user" {
  [ "$(id -u)" -eq 0 ] || skip "needs root"
  mkdir open
  export NOTIFYCTL_DB=$PWD/open/n.db
  n enqueue --channel a --to b --body x
  n relay
  chmod 644 open/* empty.toml
  cp "$NOTIFYCTL" program
  chmod 755 program .
  for directory in "$PWD" "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"; do chmod a+x "$directory"; done
  status=0
  setpriv --reuid=65534 --regid=65534 --clear-groups ./program --config empty.toml check --offline > out.txt 2>&1 || status=$?
  out=$(cat out.txt)
  expect 77
  contains "$out" "WRONG    database: this user cannot write it"
  chmod 600 open/n.db-fence
  setpriv --reuid=65534 --regid=65534 --clear-groups ./program --config empty.toml status > out.txt 2>&1 || true
  out=$(cat out.txt)
  contains "$out" "as the user who owns the database"
  lacks "$out" chmod
}

@test "a path that leads to itself is a wrong set-up" {
  ln -s loop loop
  n --db loop status
  expect 78
  contains "$err" "--db"
  lacks "$err" "notifyctl init"
}

@test "check examines who is told of alerts" {
  n init
  config=c.toml
  channel='[channels.ops]
driver = "file"
path = "ops.jsonl"'
  told() {
    printf 'environment = "%s"\n[guard]\nallow = ["ops-*"]\n%s\n[alerts]\n%s\n' "$1" "$channel" "$2" > c.toml
    chmod 600 c.toml
    n check --offline
  }
  told production 'exec = ["/nonexistent/page"]'
  expect 78
  contains "$out" "WRONG    alerts: /nonexistent/page cannot be run"
  told production 'exec = ["/tmp"]'
  expect 78
  contains "$out" "alerts: /tmp is not a program"
  told production 'exec = ["no-such-program"]'
  expect 78
  contains "$out" "not found in PATH"
  told production 'exec = ["sh", "-c", "true"]'
  expect 0
  told production 'channel = "ops"
to = "somebody"'
  expect 0
  contains "$out" "ok       alerts: told on channel ops"
  told staging 'channel = "ops"
to = "somebody"'
  contains "$out" "WARNING  alerts: the guard forbids"
  told staging 'channel = "ops"
to = "ops-1"'
  lacks "$out" WARNING
  told production ''
  contains "$out" "WARNING  alerts: nobody is told"
}

@test "one thing that is wrong with the configuration comes with what to do" {
  n init
  config=c.toml
  while IFS='|' read -r words body; do
    printf "environment = \"x\"\n$body\n" > c.toml
    chmod 600 c.toml
    n relay
    expect 78
    contains "$err" "$words"
    contains "$err" "hint: "
  done <<'LIST'
relay.confirm_timeout: 1m must be shorter|[relay]\nconfirm_timeout = "1m"
stale_after|[channels.a]\ndriver = "file"\npath = "x"\nstale_after = "1s"
path: is missing|[channels.a]\ndriver = "file"
command: must not be empty|[channels.a]\ndriver = "exec"\ncommand = []
command: must be a list|[channels.a]\ndriver = "exec"\ncommand = "x"
url: is not an http or https URL|[channels.a]\ndriver = "webhook"\nurl = "ftp://x"
semantics|[channels.a]\ndriver = "file"\npath = "x"\nsemantics = "twice"
alerts.channel: there is no|[alerts]\nchannel = "x"\nto = "y"
LIST
  mkdir directory
  config=directory n relay
  expect 78
  contains "$err" "hint: name the file in it"
  config=empty.toml n --db directory init
  expect 78
  contains "$err" "hint: name a file in it"
}
