#include "core/json_text.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/json_write.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kSmallestCapacity = 16 * 1024;
constexpr std::size_t kShownName = 64;  // bytes of a foreign name in a message

std::string_view trim_end(std::string_view token) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

bool take_digits(std::string_view& text) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool is_string(ondemand::value& value) noexcept { return value.raw_json_token().starts_with('"'); }

// RFC 8259 section 6.
bool is_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const std::size_t before = text.size();
  if (!take_digits(text) || (zero && before - text.size() > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

std::string_view kind_name(JsonValue::Kind kind) noexcept {
  switch (kind) {
    case JsonValue::Kind::kObject: return "an object";
    case JsonValue::Kind::kArray: return "an array";
    case JsonValue::Kind::kString: return "a string";
    case JsonValue::Kind::kNumber: return "a number";
    case JsonValue::Kind::kBool: return "true or false";
    case JsonValue::Kind::kNull: return "null";
  }
  return "?";
}

tl::unexpected<Error> wrong_kind(std::string_view field, std::string_view wanted, JsonValue::Kind kind) {
  std::string message = "must be ";
  message.append(wanted).append(", not ").append(kind_name(kind));
  return fail_field(std::string(field), std::move(message),
                    kind == JsonValue::Kind::kNull ? "leave the member out instead" : "");
}

tl::unexpected<Error> too_deep(std::string_view field) {
  return fail_field(std::string(field), "nested deeper than " + std::to_string(limits::kJsonDepth) + " levels",
                    "flatten it, or put it into a string");
}

tl::unexpected<Error> duplicate_name(std::string_view field, std::string_view name) {
  return fail_field(std::string(field), "the member \"" + safe_text(name, kShownName) + "\" appears twice",
                    "leave one of them out");
}

}  // namespace

struct JsonReader::Impl {
  struct Member {
    std::string_view name;
    std::size_t begin;  // of `"name":value` in the output
    std::size_t end;
  };

  ondemand::parser parser{};
  ondemand::document document{};
  bool reading = false;  // the document is open
  std::string text{};    // what is being read, with simdjson's padding
  std::size_t length = 0;
  std::size_t shift = 0;          // bytes that we put before the caller's text
  const char* at = nullptr;       // where the token that is looked at begins, for messages
  std::vector<Member> members{};  // of the objects being made canonical, as a stack
  std::string unsorted{};

  // Starts reading `prefix + input + suffix`.
  Result<void> start(std::string_view input, std::string_view prefix, std::string_view suffix);

  tl::unexpected<Error> malformed(std::string_view why) const;
  tl::unexpected<Error> malformed(simdjson::error_code error);
  std::optional<Error> forbidden_bytes() const;
  // Nothing may follow what has been read.
  Result<void> end(std::string_view what);

  Result<std::string_view> name_of(ondemand::field& field);
  Result<std::string_view> decode(ondemand::value& value);
  Result<JsonValue::Kind> kind_of(ondemand::value& value);
  void append_string(std::string& out, std::string_view decoded) const;
  Result<void> canonical(ondemand::value& value, std::string_view field, std::size_t depth, std::string& out);
  Result<void> canonical_object(ondemand::object object, std::string_view field, std::size_t depth, std::string& out);
  Result<void> sort_members(std::size_t first, std::string_view field, std::string& out);

  template <class Visit>
  Result<void> each_member(ondemand::object& object, Visit&& visit) {
    for (auto member : object) {
      ondemand::field field{};
      if (const auto error = std::move(member).get(field)) return malformed(error);
      TRY_ASSIGN(const std::string_view name, name_of(field));
      TRY(visit(name, field.value()));
    }
    return {};
  }
};

Result<void> JsonReader::Impl::start(std::string_view input, std::string_view prefix, std::string_view suffix) {
  reading = false;
  shift = prefix.size();
  length = prefix.size() + input.size() + suffix.size();
  // Memory grows in powers of two, so that a stream of lines does not allocate for each longer one.
  if (text.size() < length + simdjson::SIMDJSON_PADDING)
    text.resize(std::max(kSmallestCapacity, 2 * (length + simdjson::SIMDJSON_PADDING)));
  char* end = std::copy(prefix.begin(), prefix.end(), text.data());
  if (!input.empty()) std::memcpy(end, input.data(), input.size());
  end = std::copy(suffix.begin(), suffix.end(), end + input.size());
  std::memset(end, ' ', simdjson::SIMDJSON_PADDING);
  at = text.data();

  const std::size_t capacity = text.size() - simdjson::SIMDJSON_PADDING;
  if (parser.capacity() < capacity)
    if (const auto error = parser.allocate(capacity, limits::kJsonDepth + 2)) return malformed(error);
  if (const auto error = parser.iterate(text.data(), length, text.size()).get(document)) return malformed(error);
  reading = true;
  return {};
}

tl::unexpected<Error> JsonReader::Impl::malformed(std::string_view why) const {
  const auto offset = static_cast<std::size_t>(at - text.data());
  const std::size_t last = length - shift;  // positions in what we added point to the end of the caller's text
  const std::size_t position = std::min(std::max(offset, shift) - shift, last) + 1;
  return fail(Code::kBadInput, "not valid JSON at byte " + std::to_string(position) + ": " + std::string(why));
}

// Bytes that make a text no JSON wherever they stand, named with their position.
std::optional<Error> JsonReader::Impl::forbidden_bytes() const {
  const std::string_view all = std::string_view(text).substr(shift, length - 2 * shift);
  std::size_t position = 0;
  const auto error = [&](std::string what) {
    return Error{Code::kBadInput, std::move(what) + " at byte " + std::to_string(position + 1)};
  };
  if (!valid_utf8(all, &position)) return error("not valid UTF-8");
  position = all.find('\0');
  if (position != std::string_view::npos) return error("NUL byte");
  return std::nullopt;
}

// Where something stands that does not belong to the object or array at the beginning; the text's length when all does.
// simdjson looks at the last bracket first, and takes what follows one for a container that is not closed.
std::size_t end_of_container(std::string_view json) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && (depth == 0 || --depth == 0))
      return std::min(json.find_first_not_of(" \t\r\n", i + 1), json.size());
  }
  return json.size();
}

tl::unexpected<Error> JsonReader::Impl::malformed(simdjson::error_code error) {
  if (reading && document.current_location().get(at) != simdjson::SUCCESS) at = text.data() + length;
  if (auto bytes = forbidden_bytes()) return fail(std::move(*bytes));
  switch (error) {
    case simdjson::EMPTY: return malformed("there is nothing");
    case simdjson::UNCLOSED_STRING: return malformed("a string is not closed");
    case simdjson::UNESCAPED_CHARS: return malformed("a string holds a control character; write it as an escape");
    case simdjson::STRING_ERROR: return malformed("a string holds an escape that means nothing");
    case simdjson::INCORRECT_TYPE: return malformed("an object is expected");
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      if (shift == 0) {
        if (const std::size_t end = end_of_container(std::string_view(text).substr(0, length)); end < length) {
          at = text.data() + end;
          return malformed("something follows the object");
        }
      }
      return malformed("an object or array is not closed");
    case simdjson::MEMALLOC: return fail(Code::kInternal, "cannot read JSON: out of memory");
    default: return malformed("a comma, colon, bracket or value is missing or misplaced");
  }
}

Result<void> JsonReader::Impl::end(std::string_view what) {
  const auto error = document.current_location().get(at);
  if (error == simdjson::OUT_OF_BOUNDS) return {};
  if (auto bytes = forbidden_bytes()) return fail(std::move(*bytes));
  return malformed("something follows " + std::string(what));
}

// Stage 1 has checked that every string is closed, so the quote is found.
Result<std::string_view> JsonReader::Impl::name_of(ondemand::field& field) {
  const char* begin = field.key().raw();
  at = begin - 1;
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') return std::string_view(begin, static_cast<std::size_t>(end - begin));
  std::string_view name;
  if (const auto error = field.unescaped_key().get(name)) return malformed(error);
  return name;
}

Result<std::string_view> JsonReader::Impl::decode(ondemand::value& value) {
  const std::string_view token = trim_end(value.raw_json_token());
  at = token.data();
  if (token.size() < 2 || token.back() != '"') return malformed("a string is expected");
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (std::memchr(inside.data(), '\\', inside.size()) != nullptr) {
    std::string_view decoded;
    if (const auto error = value.get_string().get(decoded)) return malformed(error);
    return decoded;
  }
  // Moves on. Leaving the value untouched would make simdjson take "a" in {"k":"a":1} for a name.
  ondemand::raw_json_string raw;
  if (const auto error = value.get_raw_json_string().get(raw)) return malformed(error);
  return inside;
}

Result<JsonValue::Kind> JsonReader::Impl::kind_of(ondemand::value& value) {
  const std::string_view token = trim_end(value.raw_json_token());
  at = token.data();
  switch (token.empty() ? '\0' : token.front()) {
    case '{': return JsonValue::Kind::kObject;
    case '[': return JsonValue::Kind::kArray;
    case '"': return JsonValue::Kind::kString;
    default: break;
  }
  if (token == "true" || token == "false") return JsonValue::Kind::kBool;
  if (token == "null") return JsonValue::Kind::kNull;
  if (is_number(token)) return JsonValue::Kind::kNumber;
  if (auto bytes = forbidden_bytes()) return fail(std::move(*bytes));
  return malformed("a value is missing or is neither a number nor true, false or null");
}

// What had no escape when it was read needs none: it is a view into the text and is copied with its quotes.
void JsonReader::Impl::append_string(std::string& out, std::string_view decoded) const {
  const bool as_read = decoded.data() > text.data() && decoded.data() < text.data() + length;
  if (as_read)
    out.append(decoded.data() - 1, decoded.size() + 2);
  else
    append_json_string(out, decoded);
}

Result<void> JsonReader::Impl::canonical(ondemand::value& value, std::string_view field, std::size_t depth,
                                         std::string& out) {
  if (is_string(value)) {
    TRY_ASSIGN(const std::string_view decoded, decode(value));
    append_string(out, decoded);
    return {};
  }
  TRY_ASSIGN(const JsonValue::Kind kind, kind_of(value));
  if (kind != JsonValue::Kind::kObject && kind != JsonValue::Kind::kArray) {
    out += trim_end(value.raw_json_token());
    return {};
  }
  if (depth >= limits::kJsonDepth) return too_deep(field);
  if (kind == JsonValue::Kind::kObject) {
    ondemand::object object{};
    if (const auto error = value.get_object().get(object)) return malformed(error);
    return canonical_object(object, field, depth + 1, out);
  }
  ondemand::array array{};
  if (const auto error = value.get_array().get(array)) return malformed(error);
  out += '[';
  bool first = true;
  for (auto item : array) {
    ondemand::value element{};
    if (const auto error = std::move(item).get(element)) return malformed(error);
    if (!first) out += ',';
    first = false;
    TRY(canonical(element, field, depth + 1, out));
  }
  out += ']';
  return {};
}

Result<void> JsonReader::Impl::canonical_object(ondemand::object object, std::string_view field, std::size_t depth,
                                                std::string& out) {
  const std::size_t first = members.size();
  out += '{';
  TRY(each_member(object, [&](std::string_view name, ondemand::value& value) -> Result<void> {
    if (members.size() > first) out += ',';
    const std::size_t begin = out.size();
    append_string(out, name);
    out += ':';
    TRY(canonical(value, field, depth, out));
    members.push_back({name, begin, out.size()});
    return {};
  }));
  TRY(sort_members(first, field, out));
  members.resize(first);
  out += '}';
  return {};
}

// Puts the members from `first` on into order in the output, where they stand as they were read.
Result<void> JsonReader::Impl::sort_members(std::size_t first, std::string_view field, std::string& out) {
  const auto begin = members.begin() + static_cast<std::ptrdiff_t>(first);
  const auto less = [](const Member& a, const Member& b) { return a.name < b.name; };
  if (!std::is_sorted(begin, members.end(), less)) {
    const std::size_t start = begin->begin;
    unsorted.assign(out, start);
    out.resize(start);
    std::sort(begin, members.end(), less);
    for (auto member = begin; member != members.end(); ++member) {
      if (member != begin) out += ',';
      out.append(unsorted, member->begin - start, member->end - member->begin);
    }
  }
  const auto twice =
      std::adjacent_find(begin, members.end(), [](const Member& a, const Member& b) { return a.name == b.name; });
  if (twice != members.end()) return duplicate_name(field, twice->name);
  return {};
}

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

Result<void> JsonReader::object(std::string_view text, const JsonValue::MemberVisitor& visit) {
  TRY(impl_->start(text, "", ""));
  ondemand::object object{};
  if (const auto error = impl_->document.get_object().get(object)) return impl_->malformed(error);
  TRY(impl_->each_member(object, [&](std::string_view name, ondemand::value& value) -> Result<void> {
    JsonValue member(*this, &value, 1);
    return visit(name, member);
  }));
  return impl_->end("the object");
}

Result<void> JsonReader::value(std::string_view text, std::size_t around,
                               const std::function<Result<void>(JsonValue&)>& visit) {
  // As the only element of an array: simdjson treats a scalar at the root differently from all others.
  TRY(impl_->start(text, "[", "]"));
  ondemand::array array{};
  if (const auto error = impl_->document.get_array().get(array)) return impl_->malformed(error);
  std::size_t count = 0;
  for (auto item : array) {
    ondemand::value element{};
    if (const auto error = std::move(item).get(element)) return impl_->malformed(error);
    if (++count > 1) return impl_->malformed("something follows the value");
    JsonValue only(*this, &element, around);
    TRY(visit(only));
  }
  if (count == 0) return impl_->malformed("there is nothing");
  return impl_->end("the value");
}

namespace {
ondemand::value& standing_on(void* value) { return *static_cast<ondemand::value*>(value); }
}  // namespace

Result<JsonValue::Kind> JsonValue::kind() { return reader_.impl_->kind_of(standing_on(value_)); }

Result<std::string_view> JsonValue::string(std::string_view field) {
  if (is_string(standing_on(value_))) return reader_.impl_->decode(standing_on(value_));
  TRY_ASSIGN(const Kind found, kind());
  return wrong_kind(field, "a string", found);
}

Result<std::string_view> JsonValue::scalar(std::string_view field) {
  TRY_ASSIGN(const Kind found, kind());
  if (found != Kind::kNumber && found != Kind::kBool) return wrong_kind(field, "a number or boolean", found);
  return trim_end(standing_on(value_).raw_json_token());
}

Result<void> JsonValue::members(std::string_view field, const MemberVisitor& visit) {
  TRY_ASSIGN(const Kind found, kind());
  if (found != Kind::kObject) return wrong_kind(field, "an object", found);
  if (depth_ >= limits::kJsonDepth) return too_deep(field);
  ondemand::object object{};
  if (const auto error = standing_on(value_).get_object().get(object)) return reader_.impl_->malformed(error);
  return reader_.impl_->each_member(object, [&](std::string_view name, ondemand::value& value) -> Result<void> {
    JsonValue member(reader_, &value, depth_ + 1);
    return visit(name, member);
  });
}

Result<void> JsonValue::elements(std::string_view field, const std::function<Result<void>(JsonValue&)>& visit) {
  TRY_ASSIGN(const Kind found, kind());
  if (found != Kind::kArray) return wrong_kind(field, "a list", found);
  if (depth_ >= limits::kJsonDepth) return too_deep(field);
  ondemand::array array{};
  if (const auto error = standing_on(value_).get_array().get(array)) return reader_.impl_->malformed(error);
  for (auto item : array) {
    ondemand::value element{};
    if (const auto error = std::move(item).get(element)) return reader_.impl_->malformed(error);
    JsonValue value(reader_, &element, depth_ + 1);
    TRY(visit(value));
  }
  return {};
}

Result<void> JsonValue::flat_object(std::string_view field,
                                    std::vector<std::pair<std::string_view, std::string_view>>& out) {
  TRY(members(field, [&](std::string_view name, JsonValue& value) -> Result<void> {
    TRY_ASSIGN(const Kind found, value.kind());
    if (found == Kind::kNumber || found == Kind::kBool) {
      out.emplace_back(name, trim_end(standing_on(value.value_).raw_json_token()));
      return {};
    }
    if (found != Kind::kString)
      return wrong_kind(std::string(field) + "." + safe_text(name, kShownName), "a string, number or boolean", found);
    TRY_ASSIGN(const std::string_view text, reader_.impl_->decode(standing_on(value.value_)));
    out.emplace_back(name, text);
    return {};
  }));
  std::sort(out.begin(), out.end());
  const auto twice =
      std::adjacent_find(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != out.end()) return duplicate_name(field, twice->first);
  return {};
}

Result<void> JsonValue::canonical(std::string_view field, std::string& out) {
  reader_.impl_->members.clear();
  return reader_.impl_->canonical(standing_on(value_), field, depth_, out);
}

}  // namespace notify
