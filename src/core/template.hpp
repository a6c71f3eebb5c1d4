#pragma once

// Message templates. Text with {{name}}; spaces around the name are allowed, names are [A-Za-z0-9_.-]+.
//
//   {{name}}            the variable's value; in the html part with & < > " ' as entities
//   {{name|json}}       as the inside of a JSON string; {{name|url}}: percent-encoded for a URL's query
//   {{name:-text}}      with a default, for a variable that is not given
//   {{{{                a literal {{ (a }} outside a placeholder is literal anyway)
//
// A value is put in once and never looked at again. A variable that is neither given nor has a default is an
// error.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/message.hpp"

namespace notify {

// One wording of a template. A part that is not set does not exist.
struct TemplateVariant {
  std::string channel{};  // empty: any
  std::string locale{};   // empty: any; "ko" also serves "ko-KR"
  std::optional<std::string> subject{};
  std::optional<std::string> body{};
  std::optional<std::string> html{};
  std::optional<std::string> alt{};
};

// All templates by name, as read from the configuration. Of a template's variants the first of (channel,
// locale), (channel), (locale), neither is taken, whole: parts of different variants are never mixed.
struct TemplateSet {
  std::map<std::string, std::vector<TemplateVariant>, std::less<>> templates{};
  // Those that cannot be used, with the reason: they fail the messages that name them, and no others.
  std::map<std::string, Error, std::less<>> broken{};
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Whether the text of every part is well-formed, each (channel, locale) exists once, and something is said at
// all. For the configuration's loader; Error.field is the part.
Result<void> check_template(std::string_view name, std::span<const TemplateVariant> variants);

// The payload with its template filled in: no template and vars any more, data as it was. Variables come from
// the payload first, then from `recipient_vars`. The locale is the variable `locale`, else `default_locale`.
// A part that the payload itself has (an operator's patch) wins over the template's. A payload without a
// template is only checked. Errors (kBadInput): unknown or broken template, no variant, missing variable, a subject
// with control characters (no value can add a header line), output over limits::kPayload.
Result<Payload> render(const TemplateSet& set, const Payload& payload, std::string_view channel,
                       std::string_view default_locale, const Variables& recipient_vars = {});

}  // namespace notify
