#!/usr/bin/env bats
# F57: a secret stands in its own file and nowhere else, whatever goes wrong.

load common

SECRETS='SECRETPART|tok_SECRET|SECRET%|SECRETHEADER'

setup_file() {
  # Answers 400 with everything it was sent, 302 to a URL with it, or nothing.
  cat > "$BATS_FILE_TMPDIR/echo.py" << 'PY'
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        said = f"{self.path}\n{self.headers}\n{body}".encode()
        if "silent" in body:
            time.sleep(3)
            return
        self.send_response(302 if "moved" in body else 400)
        self.send_header("Location", "http://127.0.0.1:1" + self.path)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
PY
  python3 "$BATS_FILE_TMPDIR/echo.py" > "$BATS_FILE_TMPDIR/port" 3>&- &
  echo $! > "$BATS_FILE_TMPDIR/pid"
  for _ in $(seq 200); do [ -s "$BATS_FILE_TMPDIR/port" ] && break; sleep 0.05; done
}
teardown_file() { kill "$(cat "$BATS_FILE_TMPDIR/pid")"; }

setup() {
  common_setup
  umask 077
  port=$(cat "$BATS_FILE_TMPDIR/port")
  config=config.toml
  mkdir secrets
  echo "http://127.0.0.1:$port/T/SECRETPART" > secrets/url
  echo "http://127.0.0.1:1/T/SECRETPART" > secrets/refused-url
  echo "https://127.0.0.1:$port/T/SECRETPART" > secrets/tls-url
  echo "tok_SECRET" > secrets/token
  echo 'p@ss SECRET%' > secrets/password
  cat > vendor.toml << 'TOML'
summary = "A vendor that repeats what it is told"
[settings.url]
text = "Where it is"
required = true
secret = true
[settings.token]
text = "Its token"
required = true
secret = true
[auth]
kind = "bearer"
token = "{{settings.token}}"
[request]
url = "{{settings.url}}"
headers = { X-Key = "{{settings.token}}" }
json = { text = "{{body}}" }
[[answer]]
status = 200
outcome = "sent"
TOML
  { echo 'environment = "production"'
    for name in url refused-url tls-url; do
      printf '%s\n' "[channels.hook-$name]" 'driver = "webhook"' "url = { file = \"secrets/$name\" }" 'retry = []' \
        'timeout = "1s"' 'connect_timeout = "500ms"'
      printf '%s\n' "[channels.recipe-$name]" 'driver = "http"' 'recipe = "vendor.toml"' "url = { file = \"secrets/$name\" }" \
        'token = { file = "secrets/token" }' 'retry = []' 'timeout = "1s"' 'connect_timeout = "500ms"'
    done
    printf '%s\n' '[channels.mail]' 'driver = "smtp"' 'host = "127.0.0.1"' 'port = 1' 'tls = "none"' 'from = "a@example.com"' \
      'username = "me"' 'password = { file = "secrets/password" }' 'retry = []'; } > config.toml
}

nowhere() {
  if grep -rlE "$SECRETS" --exclude-dir=secrets .; then
    grep -rhoaE ".{0,40}($SECRETS).{0,40}" --exclude-dir=secrets . | head -5
    return 1
  fi
}

@test "a secret stands nowhere but in its file, whatever goes wrong" {
  n init
  n check --offline
  cp err.txt check.txt
  expect 0
  for channel in hook-url hook-refused-url hook-tls-url recipe-url recipe-refused-url recipe-tls-url; do
    for body in hello silent moved; do
      "$NOTIFYCTL" --config config.toml enqueue --channel "$channel" --to ops --body "$body" >> ids
    done
  done
  "$NOTIFYCTL" --config config.toml enqueue --channel mail --to b@example.com --subject s --body hello >> ids
  "$NOTIFYCTL" --config config.toml -vv relay 2>> log
  status=0
  "$NOTIFYCTL" --config config.toml -vv --log-format json work --drain 2>> log || status=$?
  [ "$status" = 69 ]   # halted: some vendors cannot be reached
  [ -s log ]
  while read -r id; do
    "$NOTIFYCTL" --config config.toml show "$id" >> told
    "$NOTIFYCTL" --config config.toml --json show "$id" >> told
  done < ids
  for what in outbox inbox parked alerts queue; do "$NOTIFYCTL" --config config.toml list "$what" --json >> told; done
  "$NOTIFYCTL" --config config.toml park list >> told
  "$NOTIFYCTL" --config config.toml status --json >> told
  "$NOTIFYCTL" --config config.toml status --prometheus >> told
  "$NOTIFYCTL" --config config.toml channel list >> told
  for channel in hook-url recipe-url mail; do
    "$NOTIFYCTL" --config config.toml channel show "$channel" >> told
    "$NOTIFYCTL" --config config.toml channel test "$channel" --to b@example.com --body hello --dry-run >> told
  done
  [ "$(sql "SELECT count(*) FROM notification_attempt WHERE detail <> ''")" -ge 4 ]
  nowhere
}

@test "a worker that crashes leaves no core file" {
  # Where this machine would write one: whoever is not protected leaves it in its directory.
  (ulimit -c unlimited && sh -c 'kill -SEGV $$') 2> /dev/null || true
  [ -n "$(find . -name 'core*' -size +0)" ] || skip "no core files are written here"
  find . -name 'core*' -delete
  n init
  ulimit -c unlimited
  "$NOTIFYCTL" --config config.toml work 2> /dev/null 3>&- &
  worker=$!
  for _ in $(seq 200); do
    [ "$(sql 'SELECT count(*) FROM notification_run')" -ge 1 ] && break
    sleep 0.05
  done
  kill -SEGV "$worker"
  status=0
  wait "$worker" || status=$?
  [ "$status" = 139 ]
  [ -z "$(find . -name 'core*' -size +0)" ]
}
