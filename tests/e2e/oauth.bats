#!/usr/bin/env bats
# The recipes of examples/recipes: token endpoints and tokens signed here, against vendors that look at them closely.

load common

setup_file() { start_vendors; }
teardown_file() { stop_vendors; }
setup() { vendors_setup; }

SECRET='right %/+wörd'
HMAC_SECRET=right-secret-of-32-bytes-or-more

configure() {   # RECIPE [more keys]
  sed -n '/BEGIN PRIVATE KEY/,/END PRIVATE KEY/p' "$root/tests/support/test_keys.hpp" | sed '/END/q; s/.*-----BEGIN/-----BEGIN/' > rsa.pem
  { printf '%s\n' 'environment = "production"' '[channels.lane]' 'driver = "http"' 'retry = []' "url = \"$base/$1\"" \
      "recipe = \"$root/examples/recipes/$1.toml\""
    case $1 in
      oauth-client) printf '%s\n' "token_url = \"$base/$1/token\"" 'client_id = "shop:eu"' "client_secret = \"$SECRET\"" ;;
      oauth-assertion) printf '%s\n' "token_url = \"$base/$1/token\"" 'account = "shop@example.com"' 'key_id = "k1"' \
        'private_key = { file = "rsa.pem" }' ;;
      jwt) printf '%s\n' 'key = "shop"' "secret = \"$HMAC_SECRET\"" ;;
    esac
    printf '%s\n' "${2:-}"; } > "$config"
}

enqueue() { n enqueue --channel lane --to +821012345678 --body "$1"; expect 0; id=$out; }

deliver() {
  n relay
  expect 0
  n work --drain
}

state() { sql "SELECT coalesce((SELECT status FROM notification_inbox WHERE message_id = '$1'), 'none')"; }
logged() { grep -c "\"path\": \"/$1\"" "$log" || true; }
accepted() { grep -c '"accepted": true' "$log" || true; }

@test "client credentials, percent-encoded, bring one token for all messages and all runs" {
  configure oauth-client
  for i in 1 2 3; do enqueue "message $i"; done
  deliver
  expect 0
  enqueue "message 4"
  deliver
  expect 0
  [ "$(accepted)" -eq 4 ]
  [ "$(logged oauth-client/token)" -eq 1 ]
}

@test "a signed assertion brings a token" {
  configure oauth-assertion
  for i in 1 2 3; do enqueue "message $i"; done
  deliver
  expect 0
  [ "$(accepted)" -eq 3 ]
  [ "$(logged oauth-assertion/token)" -eq 1 ]
}

@test "each request has a token of its own where the vendor takes no other" {
  configure jwt
  for i in 1 2 3; do enqueue "message $i"; done
  deliver
  expect 0
  [ "$(accepted)" -eq 3 ]
}

@test "a token that was withdrawn is replaced once, and the message goes" {
  for recipe in oauth-client oauth-assertion; do
    : > "$log"
    configure "$recipe"
    export NOTIFYCTL_DB=$PWD/$recipe.db
    enqueue "first"
    deliver
    enqueue "REVOKE $recipe"
    deliver
    expect 0
    [ "$(state "$id")" = SENT ]
    [ "$(logged "$recipe/token")" -eq 2 ]
    [ "$(sql "SELECT calls FROM notification_inbox WHERE message_id = '$id'")" -eq 1 ]
  done
}

@test "refused credentials halt the lane, cost nothing, and stand nowhere" {
  for recipe in oauth-client oauth-assertion jwt; do
    : > "$log"
    SECRET='other %secret' HMAC_SECRET=other-secret-of-32-bytes-or-more configure "$recipe"
    sed -i 's/^key_id = .*/key_id = "k2"/' "$config"
    export NOTIFYCTL_DB=$PWD/$recipe.db
    enqueue "hello"
    deliver
    [ "$(accepted)" -eq 0 ]
    [ "$(wc -l < "$log")" -eq 1 ]
    n channel show lane
    contains "$out" "state: halted"
    n show "$id"
    lacks "$out" other
    lacks "$out" eyJ
    ! grep -aqE 'eyJ[A-Za-z0-9_-]{20}' ./*.db*
    [ "$(state "$id")" != FAILED ]
  done
}

@test "the request is shown without the token" {
  configure jwt
  n init
  n channel test lane --to +821012345678 --body hi --dry-run
  expect 0
  contains "$out" 'Authorization: Bearer ***'
  lacks "$out" eyJ
}

@test "a key that cannot sign is told before any message needs it" {
  configure oauth-assertion
  n init
  n check --offline
  expect 0
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out rsa.pem 2> /dev/null
  n check --offline
  expect 78
  contains "$out$err" "RS256 needs an RSA key"
  echo "not a key" > rsa.pem
  n check --offline
  expect 78
  contains "$out$err" "jwt.key"
  lacks "$out$err" "not a key"
  configure jwt
  sed -i 's/^secret = .*/secret = "short"/' "$config"
  n check --offline
  expect 78
  contains "$out$err" "at least 32 bytes"
}
