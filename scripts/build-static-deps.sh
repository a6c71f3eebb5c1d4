#!/usr/bin/env bash
# Builds the two static archives the distribution does not ship in a usable form, from the distribution's own source
# packages (its security patches included), into PREFIX:
#
#   scripts/build-static-deps.sh [PREFIX]        (default: $NOTIFYCTL_DEPS_DIR, else build/deps)
#
#   libcurl.a     Debian's needs Kerberos, which has no archive. Ours: HTTP/1 and 2, SMTP(S); OpenSSL, nghttp2, zlib;
#                 c-ares as resolver, because glibc's own loads the host's modules; no CA path of this machine inside
#   libsimdjson.a Debian ships only the shared library
#
# A rerun with nothing to do is instant and needs no network. Two runs at once wait for each other. A failed build
# leaves the old prefix, or none. The system's apt configuration and lists are read, never written.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(realpath -m "${1:-${NOTIFYCTL_DEPS_DIR:-$root/build/deps}}")
stamp="script $(sha256sum < "$0" | cut -c1-16) $(uname -m)"

up_to_date() { [ "$(head -n 1 "$prefix/STAMP" 2> /dev/null)" = "$stamp" ]; }
up_to_date && exit 0

mkdir -p "$(dirname "$prefix")"
exec 9> "$prefix.lock"
flock 9
up_to_date && exit 0

work=$(mktemp -d "$prefix.tmp.XXXXXX")
log=$prefix.log
finish() {
  local code=$?
  rm -rf "$work"
  [ $code = 0 ] || { tail -n 40 "$log"; echo "build-static-deps: failed; full log: $log"; } >&2
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
say() { echo "build-static-deps: $*"; echo "=== $*" >> "$log"; }
: > "$log"

# --- the sources ------------------------------------------------------------------------------------------------------

# This distribution's own archives, as source archives; other vendors' entries are left out.
derive_sources() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
  local etc=/etc/apt
  { cat "$etc/sources.list" "$etc"/sources.list.d/*.list 2> /dev/null || true; } | awk -v suite="^($codename|stable)([-/]|\$)" '
    $1 == "deb" && !/cdrom:/ {
      at = 2
      if ($2 ~ /^\[/) { while ($at !~ /\]$/) at++; at++ }      # deb [option=value …] uri suite component…
      if ($(at + 1) ~ suite) { $1 = "deb-src"; print }
    }' > "$work/apt/parts/one-line.list"
  for file in "$etc"/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    grep -v '^#' "$file"
    echo
  done | awk -v suite="(^|[ \t])($codename|stable)([-/ \t]|\$)" '
    BEGIN { RS = ""; FS = "\n" }
    {
      wanted = 0; text = ""
      for (i = 1; i <= NF; i++) {
        field = tolower($i)
        if (field ~ /^enabled:[ \t]*(no|false|0)/) next
        if (field ~ /^suites:/) wanted = ($i ~ suite)
        text = text (field ~ /^types:/ ? "Types: deb-src" : $i) "\n"
      }
      if (wanted) print text
    }' > "$work/apt/parts/stanzas.sources"
}

private_apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
    -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=600 "$@" < /dev/null >> "$log" 2>&1
}

command -v apt-get > /dev/null || { say "needs a Debian-like system (apt-get source)"; exit 1; }
mkdir -p "$work"/{apt/{parts,lists/partial,cache/archives/partial},src,out/{lib,include}}
derive_sources
say "fetching the source packages of curl and simdjson"
private_apt update
(cd "$work/src" && private_apt source curl simdjson)
version_of() { sed -n 's/^Version: //p' "$work/src/$1"_*.dsc; }

# --- the builds -------------------------------------------------------------------------------------------------------

jobs=$(nproc)
flags="-O2 -g -ffunction-sections -fdata-sections -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2"
flags+=" -ffile-prefix-map=$work=deps"
[ "$(uname -m)" != x86_64 ] || flags+=" -fcf-protection"

say "building libcurl.a $(version_of curl)"
cd "$work"/src/curl-*/
options=()
for option in BUILD_SHARED_LIBS BUILD_CURL_EXE BUILD_TESTING CURL_ENABLE_EXPORT_TARGET PICKY_COMPILER \
  ENABLE_UNIX_SOCKETS CURL_USE_LIBSSH2 CURL_USE_LIBSSH CURL_USE_LIBPSL CURL_USE_GSSAPI USE_LIBIDN2 \
  CURL_BROTLI CURL_ZSTD; do options+=("-D$option=OFF"); done
for option in OPENSSL_AUTO_LOAD_CONFIG ALTSVC COOKIES DICT DOH FILE FTP GETOPTIONS GOPHER HSTS IMAP LDAP LDAPS \
  LIBCURL_OPTION MQTT NETRC NTLM POP3 RTSP SMB TELNET TFTP; do options+=("-DCURL_DISABLE_$option=ON"); done
for option in CURL_USE_OPENSSL CURL_ZLIB USE_NGHTTP2 ENABLE_ARES ENABLE_IPV6; do options+=("-D$option=ON"); done
cmake -G Ninja -B "$work/curl" -S . -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" \
  -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none "${options[@]}" >> "$log" 2>&1
cmake --build "$work/curl" -j "$jobs" --target libcurl >> "$log" 2>&1
cp "$work/curl/lib/libcurl.a" "$work/out/lib/"
mkdir "$work/out/include/curl"
cp include/curl/*.h "$work/out/include/curl/"

say "building libsimdjson.a $(version_of simdjson)"
cd "$work"/src/simdjson-*/singleheader
c++ -std=c++17 $flags -c simdjson.cpp -o "$work/simdjson.o" >> "$log" 2>&1
ar rcs "$work/out/lib/libsimdjson.a" "$work/simdjson.o"
cp simdjson.h "$work/out/include/"

# --- done: take the place of the old prefix in one step ---------------------------------------------------------------

printf '%s\ncurl %s\nsimdjson %s\n' "$stamp" "$(version_of curl)" "$(version_of simdjson)" > "$work/out/STAMP"
cd "$root"
[ ! -e "$prefix" ] || mv "$prefix" "$work/old"
mv "$work/out" "$prefix"
say "ready: $prefix"
