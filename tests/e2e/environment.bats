#!/usr/bin/env bats
# The program where nothing is as expected: no library, no HOME, no locale, closed descriptors.

load common

setup() {
  common_setup
  cat > config.toml <<TOML
environment = "production"
[channels.out]
driver = "file"
path = "$PWD/out.jsonl"
TOML
  chmod 600 config.toml
}

teardown() {
  if [ -d jail/proc ] && mountpoint -q jail/proc; then umount jail/proc; fi
}

@test "it is one static executable under 15 MB" {
  run ldd "$NOTIFYCTL"
  [[ "$output" == *"not a dynamic executable"* || "$output" == *"statically linked"* ]]
  [ "$(stat -c %s "$NOTIFYCTL")" -lt 15000000 ]
}

@test "F35 F36: the main job in an empty root directory, without any environment" {
  [ "$(id -u)" -eq 0 ] || skip "needs root"
  mkdir -p jail/dev jail/proc jail/state
  cp "$NOTIFYCTL" jail/notifyctl
  mknod -m 666 jail/dev/null c 1 3
  mknod -m 444 jail/dev/urandom c 1 9
  mount -t proc proc jail/proc
  sed "s|$PWD/out.jsonl|/state/out.jsonl|" config.toml > jail/state/config.toml
  chmod 600 jail/state/config.toml
  in_jail() { env -i "$(command -v chroot)" jail /notifyctl --config /state/config.toml --db /state/n.db "$@"; }

  in_jail enqueue --channel out --to someone --key k --body 가뷁
  in_jail relay
  in_jail work --drain
  grep -q '"body":"가뷁"' jail/state/out.jsonl
  [ "$(json "$(in_jail status --json)" 'j["inbox"]["SENT"]')" = 1 ]
  in_jail check
}

@test "HOME unset, any locale" {
  unset NOTIFYCTL_DB XDG_STATE_HOME XDG_CONFIG_HOME HOME
  LC_ALL=xx_YY.nonsense LANG=ko_KR.EUC-KR n --db own.db enqueue --channel out --to x --key 가 --body 나
  expect 0
  LC_ALL=C n --db own.db show 가
  expect 0
  contains "$out" "가"
}

@test "standard input, output and errors closed: nothing is written into the database by mistake" {
  status=0
  "$NOTIFYCTL" --config config.toml enqueue --channel out --to x --key k1 --body y <&- >&- 2>&- || status=$?
  [ "$status" -eq 74 ] # accepted, but its id could not be printed
  "$NOTIFYCTL" --config config.toml enqueue --channel out --to x --key k1 --body other <&- >&- 2>&- || [ $? -eq 4 ]
  n check
  expect 0
  [ "$(sql 'SELECT count(*) FROM notification_outbox')" = 1 ]
}

@test "a reader that leaves early is no error; a full disk for the output is" {
  "$NOTIFYCTL" --config config.toml enqueue --channel out --to x --body y > /dev/null
  "$NOTIFYCTL" --config config.toml help | head -1 > /dev/null
  [ "${PIPESTATUS[0]}" -eq 0 ] || [ "${PIPESTATUS[0]}" -eq 141 ]
  status=0
  "$NOTIFYCTL" --config config.toml status > /dev/full 2> err.txt || status=$?
  [ "$status" -eq 74 ]
}

@test "success prints nothing, for cron" {
  n enqueue --channel out --to x --body y
  config=config.toml n relay
  expect 0
  [ -z "$out$err" ]
  config=config.toml n work --drain
  expect 0
  [ -z "$out$err" ]
  config=config.toml n relay
  [ -z "$out$err" ]
}

@test "F21: a broadcast that root accepts does not lock out the owner, nor does an unreadable list hold up other messages" {
  command -v setpriv > /dev/null || skip "needs setpriv"
  place=$(mktemp -d /tmp/owned.XXXXXX)
  cp "$NOTIFYCTL" "$place/notifyctl"
  printf 'database = "%s/n.db"\nenvironment = "production"\n[channels.a]\ndriver = "file"\npath = "%s/out"\n' \
    "$place" "$place" > "$place/c.toml"
  chown -R 65534:65534 "$place"
  as_owner() { setpriv --reuid=65534 --regid=65534 --clear-groups "$place/notifyctl" --db "$place/n.db" --config "$place/c.toml" "$@"; }
  as_owner init > /dev/null
  printf 'one\ntwo\n' > "$place/list"
  "$place/notifyctl" --db "$place/n.db" --config "$place/c.toml" enqueue --channel a --broadcast q --recipients "$place/list" --body x > /dev/null
  as_owner relay
  [ "$(sqlite3 "$place/n.db" "SELECT count(*) FROM notification_queue")" = 2 ]

  as_owner enqueue --channel a --broadcast r --recipients "$place/list" --body y > /dev/null
  as_owner enqueue --channel a --to b --body c > /dev/null
  chmod 000 "$place"/n.db-lists/*
  as_owner relay 2> err.txt
  contains "$(cat err.txt)" "Permission denied"
  contains "$(as_owner list alerts)" broadcast-failed
  [ "$(sqlite3 "$place/n.db" "SELECT count(*) FROM notification_queue")" = 3 ]
  rm -rf "$place"
}
