#!/bin/sh
# Fetches the results that BizPpurio keeps (an option of the contract) and tells it which were taken. From cron, every few
# minutes; the vendor blocks those who ask too often. Needs curl and jq.
#
#   bizppurio-poll.sh ACCOUNT PASSWORD_FILE [URL]

set -eu
NOTIFYCTL=${NOTIFYCTL:-/usr/local/bin/notifyctl}
account=$1
password_file=$2
url=${3:-https://api.bizppurio.com}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Secrets go to curl by its standard input: arguments can be read by everybody on the machine.
call() {   # CURL_CONFIG PATH BODY
  printf '%s\n' "$1" | curl --silent --show-error --fail --max-time 30 --config - \
    --header 'Content-Type: application/json' --data-binary "$3" "$url$2"
}

quoted() { jq -Rr '"\"" + (gsub("\\\\"; "\\\\") | gsub("\""; "\\\"")) + "\""'; }

basic=$(printf '%s:%s' "$account" "$(cat "$password_file")" | quoted)
token=$(call "user = $basic" /v1/token '{}' | jq -er .accesstoken)
login="header = \"Authorization: Bearer $token\""

while :; do
  call "$login" /v1/result/request "$(jq -n --arg account "$account" '{account: $account}')" > "$work/report"
  [ "$(jq '.report | length' "$work/report")" -gt 0 ] || break
  # Taken and on the disk before it is confirmed; the same result twice does nothing.
  "$NOTIFYCTL" reconcile --receipts "$work/report" --format bizppurio || [ $? -eq 1 ]
  jq -c --arg account "$account" '{account: $account, msgid: [.report[] | {msgid}]}' "$work/report" > "$work/confirm"
  call "$login" /v1/result/confirm "@$work/confirm" > "$work/confirmed"
done
