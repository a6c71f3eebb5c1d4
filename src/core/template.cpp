#include "core/template.hpp"

#include <algorithm>
#include <array>

#include "core/ascii.hpp"
#include "core/json_write.hpp"
#include "core/near_miss.hpp"
#include "core/placeholder.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

enum class Escaping { kNone, kHtml, kJson, kUrl };

struct Placeholder {
  std::string_view name{};
  Escaping filter = Escaping::kNone;
  std::optional<std::string_view> fallback{};
};

struct Part {
  std::string_view name;
  std::optional<std::string> TemplateVariant::*source;
  std::string Payload::*result;
};
constexpr std::array kTemplateParts{
    Part{"subject", &TemplateVariant::subject, &Payload::subject}, Part{"body", &TemplateVariant::body, &Payload::body},
    Part{"html", &TemplateVariant::html, &Payload::html}, Part{"alt", &TemplateVariant::alt, &Payload::alt}};

// The line end that an editor leaves after the last line.
std::string_view without_final_newline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// --- syntax
// -----------------------------------------------------------------------------------------------------

Result<Placeholder> parse_placeholder(std::string_view inside) {
  Placeholder placeholder;
  if (const auto at = inside.find(marks::kDefault); at != std::string_view::npos) {
    placeholder.fallback = trimmed(inside.substr(at + marks::kDefault.size()), kBlanks);
    inside = inside.substr(0, at);
  }
  if (const auto bar = inside.find('|'); bar != std::string_view::npos) {
    const std::string_view filter = trimmed(inside.substr(bar + 1), kBlanks);
    inside = inside.substr(0, bar);
    if (filter == "json")
      placeholder.filter = Escaping::kJson;
    else if (filter == "url")
      placeholder.filter = Escaping::kUrl;
    else
      return fail(Code::kBadInput, "no filter is called \"" + safe_text(filter, 40) + "\"", "there are json and url");
  }
  placeholder.name = trimmed(inside, kBlanks);
  if (!is_variable_name(placeholder.name))
    return fail(Code::kBadInput, "\"" + safe_text(placeholder.name, 40) + "\" is not a name for a variable",
                "names have letters, digits, _, - and . only; a literal {{ is written {{{{");
  return placeholder;
}

// Calls text(piece) and placeholder(p) for what a template is made of, from front to back.
template <class Text, class Place>
Result<void> walk(std::string_view source, Text&& text, Place&& place) {
  while (!source.empty()) {
    const auto open = source.find(marks::kOpen);
    TRY(text(source.substr(0, open)));
    if (open == std::string_view::npos) break;
    source.remove_prefix(open);
    if (source.starts_with(marks::kLiteralOpen)) {
      TRY(text(marks::kOpen));
      source.remove_prefix(marks::kLiteralOpen.size());
      continue;
    }
    const auto close = source.find(marks::kClose, marks::kOpen.size());
    if (close == std::string_view::npos)
      return fail(Code::kBadInput, "{{ without }} after it: \"" + safe_text(source, 40) + "\"",
                  "a literal {{ is written {{{{");
    TRY_ASSIGN(const Placeholder placeholder,
               parse_placeholder(source.substr(marks::kOpen.size(), close - marks::kOpen.size())));
    TRY(place(placeholder));
    source.remove_prefix(close + marks::kClose.size());
  }
  return {};
}

// --- values
// -----------------------------------------------------------------------------------------------------

void append_html(std::string& out, std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
}

// RFC 3986: everything but the unreserved characters.

void append_json_inside(std::string& out, std::string_view value) {
  std::string literal;
  append_json_string(literal, value);
  out.append(literal, 1, literal.size() - 2);
}

void append_value(std::string& out, std::string_view value, Escaping filter, bool html) {
  std::string filtered;
  if (filter == Escaping::kJson) append_json_inside(filtered, value);
  if (filter == Escaping::kUrl) filtered = percent_encoded(value);
  if (filter != Escaping::kNone) value = filtered;
  if (html)
    append_html(out, value);
  else
    out += value;
}

const std::string* find(const Variables& vars, std::string_view name) {
  const auto at = std::find_if(vars.begin(), vars.end(), [&](const auto& var) { return var.first == name; });
  return at == vars.end() ? nullptr : &at->second;
}

// The variables in the order in which they are asked.
struct Scope {
  const Variables& message;
  const Variables& recipient;

  const std::string* find(std::string_view name) const {
    const std::string* value = notify::find(message, name);
    return value != nullptr ? value : notify::find(recipient, name);
  }
};

// --- rendering
// --------------------------------------------------------------------------------------------------

// How well a variant serves; 0: not at all. A channel of its own counts more than a locale, a whole locale
// more than a language.
int fitness(const TemplateVariant& variant, std::string_view channel, std::string_view locale) {
  int points = 1;
  if (!variant.channel.empty()) {
    if (variant.channel != channel) return 0;
    points += 4;
  }
  if (!variant.locale.empty()) {
    const bool language = locale.size() > variant.locale.size() && locale.starts_with(variant.locale) &&
                          (locale[variant.locale.size()] == '-' || locale[variant.locale.size()] == '_');
    if (variant.locale != locale && !language) return 0;
    points += language ? 1 : 2;
  }
  return points;
}

const TemplateVariant* choose(std::span<const TemplateVariant> variants, std::string_view channel,
                              std::string_view locale) {
  const TemplateVariant* best = nullptr;
  int most = 0;
  for (const TemplateVariant& variant : variants) {
    const int points = fitness(variant, channel, locale);
    // Of two languages ("zh", "zh-Hant" for "zh-Hant-TW") the longer one is nearer.
    if (points < most || points == 0 || (points == most && variant.locale.size() <= best->locale.size())) continue;
    best = &variant;
    most = points;
  }
  return best;
}

Error in_part(Error error, std::string_view name, std::string_view part) {
  if (error.field.empty()) error.field = part;
  return with_context(std::move(error), "template \"" + std::string(name) + "\", " + std::string(part));
}

Result<void> fill_part(std::string& out, std::string_view source, const Part& part, const Scope& scope,
                       std::size_t& room) {
  const auto room_for = [&](std::size_t before) -> Result<void> {
    const std::size_t added = out.size() - before;
    if (added > room)
      return fail(Code::kBadInput, "the filled-in text has more than " + std::to_string(limits::kPayload) + " bytes");
    room -= added;
    return {};
  };
  return walk(
      source,
      [&](std::string_view text) {
        const std::size_t before = out.size();
        out += text;
        return room_for(before);
      },
      [&](const Placeholder& placeholder) -> Result<void> {
        const std::string* given = scope.find(placeholder.name);
        if (given == nullptr && !placeholder.fallback) {
          const std::string name(placeholder.name);
          return fail_field("vars." + name, "the variable \"" + name + "\" is missing",
                            "give it with --var " + name + "=…, or a default in the template: {{" + name + ":-…}}");
        }
        const std::size_t before = out.size();
        append_value(out, given != nullptr ? std::string_view(*given) : *placeholder.fallback, placeholder.filter,
                     part.name == "html");
        return room_for(before);
      });
}

// The parts of the variant that the payload does not have itself.
Result<void> fill_parts(Payload& payload, std::string_view name, const TemplateVariant& variant, const Scope& scope) {
  std::size_t room = limits::kPayload;
  for (const Part& part : kTemplateParts) {
    std::string& result = payload.*part.result;
    const std::optional<std::string>& source = variant.*part.source;
    if (!result.empty() || !source) continue;
    const std::string_view text = part.name == "subject" ? without_final_newline(*source) : std::string_view(*source);
    if (auto filled = fill_part(result, text, part, scope, room); !filled)
      return fail(in_part(std::move(filled).error(), name, part.name));
  }
  return {};
}

Result<Payload> checked(Payload payload) {
  TRY(check_subject(payload.subject));
  return payload;
}

}  // namespace

Result<void> check_template(std::string_view name, std::span<const TemplateVariant> variants) {
  const auto nothing = [](auto&&) -> Result<void> { return {}; };
  for (auto variant = variants.begin(); variant != variants.end(); ++variant) {
    bool says_something = false;
    for (const Part& part : kTemplateParts) {
      const std::optional<std::string>& source = (*variant).*part.source;
      if (!source) continue;
      says_something = says_something || !source->empty();
      if (auto parsed = walk(*source, nothing, nothing); !parsed)
        return fail(in_part(std::move(parsed).error(), name, part.name));
      if (part.name != "subject") continue;
      if (auto subject = check_subject(without_final_newline(*source)); !subject)
        return fail(in_part(std::move(subject).error(), name, part.name));
    }
    if (!says_something) return fail_field("body", "template \"" + std::string(name) + "\" has a variant without text");
    const bool twice = std::any_of(variants.begin(), variant, [&](const TemplateVariant& earlier) {
      return earlier.channel == variant->channel && earlier.locale == variant->locale;
    });
    if (twice)
      return fail_field("body", "template \"" + std::string(name) + "\" has two variants for channel \"" +
                                    variant->channel + "\" and locale \"" + variant->locale + "\"");
  }
  if (variants.empty()) return fail_field("body", "template \"" + std::string(name) + "\" has no text");
  return {};
}

Result<Payload> render(const TemplateSet& set, const Payload& payload, std::string_view channel,
                       std::string_view default_locale, const Variables& recipient_vars) {
  if (payload.template_name.empty()) return checked(payload);
  const std::string shown = safe_text(payload.template_name, 64);
  if (const auto broken = set.broken.find(payload.template_name); broken != set.broken.end())
    return fail(Error{Code::kBadInput, broken->second.message, broken->second.hint, "template"});
  const auto found = set.templates.find(payload.template_name);
  if (found == set.templates.end()) {
    NearMiss near(payload.template_name);
    for (const auto& [name, variants] : set.templates) near.consider(name);
    return fail(Error{Code::kBadInput, "no template is called \"" + shown + "\"",
                      near.best().empty() ? "" : "did you mean \"" + near.best() + "\"?", "template"});
  }
  const Scope scope{payload.vars, recipient_vars};
  const std::string* given_locale = scope.find("locale");
  const std::string_view locale = given_locale != nullptr ? std::string_view(*given_locale) : default_locale;
  const TemplateVariant* variant = choose(found->second, channel, locale);
  if (variant == nullptr)
    return fail_field("template", "template \"" + shown + "\" has nothing for channel \"" + safe_text(channel, 64) +
                                      "\" and locale \"" + safe_text(locale, 40) + "\"");

  Payload result = payload;
  result.template_name.clear();
  result.vars.clear();
  TRY(fill_parts(result, found->first, *variant, scope));
  return checked(std::move(result));
}

}  // namespace notify
