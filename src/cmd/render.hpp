#pragma once

// Text for terminals: what is safe to print, how wide it is, and how it is laid out.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace notify {

// One line of valid UTF-8 in which control characters are visible: foreign text cannot move the cursor.
std::string printable(std::string_view text);

// Columns that a terminal gives the text: wide characters take two, combining ones none.
std::size_t display_width(std::string_view text) noexcept;
// At most `columns` wide, with "…" where something was cut.
std::string shorten(std::string_view text, std::size_t columns);

// Paragraph filled to `width` columns, each line after `indent` spaces; ends without a line end.
std::string wrap(std::string_view paragraph, std::size_t width, std::size_t indent = 0);

// Rows under a heading, columns as wide as their widest cell, fitted to `width` by shortening the columns
// that may shrink. Cells are printable().
class Table {
 public:
  struct Column {
    std::string heading{};
    bool shrinks = false;
    bool right = false;  // numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row);
  bool empty() const noexcept { return rows_.empty(); }
  std::string text(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_{};
};

// One line of JSON; bytes that are not UTF-8 become U+FFFD instead of an exception.
std::string to_text(const nlohmann::ordered_json& json);

// The text; null when there is none.
nlohmann::ordered_json maybe(const std::string& text);

// "3 s", "12 min", "5 h", "9 d": an age at a glance.
std::string show_age(std::int64_t seconds);
// "1.5 MiB"
std::string show_bytes(std::int64_t bytes);

}  // namespace notify
