#pragma once

// A recipe: everything notifyctl knows of a vendor with an HTTP API, as plain data. Read from TOML and checked by
// sys/recipe_file.hpp; whoever holds a const Recipe may rely on what is said at each member. Every key is described in
// sys/recipe_keys.cpp, from which notifyctl-recipes(5) is made.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/config.hpp"
#include "core/instant.hpp"
#include "core/outcome.hpp"
#include "core/pattern.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/receipt_table.hpp"
#include "core/recipe_text.hpp"

namespace notify {

// A setting that a channel gives to the recipe: `account = "…"` beside `recipe = "…"`.
struct RecipeSetting {
  std::string name{};
  std::string text{};  // what it is, for people
  bool required = false;
  bool secret = false;
  std::string fallback{};              // default; never with `required`
  std::vector<std::string> choices{};  // empty: any text
  bool lines = false;                  // may hold line ends: a key in PEM
};

// When something holds. All of a list must hold; an empty list always does.
struct RecipeCondition {
  enum class Test { kFilled, kEmpty, kEquals, kDiffers, kLonger };
  Test test = Test::kFilled;
  RecipePlaceholder value{};
  std::string text{};     // kEquals, kDiffers
  std::size_t limit = 0;  // kLonger: more than so many `unit`
  RecipeUnit unit = RecipeUnit::kCharacters;
};
using RecipeConditions = std::vector<RecipeCondition>;

// A value that is chosen: the first whose conditions hold. The last one has no conditions.
struct RecipeChoice {
  RecipeConditions when{};
  RecipeText value{};
};
struct RecipeValue {
  std::string name{};
  std::vector<RecipeChoice> choices{};
};

// Looked at before the claim.
struct RecipeCheck {
  enum class Form { kAny, kDigits, kNumber, kE164, kPhone, kId, kEmail };
  RecipeText value{};
  std::string name{};  // begins the message: "the text"
  std::string field{};
  RecipeConditions when{};
  bool required = false;
  Form form = Form::kAny;
  std::optional<std::size_t> max{};
  RecipeUnit unit = RecipeUnit::kCharacters;
  bool elements = false;                // max counts the elements of a list; then value is one placeholder with |json
  std::string begins{};                 // with what it must begin
  std::vector<std::string> contains{};  // one of these must be in it; empty: nothing must
};

// --- requests

// A member of a form, of the headers, of a query. Left out when it is `optional` and its value is empty, or when its
// conditions do not hold.
struct RecipeMember {
  std::string name{};
  bool optional = false;
  RecipeConditions when{};
  RecipeText value{};
};

// A JSON body: the tree of the recipe, whose strings are texts. Members of an object carry a name, and may be left out as
// those of a form.
struct RecipeNode {
  enum class Kind { kObject, kArray, kText, kLiteral, kEach };  // kEach: the list of a batch's elements
  std::string name{};
  bool optional = false;
  RecipeConditions when{};
  Kind kind = Kind::kLiteral;
  std::vector<RecipeNode> members{};  // kObject, kArray
  RecipeText text{};                  // kText
  std::string literal = "null";       // kLiteral: JSON as it is
};

struct RecipeRequest {
  enum class Body { kNone, kJson, kForm, kText };
  std::string method = "POST";
  RecipeText url{};  // begins with http(s):// or with a setting that does
  std::vector<RecipeMember> query{};
  std::vector<RecipeMember> headers{};  // no name twice; none that HTTP itself writes
  Body body = Body::kNone;
  RecipeNode json{};
  std::vector<RecipeMember> form{};
  RecipeText text{};
  RecipeRoots uses{0};  // the names in its texts
};

struct RecipeAuth {
  enum class Kind { kNone, kBasic, kBearer };
  Kind kind = Kind::kNone;
  RecipeText user{};      // kBasic
  RecipeText password{};  // kBasic; kBearer: the token
  RecipeRoots uses{0};    // the names in its texts
};

// An HMAC over a text of the request; `{{signature}}` in headers.
struct RecipeSignature {
  enum class Algorithm { kHmacSha256, kHmacSha1 };
  enum class Encoding { kHex, kBase64 };
  Algorithm algorithm = Algorithm::kHmacSha256;
  Encoding encoding = Encoding::kHex;
  RecipeText key{};
  RecipeText text{};
};

// A token that is signed here, made anew for every request that mentions it (RFC 7519); `{{jwt}}`.
struct RecipeJwt {
  enum class Algorithm { kHs256, kRs256, kEs256 };
  Algorithm algorithm = Algorithm::kRs256;
  RecipeText key{};     // PEM; kHs256: the secret
  RecipeNode header{};  // an object, without `alg` and `typ`
  RecipeNode claims{};  // an object
};

// --- answers

// Where a value stands in an answer: a JSON pointer (RFC 6901, in which a segment `*` stands for every element of a list
// or member of an object), or a header.
struct RecipeSource {
  std::vector<std::string> pointer{};  // decoded segments
  std::string header{};                // lower case; not empty: this one
};

// What a text must be: any of these. Empty: nothing is asked for.
struct RecipeWords {
  std::vector<std::string> values{};  // equal, `lo..hi`, with `*` for anything; "*" alone: it is there
  std::vector<Pattern> patterns{};

  bool empty() const noexcept { return values.empty() && patterns.empty(); }
};

struct RecipeTest {
  RecipeSource source{};
  RecipeWords words{};
};

// What an answer must be. All parts must hold; what is empty holds.
struct RecipeMatch {
  std::vector<std::pair<int, int>> statuses{};  // from, to
  std::vector<RecipeTest> tests{};
  RecipeWords text{};  // the whole body, without white space around it
};

struct RecipeWait {
  enum class Unit { kSeconds, kMilliseconds, kEpoch };
  RecipeSource source{};
  Unit unit = Unit::kSeconds;
};

struct RecipeAnswer {
  RecipeMatch match{};
  OutcomeClass cls = OutcomeClass::kUnknown;
  bool disable_endpoint = false;
  bool halt_channel = false;
  std::optional<bool> lane_wide{};  // none: as the status says, which is so with 429
  bool refresh_token = false;
  std::optional<Duration> wait{};         // a wait that is always the same
  std::optional<RecipeWait> wait_from{};  // one that the answer says; wins when it is there
  std::string reason{};
  int line = 0;
};

struct RecipeEvidence {
  std::vector<RecipeSource> reference{};  // joined by ":"; all must be there
  std::vector<RecipeSource> code{};       // the first that is there
  std::vector<RecipeSource> text{};       // the first that is there; the whole body when none is
};

// Several messages in one request, whose answer has a result for each.
struct RecipeBatch {
  std::size_t max = 0;                              // messages in a request: 2…limits::kBatch
  std::vector<RecipeText> together{};               // only messages that agree in these share a request
  RecipeRequest request{};                          // JSON that holds one kEach; what differs is in no other part
  RecipeNode element{};                             // what a message is in that list
  RecipeMatch accepted{};                           // the request was taken: the elements of its answer decide
  std::vector<std::vector<std::string>> results{};  // pointers to the lists of results
  std::vector<std::pair<RecipeSource, RecipeText>> find{};  // whose a result is; empty: in the order of the messages
  RecipeSource reference{};                                 // of the request, before the result's own; may be empty
  std::vector<RecipeAnswer> answers{};                      // look at one result
  RecipeEvidence evidence{};                                // in one result
};

// Asking the vendor what became of a message.
struct RecipeLookUpRule {
  RecipeMatch match{};
  LookUpAnswer::Kind kind = LookUpAnswer::Kind::kUnknown;
  bool disable_endpoint = false;
  bool halt_channel = false;
  std::string reason{};
  int line = 0;
};
struct RecipeLookUp {
  RecipeConditions needs{};  // what must be known to ask at all
  RecipeRequest request{};
  RecipeMatch answered{};                                    // an answer that can be believed at all
  std::optional<std::vector<std::string>> list{};            // the rules look at elements of this list
  std::vector<std::pair<RecipeSource, RecipeText>> find{};   // which ones are ours
  LookUpAnswer::Kind absent = LookUpAnswer::Kind::kUnknown;  // the list does not have it
  std::vector<RecipeLookUpRule> rules{};
  RecipeEvidence evidence{};
};

// A token that the vendor hands out for a time.
struct RecipeToken {
  enum class Expiry { kNone, kSeconds, kEpoch, kCompact };  // kCompact: yyyyMMddHHmmss at `offset`
  RecipeRequest request{};
  RecipeAuth auth{};
  RecipeMatch granted{};
  RecipeSource value{};
  RecipeSource expires{};
  Expiry expiry = Expiry::kNone;
  Duration offset{0};
  Duration lifetime{};  // where the answer does not say
};

// What the vendor reports later, as a body that it posts.
struct RecipeReceiptRule {
  RecipeMatch match{};
  std::optional<ReceiptVerdict> verdict{};  // none: says nothing about the end
  bool disable_endpoint = false;            // never without a verdict
  bool halt_channel = false;                // never without a verdict
  int line = 0;
};
struct RecipeReceiptSignature {
  enum class Kind { kWord, kHmac, kEcdsa };
  RecipeMatch match{};    // looks at headers only: it is signed in this way
  RecipeSource source{};  // where the signature stands
  Kind kind = Kind::kWord;
  RecipeText expected{};   // kWord: a word that both know stands there
  RecipeSignature made{};  // kHmac; of kEcdsa (P-256, SHA-256, base64) the key, which is the public one, and the text
  RecipeText prefix{};     // what stands before the signature
};
struct RecipeReceipt {
  enum class Body { kJson, kForm };
  enum class IdForm { kWhole, kShort };
  Body body = Body::kJson;
  std::optional<std::vector<std::string>> list{};
  bool single = false;                     // a body without the list is one receipt
  std::vector<RecipeSource> message_id{};  // the first that is there
  IdForm id_form = IdForm::kWhole;
  std::vector<RecipeSource> reference{};  // joined by ":"
  std::vector<RecipeSource> reason{};     // the first that is there
  std::vector<RecipeReceiptRule> rules{};
  std::vector<RecipeReceiptSignature> signatures{};  // the first that matches; empty: they are not signed
};

struct Recipe {
  std::string name{};     // a built-in recipe's name, or the path of a file
  std::string summary{};  // one line
  std::string manual{};   // the vendor's documentation
  std::vector<RecipeSetting> settings{};
  std::vector<std::string> recipient_hosts{};    // not empty: without the setting `url` the recipient is the URL
  std::optional<Duration> idempotency_window{};  // the vendor honours our id for so long; none: it does not
  std::vector<RecipeValue> values{};
  std::vector<RecipeCheck> checks{};
  RecipeRequest request{};
  RecipeAuth auth{};
  std::optional<RecipeSignature> signature{};
  std::optional<RecipeJwt> jwt{};
  std::optional<RecipeToken> token{};
  std::vector<RecipeAnswer> answers{};
  RecipeEvidence evidence{};
  std::optional<RecipeBatch> batch{};
  std::optional<RecipeLookUp> look_up{};
  std::optional<RecipeReceipt> receipt{};

  const RecipeSetting* setting(std::string_view wanted) const noexcept {
    for (const RecipeSetting& known : settings)
      if (known.name == wanted) return &known;
    return nullptr;
  }
};

}  // namespace notify
