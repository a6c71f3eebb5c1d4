#!/usr/bin/python3
"""Runs clang-tidy over src/, on all cores, and remembers what was clean.

    scripts/tidy.py BUILD_DIR [CHECKS…]

CHECKS are added to those of .clang-tidy. BUILD_DIR must be built: ninja knows from it which headers a source reads.
What BUILD_DIR compiles at once is looked at at once: of a unity build ten sources, for which the libraries' headers are
read once. It is looked at again when one of its sources or headers of ours, its compile command, .clang-tidy or
clang-tidy itself has changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy"
# Flags that only g++ knows are no reason to complain; and clang 14 sees a null pointer in each defaulted
# <=>, and a string that becomes a bool in ASSERT(!"why").
EXTRA = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-zero-as-null-pointer-constant",
         "--extra-arg=-Wno-string-conversion"]
# A unity build includes sources for a living.
UNITY_CHECKS = "-bugprone-suspicious-include"


def headers_by_object(build):
    """{object file: [files of ours it was compiled from]} from ninja's dependency log."""
    deps, current = {}, None
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout.splitlines():
        if line and not line.startswith(" "):
            current = deps.setdefault(line.split(":")[0], [])
        elif line.strip():
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
    return deps


def sources_of(unit):
    """What is compiled with this file: the file itself, or the sources that CMake has made a unity build of."""
    if unit.parent.name != "Unity":
        return [unit]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.*)"', unit.read_text(), re.MULTILINE)]


def digest(base, command, files):
    key = hashlib.sha256(base)
    key.update(command.encode())
    for path in sorted(files):
        key.update(str(path).encode())
        key.update(path.read_bytes() if path.exists() else b"")
    return key.hexdigest()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cache = ROOT / "build" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    extra = EXTRA + ["--checks=" + ",".join([UNITY_CHECKS, *sys.argv[2:]])]
    base = version + (ROOT / ".clang-tidy").read_bytes() + repr(extra).encode()
    deps = headers_by_object(build)

    todo, seen = [], set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["file"])
        sources = sources_of(unit) if unit.exists() else []
        ours = all(source.is_relative_to(ROOT / "src") for source in sources)
        if not sources or not ours or seen.issuperset(sources):
            continue
        seen.update(sources)
        words = shlex.split(entry["command"])
        stamp = cache / digest(base, entry["command"], {unit, *sources, *deps.get(words[words.index("-o") + 1], [])})
        if not stamp.exists():
            todo.append((unit, stamp, sum(source.stat().st_size for source in sources)))

    def tidy(item):
        unit, stamp, _ = item
        done = subprocess.run([TIDY, "-p", build, *extra, unit], capture_output=True, text=True)
        if done.returncode == 0:
            stamp.touch()
            return ""
        return done.stdout or done.stderr

    failed = 0
    # The largest first, so that no core is left alone with it at the end.
    todo.sort(key=lambda item: -item[2])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for output in pool.map(tidy, todo):
            if output:
                failed += 1
                print(output, flush=True)
    print(f"clang-tidy: {len(seen)} files, {len(todo)} translation units looked at, {failed} with findings")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
