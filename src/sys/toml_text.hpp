#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "sys/toml.hpp"

namespace notify {

// A TOML document from its text. A fault in it is kConfig, "SOURCE:LINE:COLUMN: what", with `hint`.
Result<toml::table> parse_toml(std::string_view text, const std::string& source, std::string hint = {});

}  // namespace notify
