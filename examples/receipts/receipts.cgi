#!/bin/sh
# Takes what vendors post about messages. One script for all: the last part of the URL is the recipe.
#
#   https://example.com/cgi-bin/receipts.cgi/bizppurio        (make the URL hard to guess where the vendor does not sign)
#
# The web server runs it (RFC 3875). It must be allowed to write the database, and to read the settings' secrets.
# RECEIPT_URL is set where the vendor signs the URL and a proxy stands before the web server.

NOTIFYCTL=${NOTIFYCTL:-/usr/local/bin/notifyctl}
recipe=${PATH_INFO#/}

answer() {
  printf 'Status: %s\r\nContent-Type: text/plain\r\n\r\n%s\n' "$1" "$2"
  exit 0
}

case $recipe in
  '' | *[!a-z0-9-]*) answer '404 Not Found' 'no such recipe' ;;
esac
[ "$REQUEST_METHOD" = POST ] || answer '405 Method Not Allowed' 'POST only'
[ "${CONTENT_LENGTH:-0}" -le 4194304 ] || answer '413 Content Too Large' 'too large'

NOTIFYCTL_RECEIPT_URL=${RECEIPT_URL:-${REQUEST_SCHEME:-https}://$HTTP_HOST$REQUEST_URI}
export NOTIFYCTL_RECEIPT_URL

# 0 and 1: taken, as far as it could be read. What the vendor should send again gets a 5xx.
head -c "${CONTENT_LENGTH:-0}" | "$NOTIFYCTL" reconcile --receipts - --format "$recipe" >&2
case $? in
  0 | 1) answer '200 OK' 'ok' ;;
  64 | 65) answer '400 Bad Request' 'not understood' ;;
  77) answer '403 Forbidden' 'signature' ;;
  *) answer '503 Service Unavailable' 'try again' ;;
esac
