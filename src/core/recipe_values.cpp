#include "core/recipe_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/ascii.hpp"
#include "core/json_text.hpp"
#include "core/json_write.hpp"
#include "core/message.hpp"
#include "core/payload.hpp"
#include "core/recipe_filter.hpp"
#include "core/text_encoding.hpp"
#include "core/time_text.hpp"
#include "core/url_text.hpp"
#include "core/uuid.hpp"

namespace notify {
namespace {

// What a name stands for. `json`: text is JSON that is no string, number or boolean.
struct Found {
  bool there = true;
  bool container = false;
  bool string = true;
  std::string text{};
};

Found nothing() { return {false, false, true, {}}; }
Found text(std::string value) { return {true, false, true, std::move(value)}; }

// --- data

Result<void> take(JsonValue& value, Found& found) {
  TRY_ASSIGN(const JsonValue::Kind kind, value.kind());
  switch (kind) {
    case JsonValue::Kind::kNull: return {};
    case JsonValue::Kind::kString: {
      TRY_ASSIGN(const std::string_view string, value.string("data"));
      found = text(std::string(string));
      return {};
    }
    case JsonValue::Kind::kNumber:
    case JsonValue::Kind::kBool: {
      TRY_ASSIGN(const std::string_view scalar, value.scalar("data"));
      found = {true, false, false, std::string(scalar)};
      return {};
    }
    case JsonValue::Kind::kObject:
    case JsonValue::Kind::kArray: break;
  }
  found = {true, true, false, {}};
  return value.canonical("data", found.text);
}

Result<void> descend(JsonValue& value, std::string_view path, Found& found) {
  if (path.empty()) return take(value, found);
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view first = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  TRY_ASSIGN(const JsonValue::Kind kind, value.kind());
  if (kind == JsonValue::Kind::kObject) {
    return value.members("data", [&](std::string_view name, JsonValue& member) -> Result<void> {
      return name == first ? descend(member, rest, found) : Result<void>();
    });
  }
  if (kind != JsonValue::Kind::kArray) return {};
  std::size_t index = 0;
  return value.elements("data", [&](JsonValue& element) -> Result<void> {
    return std::to_string(index++) == first ? descend(element, rest, found) : Result<void>();
  });
}

Result<Found> data_at(const std::string& data, std::string_view path) {
  Found found = nothing();
  if (data.empty()) return found;
  JsonReader reader;
  TRY(reader.value(data, 0, [&](JsonValue& value) { return descend(value, path, found); }));
  return found;
}

// --- names

// Times that are written as a date are moved before they are written: minus and plus count seconds.
bool is_date(const RecipePlaceholder& place) {
  const bool time =
      place.root == RecipeRoot::kNow || place.root == RecipeRoot::kEnqueuedAt || place.root == RecipeRoot::kCalledAt;
  return time && !place.path.empty() && place.path != "ms";
}

bool moves(const RecipeFilter& filter) {
  return filter.kind == RecipeFilter::Kind::kMinus || filter.kind == RecipeFilter::Kind::kPlus;
}

Duration moved_by(const RecipePlaceholder& place) {
  Duration sum{0};
  if (!is_date(place)) return sum;
  for (const RecipeFilter& filter : place.filters) {
    const std::chrono::seconds seconds(static_cast<std::int64_t>(filter.number));
    if (moves(filter)) sum += filter.kind == RecipeFilter::Kind::kPlus ? seconds : -seconds;
  }
  return sum;
}

Found time_in(Instant at, std::string_view form) {
  if (form == "ms") return text(std::to_string(at.ms));
  if (form == "rfc3339") return text(format_time(at));
  if (form == "date") return text(format_time(at).substr(0, 10));
  if (form == "kst") {
    std::string local = format_time(at + 9h).substr(0, 16);
    local[10] = ' ';
    return text(std::move(local));
  }
  return text(std::to_string(at.ms / 1000));
}

Result<Found> part_of(const Dispatch& message, RecipeRoot root, const std::string& path, Duration moved) {
  const Payload& content = message.content;
  const Envelope& envelope = message.envelope;
  switch (root) {
    case RecipeRoot::kTo: return text(message.address);
    case RecipeRoot::kSubject: return text(content.subject);
    case RecipeRoot::kBody: return text(content.body);
    case RecipeRoot::kHtml: return text(content.html);
    case RecipeRoot::kAlt: return text(content.alt);
    case RecipeRoot::kData: return data_at(content.data, path);
    case RecipeRoot::kMessageId: return text(envelope.message_id);
    case RecipeRoot::kKind: return text(envelope.kind);
    case RecipeRoot::kCategory: return text(envelope.category);
    case RecipeRoot::kCorrelation: return text(envelope.correlation);
    case RecipeRoot::kAttempt: return text(std::to_string(message.attempt));
    case RecipeRoot::kEnqueuedAt: return time_in(envelope.enqueued_at + moved, path);
    default: return nothing();
  }
}

Found part_of(const LookUpQuestion& question, RecipeRoot root, const std::string& path, Duration moved) {
  switch (root) {
    case RecipeRoot::kTo: return text(question.address);
    case RecipeRoot::kMessageId: return text(question.message_id);
    case RecipeRoot::kReference: return text(question.reference);
    case RecipeRoot::kCalledAt: return time_in(question.called_at + moved, path);
    default: return nothing();
  }
}

Result<Found> received_part(const RecipeReceived& received, const std::string& path) {
  if (path == "body") return text(received.body);
  if (path == "url") return text(received.url);
  if (path == "pairs") {
    auto sorted = received.form;
    std::sort(sorted.begin(), sorted.end());
    std::string all;
    for (const auto& [name, value] : sorted) all.append(name).append(value);
    return text(std::move(all));
  }
  constexpr std::string_view kHeader = "header.";
  constexpr std::string_view kJson = "json.";
  if (path.starts_with(kHeader)) {
    for (const auto& [name, value] : received.headers)
      if (lowered(name) == lowered(std::string_view(path).substr(kHeader.size()))) return text(value);
  } else if (path.starts_with(kJson)) {
    return data_at(received.body, std::string_view(path).substr(kJson.size()));
  }
  return nothing();
}

Result<Found> value_named(const std::string& name, const RecipeInput& input) {
  for (const RecipeValue& value : input.recipe.values) {
    if (value.name != name) continue;
    for (const RecipeChoice& choice : value.choices) {
      TRY_ASSIGN(const bool chosen, holds(choice.when, input));
      if (!chosen) continue;
      TRY_ASSIGN(std::string chosen_text, text_of(choice.value, input));
      return text(std::move(chosen_text));
    }
  }
  return nothing();
}

Result<Found> find(RecipeRoot root, const std::string& path, const RecipeInput& input, Duration moved = {}) {
  switch (root) {
    case RecipeRoot::kSettings: {
      const auto known = input.settings.find(path);
      if (known != input.settings.end()) return text(known->second);
      return text(path == "url" && input.message != nullptr && recipient_is_url(input.recipe, input.settings)
                      ? input.message->address
                      : std::string());
    }
    case RecipeRoot::kValues: return value_named(path, input);
    case RecipeRoot::kNow: return time_in(input.now + moved, path);
    case RecipeRoot::kNonce: return text(input.nonce);
    case RecipeRoot::kUuid: {
      if (input.message != nullptr) return text(uuid_of(input.message->envelope.message_id));
      return text(uuid_of(input.question != nullptr ? input.question->message_id : input.nonce));
    }
    case RecipeRoot::kToken: return text(input.token);
    case RecipeRoot::kJwt: return text(input.jwt);
    case RecipeRoot::kSignature: return text(input.signature);
    case RecipeRoot::kRequest:
      if (path == "method") return text(input.request.method);
      if (path == "path") return text(input.request.path);
      return text(path == "url" ? input.request.url : input.request.body);
    case RecipeRoot::kReceived:
      return input.received != nullptr ? received_part(*input.received, path) : Result<Found>(nothing());
    default: break;
  }
  if (input.message != nullptr) return part_of(*input.message, root, path, moved);
  return input.question != nullptr ? part_of(*input.question, root, path, moved) : nothing();
}

Error about(const RecipePlaceholder& place, Error error) {
  error = with_context(std::move(error), placeholder_name(place));
  error.code = Code::kBadInput;
  if (error.field.empty()) error.field = placeholder_name(place);
  return error;
}

// The value with all filters but json and number. The two of them are left to json_of().
Result<Found> evaluated(const RecipePlaceholder& place, const RecipeInput& input, Missing missing) {
  Result<Found> found = find(place.root, place.path, input, moved_by(place));
  if (!found) return fail(about(place, std::move(found).error()));
  for (const RecipeFilter& filter : place.filters) {
    if (is_date(place) && moves(filter)) continue;
    if (filter.kind == RecipeFilter::Kind::kJson || filter.kind == RecipeFilter::Kind::kNumber) break;
    if (filter.kind == RecipeFilter::Kind::kOr) {
      if (!found->there || found->text.empty()) {
        TRY_ASSIGN(found, find(filter.other, filter.path, input));
      }
      continue;
    }
    if (!found->there || found->text.empty()) continue;
    if (found->container)
      return fail(about(place, Error{Code::kBadInput, "it is a list or an object, no text", {}, {}}));
    auto value = filtered(filter, std::move(found->text));
    if (!value) return fail(about(place, std::move(value).error()));
    found = text(std::move(*value));
  }
  if (place.fallback && (!found->there || found->text.empty())) return text(*place.fallback);
  if (!found->there && missing == Missing::kIsError)
    return fail(about(place, Error{Code::kBadInput, "the message does not have it, and the recipe needs it", {}, {}}));
  return found;
}

Result<std::string> text_in(const RecipePlaceholder& place, const RecipeInput& input, Missing missing) {
  TRY_ASSIGN(Found found, evaluated(place, input, missing));
  if (found.container)
    return fail(about(place, Error{Code::kBadInput, "it is a list or an object, and has no place in a text", {}, {}}));
  return std::move(found.text);
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.size() > 18 || (text.size() > 1 && text.front() == '0')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<bool> holds(const RecipeCondition& condition, const RecipeInput& input) {
  using Test = RecipeCondition::Test;
  TRY_ASSIGN(const Found found, evaluated(condition.value, input, Missing::kIsEmpty));
  switch (condition.test) {
    case Test::kFilled: return !found.text.empty();
    case Test::kEmpty: return found.text.empty();
    case Test::kEquals: return found.text == condition.text;
    case Test::kDiffers: return found.text != condition.text;
    case Test::kLonger: {
      // What the encoding does not have is for the recipe's checks to refuse, not for a choice.
      const Result<std::size_t> length = length_of("", found.text, condition.unit);
      return !length || *length > condition.limit;
    }
  }
  return false;
}

}  // namespace

bool recipient_is_url(const Recipe& recipe, const RecipeSettings& settings) {
  return !recipe.recipient_hosts.empty() && !settings.contains("url");
}

Result<std::string> text_of(const RecipeText& pieces, const RecipeInput& input, Missing missing) {
  std::string out;
  for (const RecipePiece& piece : pieces) {
    if (!piece.place) {
      out += piece.literal;
      continue;
    }
    TRY_ASSIGN(const std::string value, text_in(*piece.place, input, missing));
    out += value;
  }
  return out;
}

Result<std::string> url_of(const RecipeText& pieces, const RecipeInput& input) {
  std::string out;
  for (const RecipePiece& piece : pieces) {
    if (!piece.place) {
      out += piece.literal;
      continue;
    }
    TRY_ASSIGN(const std::string value, text_in(*piece.place, input, Missing::kIsError));
    const bool base = &piece == pieces.data() && piece.place->root == RecipeRoot::kSettings;
    // An empty segment, or one that goes up, would make it another path.
    if (!base && out.find('?') == std::string::npos && (value.empty() || value == "." || value == ".."))
      return fail(
          about(*piece.place, Error{Code::kBadInput, "the URL needs it, and it is empty or made of dots", {}, {}}));
    // In a path ":" and "@" mean nothing, and vendors show them as they are (RFC 3986 3.3).
    const bool in_path = out.find('?') == std::string::npos;
    out += base ? value : percent_encoded(value, in_path ? ":@" : "");
  }
  return out;
}

Result<std::string> json_of(const RecipePlaceholder& place, const RecipeInput& input, Missing missing) {
  TRY_ASSIGN(Found found, evaluated(place, input, missing));
  if (!found.there) return std::string();
  if (place.filters.back().kind == RecipeFilter::Kind::kNumber) {
    if (found.text.empty() && missing == Missing::kIsEmpty) return std::string();
    if (!is_whole_number(found.text))
      return fail(about(place, Error{Code::kBadInput, "it is not a whole number", {}, {}}));
    return std::move(found.text);
  }
  if (!found.string) return std::move(found.text);
  if (found.text.empty() && missing == Missing::kIsEmpty) return std::string();
  std::string json;
  append_json_string(json, found.text);
  return json;
}

Result<bool> holds(const RecipeConditions& conditions, const RecipeInput& input) {
  for (const RecipeCondition& condition : conditions) {
    TRY_ASSIGN(const bool one, holds(condition, input));
    if (!one) return false;
  }
  return true;
}

Result<std::size_t> length_of(std::string_view what, std::string_view text, RecipeUnit unit) {
  std::size_t units = 0;
  switch (unit) {
    case RecipeUnit::kUtf8: return text.size();
    case RecipeUnit::kCharacters:
    case RecipeUnit::kUtf16:
      for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0U) != 0x80U) units += unit == RecipeUnit::kUtf16 && byte >= 0xF0 ? 2 : 1;
      }
      return units;
    default: break;
  }
  constexpr std::array kEncodings{TextEncoding::kEucKr, TextEncoding::kCp949, TextEncoding::kUcs2, TextEncoding::kGsm7};
  const TextEncoding encoding =
      kEncodings.at(static_cast<std::size_t>(unit) - static_cast<std::size_t>(RecipeUnit::kEucKr));
  TRY(check_text_limit(what, text, TextLimit{encoding, limits::kPayload}));
  return encoded_size(text, encoding).bytes;
}

}  // namespace notify
