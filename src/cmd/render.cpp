#include "cmd/render.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/safe_text.hpp"

namespace notify {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15, East Asian Width W and F, in coarse blocks.
constexpr std::array kWide{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                           Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
                           Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
                           Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF},
                           Range{0x20000, 0x3FFFD}};
constexpr std::array kZeroWidth{Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x200B, 0x200F},
                                Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

template <class Ranges>
bool among(const Ranges& ranges, char32_t c) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

std::size_t width_of(char32_t c) noexcept {
  if (among(kZeroWidth, c)) return 0;
  return among(kWide, c) ? 2 : 1;
}

// The code point at the start of the text and its length; length 0 when the bytes are no UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};

CodePoint first_code_point(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(text[i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t have = display_width(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kLongestEscape = 6;  // "\u001b"
  return safe_text(text, text.size() * kLongestEscape);
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += width_of(point.value);
    text.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    used += width_of(point.value);
    if (used > columns - 1) break;
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out + "…";
}

std::string wrap(std::string_view paragraph, std::size_t width, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  std::string line;
  std::size_t at = 0;
  while (true) {
    at = paragraph.find_first_not_of(" \n", at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(paragraph.find_first_of(" \n", at), paragraph.size());
    const std::string_view word = paragraph.substr(at, end - at);
    at = end;
    const bool fits = indent + display_width(line) + 1 + display_width(word) <= width;
    if (!line.empty() && !fits) {
      out += margin + line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? out : out + margin + line;
}

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = display_width(columns_[i].heading);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
    widths.push_back(widest);
  }
  constexpr std::size_t kGap = 2;
  constexpr std::size_t kLeast = 8;
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  };
  // One column at a time, always the widest of those that may shrink.
  while (total() > width) {
    std::size_t victim = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].shrinks && widths[i] > kLeast && (victim == widths.size() || widths[i] > widths[victim]))
        victim = i;
    if (victim == widths.size()) break;
    --widths[victim];
  }

  std::string out;
  const auto print = [&](auto&& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line += pad(shorten(cell_of(i), widths[i]), widths[i], columns_[i].right) + std::string(kGap, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  print([&](std::size_t i) { return columns_[i].heading; });
  for (const auto& row : rows_) print([&](std::size_t i) { return row[i]; });
  return out;
}

std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json maybe(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

std::string show_age(std::int64_t seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 120 * 60) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " d";
}

std::string show_bytes(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace notify
