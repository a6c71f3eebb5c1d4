#pragma once

#include <memory>
#include <string_view>

#include "core/error.hpp"

namespace re2 {
class RE2;
}

namespace notify {

// A regular expression in RE2's syntax: it has no back references, so looking for it takes time in proportion to the
// text, whatever text a vendor sends. Implemented in sys/pattern.cpp. Immutable, thread-safe; copies share it.
class Pattern {
 public:
  // An error (kConfig) says what is wrong with the expression.
  static Result<Pattern> parse(std::string_view expression);

  // Whether it is anywhere in the text; `^` and `$` in it are the text's ends. Of a long text the first 64 KiB are looked
  // at.
  bool found_in(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace notify
