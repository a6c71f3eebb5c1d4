#pragma once

// The texts of a recipe: literal text with placeholders, {{name|filter|filter:argument:-default}}, as in message
// templates; {{{{ is a literal {{. A value is put in once and never looked at again; how it is escaped depends on the
// place that the text is for (core/recipe_values.hpp), never on the recipe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"

namespace notify {

// What placeholders may name. The description of each is in recipe_names().
enum class RecipeRoot : std::uint8_t {
  kTo,
  kSubject,
  kBody,
  kHtml,
  kAlt,
  kData,
  kMessageId,
  kKind,
  kCategory,
  kCorrelation,
  kAttempt,
  kEnqueuedAt,
  kSettings,
  kValues,
  kNow,
  kNonce,
  kUuid,
  kToken,
  kJwt,
  kSignature,
  kRequest,
  kReference,
  kCalledAt,
  kReceived,
};

// Which of them may stand in a text.
using RecipeRoots = std::uint32_t;
constexpr RecipeRoots root_bit(RecipeRoot root) { return RecipeRoots{1} << static_cast<unsigned>(root); }
namespace recipe_roots {
inline constexpr RecipeRoots kChance =
    root_bit(RecipeRoot::kNow) | root_bit(RecipeRoot::kNonce) | root_bit(RecipeRoot::kUuid);
inline constexpr RecipeRoots kSettings = root_bit(RecipeRoot::kSettings);
inline constexpr RecipeRoots kMessage =
    root_bit(RecipeRoot::kTo) | root_bit(RecipeRoot::kSubject) | root_bit(RecipeRoot::kBody) |
    root_bit(RecipeRoot::kHtml) | root_bit(RecipeRoot::kAlt) | root_bit(RecipeRoot::kData) |
    root_bit(RecipeRoot::kMessageId) | root_bit(RecipeRoot::kKind) | root_bit(RecipeRoot::kCategory) |
    root_bit(RecipeRoot::kCorrelation) | root_bit(RecipeRoot::kAttempt) | root_bit(RecipeRoot::kEnqueuedAt) | kSettings;
inline constexpr RecipeRoots kSend = kMessage | root_bit(RecipeRoot::kValues) | kChance;
inline constexpr RecipeRoots kQuestion = root_bit(RecipeRoot::kTo) | root_bit(RecipeRoot::kMessageId) |
                                         root_bit(RecipeRoot::kReference) | root_bit(RecipeRoot::kCalledAt) |
                                         kSettings | kChance;
inline constexpr RecipeRoots kSigned = root_bit(RecipeRoot::kRequest) | kSettings | kChance;
inline constexpr RecipeRoots kReceived = root_bit(RecipeRoot::kReceived) | kSettings;
}  // namespace recipe_roots

// In what the length of a text is counted.
enum class RecipeUnit : std::uint8_t { kCharacters, kUtf16, kUtf8, kEucKr, kCp949, kUcs2, kGsm7 };
std::optional<RecipeUnit> recipe_unit(std::string_view name);
const char* unit_name(RecipeUnit unit) noexcept;

struct RecipeFilter {
  enum class Kind : std::uint8_t {
    kDigits,
    kKorean,
    kE164,
    kNoPlus,
    kTrim,
    kLower,
    kUpper,
    kLf,
    kCompose,
    kFirst,
    kFit,
    kHash,
    kShort,
    kHtml,
    kSlack,
    kBase64,
    kUrlEncode,
    kMinus,
    kPlus,
    kJson,
    kNumber,
    kOr,
  };
  Kind kind = Kind::kTrim;
  std::size_t number = 0;                     // kFirst, kFit, kHash, kMinus, kPlus
  RecipeUnit unit = RecipeUnit::kCharacters;  // kFit
  RecipeRoot other = RecipeRoot::kTo;         // kOr
  std::string path{};                         // kOr
};

struct RecipePlaceholder {
  RecipeRoot root = RecipeRoot::kTo;
  std::string path{};  // what follows the first dot
  std::vector<RecipeFilter> filters{};
  std::optional<std::string> fallback{};

  bool is_json() const noexcept;  // ends in json or number: the value is JSON, and no text
};

struct RecipePiece {
  std::string literal{};
  std::optional<RecipePlaceholder> place{};  // not set: literal
};
using RecipeText = std::vector<RecipePiece>;

// Errors (kConfig) name what is wrong and, where something is near, what was probably meant.
Result<RecipeText> parse_recipe_text(std::string_view text, RecipeRoots allowed);
// What stands between {{ and }}.
Result<RecipePlaceholder> parse_recipe_placeholder(std::string_view inside, RecipeRoots allowed);

// Whether some placeholder of the text names this root.
bool mentions(const RecipeText& text, RecipeRoot root) noexcept;

// "data.order.id": as it is written.
std::string placeholder_name(const RecipePlaceholder& place);

// For the manual: every name and every filter, with a sentence.
struct RecipeWord {
  std::string_view word;
  std::string_view text;
};
std::vector<RecipeWord> recipe_names();
std::vector<RecipeWord> recipe_filters();

}  // namespace notify
