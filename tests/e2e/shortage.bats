#!/usr/bin/env bats
# No descriptors, no memory, no threads: trouble of this machine, for which no vendor, lane or message pays.

load common

setup() {
  common_setup
  config=c.toml
  cat > c.toml <<TOML
environment = "production"
[channels.file]
driver = "file"
path = "$PWD/out.jsonl"
[channels.program]
driver = "exec"
command = ["/bin/true"]
[channels.hook]
driver = "webhook"
url = "http://127.0.0.1:1/"
TOML
  chmod 600 c.toml
  n init
}

# with LIMIT ARG…: the program with at most so many descriptors.
with() {
  local limit=$1
  shift
  status=0
  prlimit --nofile="$limit" "$NOTIFYCTL" --config "$config" "$@" > out.txt 2> err.txt || status=$?
  err=$(cat err.txt)
}

@test "however few descriptors there are, no lane is halted and no message loses a try" {
  for channel in file program hook; do n enqueue --channel "$channel" --to a --body x; done
  n relay
  short=0
  for limit in $(seq 3 14); do
    with "$limit" work --drain --max-run 1s --channel hook
    case $status in
      0) ;;
      74 | 78)
        contains "$err" "oo many open files"
        contains "$err" "hint: "
        ;;
      *) expect 0 ;;
    esac
    lacks "$err" "internal error"
    [[ "$err" != *work.shortage* ]] || short=1
    sqlite3 "$NOTIFYCTL_DB" "UPDATE notification_queue SET ready_at = 1" # not to wait for a second each time
  done
  [ "$short" = 1 ]
  [ "$(sql "SELECT count(*) FROM notification_queue WHERE tries > 0")" = 0 ]
  [ "$(sql "SELECT count(*) FROM notification_lane WHERE halted")" = 0 ]
  [ "$(sql "SELECT count(*) FROM notification_attempt")" = 0 ]
  [ "$(sql "SELECT count(*) FROM notification_inbox")" = 0 ]
  [ "$(sql "SELECT count(*) FROM notification_alert")" = 0 ]

  # Programs need more than a file does: with too few, they are put back as well.
  for limit in $(seq 10 20); do
    with "$limit" work --drain --max-run 1s --channel file,program
    sqlite3 "$NOTIFYCTL_DB" "UPDATE notification_queue SET ready_at = 1"
  done
  expect 0
  [ "$(sql "SELECT count(*) FROM notification_lane WHERE halted")" = 0 ]
  [ "$(sql "SELECT group_concat(status || ' ' || channel, ', ') FROM notification_inbox")" = "SENT file, SENT program" ]
}

@test "work raises its limit on open files, and says when that is not enough for the calls asked for" {
  n enqueue --channel program --to a --body x
  n relay
  printf '[work]\nconcurrency = 512\n' >> c.toml
  sed -i "s|/bin/true|/bin/sh\", \"-c\", \"ulimit -n > $PWD/limit|" c.toml
  status=0
  prlimit --nofile=100:8192 "$NOTIFYCTL" --config c.toml work --drain 2> err.txt || status=$?
  expect 0
  [ ! -s err.txt ]
  [ "$(cat limit)" -gt 1024 ]
  with 200 work --drain
  expect 0
  contains "$err" "work.few-descriptors"
  contains "$err" "instead of 512"
}

@test "too little memory ends in words and a documented status" {
  n enqueue --channel program --to a --body x
  n relay
  said=0
  for limit in 17000 18500 20000 21000; do   # with a little more, SQLite asks again for a minute
    status=0
    (
      ulimit -v "$limit"
      "$NOTIFYCTL" --config c.toml work --drain --max-run 1s
    ) > out.txt 2> err.txt || status=$?
    err=$(cat err.txt)
    case $status in
      0 | 139) ;; # 139: the kernel could not even load the program
      *)
        [[ $status =~ ^(70|74|78)$ ]]
        contains "$err" "notifyctl: "
        lacks "$err" "terminate called"
        lacks "$err" "internal error"
        said=1
        ;;
    esac
  done
  [ "$said" = 1 ]
}
