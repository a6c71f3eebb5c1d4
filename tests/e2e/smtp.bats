#!/usr/bin/env bats
# Mail through a real server: Postfix with STARTTLS and a login, delivering into a maildir. Needs root, because Postfix does.
# Everything of it lives in the suite's directory: configuration, queue, passwords, log.

load common

setup_file() {
  export PATH=$PATH:/usr/sbin
  if [ "$(id -u)" != 0 ] || ! command -v postfix saslpasswd2 > /dev/null; then
    export NO_SERVER=1
    return
  fi
  export SERVER=$BATS_FILE_TMPDIR/server
  mkdir -p "$SERVER"/{etc/sasl,queue,data,mail}
  chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$SERVER"
  cd "$SERVER" || return
  PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  export PORT
  make_certificates
  make_configuration
  start_server
}

make_certificates() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca-key.pem -out ca.pem
  openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out request.pem
  openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -out cert.pem \
    -extfile <(printf 'subjectAltName=DNS:localhost')
} > certificates.log 2>&1

make_configuration() {
  chown postfix data
  chown 65534:65534 mail
  printf 'pass word-SECRET' | saslpasswd2 -p -c -f data/passwords -u localhost shop
  chown postfix data/passwords
  cat > etc/sasl/smtpd.conf << EOF
pwcheck_method: auxprop
auxprop_plugin: sasldb
mech_list: PLAIN LOGIN
sasldb_path: $SERVER/data/passwords
EOF
  printf 'kim@example.com box/\n' > etc/boxes
  cat > etc/main.cf << EOF
compatibility_level = 3.6
queue_directory = $SERVER/queue
data_directory = $SERVER/data
maillog_file = $SERVER/log
maillog_file_prefixes = $SERVER
myhostname = localhost
mydestination =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_tls_cert_file = $SERVER/cert.pem
smtpd_tls_key_file = $SERVER/key.pem
smtpd_tls_security_level = encrypt
smtpd_tls_received_header = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_local_domain = localhost
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = reject_unlisted_recipient, permit_sasl_authenticated, reject
virtual_mailbox_domains = example.com
virtual_mailbox_base = $SERVER/mail
virtual_mailbox_maps = texthash:$SERVER/etc/boxes
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
EOF
  cat > etc/master.cf << EOF
$PORT inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
virtual unix - n n - - virtual
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
EOF
}

start_server() {
  postfix -c "$SERVER/etc" start > start.log 2>&1 3>&- || { cat start.log log; return 1; }
  for _ in $(seq 100); do
    ! (exec 3<> "/dev/tcp/127.0.0.1/$PORT") 2> /dev/null || return 0
    sleep 0.1
  done
  cat start.log log
  return 1
}

teardown_file() {
  [ -z "${SERVER:-}" ] || postfix -c "$SERVER/etc" stop > /dev/null 2>&1 || true
}

setup() {
  [ -z "${NO_SERVER:-}" ] || skip "needs root and Postfix"
  common_setup
  rm -rf "$SERVER/mail/box"
  printf 'pass word-SECRET\n' > mail.secret
  chmod 600 mail.secret
  config=mail.toml
  configure
}

configure() {
  cat > "$config" << EOF
environment = "production"
ca_bundle = "$SERVER/ca.pem"
[channels.mail]
driver = "smtp"
host = "localhost"
port = $PORT
username = "shop"
password = { file = "$PWD/mail.secret" }
from = "가게 <shop@example.com>"
return_path = "bounce+{id}@example.com"
helo = "client.example.com"
EOF
}

deliver() {
  n relay
  expect 0
  n work --drain
}

# The mails in the box once there are so many; Postfix delivers after it has accepted.
mails() {
  for _ in $(seq 200); do
    [ "$(find "$SERVER/mail/box/new" -type f 2> /dev/null | wc -l)" -lt "$1" ] || break
    sleep 0.1
  done
  find "$SERVER/mail/box/new" -type f 2> /dev/null
}

@test "a mail with everything in it arrives byte for byte, once, over STARTTLS with a login" {
  python3 - > message.jsonl << 'PY'
import base64, json
body = ".\n.leading dots\n..two\nFrom the start\n" + "긴 줄 " * 2000 + "\n" + "x" * 5000 + "\nlast line without end\n."
print(json.dumps({"channel": "mail", "to": "kim@example.com", "key": "k1", "correlation": "req-7",
    "subject": "주문 42번이 결제되었습니다 — 감사합니다, 다음에도 저희 가게를 찾아 주세요 😀", "body": body,
    "html": "<p>결제되었습니다</p>\n.\n", "data": {"attachments": [
        {"filename": "영수증 42.bin", "content_type": "application/octet-stream",
         "content_base64": base64.b64encode(bytes(range(256)) * 40).decode()}]}}, ensure_ascii=False))
PY
  n enqueue --jsonl message.jsonl
  expect 0
  deliver
  expect 0
  n show --json k1
  [ "$(json "$out" 'j["inbox"]["status"]')" = SENT ]
  id=$(json "$out" 'j["message_id"]')
  [ "$(mails 1 | wc -l)" -eq 1 ]
  python3 - "$(mails 1)" message.jsonl "$id" << 'PY'
import email, email.policy, json, sys
raw = open(sys.argv[1], "rb").read()
sent = json.loads(open(sys.argv[2], encoding="utf-8").read())
mail = email.message_from_bytes(raw, policy=email.policy.default)
assert max(len(line) for line in raw.splitlines()) <= 998
assert mail["subject"] == sent["subject"], mail["subject"]
assert mail["from"] == "가게 <shop@example.com>", mail["from"]
assert mail["to"] == "kim@example.com" and mail["x-correlation-id"] == "req-7"
assert mail["message-id"] == "<%s@example.com>" % sys.argv[3], mail["message-id"]
assert mail["auto-submitted"] == "auto-generated"
received = " ".join(mail.get_all("received"))
assert "client.example.com" in received and "TLS" in received and "with ESMTPSA" in received, received
text = mail.get_body(("plain",)).get_payload(decode=True)
html = mail.get_body(("html",)).get_payload(decode=True)
assert text == sent["body"].replace("\n", "\r\n").encode(), "text differs"
assert html == sent["html"].replace("\n", "\r\n").encode(), "html differs"
files = list(mail.iter_attachments())
assert [f.get_filename() for f in files] == ["영수증 42.bin"], files
assert files[0].get_payload(decode=True) == bytes(range(256)) * 40, "attachment differs"
PY
  n work --drain
  [ "$(mails 1 | wc -l)" -eq 1 ]
  n show --json k1
  contains "$(grep "$(json "$out" 'j["inbox"]["reference"]')" "$SERVER/log")" "sasl_username=shop"
}

connections() { grep -c "smtpd.*: connect from" "$SERVER/log" || true; }

@test "twenty mails take one connection and one login" {
  before=$(connections)
  for i in $(seq 20); do n enqueue --channel mail --to kim@example.com --subject "n $i" --body "$i"; done
  printf 'concurrency = 1\n' >> "$config"
  deliver
  expect 0
  [ "$(mails 20 | wc -l)" -eq 20 ]
  [ "$(($(connections) - before))" -eq 1 ]
}

@test "an address that is not there is refused for good and disabled" {
  n enqueue --channel mail --to nobody@example.com --subject x --body x --key gone
  deliver
  n show --json gone
  [ "$(json "$out" 'j["inbox"]["status"]')" = FAILED ]
  [ "$(json "$out" 'j["inbox"]["reason"]')" = smtp-550 ]
  contains "$(json "$out" 'j["inbox"]["detail"]')" "5.1.1"
  lacks "$(json "$out" 'j["inbox"]["detail"]')" "nobody@example.com"
  n enqueue --channel mail --to nobody@example.com --subject again --body x --key again
  deliver
  n show --json again
  [ "$(json "$out" 'j["inbox"]["reason"]')" = endpoint-disabled ]
}

@test "a wrong password halts the lane and sends nothing" {
  printf 'other-SECRET\n' > mail.secret
  n enqueue --channel mail --to kim@example.com --subject x --body x --key later
  deliver
  expect 69
  lacks "$out$err" SECRET
  n status --json
  [ "$(json "$out" 'j["channels"]["mail"]["state"]')" = halted ]
  n show --json later
  [ "$(json "$out" 'j["queue"] is not None')" = True ]
  [ -z "$(mails 0)" ]
}

@test "a server whose certificate nobody vouches for gets neither password nor message" {
  sed -i "s|^ca_bundle.*|ca_bundle = \"$PWD/other.pem\"|" "$config"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem 2> /dev/null
  n enqueue --channel mail --to kim@example.com --subject x --body x
  deliver
  expect 69
  [ -z "$(mails 0)" ]
  grep -q "smtpd.*: lost connection after STARTTLS" "$SERVER/log"
  n status --json
  contains "$(json "$out" 'j["channels"]["mail"]["reason"]')" tls-failed
}

@test "check reaches the server; a dry run shows the mail and no secret" {
  n init
  n check
  expect 0
  contains "$out" "smtp, localhost port $PORT can be reached, TLS verified"
  n channel test mail --to kim@example.com --dry-run
  expect 0
  contains "$out" "RCPT TO:<kim@example.com>"
  contains "$out" "login: shop ***"
  lacks "$out" SECRET
}
