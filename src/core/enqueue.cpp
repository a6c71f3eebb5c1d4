#include "core/enqueue.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/fingerprint.hpp"
#include "core/near_miss.hpp"
#include "core/payload.hpp"
#include "core/recipient.hpp"
#include "core/safe_text.hpp"
#include "core/text_encoding.hpp"
#include "core/text_rules.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

// What the store can hold: 1973 to 5138. Smaller numbers are seconds that somebody took for milliseconds.
constexpr Instant kEarliest{100'000'000'001};
constexpr Instant kLatest{99'999'999'999'999};

constexpr std::array<std::string_view, 2> kCategories{kTransactional, kAdvertising};

struct PartField {
  std::string_view name;
  std::optional<std::string_view> EnqueueFields::*given;
  std::string Payload::*part;
};
constexpr std::array kParts{PartField{"subject", &EnqueueFields::subject, &Payload::subject},
                            PartField{"body", &EnqueueFields::body, &Payload::body},
                            PartField{"html", &EnqueueFields::html, &Payload::html},
                            PartField{"alt", &EnqueueFields::alt, &Payload::alt}};

struct TextField {
  std::string_view name;
  std::optional<std::string_view> EnqueueFields::*given;
};
constexpr std::array kTextFields{
    TextField{"to", &EnqueueFields::to},     TextField{"key", &EnqueueFields::key},
    TextField{"kind", &EnqueueFields::kind}, TextField{"subject", &EnqueueFields::subject},
    TextField{"body", &EnqueueFields::body}, TextField{"html", &EnqueueFields::html},
    TextField{"alt", &EnqueueFields::alt},   TextField{"template", &EnqueueFields::template_name}};

// The fields that may hold any character; the others are read by something that accepts ASCII only, or JSON.
Result<void> check_encoding(const EnqueueFields& fields) {
  for (const TextField& field : kTextFields)
    if (const auto& given = fields.*field.given) TRY(check_utf8(field.name, *given));
  for (const auto& [name, value] : fields.vars)
    if (is_variable_name(name)) TRY(check_utf8("vars." + std::string(name), value));
  return {};
}

Result<void> take_channel(NewMessage& out, const EnqueueFields& fields, const EnqueueContext& context) {
  if (!fields.channel || fields.channel->empty())
    return fail_field("channel", "a channel is needed", "name one as in the configuration");
  const std::string_view channel = *fields.channel;
  if (!is_channel_name(channel))
    return fail_field("channel", "\"" + safe_text(channel, 64) + "\" is not a name for a channel",
                      "names have lower-case letters, digits, _, - and . only, and at most 64 characters");
  if (!context.channels.empty()) {
    bool known = false;
    for (const std::string& name : context.channels) known = known || name == channel;
    if (!known)
      return fail_field("channel", "no channel is called \"" + std::string(channel) + "\"",
                        did_you_mean(channel, context.channels));
  }
  out.channel = channel;
  return {};
}

Result<void> take_recipient(NewMessage& out, const EnqueueFields& fields) {
  if (!fields.to || fields.to->empty())
    return fail_field("to", "a recipient is needed", "give the address as the channel wants it");
  TRY(check_line("to", "the recipient", *fields.to, limits::kRecipient));
  if (is_recipient_reference(*fields.to)) {
    if (auto id = check_recipient_id(fields.to->substr(1)); !id) {
      id.error().field = "to";
      return id;
    }
  }
  out.recipient = *fields.to;
  return {};
}

Result<void> take_key(NewMessage& out, const EnqueueFields& fields) {
  out.dedup_key.clear();
  if (!fields.key) return {};
  // An empty key is a variable that was not set; taking it as "no key" would send twice on a rerun.
  if (fields.key->empty()) return fail_field("key", "the key is empty", "leave it out if a rerun may send again");
  TRY(check_line("key", "the key", *fields.key, limits::kDedupKey));
  out.dedup_key = *fields.key;
  return {};
}

Result<void> take_labels(NewMessage& out, const EnqueueFields& fields) {
  const std::string_view kind = fields.kind.value_or("");
  TRY(check_line("kind", "the kind", kind, limits::kKind));
  out.kind = kind;

  const std::string_view category = fields.category.value_or(kTransactional);
  if (category != kTransactional && category != kAdvertising) {
    std::string hint = did_you_mean(category, kCategories);
    return fail_field("category", "\"" + safe_text(category, 64) + "\" is not a category",
                      hint.empty() ? "there are transactional and advertising" : std::move(hint));
  }
  out.category = category;

  const std::string_view correlation = fields.correlation.value_or("");
  TRY(check_line("correlation", "the correlation id", correlation, limits::kCorrelation));
  for (const char c : correlation)
    if (c < ' ' || c > '~')
      return fail_field("correlation", "the correlation id has characters that are not ASCII",
                        "it is put into header lines; write it in ASCII");
  out.correlation = correlation;
  return {};
}

Result<void> take_priority(NewMessage& out, const EnqueueFields& fields) {
  out.priority = NewMessage{}.priority;
  if (!fields.priority) return {};
  const std::string_view text = *fields.priority;
  if (text.size() != 1 || text.front() < '0' || text.front() > '9')
    return fail_field("priority", "\"" + safe_text(text, 40) + "\" is not a priority",
                      "a digit from 0 to 9, 9 is the most urgent");
  out.priority = text.front() - '0';
  return {};
}

Result<Instant> read_time(std::string_view field, std::string_view text, const EnqueueContext& context) {
  auto time = parse_time(text, {.now = context.now, .zone = context.zone});
  if (!time) {
    time.error().field = field;
    return time;
  }
  if (*time < kEarliest || *time > kLatest)
    return fail_field(std::string(field), "\"" + safe_text(text, 40) + "\" is not between the years 1974 and 5138",
                      "is the unit right? @ is followed by seconds");
  return time;
}

std::string show_time(Instant t, const EnqueueContext& context) {
  return context.zone != nullptr ? format_time(t, *context.zone) : format_time(t);
}

Result<void> take_times(NewMessage& out, const EnqueueFields& fields, const EnqueueContext& context) {
  out.not_before.reset();
  out.expires.reset();
  if (fields.not_before) {
    TRY_ASSIGN(out.not_before, read_time("not_before", *fields.not_before, context));
  }
  if (!fields.expires) return {};
  TRY_ASSIGN(const Instant expires, read_time("expires", *fields.expires, context));
  if (expires <= context.now)
    return fail_field("expires", "the message has expired already (" + show_time(expires, context) + ")",
                      "give a later time, or +2h for two hours from now");
  if (out.not_before && expires <= *out.not_before)
    return fail_field("expires",
                      "the message would expire (" + show_time(expires, context) + ") before it may go (" +
                          show_time(*out.not_before, context) + ")",
                      "expires must be later than not_before");
  out.expires = expires;
  return {};
}

// --- content
// ----------------------------------------------------------------------------------------------------

Result<void> take_data(Payload& payload, const EnqueueFields& fields) {
  payload.data.clear();
  if (!fields.data) return {};
  if (fields.from_json_line) {
    payload.data = *fields.data;
    return {};
  }
  auto canonical = canonical_json(*fields.data);
  if (!canonical) {
    canonical.error().field = "data";
    if (canonical.error().hint.empty()) canonical.error().hint = "quote it for the shell: --data '{\"id\":42}'";
    return fail(std::move(canonical).error());
  }
  payload.data = std::move(*canonical);
  return {};
}

Result<void> take_vars(Payload& payload, const EnqueueFields& fields) {
  payload.vars.resize(fields.vars.size());
  for (std::size_t i = 0; i < fields.vars.size(); ++i) {
    const auto& [name, value] = fields.vars[i];
    if (!is_variable_name(name))
      return fail_field("vars", "\"" + safe_text(name, 64) + "\" is not a name for a variable",
                        "names have letters, digits, _, - and . only");
    if (value.find('\0') != std::string_view::npos) TRY(check_text("vars." + std::string(name), value));
    payload.vars[i].first = name;
    payload.vars[i].second = value;
  }
  std::sort(payload.vars.begin(), payload.vars.end());
  for (std::size_t i = 1; i < payload.vars.size(); ++i)
    if (payload.vars[i].first == payload.vars[i - 1].first)
      return fail_field("vars." + payload.vars[i].first, "the variable is given twice");
  return {};
}

Result<void> take_parts(Payload& payload, const EnqueueFields& fields) {
  for (const PartField& field : kParts) {
    const std::string_view text = (fields.*field.given).value_or("");
    if (field.part == &Payload::subject)
      TRY(check_subject(text));
    else
      TRY(check_text(field.name, text));
    payload.*field.part = text;
  }
  return {};
}

// Either a template with its variables, or the parts themselves; data goes with both.
Result<void> check_what_is_said(const Payload& payload, const EnqueueFields& fields) {
  if (fields.template_name) {
    if (fields.template_name->empty())
      return fail_field("template", "the template's name is empty", "leave it out, or name one");
    for (const PartField& field : kParts)
      if (fields.*field.given)
        return fail_field(std::string(field.name), "a message has either a template or parts of its own, not both",
                          "leave one of them out");
    return {};
  }
  if (!fields.vars.empty()) return fail_field("vars", "variables need a template", "name one with template");
  // An alternative text alone is one to something that is not there.
  if (payload.body.empty() && payload.html.empty() && payload.subject.empty() && payload.data.empty())
    return fail_field("body", "the message says nothing", "give a body, a subject, html, data or a template");
  return {};
}

Result<void> check_renders(const NewMessage& message, const Payload& payload, const EnqueueContext& context) {
  if (payload.template_name.empty()) return {};
  if (context.templates == nullptr || context.templates->templates.empty())
    return fail_field("template", "no templates are configured", "set templates.directory in the configuration");
  TRY(render(*context.templates, payload, message.channel, context.default_locale));
  return {};
}

// What certainly does not fit; a template's text is known only when it is sent.
Result<void> check_limits(const NewMessage& message, const Payload& payload, const EnqueueContext& context) {
  if (!payload.template_name.empty()) return {};
  for (const ChannelConfig& channel : context.limits) {
    if (channel.name != message.channel || !channel.max_text_bytes) continue;
    for (std::string Payload::*const part : {&Payload::body, &Payload::alt}) {
      Payload only;
      only.*part = payload.*part;
      if (auto fit = check_text_limit(only, *channel.max_text_bytes); !fit) {
        fit.error().field = part == &Payload::body ? "body" : "alt";
        return fit;
      }
    }
  }
  return {};
}

Result<void> take_content(NewMessage& out, const EnqueueFields& fields, const EnqueueContext& context) {
  // Kept from message to message for its memory.
  thread_local Payload payload;
  TRY(take_parts(payload, fields));
  TRY(take_data(payload, fields));
  TRY(take_vars(payload, fields));
  payload.template_name = fields.template_name.value_or("");
  TRY(check_text("template", payload.template_name));
  TRY(check_what_is_said(payload, fields));
  TRY(check_renders(out, payload, context));
  TRY(check_limits(out, payload, context));

  out.payload.clear();
  append_json(out.payload, payload);
  if (out.payload.size() > limits::kPayload)
    return fail_field("body", "the message has " + std::to_string(out.payload.size()) +
                                  " bytes as JSON, more than the " + std::to_string(limits::kPayload) + " allowed");
  out.fingerprint.clear();
  if (!out.dedup_key.empty())
    out.fingerprint = fingerprint(out.channel, out.recipient, out.kind, out.category, payload);
  return {};
}

}  // namespace

void EnqueueFields::clear() {
  auto kept = std::move(vars);
  kept.clear();
  *this = EnqueueFields{};
  vars = std::move(kept);
}

Result<void> make_message(NewMessage& out, const EnqueueFields& fields, const EnqueueContext& context) {
  if (!fields.from_json_line) TRY(check_encoding(fields));
  TRY(take_channel(out, fields, context));
  TRY(take_recipient(out, fields));
  TRY(take_key(out, fields));
  TRY(take_labels(out, fields));
  TRY(take_priority(out, fields));
  TRY(take_times(out, fields, context));
  return take_content(out, fields, context);
}

Result<NewMessage> make_message(const EnqueueFields& fields, const EnqueueContext& context) {
  NewMessage message;
  TRY(make_message(message, fields, context));
  return message;
}

Result<InsertResult> enqueue_one(Store& store, Clock& clock, CrashPoints& crash_points, const NewMessage& message) {
  InsertResult inserted;
  TRY(store.write([&]() -> Result<void> {
    TRY_ASSIGN(inserted, store.outbox().insert(message, clock.now()));
    crash_points.reach(CrashPoint::kEnqueueBeforeCommit);
    return {};
  }));
  crash_points.reach(CrashPoint::kEnqueueAfterCommit);
  return inserted;
}

}  // namespace notify
