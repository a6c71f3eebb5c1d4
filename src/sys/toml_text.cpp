#include "sys/toml_text.hpp"

#include <utility>

namespace notify {

Result<toml::table> parse_toml(std::string_view text, const std::string& source, std::string hint) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    return fail(Code::kConfig,
                source + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
                    std::string(error.description()),
                std::move(hint));
  }
}

}  // namespace notify
