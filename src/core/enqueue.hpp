#pragma once

// Making a message out of what a caller wrote, and putting one into the outbox. For streams see
// bulk_enqueue.hpp.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/message.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/crash_points.hpp"
#include "core/ports/store.hpp"
#include "core/ports/zone.hpp"
#include "core/template.hpp"

namespace notify {

// The fields of a request as written: options of the command line or members of a JSON line. Views into the
// caller's memory. Absent and empty differ: an empty key is an error, not "no key".
struct EnqueueFields {
  std::optional<std::string_view> channel{};
  std::optional<std::string_view> to{};
  std::optional<std::string_view> key{};
  std::optional<std::string_view> kind{};
  std::optional<std::string_view> category{};
  std::optional<std::string_view> subject{};
  std::optional<std::string_view> body{};
  std::optional<std::string_view> html{};
  std::optional<std::string_view> alt{};
  std::optional<std::string_view> data{};  // JSON text
  std::optional<std::string_view> template_name{};
  std::vector<std::pair<std::string_view, std::string_view>> vars{};
  std::optional<std::string_view> not_before{};
  std::optional<std::string_view> expires{};
  std::optional<std::string_view> priority{};
  std::optional<std::string_view> correlation{};
  bool from_json_line = false;  // all text is valid UTF-8 and data is canonical: the reader has seen to it

  void clear();  // keeps memory
};

// What the answer depends on besides the fields. Everything pointed to must outlive the call.
struct EnqueueContext {
  Instant now{};
  const Zone* zone = nullptr;              // for times without a zone
  const TemplateSet* templates = nullptr;  // none configured: a request with a template is refused
  std::string_view default_locale{};
  std::span<const std::string> channels{};  // configured ones; empty: any well-formed name is taken
  std::span<const ChannelConfig> limits{};  // channels whose limits are looked at; others are taken unseen
};

// Checks everything and builds the row. Every error has code kBadInput and Error.field with the field's name
// in JSON
// ("to", "not_before", "vars.name"); its message reads well both alone and after "field: ". A request says
// something by its parts (subject, body, html, alt), by data, or by a template (with vars, instead of parts).
// The template must render now; it is rendered again by the worker.
Result<NewMessage> make_message(const EnqueueFields& fields, const EnqueueContext& context);

// The same into an object whose memory is used again.
Result<void> make_message(NewMessage& out, const EnqueueFields& fields, const EnqueueContext& context);

// Inserts one message durably, in one Store::write. A conflict is a result, not an error.
Result<InsertResult> enqueue_one(Store& store, Clock& clock, CrashPoints& crash_points, const NewMessage& message);

}  // namespace notify
