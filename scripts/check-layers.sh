#!/usr/bin/env bash
# Dependencies point one way: cmd → core ← store, transport, channel, sys. Reads the sources and prints file:line of
# everything that breaks the rules below; exits 1 if there is any. Files over 450 lines are named, but allowed.
#
#   scripts/check-layers.sh [SOURCE_DIR]       (default: the project's)
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

find src tests -name '*.hpp' -o -name '*.cpp' 2> /dev/null | sort | xargs -r awk '
  function bad(why) { printf "%s:%d: %s\n", FILENAME, FNR, why; failed = 1 }

  BEGIN {
    # Which of our directories a layer may include. core and itself always; cmd is the composition root.
    may["cmd"] = "store transport channel sys"

    # Which layers may include a library, by the beginning of the header name. Not listed: everybody.
    owner["sqlite3"] = "store"
    owner["curl/"] = "sys"
    owner["spdlog/"] = owner["fmt/"] = "sys"
    owner["CLI/"] = "cmd"
    owner["absl/"] = "sys"
    owner["toml++/"] = "sys channel cmd"
    owner["openssl/"] = "sys channel"
    owner["ares"] = owner["nghttp2/"] = owner["zlib"] = "nobody"
    owner["notify_version"] = "cmd"
    owner["embedded/"] = "store sys cmd"
    # No input, no output in the core.
    owner["iostream"] = owner["fstream"] = owner["filesystem"] = "store transport channel sys cmd"
    owner["unistd.h"] = owner["fcntl.h"] = owner["sys/"] = "store transport channel sys cmd"
  }

  function has(list, word) { return index(" " list " ", " " word " ") > 0 }

  FNR == 1 {
    parts = split(FILENAME, path, "/")
    ours = path[1] == "src"
    layer = ours ? (parts > 2 ? path[2] : "main") : ""
    comment = 0; sawcode = 0; pragma = 0
    header = FILENAME ~ /\.hpp$/
  }

  # The first line of a header that is no comment is #pragma once.
  header && !sawcode && !/^[ \t]*(\/\/.*)?$/ {
    sawcode = 1
    if ($0 !~ /^#pragma once/) bad("a header starts with #pragma once")
  }

  ours && FNR == 451 { printf "%s:%d: note: over 450 lines: which concept is missing?\n", FILENAME, FNR }
  !ours { next }

  match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]+/) {
    name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*/, "", name)
    split(name, at, "/")
    system_header = $0 ~ /</
    if (!system_header && at[1] ~ /^(core|store|transport|channel|sys|cmd)$/) {
      if (layer == "main" ? at[1] != "cmd" : at[1] != layer && at[1] != "core" && !has(may[layer], at[1]))
        bad(layer " must not include " name)
    } else if (!system_header && name ~ /^\.\.?\//) {
      bad("include from src/ down, not " name)
    }
    # "sys/…" in quotes is our layer, <sys/…> the system.
    for (prefix in owner)
      if (index(name, prefix) == 1 && !(prefix == "sys/" && !system_header) && !has(owner[prefix], layer) &&
          (prefix ~ /[\/.]$|3$|^ares$|^zlib$|version$/ || name == prefix))
        bad(layer " must not include " name " (only: " owner[prefix] ")")
    next
  }

  /^[ \t]*\/\// { next }
  { code = $0; sub(/[ \t]\/\/.*/, "", code) }

  layer == "core" && code ~ /(_clock::now|[^_a-z](getenv|setenv|time|gettimeofday|clock_gettime|localtime|rand|srand)\(|random_device|sleep_for)/ {
    bad("core has no clock, environment or chance of its own: use the port")
  }
  # The manual shows the SQL contract to those who write it.
  layer != "store" && FILENAME !~ /\/man_texts/ && code ~ /"[^"]*(SELECT .* FROM |INSERT (OR [A-Z]+ )?INTO |UPDATE [a-z_]+ SET |DELETE FROM |CREATE (TABLE|INDEX) |BEGIN IMMEDIATE)/ {
    bad("SQL belongs into src/store")
  }
  code ~ /(^|[^a-z_.>:])(setlocale|getpwnam|getpwuid|iconv_open|setenv|putenv|system|popen|tmpnam)\(/ {
    bad("not in a static, threaded program: see cmake/host_modules.cpp")
  }

  END { exit failed }'
