#!/usr/bin/env bats
# Servers that others have written, with TLS by a private CA: nginx (HTTP/1.1 and HTTP/2), nghttpd (HTTP/2), aiosmtpd. They listen
# on free ports of the loopback interface and end with the test. Needs openssl, jq.

load common

setup() {
  common_setup
  export PATH=$PATH:/usr/sbin
  config=config.toml
  peers=()
  umask 077
}

teardown() { for pid in "${peers[@]}"; do kill "$pid" 2> /dev/null || true; done; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# ca NAME: a CA in NAME.pem and what it has signed for 127.0.0.1 in NAME-cert.pem and NAME-key.pem.
ca() {
  local new=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
  openssl req -x509 "${new[@]}" -days 2 -subj "/CN=$1" -keyout "$1-ca-key.pem" -out "$1.pem" &&
    openssl req "${new[@]}" -subj /CN=localhost -keyout "$1-key.pem" -out request.pem &&
    openssl x509 -req -in request.pem -CA "$1.pem" -CAkey "$1-ca-key.pem" -CAcreateserial -days 2 -out "$1-cert.pem" \
      -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1')
} > certificates.log 2>&1

listening() {   # PORT
  for _ in $(seq 200); do (: > "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return; sleep 0.05; done
  echo "nobody listens on $1: $(cat ./*.err 2> /dev/null)"
  return 1
}

# nginx_peer LISTEN: on $port, hands what it gets on to itself, so that it reads the body and keeps it in bodies/.
nginx_peer() {
  command -v nginx > /dev/null || skip "needs nginx"
  port=$(free_port)
  mkdir -p nginx bodies
  local places="" kind
  for kind in proxy fastcgi uwsgi scgi; do places+="${kind}_temp_path $PWD/nginx/$kind; "; done
  cat > nginx.conf << CONF
daemon off;
master_process off;
pid $PWD/nginx/pid;
error_log $PWD/nginx.err;
events { }
http {
  $places
  client_body_temp_path $PWD/bodies;
  log_format line '{"status":\$status,"proto":"\$server_protocol","tls":"\$ssl_protocol","conn":\$connection,'
                  '"id":"\$http_webhook_id","signature":"\$http_webhook_signature","body":"\$request_body_file"}';
  access_log $PWD/log line;
  server {
    listen 127.0.0.1:$port ssl $1;
    ssl_certificate $PWD/good-cert.pem;
    ssl_certificate_key $PWD/good-key.pem;
    keepalive_requests ${keepalive_requests:-1000};
    client_max_body_size 10k;
    client_body_in_file_only on;
    location /hook { proxy_pass http://unix:$PWD/sock:/; }
    location /moved { return 308 https://127.0.0.1:$port/hook; }
    location /down { proxy_pass http://127.0.0.1:1/; }
  }
  server { listen unix:$PWD/sock; access_log off; location / { return 204; } }
}
CONF
  nginx -p "$PWD/nginx" -c "$PWD/nginx.conf" 2> nginx.err 3>&- &
  peers+=($!)
  listening "$port"
}

# webhook PATH [KEY…]: the channel "hook".
webhook() {
  printf '%s\n' 'environment = "production"' "ca_bundle = \"$PWD/${trust:-good}.pem\"" '[channels.hook]' 'driver = "webhook"' \
    "url = \"https://127.0.0.1:$port$1\"" 'secret = { file = "hook.secret" }' "retry = [${retry:-\"1s\"}]" "${@:2}" > "$config"
  printf 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz' > hook.secret
}

# post COUNT: so many messages, one of which is $id.
post() {
  local i
  for i in $(seq "$1"); do
    n enqueue --channel hook --to kim --body "주문 $i"
    expect 0
  done
  id=$out
  n relay
  n work --drain
}

state() { sql "SELECT coalesce((SELECT status FROM notification_inbox WHERE message_id = '$1'), 'none')"; }
sent() { sql "SELECT count(*) FROM notification_inbox WHERE status = 'SENT'"; }
ids() { jq -r 'select(.status == 204) | .id' log | sort; }

@test "nginx over TLS: each message once, signed and whole" {
  ca good
  keepalive_requests=3 nginx_peer ""
  webhook /hook
  post 20
  expect 0
  [ "$(sent)" -eq 20 ]
  [ "$(ids | wc -l)" -eq 20 ]
  [ "$(ids | uniq -d | wc -l)" -eq 0 ]
  [ "$(jq -r .proto log | sort -u)" = HTTP/1.1 ]
  [ "$(jq -r .conn log | sort -u | wc -l)" -gt 1 ]   # it closes after three
  local line signed
  line=$(jq -c "select(.id == \"$id\")" log)
  [ "$(jq -r .message_id "$(jq -r .body <<< "$line")")" = "$id" ]
  [ "$(jq -r .body "$(jq -r .body <<< "$line")")" = "주문 20" ]
  signed=$(jq -r .signature <<< "$line")
  [[ "$signed" == v1,* ]]
}

@test "nginx that refuses, redirects, has nobody behind it, or another CA's certificate" {
  ca good
  ca other
  nginx_peer ""
  webhook /hook
  n enqueue --channel hook --to kim --body "$(head -c 20000 /dev/zero | tr '\0' x)"
  id=$out
  n relay
  n work --drain
  [ "$(state "$id")" = FAILED ]   # 413

  webhook /down
  post 1
  [ "$(state "$id")" = ERROR ]   # 502 proves nothing

  webhook /moved
  n channel resume hook   # 502 has held it
  post 1
  expect 69
  [ "$(state "$id")" = FAILED ]
  n channel show hook
  contains "$out" halted

  trust=other webhook /hook
  n channel resume hook
  post 1
  expect 69
  [ "$(state "$id")" = none ]
  n channel show hook
  contains "$out" tls-failed
  [ "$(ids | wc -l)" -eq 0 ]
}

# After keepalive_requests it says GOAWAY and closes. What it has not looked at goes again, and may meet the next GOAWAY.
@test "nginx over HTTP/2 that gives up its connections: each message once, none uncertain" {
  ca good
  keepalive_requests=10 nginx_peer http2
  retry='"1s", "1s", "1s", "1s", "1s"' webhook /hook 'http_version = "2"' 'concurrency = 8'
  post 60
  [ "$(sent)" -eq 60 ]
  [ "$(ids | wc -l)" -eq 60 ]
  [ "$(ids | uniq -d | wc -l)" -eq 0 ]
  [ "$(jq -r .proto log | sort -u)" = HTTP/2.0 ]
  [ "$(jq -r .conn log | sort -u | wc -l)" -gt 3 ]
}

@test "nghttpd: a webhook over HTTP/2" {
  command -v nghttpd > /dev/null || skip "needs nghttpd"
  ca good
  port=$(free_port)
  mkdir htdocs
  stdbuf -oL nghttpd --verbose --echo-upload --address=127.0.0.1 --htdocs=htdocs "$port" good-key.pem good-cert.pem \
    > log 2> nghttpd.err 3>&- &
  peers+=($!)
  listening "$port"
  webhook /hook 'http_version = "2"'
  post 12
  expect 0
  [ "$(sent)" -eq 12 ]
  [ "$(grep -c 'recv.*:method: POST' log)" -eq 12 ]
  [ "$(grep -o 'webhook-id: .*' log | sort -u | wc -l)" -eq 12 ]
  grep -q "webhook-id: $id" log
  grep -q 'recv.*webhook-signature: v1,' log
  # The bodies, each ending its stream, are sent back as they came.
  [ "$(grep -A 1 'recv DATA frame <length=[1-9]' log | grep -c 'END_STREAM')" -eq 12 ]
  [ "$(grep -c 'recv GOAWAY' log)" -le 12 ]
}

# mail_peer MODE [CERT KEY]: aiosmtpd on $port. Its package is the system's Python's.
mail_peer() {
  /usr/bin/python3 -c 'import aiosmtpd' 2> /dev/null || skip "needs python3-aiosmtpd"
  rm -f port
  : > log
  /usr/bin/python3 "$root/tests/support/aiosmtpd_peer.py" "$1" port log "${@:2}" 2> aiosmtpd.err 3>&- &
  peers+=($!)
  for _ in $(seq 200); do [ -s port ] && break; sleep 0.05; done
  port=$(cat port)
}

mail_channel() {   # TLS
  printf '%s\n' 'environment = "production"' "ca_bundle = \"$PWD/good.pem\"" '[channels.mail]' 'driver = "smtp"' \
    'host = "127.0.0.1"' "port = $port" "tls = \"$1\"" 'from = "shop@example.com"' 'helo = "client.example.com"' \
    'retry = ["1s", "1s"]' > "$config"
}

mail() {
  n enqueue --channel mail --to kim@example.com --subject '결제' --body '주문 42'
  expect 0
  id=$out
  n relay
  n work --drain
}

mails() { jq -r --arg id "$id" 'select(.content | contains($id)) | .to[0]' log | wc -l; }

@test "aiosmtpd takes a mail, at once and after a while" {
  : > good.pem
  for mode in taken slow; do
    mail_peer $mode
    mail_channel none
    mail
    [ "$(state "$id")" = SENT ]
    [ "$(mails)" -eq 1 ]
    [ "$(jq -r .tls log)" = false ]
  done
}

@test "aiosmtpd that greylists is asked again" {
  : > good.pem
  mail_peer rcpt-451
  mail_channel none
  mail
  [ "$(state "$id")" = none ]
  [ "$(sql 'SELECT tries FROM notification_queue')" -eq 1 ]
  sql 'UPDATE notification_queue SET ready_at = 0'   # five minutes later
  n work --drain
  [ "$(state "$id")" = SENT ]
  [ "$(mails)" -eq 1 ]
}

@test "aiosmtpd that vanishes at the final dot: ERROR, and no second mail" {
  : > good.pem
  mail_peer cut
  mail_channel none
  mail
  [ "$(state "$id")" = ERROR ]
  sleep 1.5
  n work --drain
  [ "$(mails)" -eq 1 ]
}

@test "aiosmtpd with STARTTLS; with another CA's certificate nothing is sent" {
  ca good
  mail_peer taken good-cert.pem good-key.pem
  mail_channel starttls
  mail
  [ "$(state "$id")" = SENT ]
  [ "$(mails)" -eq 1 ]
  [ "$(jq -r .tls log)" = true ]

  ca other
  mail_peer taken other-cert.pem other-key.pem
  mail_channel starttls
  mail
  expect 69
  [ "$(state "$id")" = none ]
  [ "$(wc -l < log)" -eq 0 ]
}
