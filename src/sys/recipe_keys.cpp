#include "sys/recipe_keys.hpp"

#include <array>

namespace notify {
namespace {

constexpr auto kRecipeSections = std::to_array<ConfigSection>({
    {"", "Keys at the top of the file, before the first table."},
    {"settings.*",
     "What a channel gives to the recipe, each as a key of its own beside `recipe = …`. A recipe holds no account and "
     "no "
     "password."},
    {"recipient", "For vendors whose URL is the address (incoming webhooks)."},
    {"idempotency", "Only for vendors that document it: a request that carries the same key twice is done once."},
    {"values",
     "Values that are chosen by the message: each key is a list of `{ when, value }`; the first whose condition holds "
     "is "
     "taken, and the last one has no condition. Used as `{{values.KEY}}`."},
    {"check",
     "`[[check]]`, as often as needed: what a message must be. Looked at before the message is claimed; what does not "
     "fit "
     "is parked, and no call is made."},
    {"request", "The request that sends one message."},
    {"auth", "Credentials that are no header of the vendor's own; those are written among the request's headers."},
    {"signature", "An HMAC over a text of the request, used as `{{signature}}` in a header."},
    {"jwt",
     "A JSON Web Token (RFC 7519) that is signed here, used as `{{jwt}}`: by vendors that take it with each request, "
     "and "
     "as the assertion of a token endpoint (RFC 7523). It is made anew for every request that mentions it."},
    {"token",
     "A token that the vendor hands out for a time, used as `{{token}}`. All processes share one, which is fetched by "
     "one "
     "of them and renewed before it ends. Its own request stands in `[token.request]` and `[token.auth]`."},
    {"answer",
     "`[[answer]]`, in order: the first rule that an answer matches says what it means. A success (2xx) that no rule "
     "matches is unknown. Any other status that no rule matches means what it means everywhere: 3xx, 401, 402, 403 and "
     "407 "
     "halt the channel (3xx refused for good, the others not sent), 417, 421, 425 and 429 are not sent, 408, 409 and "
     "5xx "
     "are unknown, 410 is refused for good and disables the endpoint, other 4xx are refused for good."},
    {"evidence", "What of an answer is kept with the attempt."},
    {"batch",
     "Several messages in one request, for vendors that answer with a result for each. A channel uses it with "
     "`batch = N`; a message that is alone, and one that was tried before, goes by `[request]`. The request stands in "
     "`[batch.request]`, the rules for one result in `[[batch.answer]]`, what is kept of it in `[batch.evidence]`. "
     "Placeholders of a message stand only in the element that is repeated, or agree by `together`. An answer that is "
     "not `accepted` is judged by `[[answer]]`, for all of them: what that refuses for good is, for each message, not "
     "sent, and each goes alone next time, so that the one which spoiled the request is found. A message without a "
     "result, or with two, is unknown."},
    {"batch.answer",
     "`[[batch.answer]]`, in order: what one result means, as in `[[answer]]`. What no rule matches is unknown."},
    {"look_up",
     "How `notifyctl reconcile` asks the vendor about a message whose call ended without a result. The request stands "
     "in "
     "`[look_up.request]`, the rules in `[[look_up.answer]]`, what is kept in `[look_up.evidence]`. Changes nothing at "
     "the "
     "vendor."},
    {"look_up.answer", "`[[look_up.answer]]`, in order. What no rule matches is unknown."},
    {"receipt",
     "How a body that the vendor posts later is read, by `notifyctl reconcile --receipts - --format RECIPE`. The rules "
     "stand in `[[receipt.rule]]`."},
    {"receipt.rule", "`[[receipt.rule]]`, in order. What no rule matches is reported as a bad receipt."},
    {"receipt.signature",
     "How the vendor signs what it posts. The headers come from the environment of a CGI script (`HTTP_X_SIGNATURE`), "
     "the "
     "URL from `NOTIFYCTL_RECEIPT_URL`. A body whose signature is missing or wrong is refused as a whole. A vendor "
     "who signs in several ways has `[[receipt.signature]]`: the first whose `header` matches."},
});

constexpr std::string_view kMatchStatus =
    "The status or statuses: `200`, `[200, 202]`, `\"5xx\"`, `\"400-499\"`. Any when it is not given.";
constexpr std::string_view kMatchJson =
    "JSON pointers (RFC 6901) and what must stand there: `{ \"/code\" = [1000, 1001], \"/id\" = \"*\" }`. A value is "
    "text, "
    "a whole number or a boolean, or a list of them, of which one must fit. `*` in a text stands for anything, `\"*\"` "
    "alone for \"it is there\", `\"4000..4999\"` for the numbers between. Letters A to Z may be small or not; 1000 and "
    "\"1000\" are the same. A text between slashes is a regular expression (RE2), looked for anywhere in what stands "
    "there: `'/^(AB|XY)[0-9]{4}$/'`. `*` as a segment of the pointer stands for every element: all must fit.";
constexpr std::string_view kMatchHeader = "The same for headers: `{ X-Message-Id = \"*\" }`.";
constexpr std::string_view kMatchText =
    "The whole body, without white space around it, or a list of such texts; `*` and `/…/` as in `json`.";

constexpr auto kRecipeKeys = std::to_array<ConfigKey>({
    {"", "summary", "string", "", "What the recipe is for, in one line. Required."},
    {"", "manual", "string", "", "Where the vendor documents the protocol."},

    {"settings.*", "text", "string", "", "What it is, for people. Required."},
    {"settings.*", "required", "true or false", "false", "Whether a channel must give it."},
    {"settings.*", "secret", "true or false", "false",
     "Whether it is a secret: then it is taken from `{ file }`, `{ env }` or `{ command }`, or stands in a "
     "configuration that only its owner may read, and is masked wherever it could be shown."},
    {"settings.*", "default", "string", "", "What it is when the channel does not give it. Without one it is empty."},
    {"settings.*", "choices", "list of strings", "[]", "The words that it may be. Empty: any text."},
    {"settings.*", "lines", "true or false", "false",
     "Whether it may have several lines, as a private key in PEM has. Any other setting is one line."},

    {"recipient", "hosts", "list of strings", "[]",
     "Without the setting `url` the recipient is the URL: https, without a query, at one of these hosts "
     "(`*.example.com` "
     "for those below it). The dead endpoint of an answer is then the recipient's, and trouble with it halts nobody "
     "else."},

    {"idempotency", "window", "duration", "",
     "How long the vendor remembers a key, from the first call. It allows `semantics = \"at-least-once\"` for the "
     "channel. "
     "The request must carry `{{message_id}}` or `{{uuid}}`. Required."},

    {"check", "value", "text with placeholders", "", "What is looked at. Required."},
    {"check", "name", "string", "", "How it is called in the reason, `the text`. Required."},
    {"check", "when", "condition", "", "Only then."},
    {"check", "required", "true or false", "false", "Whether it must not be empty."},
    {"check", "form", "string", "",
     "`digits`, `number` (a whole number), `e164` (`+` and 7 to 15 digits), `phone` (7 to 15 digits), `id` (letters, "
     "digits, `-` and `_`), or `email` (one address and nothing around it: many vendors take a list where they take an "
     "address, and write to all of it)."},
    {"check", "max", "number", "", "How long it may be."},
    {"check", "unit", "string", "\"characters\"",
     "In what it is counted: `characters`, `bytes` (UTF-8), `UTF-16`, `EUC-KR`, `CP949`, `UCS-2`, `GSM-7`. A character "
     "that the encoding does not have is refused. `elements` counts a list, `{{data.NAME|json}}`."},
    {"check", "begins", "string", "", "With what it must begin."},
    {"check", "contains", "string or list", "", "What it must have in it; one of a list."},

    {"request", "method", "string", "\"POST\"", "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`."},
    {"request", "url", "text with placeholders", "",
     "Begins with `https://`, or with a setting. What is put in is percent-encoded. Required."},
    {"request", "query", "table of texts", "", "Parameters that are put behind the URL, encoded."},
    {"request", "headers", "table of texts", "",
     "Headers. A value that is not visible ASCII is refused before the claim."},
    {"request", "json", "table or list", "",
     "The body as JSON: the tree as it stands here, whose texts may hold placeholders. One of `json`, `form`, `text`."},
    {"request", "form", "table of texts", "", "The body as an HTML form."},
    {"request", "text", "text with placeholders", "", "The body as plain text."},

    {"auth", "kind", "string", "", "`basic` or `bearer`. Required."},
    {"auth", "user", "text with placeholders", "", "With `basic`."},
    {"auth", "password", "text with placeholders", "", "With `basic`."},
    {"auth", "token", "text with placeholders", "", "With `bearer`."},

    {"signature", "algorithm", "string", "\"hmac-sha256\"", "`hmac-sha256` or `hmac-sha1`."},
    {"signature", "encoding", "string", "\"hex\"", "`hex` or `base64`."},
    {"signature", "key", "text with placeholders", "", "The key. Required."},
    {"signature", "text", "text with placeholders", "", "What is signed. Required."},

    {"jwt", "algorithm", "string", "", "`RS256`, `ES256`, or `HS256` for a secret that both sides know. Required."},
    {"jwt", "key", "text with placeholders", "",
     "The private key in PEM, from a setting with `lines = true`; with `HS256` the secret, 32 bytes or more. "
     "Required."},
    {"jwt", "header", "table", "",
     "What the header holds besides `alg` and `typ`: `{ kid = \"{{settings.key_id}}\" }`."},
    {"jwt", "claims", "table", "",
     "The claims, written as the `json` of a request: `{ iss = \"{{settings.account}}\", iat = \"{{now|number}}\", exp "
     "= "
     "\"{{now|plus:300|number}}\", jti = \"{{nonce}}\" }`. Required."},

    {"token", "granted", "table", "",
     "What an answer must be to hold a token: `{ status, json, header, text }`. Required."},
    {"token", "value", "source", "", "Where the token stands: a JSON pointer, or `header:NAME`. Required."},
    {"token", "expires", "source", "", "Where its end stands."},
    {"token", "expiry", "string", "\"seconds\"",
     "What stands there: `seconds` from now, `epoch` (seconds since 1970), or `yyyyMMddHHmmss`."},
    {"token", "offset", "string", "\"+00:00\"", "The zone of `yyyyMMddHHmmss`."},
    {"token", "lifetime", "duration", "\"1h\"", "How long it is used when the answer does not say."},

    {"answer", "status", "number, string or list", "", kMatchStatus},
    {"answer", "json", "table", "", kMatchJson},
    {"answer", "header", "table", "", kMatchHeader},
    {"answer", "text", "string or list", "", kMatchText},
    {"answer", "outcome", "string", "",
     "`sent`, `permanent` (refused for good), `not_sent` (certainly not processed, by the vendor's documentation: it "
     "is "
     "tried again), or `unknown` (it may have been processed). Required."},
    {"answer", "disable_endpoint", "true or false", "false", "This address is dead: it is not written to again."},
    {"answer", "halt_channel", "true or false", "false",
     "Every message would meet this (credentials, balance, account): the channel stops, with an alert."},
    {"answer", "lane_wide", "true or false", "",
     "With `not_sent`: whether the wait holds for the whole channel. Without it that is so with 429 only; `false` is "
     "for "
     "a 429 that is about one recipient."},
    {"answer", "refresh_token", "true or false", "false",
     "The token was refused: it is forgotten, and a new one fetched for the next try. With `not_sent`."},
    {"answer", "retry_after", "duration or table", "",
     "How long to wait: `\"10s\"`, or where the answer says it, `{ json = \"/retry_after\", unit = \"ms\" }` or `{ "
     "header = "
     "\"X-RateLimit-Reset\", unit = \"epoch\" }` with the units `s`, `ms` and `epoch`. Without it `Retry-After` "
     "counts."},
    {"answer", "reason", "string", "", "A short word that is kept. Otherwise the vendor's code, or the status."},

    {"evidence", "reference", "source or list", "",
     "Where the vendor's id of the message stands: `\"/id\"`, `\"header:X-Message-Id\"`. Several are joined by `:`."},
    {"evidence", "code", "source or list", "", "Where the vendor's code stands; the first that is there."},
    {"evidence", "text", "source or list", "", "Where its words stand; without one the body is kept, cut and masked."},

    {"batch", "max", "2 to 1000", "", "How many messages the vendor takes in one request. Required."},
    {"batch", "each", "JSON pointer", "",
     "The list in the request's `json` that has one element for each message, `\"/messages\"`, or `\"\"` when the body "
     "is the list. It is written with one element. Required."},
    {"batch", "together", "text or list", "[]",
     "What messages must agree in to share a request, `[\"{{subject}}\", \"{{body}}\"]`: it may stand beside the "
     "list."},
    {"batch", "accepted", "table", "",
     "When the request was taken, so that each message's own result decides: `{ status, json, header, text }` with a "
     "status. Required."},
    {"batch", "result", "JSON pointer or list", "",
     "Where the results stand, `\"\"` when the answer is the list. Required."},
    {"batch", "find", "table of texts", "",
     "Pointers into a result, and what stands there for a message: whose it is. One of `find` and `by`."},
    {"batch", "by", "string", "",
     "`index`: the results stand in the order of the messages, by the vendor's documentation, and there are as many."},
    {"batch", "reference", "source", "",
     "Where the vendor's id of the request stands, when it is a part of the messages' ids: before that of the result, "
     "with `:`."},

    {"batch.answer", "json", "table", "", kMatchJson},
    {"batch.answer", "outcome", "string", "", "As in `[[answer]]`. Required."},
    {"batch.answer", "disable_endpoint", "true or false", "false", "As in `[[answer]]`."},
    {"batch.answer", "halt_channel", "true or false", "false", "As in `[[answer]]`."},
    {"batch.answer", "lane_wide", "true or false", "", "As in `[[answer]]`."},
    {"batch.answer", "retry_after", "duration or table", "", "As in `[[answer]]`."},
    {"batch.answer", "reason", "string", "", "As in `[[answer]]`."},

    {"look_up", "needs", "condition", "", "What must be known for the question, `reference`."},
    {"look_up", "answered", "table", "{ status = 200 }",
     "An answer that can be believed: `{ status, json, header, text }`."},
    {"look_up", "list", "JSON pointer", "",
     "Where the list stands in which the message is looked for. When several elements are ours, events of it for "
     "example, the first rule that one of them fits decides."},
    {"look_up", "find", "table of texts", "", "Pointers into an element, and what stands there for our message."},
    {"look_up", "absent", "string", "\"unknown\"",
     "What it means that the list does not have it: `unknown`, or `never_arrived` where the vendor promises that the "
     "list is "
     "complete at once."},

    {"look_up.answer", "status", "number, string or list", "", kMatchStatus},
    {"look_up.answer", "json", "table", "", kMatchJson},
    {"look_up.answer", "header", "table", "", kMatchHeader},
    {"look_up.answer", "text", "string or list", "", kMatchText},
    {"look_up.answer", "outcome", "string", "", "`accepted`, `refused`, `never_arrived` or `unknown`. Required."},
    {"look_up.answer", "disable_endpoint", "true or false", "false", "As in `[[receipt.rule]]`."},
    {"look_up.answer", "halt_channel", "true or false", "false", "As in `[[receipt.rule]]`."},
    {"look_up.answer", "reason", "string", "", "A short word that is kept."},

    {"receipt", "body", "string", "\"json\"", "`json` or `form`."},
    {"receipt", "list", "JSON pointer", "",
     "Where the list of receipts stands, `\"\"` when the body is the list. Without it the body is one receipt."},
    {"receipt", "single", "true or false", "false",
     "Whether a body without that list is one receipt, for vendors that post single ones and hand out lists when "
     "asked."},
    {"receipt", "message_id", "source or list", "", "Where our message id stands; the first that is there."},
    {"receipt", "id_form", "string", "\"whole\"", "`short` when the request gave the vendor `{{message_id|short}}`."},
    {"receipt", "reference", "source or list", "", "Where the vendor's id stands. Several are joined by `:`."},
    {"receipt", "reason", "source or list", "", "Where the reason stands; the first that is there."},

    {"receipt.rule", "json", "table", "", kMatchJson},
    {"receipt.rule", "outcome", "string", "",
     "`accepted`, `refused`, or `ignore` for what says nothing about the end. Required."},
    {"receipt.rule", "disable_endpoint", "true or false", "false",
     "The address that the message went to is dead, or wants nothing more: it is not written to again. Not with "
     "`ignore`."},
    {"receipt.rule", "halt_channel", "true or false", "false",
     "The account or the sender is in trouble, not this message: the channel is halted, unless the message was sent "
     "more "
     "than an hour ago or before the channel was last opened. It opens when a message that is sent later is reported "
     "as "
     "accepted, or by `channel resume`. Not with `ignore`."},

    {"receipt.signature", "header", "table", "", kMatchHeader},
    {"receipt.signature", "value", "source", "",
     "Where the signature stands: `header:NAME`, or a JSON pointer. Required."},
    {"receipt.signature", "prefix", "text with placeholders", "", "What stands before the signature in it, `sha256=`."},
    {"receipt.signature", "algorithm", "string", "",
     "`hmac-sha256`, `hmac-sha1` or `ecdsa-p256-sha256`. Without it there must stand the word `expected`."},
    {"receipt.signature", "encoding", "string", "\"hex\"", "`hex` or `base64`; ECDSA's signature (ASN.1) is `base64`."},
    {"receipt.signature", "key", "text with placeholders", "",
     "The key; with `algorithm`. Of ECDSA the public one, in PEM or its base64 alone."},
    {"receipt.signature", "text", "text with placeholders", "", "What is signed; with `algorithm`."},
    {"receipt.signature", "expected", "text with placeholders", "", "A word that both know; without `algorithm`."},
});

}  // namespace

std::span<const ConfigSection> recipe_sections() noexcept { return kRecipeSections; }
std::span<const ConfigKey> recipe_keys() noexcept { return kRecipeKeys; }

std::vector<std::string_view> recipe_keys_of(std::string_view section) {
  std::vector<std::string_view> keys;
  for (const ConfigKey& key : kRecipeKeys)
    if (key.section == section) keys.push_back(key.key);
  return keys;
}

}  // namespace notify
