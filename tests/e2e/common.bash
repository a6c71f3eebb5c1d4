# For the suites in this directory: an empty home, the program under test, and a few words to say what is expected.

common_setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export NOTIFYCTL=${NOTIFYCTL:-$root/build/notifyctl}
  # A run as root would use the machine's own database.
  cd "$BATS_TEST_TMPDIR" || return
  export HOME=$PWD XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
  export NOTIFYCTL_DB=$PWD/notify.db
  unset NOTIFYCTL_CONFIG NOTIFYCTL_LOG_FORMAT NOTIFYCTL_COLOR NO_COLOR COLUMNS
  : > empty.toml
}

# Runs the program without the machine's configuration; $status, $out and $err are what came of it.
n() {
  status=0
  "$NOTIFYCTL" --config "${config:-empty.toml}" "$@" > out.txt 2> err.txt || status=$?
  out=$(cat out.txt)
  err=$(cat err.txt)
}

expect() {  # expect STATUS
  if [ "$status" -ne "$1" ]; then
    echo "status $status instead of $1"
    echo "out: $out"
    echo "err: $err"
    return 1
  fi
}

contains() {  # contains TEXT PART
  if [[ "$1" != *"$2"* ]]; then
    echo "»$1« lacks »$2«"
    return 1
  fi
}

lacks() {  # lacks TEXT PART
  if [[ "$1" == *"$2"* ]]; then
    echo "»$1« contains »$2«"
    return 1
  fi
}

sql() { sqlite3 "$NOTIFYCTL_DB" "$1"; }

# Python's json is the judge of what is valid; prints the expression's value, j being the document.
json() { python3 -c 'import json,sys; j = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$1" "$2"; }

# The width of the widest line, in characters.
widest() { python3 -c 'import sys; print(max(len(l.rstrip("\r\n")) for l in open(sys.argv[1], encoding="utf-8")))' "$1"; }

# The vendors of tests/support/vendors, for a whole file of tests; then for one test: $base is their URL, $log what they saw.
start_vendors() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  python3 "$root/tests/support/vendors/server.py" --log "$BATS_FILE_TMPDIR/log" --port-file "$BATS_FILE_TMPDIR/port" 3>&- &
  echo $! > "$BATS_FILE_TMPDIR/pid"
  for _ in $(seq 200); do [ -e "$BATS_FILE_TMPDIR/port" ] && break; sleep 0.05; done
  [ -e "$BATS_FILE_TMPDIR/port" ]
}

stop_vendors() { kill "$(cat "$BATS_FILE_TMPDIR/pid")"; }

# shellcheck disable=SC2034   # base and log are for the tests
vendors_setup() {
  common_setup
  log=$BATS_FILE_TMPDIR/log
  base=http://127.0.0.1:$(cat "$BATS_FILE_TMPDIR/port")
  config=config.toml
  umask 077
  : > "$log"
}
