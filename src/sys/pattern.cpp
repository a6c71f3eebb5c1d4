#include "core/pattern.hpp"

#include <re2/re2.h>

#include <string>

namespace notify {
namespace {

constexpr std::int64_t kMostMemory = 1024 * 1024;  // bytes of the compiled expression and of what is cached of it
constexpr std::size_t kLongestText = 64 * 1024;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Result<Pattern> Pattern::parse(std::string_view expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  auto compiled = std::make_shared<const re2::RE2>(piece(expression), options);
  if (!compiled->ok()) return fail(Code::kConfig, "is no regular expression: " + compiled->error());
  return Pattern(std::move(compiled));
}

bool Pattern::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text.substr(0, kLongestText)), *compiled_);
}

}  // namespace notify
