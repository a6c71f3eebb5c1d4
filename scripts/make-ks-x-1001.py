#!/usr/bin/env python3
"""Writes src/core/ks_x_1001.cpp: which characters EUC-KR (KS X 1001) can hold, from Python's own codecs.

    scripts/make-ks-x-1001.py > src/core/ks_x_1001.cpp

One bit a character of the basic plane, in words of 64. CP949 holds the same characters and every Hangul syllable; this
script fails when that is not so.
"""
import sys


def held(codec, code):
    try:
        encoded = chr(code).encode(codec)
    except UnicodeEncodeError:
        return False
    return len(encoded) == 2  # the codec spells other syllables with eight bytes, which no phone understands


euc_kr = {code for code in range(0x80, 0x10000) if held("euc_kr", code)}
cp949 = {code for code in range(0x80, 0x10000) if held("cp949", code)}
if cp949 != euc_kr | set(range(0xAC00, 0xD7A4)):
    sys.exit("CP949 is not KS X 1001 and the Hangul syllables")

words = [sum(1 << bit for bit in range(64) if word * 64 + bit in euc_kr) for word in range(1024)]
print("// Made by scripts/make-ks-x-1001.py.\n")
print('#include "core/ks_x_1001.hpp"\n')
print("namespace notify {\n")
print("// clang-format off")
print("const std::array<std::uint64_t, 1024> kKsX1001{")
for row in range(0, 1024, 5):
    print("  " + " ".join(f"0x{word:X}," for word in words[row:row + 5]))
print("};")
print("// clang-format on\n")
print("}  // namespace notify")
