#include "core/jsonl.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json_text.hpp"
#include "core/near_miss.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct StringMember {
  std::string_view name;
  std::optional<std::string_view> EnqueueFields::*field;
};
constexpr std::array kStringMembers{StringMember{"channel", &EnqueueFields::channel},
                                    StringMember{"to", &EnqueueFields::to},
                                    StringMember{"key", &EnqueueFields::key},
                                    StringMember{"kind", &EnqueueFields::kind},
                                    StringMember{"category", &EnqueueFields::category},
                                    StringMember{"subject", &EnqueueFields::subject},
                                    StringMember{"body", &EnqueueFields::body},
                                    StringMember{"html", &EnqueueFields::html},
                                    StringMember{"alt", &EnqueueFields::alt},
                                    StringMember{"template", &EnqueueFields::template_name},
                                    StringMember{"not_before", &EnqueueFields::not_before},
                                    StringMember{"expires", &EnqueueFields::expires},
                                    StringMember{"correlation", &EnqueueFields::correlation}};

tl::unexpected<Error> twice(std::string_view name) {
  return fail_field(std::string(name), "the member appears twice");
}

tl::unexpected<Error> unknown(std::string_view name) {
  NearMiss near(name);
  for (const StringMember& member : kStringMembers) near.consider(member.name);
  for (const std::string_view other : {"data", "vars", "priority"}) near.consider(other);
  std::string shown = safe_text(name, 64);
  std::string message = "no member is called \"" + shown + "\"";
  return fail_field(std::move(shown), std::move(message),
                    near.best().empty() ? "" : "did you mean \"" + near.best() + "\"?");
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
  if (zero == std::array{false, true, false, true} || zero == std::array{true, false, true, false})
    return "UTF-16";
  if (zero == std::array{false, true, true, true} || zero == std::array{true, true, true, false})
    return "UTF-32";
  return {};
}

// --- one line
// ---------------------------------------------------------------------------------------------------

struct LineReader::Impl {
  JsonReader json{};
  std::string data{};
  EnqueueFields* fields = nullptr;
  bool vars_seen = false;
  JsonValue::MemberVisitor visit = [this](std::string_view name, JsonValue& value) {
    return member(name, value);
  };

  Result<void> member(std::string_view name, JsonValue& value);
};

Result<void> LineReader::Impl::member(std::string_view name, JsonValue& value) {
  for (const StringMember& known : kStringMembers) {
    if (known.name != name) continue;
    std::optional<std::string_view>& field = fields->*known.field;
    if (field) return twice(name);
    TRY_ASSIGN(field, value.string(name));
    return {};
  }
  if (name == "data") {
    if (fields->data) return twice(name);
    TRY(value.canonical(name, data));
    fields->data = data;
    return {};
  }
  if (name == "vars") {
    if (vars_seen) return twice(name);
    vars_seen = true;
    return value.flat_object(name, fields->vars);
  }
  if (name == "priority") {
    if (fields->priority) return twice(name);
    TRY_ASSIGN(const JsonValue::Kind kind, value.kind());
    if (kind != JsonValue::Kind::kNumber) return fail_field("priority", "must be a number from 0 to 9");
    TRY_ASSIGN(fields->priority, value.scalar(name));
    return {};
  }
  return unknown(name);
}

LineReader::LineReader() : impl_(std::make_unique<Impl>()) {}
LineReader::~LineReader() = default;

Result<void> LineReader::read(std::string_view line, EnqueueFields& fields) {
  fields.clear();
  fields.from_json_line = true;
  impl_->fields = &fields;
  impl_->data.clear();
  impl_->vars_seen = false;
  auto result = impl_->json.object(line, impl_->visit);
  const bool about_form = !result && result.error().field.empty();
  if (about_form && result.error().hint.empty() && line.find('\r') != std::string_view::npos)
    result.error().hint = "a lone carriage return does not end a line";
  return result;
}

}  // namespace notify
