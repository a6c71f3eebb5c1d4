#include "core/recipe_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ascii.hpp"
#include "core/near_miss.hpp"
#include "core/placeholder.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr std::size_t kMostFilters = 8;
constexpr std::size_t kLargestNumber = 1'000'000;

enum class Path { kNone, kNeeded, kMaybe };

struct Root {
  RecipeRoot root;
  std::string_view name;
  Path path;
  std::string_view text;
};

constexpr auto kRoots = std::to_array<Root>({
    {RecipeRoot::kTo, "to", Path::kNone,
     "Where the message goes: the address as written, or the endpoint of an `@ID`."},
    {RecipeRoot::kSubject, "subject", Path::kNone, "The subject."},
    {RecipeRoot::kBody, "body", Path::kNone, "The text."},
    {RecipeRoot::kHtml, "html", Path::kNone, "The text as HTML."},
    {RecipeRoot::kAlt, "alt", Path::kNone, "The text that the vendor falls back to."},
    {RecipeRoot::kData, "data", Path::kMaybe,
     "A member of the message's data, `data.order.items.0`; an error when the message does not have it and the "
     "placeholder has no default."},
    {RecipeRoot::kMessageId, "message_id", Path::kNone, "The message's id, the same for every attempt."},
    {RecipeRoot::kKind, "kind", Path::kNone, "The message's kind."},
    {RecipeRoot::kCategory, "category", Path::kNone, "`transactional` or `advertising`."},
    {RecipeRoot::kCorrelation, "correlation", Path::kNone, "The message's correlation id."},
    {RecipeRoot::kAttempt, "attempt", Path::kNone, "The number of this call, from 1."},
    {RecipeRoot::kEnqueuedAt, "enqueued_at", Path::kMaybe, "When the message was enqueued; forms as of `now`."},
    {RecipeRoot::kSettings, "settings", Path::kNeeded, "A setting that the recipe declares, `settings.account`."},
    {RecipeRoot::kValues, "values", Path::kNeeded, "A value that the recipe chooses in its table `values`."},
    {RecipeRoot::kNow, "now", Path::kMaybe,
     "The time of the call: `now` in seconds since 1970, `now.ms` in milliseconds, `now.rfc3339` as "
     "2026-11-29T13:26:09.123Z, `now.date` as 2026-11-29, `now.kst` in Korea's time as 2026-11-29 22:26. The same in "
     "the whole request."},
    {RecipeRoot::kNonce, "nonce", Path::kNone, "32 hexadecimal digits that no other call has."},
    {RecipeRoot::kUuid, "uuid", Path::kNone, "A UUID made from the message id: the same for every attempt."},
    {RecipeRoot::kToken, "token", Path::kNone, "The token of the table `token`."},
    {RecipeRoot::kJwt, "jwt", Path::kNone, "The token of the table `jwt`, signed for this request."},
    {RecipeRoot::kSignature, "signature", Path::kNone, "The signature of the table `signature`; in headers only."},
    {RecipeRoot::kRequest, "request", Path::kNeeded,
     "For the text that is signed: `request.method`, `request.path` (with the query, as it is sent), `request.url`, "
     "`request.body`."},
    {RecipeRoot::kReference, "reference", Path::kNone, "In a look-up: the vendor's id of the message; often empty."},
    {RecipeRoot::kCalledAt, "called_at", Path::kMaybe, "In a look-up: when the call was made; forms as of `now`."},
    {RecipeRoot::kReceived, "received", Path::kNeeded,
     "In a receipt's signature: `received.body`, `received.url`, `received.pairs` (the form's members, sorted by "
     "name, name and value run together), `received.header.NAME`, `received.json.NAME.NAME`."},
});

const Root& root_of(RecipeRoot root) {
  return *std::find_if(kRoots.begin(), kRoots.end(), [root](const Root& r) { return r.root == root; });
}

using Kind = RecipeFilter::Kind;
enum class Argument { kNone, kNumber, kFit, kName };

struct Filter {
  Kind kind;
  std::string_view name;
  Argument argument;
  std::string_view text;
};

constexpr auto kFilters = std::to_array<Filter>({
    {Kind::kDigits, "digits", Argument::kNone, "Only the digits."},
    {Kind::kKorean, "korean", Argument::kNone,
     "A telephone number in Korea's domestic form: `+82 10-1234-5678` becomes `01012345678`. A number of another "
     "country is an error."},
    {Kind::kE164, "e164", Argument::kNone,
     "A telephone number with `+`: separators are dropped, `0082…` and `01012345678` become `+82…`."},
    {Kind::kNoPlus, "no_plus", Argument::kNone, "Without a `+` at its beginning."},
    {Kind::kTrim, "trim", Argument::kNone, "Without white space around it."},
    {Kind::kLower, "lower", Argument::kNone, "A to Z in lower case."},
    {Kind::kUpper, "upper", Argument::kNone, "a to z in upper case."},
    {Kind::kLf, "lf", Argument::kNone, "Line ends as one line feed each."},
    {Kind::kCompose, "compose", Argument::kNone, "Hangul that is spelled in single letters as syllables."},
    {Kind::kFirst, "first:N", Argument::kNumber, "The first N characters."},
    {Kind::kFit, "fit:N:UNIT", Argument::kFit, "As many whole characters as N units hold, `fit:40:CP949`."},
    {Kind::kHash, "hash:N", Argument::kNumber, "The first N hexadecimal digits of its SHA-256, at most 64."},
    {Kind::kShort, "short", Argument::kNone,
     "Of a message id: without its source, `0123abcd-42`. At most 28 characters, and a receipt leads back from it."},
    {Kind::kHtml, "html", Argument::kNone, "`& < > \"` as HTML's entities."},
    {Kind::kSlack, "slack", Argument::kNone, "`& < >` as entities, as Slack wants them."},
    {Kind::kBase64, "base64", Argument::kNone, "In base64."},
    {Kind::kUrlEncode, "urlencode", Argument::kNone,
     "Percent-encoded (RFC 3986), where that is not done by itself: for the user and the password of `basic` at a "
     "token "
     "endpoint that follows RFC 6749 2.3.1."},
    {Kind::kMinus, "minus:N", Argument::kNumber,
     "The number, less N; of a time that is written as a date, N seconds earlier: `{{called_at.kst|minus:60}}`."},
    {Kind::kPlus, "plus:N", Argument::kNumber, "The number and N, or N seconds later: `{{now|plus:300|number}}`."},
    {Kind::kJson, "json", Argument::kNone,
     "In a JSON body, alone in its string and last: the member of `data` as it is, with its type, instead of text."},
    {Kind::kNumber, "number", Argument::kNone,
     "In a JSON body, alone in its string and last: a whole number instead of text."},
    {Kind::kOr, "or:NAME", Argument::kName, "The value of NAME when this one is empty: `{{html|or:body}}`."},
});

std::string_view word_of(const Filter& filter) { return filter.name.substr(0, filter.name.find(':')); }

std::string shown(std::string_view text) { return "\"" + safe_text(text, 60) + "\""; }

struct Name {
  RecipeRoot root = RecipeRoot::kTo;
  std::string path{};
};

Result<void> check_path(const Root& root, std::string_view path) {
  const auto one_of = [&](std::initializer_list<std::string_view> words) -> Result<void> {
    if (std::find(words.begin(), words.end(), path) != words.end()) return {};
    std::string list;
    for (const std::string_view word : words)
      if (!word.empty()) list += (list.empty() ? "" : ", ") + std::string(root.name) + "." + std::string(word);
    return fail(Code::kConfig, "there is no placeholder " + shown(std::string(root.name) + "." + std::string(path)),
                "there are " + list);
  };
  switch (root.root) {
    case RecipeRoot::kNow:
    case RecipeRoot::kEnqueuedAt:
    case RecipeRoot::kCalledAt: return one_of({"", "ms", "rfc3339", "date", "kst"});
    case RecipeRoot::kRequest: return one_of({"method", "path", "url", "body"});
    default: return {};
  }
}

Result<Name> parse_name(std::string_view text, RecipeRoots allowed) {
  if (!is_variable_name(text))
    return fail(Code::kConfig, shown(text) + " is not the name of a placeholder",
                "names have letters, digits, _, - and . only; a literal {{ is written {{{{");
  const std::string_view first = text.substr(0, text.find('.'));
  const std::string_view path = first.size() == text.size() ? std::string_view() : text.substr(first.size() + 1);
  const auto* found = std::find_if(kRoots.begin(), kRoots.end(), [&](const Root& r) { return r.name == first; });
  if (found == kRoots.end()) {
    NearMiss near(first);
    for (const Root& root : kRoots)
      if ((allowed & root_bit(root.root)) != 0) near.consider(root.name);
    return fail(Code::kConfig, "there is no placeholder " + shown(text),
                near.best().empty() ? "notifyctl-recipes(5) lists them" : "did you mean \"" + near.best() + "\"?");
  }
  if ((allowed & root_bit(found->root)) == 0)
    return fail(Code::kConfig, "the placeholder " + shown(text) + " has no value in this place");
  const bool dotted = first.size() != text.size();
  if ((dotted && (found->path == Path::kNone || path.empty())) || (!dotted && found->path == Path::kNeeded))
    return fail(Code::kConfig, "there is no placeholder " + shown(text), std::string(found->text));
  TRY(check_path(*found, path));
  return Name{found->root, std::string(path)};
}

Result<std::size_t> parse_number(std::string_view text, std::string_view filter) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > kLargestNumber)
    return fail(Code::kConfig, "the filter " + std::string(filter) + " needs a number from 1",
                "write it " + std::string(filter));
  return number;
}

Result<RecipeFilter> parse_filter(std::string_view text, RecipeRoots allowed) {
  const std::string_view word = text.substr(0, text.find(':'));
  const auto* known =
      std::find_if(kFilters.begin(), kFilters.end(), [&](const Filter& f) { return word_of(f) == word; });
  if (known == kFilters.end()) {
    NearMiss near(word);
    for (const Filter& filter : kFilters) near.consider(word_of(filter));
    return fail(Code::kConfig, "no filter is called " + shown(word),
                near.best().empty() ? "notifyctl-recipes(5) lists them" : "did you mean \"" + near.best() + "\"?");
  }
  RecipeFilter filter;
  filter.kind = known->kind;
  std::string_view argument = word.size() == text.size() ? std::string_view() : text.substr(word.size() + 1);
  switch (known->argument) {
    case Argument::kNone:
      if (word.size() != text.size()) return fail(Code::kConfig, "the filter " + shown(word) + " takes no argument");
      break;
    case Argument::kNumber: {
      TRY_ASSIGN(filter.number, parse_number(argument, known->name));
      if (filter.kind == Kind::kHash && filter.number > 64)
        return fail(Code::kConfig, "a SHA-256 has 64 hexadecimal digits, not " + std::to_string(filter.number));
      break;
    }
    case Argument::kFit: {
      const std::size_t colon = std::min(argument.find(':'), argument.size());
      TRY_ASSIGN(filter.number, parse_number(argument.substr(0, colon), known->name));
      const auto unit = recipe_unit(argument.substr(std::min(colon + 1, argument.size())));
      if (!unit) return fail(Code::kConfig, "the filter fit needs a unit: fit:40:CP949");
      filter.unit = *unit;
      break;
    }
    case Argument::kName: {
      TRY_ASSIGN(Name name, parse_name(argument, allowed));
      filter.other = name.root;
      filter.path = std::move(name.path);
      break;
    }
  }
  return filter;
}

struct UnitName {
  std::string_view name;
  RecipeUnit unit;
};
constexpr auto kUnits = std::to_array<UnitName>({{"characters", RecipeUnit::kCharacters},
                                                 {"UTF-16", RecipeUnit::kUtf16},
                                                 {"bytes", RecipeUnit::kUtf8},
                                                 {"EUC-KR", RecipeUnit::kEucKr},
                                                 {"CP949", RecipeUnit::kCp949},
                                                 {"UCS-2", RecipeUnit::kUcs2},
                                                 {"GSM-7", RecipeUnit::kGsm7}});

}  // namespace

std::optional<RecipeUnit> recipe_unit(std::string_view name) {
  for (const UnitName& known : kUnits)
    if (known.name == name) return known.unit;
  return std::nullopt;
}

const char* unit_name(RecipeUnit unit) noexcept {
  for (const UnitName& known : kUnits)
    if (known.unit == unit) return known.name.data();
  return "";
}

bool RecipePlaceholder::is_json() const noexcept {
  return !filters.empty() &&
         (filters.back().kind == RecipeFilter::Kind::kJson || filters.back().kind == RecipeFilter::Kind::kNumber);
}

Result<RecipePlaceholder> parse_recipe_placeholder(std::string_view inside, RecipeRoots allowed) {
  RecipePlaceholder place;
  if (const auto at = inside.find(marks::kDefault); at != std::string_view::npos) {
    place.fallback = std::string(trimmed(inside.substr(at + marks::kDefault.size()), kBlanks));
    inside = inside.substr(0, at);
  }
  std::size_t bar = std::min(inside.find('|'), inside.size());
  TRY_ASSIGN(Name name, parse_name(trimmed(inside.substr(0, bar), kBlanks), allowed));
  place.root = name.root;
  place.path = std::move(name.path);
  while (bar < inside.size()) {
    inside.remove_prefix(bar + 1);
    bar = std::min(inside.find('|'), inside.size());
    TRY_ASSIGN(RecipeFilter filter, parse_filter(trimmed(inside.substr(0, bar), kBlanks), allowed));
    if (place.is_json()) return fail(Code::kConfig, "the filters json and number can only be the last one");
    place.filters.push_back(std::move(filter));
  }
  if (place.filters.size() > kMostFilters)
    return fail(Code::kConfig, "a placeholder has at most " + std::to_string(kMostFilters) + " filters");
  return place;
}

Result<RecipeText> parse_recipe_text(std::string_view text, RecipeRoots allowed) {
  RecipeText pieces;
  const auto literal = [&](std::string_view part) {
    if (part.empty()) return;
    if (!pieces.empty() && !pieces.back().place)
      pieces.back().literal += part;
    else
      pieces.push_back({std::string(part), {}});
  };
  while (!text.empty()) {
    const auto open = text.find(marks::kOpen);
    literal(text.substr(0, open));
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    if (text.starts_with(marks::kLiteralOpen)) {
      literal(marks::kOpen);
      text.remove_prefix(marks::kLiteralOpen.size());
      continue;
    }
    const auto close = text.find(marks::kClose, marks::kOpen.size());
    if (close == std::string_view::npos)
      return fail(Code::kConfig, "{{ without }} after it: " + shown(text), "a literal {{ is written {{{{");
    TRY_ASSIGN(RecipePlaceholder place,
               parse_recipe_placeholder(text.substr(marks::kOpen.size(), close - marks::kOpen.size()), allowed));
    pieces.push_back({{}, std::move(place)});
    text.remove_prefix(close + marks::kClose.size());
  }
  return pieces;
}

bool mentions(const RecipeText& text, RecipeRoot root) noexcept {
  return std::any_of(text.begin(), text.end(), [root](const RecipePiece& piece) {
    if (!piece.place) return false;
    const auto& filters = piece.place->filters;
    return piece.place->root == root || std::any_of(filters.begin(), filters.end(), [root](const RecipeFilter& f) {
             return f.kind == RecipeFilter::Kind::kOr && f.other == root;
           });
  });
}

std::string placeholder_name(const RecipePlaceholder& place) {
  const std::string name(root_of(place.root).name);
  return place.path.empty() ? name : name + "." + place.path;
}

std::vector<RecipeWord> recipe_names() {
  std::vector<RecipeWord> words;
  words.reserve(kRoots.size());
  for (const Root& root : kRoots) words.push_back({root.name, root.text});
  return words;
}

std::vector<RecipeWord> recipe_filters() {
  std::vector<RecipeWord> words;
  words.reserve(kFilters.size());
  for (const Filter& filter : kFilters) words.push_back({filter.name, filter.text});
  return words;
}

}  // namespace notify
