// The table of modes: names, what they preset, and what their positional arguments mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "behaviour.hpp"

namespace stub {

struct Mode {
  std::string_view name;
  Kind kind;
  std::string_view presets;                 // key=value words
  std::vector<std::string_view> arguments;  // keys of the positional arguments
  std::string_view help;
};

const std::vector<Mode>& all_modes();

// Case does not matter and the prefixes H- and S- of the design documents are known.
const Mode* find_mode(std::string_view name);

// Ready-made answer bodies: euc-kr, bad-utf8, cut-utf8, html, cut-json, not-ok. Throws on other names.
std::string sample_body(std::string_view name);

}  // namespace stub
