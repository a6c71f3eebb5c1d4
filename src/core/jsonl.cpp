#include "core/jsonl.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json_text.hpp"
#include "core/near_miss.hpp"
#include "core/safe_text.hpp"
#include "core/text_encoding.hpp"

namespace notify {
namespace {

// A member whose value is a string goes into its field; the others are read in their own ways.
struct Member {
  std::string_view name;
  std::optional<std::string_view> EnqueueFields::*field = nullptr;
};
constexpr std::array kMembers{Member{"channel", &EnqueueFields::channel},
                              Member{"to", &EnqueueFields::to},
                              Member{"key", &EnqueueFields::key},
                              Member{"kind", &EnqueueFields::kind},
                              Member{"category", &EnqueueFields::category},
                              Member{"subject", &EnqueueFields::subject},
                              Member{"body", &EnqueueFields::body},
                              Member{"html", &EnqueueFields::html},
                              Member{"alt", &EnqueueFields::alt},
                              Member{"data"},
                              Member{"template", &EnqueueFields::template_name},
                              Member{"vars"},
                              Member{"not_before", &EnqueueFields::not_before},
                              Member{"expires", &EnqueueFields::expires},
                              Member{"priority"},
                              Member{"correlation", &EnqueueFields::correlation}};

tl::unexpected<Error> twice(std::string_view name) { return fail_field(std::string(name), "the member appears twice"); }

tl::unexpected<Error> unknown(std::string_view name) {
  NearMiss near(name);
  for (const Member& member : kMembers) near.consider(member.name);
  std::string shown = safe_text(name, 64);
  std::string message = "no member is called \"" + shown + "\"";
  return fail_field(std::move(shown), std::move(message),
                    near.best().empty() ? "" : "did you mean \"" + near.best() + "\"?");
}

// The member of the object at whose value byte `position` stands. The line is none that a reader could read.
std::string_view member_at(std::string_view line, std::size_t position) {
  std::string_view name;
  std::size_t depth = 0;
  std::size_t string = std::string_view::npos;  // where the one begins that is open
  for (std::size_t i = 0; i < position; ++i) {
    const char c = line[i];
    if (string == std::string_view::npos) {
      if (c == '"') string = i + 1;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && depth > 0) --depth;
    } else if (c == '\\') {
      ++i;
    } else if (c == '"') {
      const std::size_t next = line.find_first_not_of(" \t", i + 1);
      if (depth == 1 && next < line.size() && line[next] == ':') name = line.substr(string, i - string);
      string = std::string_view::npos;
    }
  }
  return name;
}

// Bytes that no JSON has spoil the line; they stand in one member of it all the same. Empty: there are none, or nowhere
// that has a name.
std::string member_of_bad_byte(std::string_view line) {
  std::size_t position = 0;
  if (valid_utf8(line, &position)) position = line.find('\0');
  if (position == std::string_view::npos) return {};
  const std::string_view name = member_at(line, position);
  const bool known = std::any_of(kMembers.begin(), kMembers.end(), [&](const Member& m) { return m.name == name; });
  return std::string(known ? name : std::string_view());
}

}  // namespace

// --- lines
// ------------------------------------------------------------------------------------------------------

void LineSplitter::keep(std::string_view piece) {
  const std::size_t room = longest_ - partial_.size();
  too_long_ = too_long_ || piece.size() > room;
  partial_.append(piece.substr(0, room));
}

bool LineSplitter::next_with_blank(InputLine& line) {
  if (handed_out_) {
    partial_.clear();
    handed_out_ = too_long_ = false;
  }
  const void* end = chunk_.empty() ? nullptr : std::memchr(chunk_.data(), '\n', chunk_.size());
  if (end == nullptr) {
    keep(chunk_);
    chunk_ = {};
    if (!finished_ || partial_.empty()) return false;
    handed_out_ = true;
    line = {++number_, partial_, too_long_, true};
    return true;
  }
  const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - chunk_.data());
  const std::string_view piece = chunk_.substr(0, length);
  chunk_.remove_prefix(length + 1);
  ++number_;
  if (partial_.empty()) {
    line = {number_, piece.substr(0, longest_), length > longest_, false};
    return true;
  }
  keep(piece);
  handed_out_ = true;
  line = {number_, partial_, too_long_, false};
  return true;
}

bool LineSplitter::next(InputLine& line) {
  while (next_with_blank(line)) {
    // Not only in the first line: two files may have been put together.
    if (line.text.starts_with(kByteOrderMark)) line.text.remove_prefix(kByteOrderMark.size());
    if (!line.too_long && line.text.ends_with('\r')) line.text.remove_suffix(1);
    if (line.text.find_first_not_of(" \t\r") != std::string_view::npos) return true;
  }
  return false;
}

std::string_view wide_encoding(std::string_view beginning) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("\xff\xfe\0\0"sv) || beginning.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff")) return "UTF-16";
  if (beginning.size() < 4) return {};
  std::array<bool, 4> zero{};
  for (std::size_t i = 0; i < zero.size(); ++i) zero[i] = beginning[i] == '\0';
  if (zero == std::array{false, true, false, true} || zero == std::array{true, false, true, false}) return "UTF-16";
  if (zero == std::array{false, true, true, true} || zero == std::array{true, true, true, false}) return "UTF-32";
  return {};
}

// --- one line
// ---------------------------------------------------------------------------------------------------

struct LineReader::Impl {
  JsonReader json{};
  std::string data{};
  EnqueueFields* fields = nullptr;
  std::uint32_t seen = 0;  // a bit for each of kMembers
  std::size_t likely = 0;  // the member after the last one: lines of one program have one order
  JsonValue::MemberVisitor visit = [this](std::string_view name, JsonValue& value) { return member(name, value); };

  const Member* find(std::string_view name);
  Result<void> member(std::string_view name, JsonValue& value);
};

const Member* LineReader::Impl::find(std::string_view name) {
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    const std::size_t at = (likely + i) % kMembers.size();
    const std::string_view known = kMembers[at].name;
    if (name.empty() || known.front() != name.front() || known != name) continue;
    likely = at + 1;
    return &kMembers[at];
  }
  return nullptr;
}

Result<void> LineReader::Impl::member(std::string_view name, JsonValue& value) {
  const Member* known = find(name);
  if (known == nullptr) return unknown(name);
  const std::uint32_t bit = 1U << (known - kMembers.data());
  if ((seen & bit) != 0) return twice(name);
  seen |= bit;

  if (known->field != nullptr) {
    TRY_ASSIGN(fields->*known->field, value.string(name));
    return {};
  }
  if (name == "data") {
    TRY(value.canonical(name, data));
    fields->data = data;
    return {};
  }
  if (name == "vars") return value.flat_object(name, fields->vars);
  TRY_ASSIGN(const JsonValue::Kind kind, value.kind());
  if (kind != JsonValue::Kind::kNumber) return fail_field("priority", "must be a number from 0 to 9");
  TRY_ASSIGN(fields->priority, value.scalar(name));
  return {};
}

LineReader::LineReader() : impl_(std::make_unique<Impl>()) {}
LineReader::~LineReader() = default;

Result<void> LineReader::read(std::string_view line, EnqueueFields& fields) {
  fields.clear();
  fields.from_json_line = true;
  impl_->fields = &fields;
  impl_->data.clear();
  impl_->seen = 0;
  auto result = impl_->json.object(line, impl_->visit);
  const bool about_form = !result && result.error().field.empty();
  if (about_form) result.error().field = member_of_bad_byte(line);
  if (about_form && result.error().hint.empty() && line.find('\r') != std::string_view::npos)
    result.error().hint = "a lone carriage return does not end a line";
  return result;
}

}  // namespace notify
