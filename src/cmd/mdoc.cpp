#include "cmd/mdoc.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "cmd/help.hpp"

namespace notify {
namespace {

constexpr std::size_t kLine = 78;
// Of the texts, not of the program: changes when they do.
constexpr std::string_view kDate = "November 29, 2026";

// Escapes for roff. Letters outside ASCII become named characters, so that every formatter shows them.
std::string escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (text.substr(i).starts_with("…")) {
      out += "...";
      i += 2;
    } else if (text.substr(i).starts_with("→")) {
      out += "\\(->";
      i += 2;
    } else if (text.substr(i).starts_with("≤")) {
      out += "\\(<=";
      i += 2;
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

bool looks_like_macro(std::string_view word) {
  return word.size() >= 2 && word.size() <= 3 && std::isupper(static_cast<unsigned char>(word[0])) != 0;
}

bool is_delimiter(std::string_view word) {
  return word.size() == 1 && std::string_view("([.,:;)]?!|").find(word[0]) != std::string_view::npos;
}

bool is_closing(char c) { return std::string_view(".,:;)]?!").find(c) != std::string_view::npos; }

}  // namespace

Mdoc::Mdoc(std::string_view name, int section, std::string_view summary) {
  std::string title(name);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  macro(".\\\" Made by \"notifyctl help --man-all\"; change the program, not this file.");
  macro(".Dd " + std::string(kDate));
  macro(".Dt " + title + " " + std::to_string(section));
  macro(".Os");
  this->section("NAME");
  macro(".Nm " + std::string(name));
  macro(".Nd " + escape(summary));
}

void Mdoc::macro(std::string_view line) {
  source_ += line;
  source_ += '\n';
}

void Mdoc::section(std::string_view heading) {
  macro(".Sh " + std::string(heading));
  after_heading_ = true;
}

void Mdoc::subsection(std::string_view heading) {
  macro(".Ss " + std::string(heading));
  after_heading_ = true;
}

void Mdoc::begin_list(std::string_view width) {
  macro(".Bl -tag -width " + std::string(width));
  after_heading_ = true;
}

void Mdoc::item(std::string_view tag) {
  macro(".It " + std::string(tag));
  after_heading_ = true;
}

void Mdoc::end_list() {
  macro(".El");
  after_heading_ = false;
}

void Mdoc::literal(std::string_view block) {
  macro(".Bd -literal -offset indent");
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string line = escape(block.substr(0, end));
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) line.insert(0, "\\&");
    macro(line);
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  macro(".Ed");
  after_heading_ = false;
}

std::string Mdoc::argument(std::string_view text) {
  std::string out = escape(text);
  const bool needs_guard = looks_like_macro(text) || is_delimiter(text);
  for (std::size_t at = out.find('"'); at != std::string::npos; at = out.find('"', at + 2)) out.insert(at, 1, '"');
  if (needs_guard) out.insert(0, "\\&");
  if (out.empty() || out.find_first_of(" \"") != std::string::npos) out = "\"" + out + "\"";
  return out;
}

std::string Mdoc::flag(std::string_view name) { return "Fl " + escape(name.substr(1)); }

// Words are put on lines; `literals` become .Ql lines with the punctuation that touches them.
void Mdoc::sentence(std::string_view words) {
  std::string line;
  const auto flush = [&] {
    if (line.empty()) return;
    if (line[0] == '.' || line[0] == '\'') line.insert(0, "\\&");
    macro(line);
    line.clear();
  };
  const auto put = [&](const std::string& word) {
    if (!line.empty() && line.size() + 1 + word.size() > kLine) flush();
    if (!line.empty()) line += ' ';
    line += word;
  };
  std::size_t at = 0;
  while (true) {
    at = words.find_first_not_of(" \n", at);
    if (at == std::string_view::npos) break;
    const std::size_t mark = words.find('`', at);
    std::size_t end = std::min(words.find_first_of(" \n", at), words.size());
    if (mark == std::string_view::npos || mark >= end) {
      put(escape(words.substr(at, end - at)));
      at = end;
      continue;
    }
    const std::size_t close = words.find('`', mark + 1);
    end = std::min(words.find_first_of(" \n", close), words.size());
    flush();
    const std::string_view before = words.substr(at, mark - at);
    std::string_view after = words.substr(close + 1, end - close - 1);
    std::string macro_line = ".Ql ";
    if (!before.empty()) macro_line = ".Ql " + std::string(before) + " ";
    macro_line += argument(words.substr(mark + 1, close - mark - 1));
    while (!after.empty() && is_closing(after.front())) {
      macro_line += std::string(" ") + after.front();
      after.remove_prefix(1);
    }
    if (!after.empty()) macro_line += " Ns No " + argument(after);
    macro(macro_line);
    at = end;
  }
  flush();
}

void Mdoc::text(std::string_view text) {
  for (std::string_view paragraph : paragraphs(text)) {
    if (!after_heading_) macro(".Pp");
    after_heading_ = false;
    // A sentence ends at . ! or ? before white space, outside `literals`.
    std::size_t start = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < paragraph.size(); ++i) {
      if (paragraph[i] == '`') quoted = !quoted;
      const bool ends = !quoted && (paragraph[i] == '.' || paragraph[i] == '!' || paragraph[i] == '?');
      if (ends && (i + 1 == paragraph.size() || std::isspace(static_cast<unsigned char>(paragraph[i + 1])) != 0)) {
        sentence(paragraph.substr(start, i + 1 - start));
        start = i + 1;
      }
    }
    sentence(paragraph.substr(start));
  }
}

}  // namespace notify
