#!/bin/bash
# Proves each mode of the stub against the curl tool. Prints TAP.
#   selftest.sh path/to/vendor_stub
# Needs curl and openssl; nghttp (package nghttp2-client) and strace are used if they are there.
set -u

stub=${1:?usage: selftest.sh path/to/vendor_stub}
stub=$(realpath "$stub")
dir=$(mktemp -d)
pid=""
count=0
failed=0

cleanup() {
  [ -n "$pid" ] && kill "$pid" 2>/dev/null
  rm -rf "$dir"
}
trap cleanup EXIT
cd "$dir" || exit 1

# ok NAME COMMAND… : one test point
ok() {
  local name=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $name"
  else
    failed=$((failed + 1))
    echo "not ok $count - $name"
    echo "# ${last:-}"
  fi
}
skip() {
  count=$((count + 1))
  echo "ok $count - $1 # SKIP $2"
}
is() { last="got '$1', wanted '$2'"; [ "$1" = "$2" ]; }
like() { last="got '$1', wanted *$2*"; [[ "$1" == *"$2"* ]]; }
between() { last="got $1, wanted $2 to $3"; awk "BEGIN{exit !($1 >= $2 && $1 <= $3)}"; }

# start ARGS… : a fresh stub with an empty log; sets port, url and pid
start() {
  stop
  rm -f log port control out
  "$stub" --parent-death --log log --port-file port --control 127.0.0.1:0 --control-port-file control "$@" \
    >out 2>err &
  pid=$!
  for _ in $(seq 200); do [ -s port ] && break; sleep 0.02; done
  port=$(cat port 2>/dev/null)
  url=http://127.0.0.1:$port
  control_url=http://127.0.0.1:$(cat control 2>/dev/null)
}
stop() {
  [ -n "$pid" ] || return 0
  kill "$pid" 2>/dev/null
  wait "$pid"
  stopped=$?
  pid=""
}

# post ARGS… : prints "rc http"
post() {
  local body='{"to":"+821012345678","message_id":"m1"}'
  curl -gs -m 30 -o answer -w '%{exitcode} %{http_code}' -d "$body" "$@" 2>/dev/null | sed 's/ 000/ 0/'
}
lines() { wc -l <log | tr -d ' '; }
logged() { grep -c -- "$1" log; }

# mode NAME EXPECTED-RC-AND-STATUS EXPECTED-LOG-LINES [curl args]
mode() {
  local before after result spec=$1 wanted=$2 added=$3
  shift 3
  before=$(lines)
  result=$(post "$@" "$url/$spec")
  after=$(lines)
  ok "$spec $*" is "$result, $((after - before)) logged" "$wanted, $added logged"
}

yes vendor | head -c 20000000 >big
yes vendor | head -c 5000000 >middle

# --- plain HTTP/1.1, by path
start
mode ok "0 200" 1
mode H-OK "0 200" 1
mode send "0 200" 1
mode slow:0.2 "0 200" 1
mode hang "28 0" 1 -m 0.5
mode rst "56 0" 1
mode H-RST "56 0" 1
mode close "52 0" 1
mode half-status "52 0" 1
mode cut-head "0 200" 1
mode cut-body "18 200" 1
mode cut-body-rst "56 200" 1
mode not-http "1 0" 1
mode 'raw?bytes=HTTP/1.0%20299%20x%0d%0a%0d%0ahello' "0 299" 1
mode head-rst "56 0" 0
mode accept-rst "56 0" 0
mode never-read "28 0" 0 -m 0.5
mode drip:0.05 "28 200" 1 -m 0.5
ok "drip sends some bytes" between "$(wc -c <answer)" 1 9
mode drip-head:0.05 "28 0" 1 -m 0.5
mode code:503 "0 503" 1
mode code:204 "0 204" 1
mode 'code:599?reason=caf%e9' "0 599" 1
mode redirect:307?location=http://169.254.169.254/ "0 307" 1
mode endless:3000000 "0 200" 1
ok "endless:3000000 has that many bytes" is "$(wc -c <answer)" 3000000
mode endless "28 200" 1 -m 0.5
ok "endless goes on" between "$(wc -c <answer)" 3000000 1e12
mode early "0 413" 0 --data-binary @big
mode early:400 "0 400" 0
mode body-rst "56 0" 0 -H Expect: --data-binary @middle
mode ok "0 200" 1 --data-binary @big
mode never-read "28 0" 0 -m 1 -H Expect: --data-binary @big
mode ok "0 200" 1 -H 'Transfer-Encoding: chunked'
mode ok "0 200" 1 -H 'Expect: 100-continue'

# --- bodies and headers
for sample in euc-kr bad-utf8 cut-utf8 html cut-json not-ok; do mode "code:500?sample=$sample" "0 500" 1; done
post "$url/code:500?sample=bad-utf8" >/dev/null
ok "bad-utf8 really is" is "$(iconv -f utf-8 -t utf-8 answer >/dev/null 2>&1; echo $?)" 1
post "$url/code:500?sample=euc-kr" >/dev/null
ok "euc-kr really is" like "$(iconv -f euc-kr -t utf-8 answer)" "오류가 발생했습니다"
post "$url/ok?body=%25{id}/%25{to}" >/dev/null
ok "templates in bodies" is "$(cat answer)" "m1/+821012345678"
retry_after() {
  curl -s -D- -o /dev/null -d x "$url/retry-after:$1" | tr -d '\r' | sed -n 's/^Retry-After: //p'
}
ok "Retry-After in seconds" is "$(retry_after 7)" 7
ok "Retry-After fractional" is "$(retry_after 0.299)" 0.299
ok "Retry-After garbage" is "$(retry_after soon%21)" "soon!"
seconds_from_now() { echo $(($(date -d "$(retry_after "$1")" +%s) - $(date +%s))); }
ok "Retry-After date in the future" between "$(seconds_from_now date%2b60)" 58 61
ok "Retry-After date in the past" between "$(seconds_from_now date-60)" -62 -59

# --- reused connections: libcurl sends again by itself, the log tells
twice() {
  local report='%{exitcode} %{http_code};'
  curl -s -m 30 --cacert ca/ca.pem -o answer -o answer -w "$report" -d x "$url/$1" "$url/$1" |
    sed 's/ 000/ 0/'
}
for name in rst2 close2; do
  before=$(lines)
  ok "$name: curl sees two successes" is "$(twice $name)" "0 200;0 200;"
  ok "$name: three requests logged" is "$(($(lines) - before))" 3
done
idle() { curl -s -o /dev/null -d x "$url/$1" --next -s -o /dev/null -w '%{num_connects}' -d x "$url/ok"; }
ok "idle-close: new connection for the next" is "$(idle idle-close)" 1
ok "ok: connection reused" is "$(idle ok)" 0

# --- log content
start --all-headers
printf '{"to":"\\uac00","message_id":"q\\"1","x":"\xff\\n"}' >body
curl -s -o /dev/null --data-binary @body "$url/a?b=c"
ok "id and to come from the body" like "$(cat log)" '"id":"q\"1"'
ok "escapes in the body are decoded for to" like "$(cat log)" '"to":"가"'
ok "a body that is not UTF-8 is kept in base64" like "$(cat log)" '"body_b64":"eyJ0byI6Ilx1YWMwMCIs'
curl -s -o /dev/null -d 'To=%2B8210&Body=x' -H 'Idempotency-Key: k 1' -H 'X-Extra: 1' "$url/form"
ok "forms give the recipient, headers the id" like "$(tail -1 log)" '"id":"k 1"'
ok "form recipient" like "$(tail -1 log)" '"to":"+8210"'
ok "all headers" like "$(tail -1 log)" '["X-Extra","1"]'
start --no-body
post "$url/x" >/dev/null
ok "--no-body leaves the body out" is "$(logged '"body')" 0
if command -v strace >/dev/null; then
  stop
  rm -f port
  strace -o trace -e trace=recvfrom,write,sendto "$stub" --log log --port-file port >out 2>err &
  pid=$!
  for _ in $(seq 200); do [ -s port ] && break; sleep 0.02; done
  curl -s -o /dev/null -d x "http://127.0.0.1:$(cat port)/x"
  kill "$(pgrep -P $pid)" 2>/dev/null
  order=$(grep -oE '^(recvfrom|write|sendto)\([0-9]+, "(POST|\{.{2}seq|HTTP)' trace | cut -d'(' -f1 | xargs)
  pid=""
  wait
  ok "read, then log, then answer" is "$order" "recvfrom write sendto"
else
  skip "read, then log, then answer" "no strace"
fi

# --- rules
cat >rules <<'RULES'
# comment
to=+8210* status=503 times=2 retry-after=1
path=/every* every=3 status=500
path=/each status=503 times=1 per=id
path=/skip skip=1 times=1 mode=close
conn=1000 mode=accept-rst
body-has=poison mode=code:400
RULES
start --rules rules
codes() { for _ in $(seq "$1"); do curl -s -o answer -w '%{http_code} ' -d "$2" "$url/$3"; done; }
ok "to= times=2" is "$(codes 3 '{"to":"+82101"}' x)" "503 503 200 "
ok "every=3" is "$(codes 6 x every)" "200 200 500 200 200 500 "
ok "per=id, first" is "$(codes 2 '{"message_id":"a"}' each)" "503 200 "
ok "per=id, another" is "$(codes 2 '{"message_id":"b"}' each)" "503 200 "
ok "skip=1" is "$(codes 3 x skip)" "200 000 200 "
ok "body-has=" is "$(codes 1 'a poison b' x)" "400 "
ok "bad rules are refused" is "$("$stub" --rule 'status=abc' 2>/dev/null; echo $?)" 2
start --rule 'conn=2 mode=accept-rst' --rule 'conn=3 mode=accept-close'
ok "conn= picks connections" is "$(codes 4 x y)" "200 000 000 200 "

# --- default modes that act on the bare connection
start --mode accept-rst
ok "accept-rst" like " 56 0 7 0 " " $(post "$url/x") "
start --mode accept-close
ok "accept-close" like " 52 0 55 0 56 0 " " $(post "$url/x") "
start --mode first-rst
ok "first-rst" is "$(post "$url/x")" "56 0"
start --mode first-close
ok "first-close" is "$(post "$url/x")" "52 0"
start --mode unread-close
ok "unread-close" is "$(post "$url/x")" "56 0"
start --mode code:407
ok "a proxy that refuses CONNECT" is "$(post -p -x "$url" http://vendor.test/)" "56 0"
start --mode accept-hang
ok "accept-hang" is "$(post -m 0.5 "$url/x")" "28 0"
start --mode "H-SLOW 0.3"
ok "H-SLOW 0.3" between "$(curl -s -o /dev/null -w '%{time_total}' -d x "$url/x")" 0.3 2
start --mode "H-CODE 418 header='X-A: b' body=tea"
ok "H-CODE c h b" like "$(curl -s -i -d x "$url/x" | tr -d '\r' | xargs)" \
  "HTTP/1.1 418 Status X-A: b Content-Length: 3 tea"
start --mode "die2"
ok "die2: the second request kills the stub, curl cannot connect again" is "$(twice x)" "0 200;7 0;"
ok "die2: but it was logged" is "$(lines)" 2

# --- latency, failures
start --latency 40ms±10ms,uniform --seed 7
for _ in $(seq 30); do curl -s -o /dev/null -w '%{time_total}\n' -d x "$url/x"; done >durations
ok "uniform latency, mean" between "$(awk '{s+=$1}END{print s/NR}' durations)" 0.035 0.2
ok "uniform latency, least" between "$(sort -n durations | head -1)" 0.029 0.1
start --fail 0.3:503 --fail 0.1:rst --seed 3
codes 100 x x >first
ok "failures by chance: 503" between "$(grep -o 503 first | wc -l)" 18 42
ok "failures by chance: rst" between "$(grep -o 000 first | wc -l)" 2 18
start --fail 0.3:503 --fail 0.1:rst --seed 3
codes 100 x x >second
ok "the seed makes them the same" is "$(cat second)" "$(cat first)"

# --- control
start --mode hang
ok "POST /__stub/mode" like "$(curl -s -d 'code:500' "$url/__stub/mode")" '"ok":true'
ok "and it is in force" is "$(post "$url/x")" "0 500"
ok "a bad mode is refused" like "$(curl -s -d 'nonsense' "$url/__stub/mode")" '"ok":false'
curl -s -o /dev/null --data-binary @rules "$url/__stub/rules"
ok "POST /__stub/rules" is "$(codes 1 '{"to":"+82101"}' x)" "503 "
ok "stats" like "$(curl -s "$url/__stub/stats")" '"requests":2'
curl -s -o /dev/null -d 'accept-hang' "$control_url/__stub/mode"
ok "accept-hang is in force" is "$(post -m 0.3 "$url/x")" "28 0"
curl -s -o /dev/null -d ok "$control_url/__stub/mode"
ok "control has a port of its own" is "$(codes 1 x x)" "200 "
ok "control requests are not logged" is "$(logged __stub)" 0
stop
ok "SIGTERM ends it with 0" is "$stopped" 0
ok "and a closing line" like "$(tail -1 out)" '"requests":3'

# --- summary
start
for id in a b c b; do curl -s -o /dev/null -H "webhook-id: $id" -d x "$url/ok"; done
curl -s -o /dev/null -H "webhook-id: z" -d x "$url/code:503"
curl -s -o /dev/null -H "webhook-id: z" -d x "$url/ok"
summary() { "$stub" --summary log "$@" >answer; echo $?; }
ok "duplicates are an error" is "$(summary)" 1
ok "counts" like "$(cat answer)" '"requests":6,"with_id":6,"distinct":4,"duplicates":2,"taken_duplicates":1'
ok "--max-per" is "$(summary --max-per 60s; grep -o '"max_per_span":6' answer)" $'1\n"max_per_span":6'
grep -v '"id":"b"' log >clean
ok "--ignore-refused" is "$("$stub" --summary clean --ignore-refused --expect 3 >/dev/null; echo $?)" 0
ok "--expect" is "$("$stub" --summary clean --ignore-refused --expect 4 >/dev/null; echo $?)" 1

# --- TLS
start --tls --self-signed ca
tls() { post --cacert ca/ca.pem "$@"; }
url=https://localhost:$port
for version in --http1.1 --http2; do
  mode ok "0 200" 1 --cacert ca/ca.pem $version
  mode hang "28 0" 1 -m 0.5 --cacert ca/ca.pem $version
  mode code:503 "0 503" 1 --cacert ca/ca.pem $version
  mode cut-body "18 200" 1 --cacert ca/ca.pem $version
  mode endless:3000000 "0 200" 1 --cacert ca/ca.pem $version
  mode drip:0.05 "28 200" 1 -m 0.5 --cacert ca/ca.pem $version
  mode early "0 413" 0 --cacert ca/ca.pem $version --data-binary @big
  mode ok "0 200" 1 --cacert ca/ca.pem $version --data-binary @big
done
mode rst "56 0" 1 --cacert ca/ca.pem --http1.1
mode close "52 0" 1 --cacert ca/ca.pem --http1.1
mode half-status "52 0" 1 --cacert ca/ca.pem --http1.1
mode cut-head "0 200" 1 --cacert ca/ca.pem --http1.1
s_client() { openssl s_client -connect "localhost:$port" -CAfile ca/ca.pem "$@" </dev/null 2>/dev/null; }
ok "openssl s_client agrees on h2" like "$(s_client -alpn h2)" "ALPN protocol: h2"
ok "and verifies the chain" like "$(s_client -verify_return_error)" "Verify return code: 0 (ok)"

# --- HTTP/2
h2=(--cacert ca/ca.pem --http2)
mode h2-refused "56 0" 6 "${h2[@]}"
mode h2-refused:2 "0 200" 3 "${h2[@]}"
mode h2-error "92 0" 1 "${h2[@]}"
mode h2-cancel "92 0" 1 "${h2[@]}"
mode h2-no-error "92 0" 1 "${h2[@]}"
mode h2-downgrade "0 200" 2 "${h2[@]}"
mode h2-goaway "16 0" 1 "${h2[@]}"
mode h2-goaway:1:equal "18 0" 1 "${h2[@]}"
mode h2-goaway:1:above "18 0" 1 "${h2[@]}"
mode 'h2-goaway:1:equal?answer=yes' "0 200" 1 "${h2[@]}"
mode h2-calm "16 0" 1 "${h2[@]}"
mode close "18 0" 1 "${h2[@]}"
ok "rst kills the connection" like " 55 0 56 0 " " $(tls --http2 "$url/rst") "
before=$(lines)
ok "h2 rst2: curl sees two successes" is "$(twice rst2)" "0 200;0 200;"
ok "h2 rst2: three requests logged" is "$(($(lines) - before))" 3
ok "h2-goaway:2, first answered, second not" is "$(twice h2-goaway:2)" "0 200;16 0;"
ok "stats over h2" like "$(curl -s "${h2[@]}" "$url/__stub/stats")" '"requests"'
if command -v nghttp >/dev/null; then
  ok "nghttp sees GOAWAY ENHANCE_YOUR_CALM" like "$(nghttp -v "$url/h2-calm" 2>/dev/null)" "ENHANCE_YOUR_CALM"
  ok "nghttp sees REFUSED_STREAM" like "$(nghttp -v "$url/h2-refused" 2>/dev/null)" "REFUSED_STREAM"
else
  skip "nghttp" "not installed"
fi

# --- TLS that goes wrong
for kind in wrong-host expired future unknown-ca; do
  start --tls --self-signed ca --cert-kind $kind
  ok "certificate: $kind" is "$(tls "https://localhost:$port/x")" "60 0"
done
start --tls --self-signed ca --mode tls-hang
ok "tls-hang" is "$(tls -m 0.5 "https://localhost:$port/x")" "28 0"
start --tls --self-signed ca --mode tls-rst
ok "tls-rst" is "$(tls "https://localhost:$port/x")" "35 0"
start --tls --self-signed ca --mode tls-close
ok "tls-close" is "$(tls "https://localhost:$port/x")" "35 0"
start --tls --self-signed ca --no-h2
version=$(curl -s --cacert ca/ca.pem -o /dev/null -w '%{http_version}' "https://localhost:$port/x")
ok "--no-h2" is "$version" 1.1

# --- SMTP
printf 'Subject: x\r\nMessage-ID: <a@b>\r\n\r\n.\r\n.x\r\n..x\r\nend\r\n' >mail
mail() {
  local report='%{exitcode} %{http_code}'
  timeout 20 curl -s --mail-from a@x.test -T mail -w "$report" "$@" 2>/dev/null | sed 's/ 000/ 0/'
}
smtp() { mail --url "smtp://127.0.0.1:$port" "$@"; }
start --protocol smtp
ok "S-LOG" is "$(smtp --mail-rcpt b@x.test --mail-rcpt c@x.test)" "0 250"
ok "raw bytes with their stuffing" like "$(cat log)" \
  '"body":"Subject: x\r\nMessage-ID: <a@b>\r\n\r\n..\r\n..x\r\n...x\r\nend\r\n"'
ok "recipients" like "$(cat log)" '"rcpt":["b@x.test","c@x.test"]'
ok "the id is the Message-ID" like "$(cat log)" '"id":"<a@b>"'
start --protocol smtp --mode S-DOTHANG
# Not -m: after it, curl would still wait two minutes for the answer to its QUIT.
timeout 1 curl -s --url "smtp://127.0.0.1:$port" --mail-from a@x.test --mail-rcpt b@x.test -T mail
ok "S-DOTHANG logs" is "$(lines)" 1
start --protocol smtp --mode S-RCPT
ok "S-RCPT, others" is "$(smtp --mail-rcpt b@x.test)" "0 250"
ok "S-RCPT, bad@" is "$(smtp --mail-rcpt bad@x.test)" "55 550"
ok "S-RCPT, both" is "$(smtp --mail-rcpt-allowfails --mail-rcpt bad@x.test --mail-rcpt b@x.test)" "0 250"
start --protocol smtp --mode 'smtp-reply:mail text="451 caf\xe9"'
ok "smtp-reply:mail" is "$(smtp --mail-rcpt b@x.test)" "55 451"
start --protocol smtp --mode smtp-hang:banner
ok "smtp-hang:banner" is "$(smtp -m 1 --mail-rcpt b@x.test)" "28 0"
start --protocol smtp --mode smtp-close:data
ok "smtp-close:data" like "$(smtp --mail-rcpt b@x.test)" "56"
ok "nothing logged before the dot" is "$(lines)" 0
start --protocol smtp --mode smtp-rst:dot
ok "smtp-rst:dot" like "$(smtp --mail-rcpt b@x.test)" "56"
ok "smtp-rst:dot logs" is "$(lines)" 1
start --protocol smtp --rule 'to=x@* mode=smtp-reply:rcpt text="450 later" times=1'
ok "SMTP rule, first" is "$(smtp --mail-rcpt x@x.test)" "55 450"
ok "SMTP rule, used up" is "$(smtp --mail-rcpt x@x.test)" "0 250"
start --protocol smtp --starttls --self-signed ca
secure_smtp() { mail --url "smtp://localhost:$port" --ssl-reqd --cacert ca/ca.pem "$@"; }
ok "STARTTLS" is "$(secure_smtp --user u:p --mail-rcpt b@x.test)" "0 250"
ok "AUTH is logged as received" like "$(cat log)" '"authorization":"PLAIN AHUAcA=="'
start --protocol smtp --tls --self-signed ca
ok "SMTPS" is "$(mail --url "smtps://localhost:$port" --cacert ca/ca.pem --mail-rcpt b@x.test)" "0 250"

# --- the process
stop
bash -c '"$0" --parent-death >orphan & sleep 0.3' "$stub"
sleep 0.3
ok "--parent-death" like "$(tail -1 orphan)" '{"requests":0'

echo "1..$count"
[ "$failed" = 0 ]
