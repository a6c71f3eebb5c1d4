// recipient show: what is known about one.

#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/reading.hpp"
#include "cmd/recipient.hpp"
#include "cmd/render.hpp"
#include "core/ports/recipient_table.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

class Shown {
 public:
  Shown(const RecipientRecord& record, bool reveal, Context& context)
      : record_(record), reveal_(reveal), context_(context) {}

  Json json() const {
    Json endpoints = Json::array();
    for (const Endpoint& endpoint : record_.endpoints)
      endpoints.push_back({{"channel", endpoint.channel},
                           {"address", address(endpoint.address)},
                           {"enabled", !endpoint.disabled_at},
                           {"disabled_at", endpoint.disabled_at ? Json(time(*endpoint.disabled_at)) : Json()},
                           {"reason", maybe(endpoint.disabled_reason)}});
    Json opt_outs = Json::array();
    for (const OptOut& out : record_.opt_outs)
      opt_outs.push_back({{"subject", subject(out)},
                          {"channel", maybe(out.scope.channel)},
                          {"category", maybe(out.scope.category)},
                          {"kind", maybe(out.scope.kind)},
                          {"since", time(out.since)}});
    return {{"id", maybe(record_.id)},
            {"locale", maybe(record_.locale)},
            {"groups", record_.groups},
            {"endpoints", std::move(endpoints)},
            {"opt_outs", std::move(opt_outs)},
            {"created_at", known() ? Json(time(record_.created_at)) : Json()},
            {"updated_at", known() ? Json(time(record_.updated_at)) : Json()}};
  }

  void print() const {
    if (known()) line("recipient", record_.id);
    if (!record_.locale.empty()) line("locale", record_.locale);
    for (const std::string& group : record_.groups) line("group", group);
    for (const Endpoint& endpoint : record_.endpoints) {
      std::string text = endpoint.channel + "=" + address(endpoint.address);
      if (endpoint.disabled_at)
        text += ", disabled since " + time(*endpoint.disabled_at) + ": " + endpoint.disabled_reason;
      line("endpoint", text);
    }
    for (const OptOut& out : record_.opt_outs) {
      std::string text = subject(out) + " since " + time(out.since);
      if (!out.scope.channel.empty()) text += ", channel " + out.scope.channel;
      if (!out.scope.category.empty()) text += ", category " + out.scope.category;
      if (!out.scope.kind.empty()) text += ", kind " + out.scope.kind;
      line("opted out", text);
    }
    if (!known()) return;
    line("made", time(record_.created_at));
    line("changed", time(record_.updated_at));
  }

 private:
  bool known() const { return !record_.id.empty(); }
  std::string time(Instant at) const { return context_.show_time(at); }
  std::string address(const std::string& text) const { return reveal_ ? text : mask_address(text); }
  std::string subject(const OptOut& out) const {
    return is_recipient_reference(out.subject) ? out.subject : address(out.subject);
  }
  void line(const char* name, const std::string& value) const {
    context_.out().line(std::string(name) + ": " + printable(value));
  }

  const RecipientRecord& record_;
  bool reveal_;
  Context& context_;
};

}  // namespace

// Opt-outs stand for themselves: of an address that is nobody's, or an id that has no endpoints.
Result<std::optional<RecipientRecord>> opt_outs_alone(const std::string& subject, RecipientTable& recipients) {
  for (const std::string& one : consent_subjects(subject)) {
    RecipientRecord record;
    TRY_ASSIGN(record.opt_outs, recipients.opt_outs(one));
    if (!record.opt_outs.empty()) return record;
  }
  return std::nullopt;
}

Result<int> show_recipient(const RecipientOptions& options, Context& context) {
  const std::string id = is_recipient_reference(options.subject) ? options.subject.substr(1) : options.subject;
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_for_reading(context));
  TRY_ASSIGN(std::optional<RecipientRecord> record, store->recipients().find(id));
  if (!record) {
    TRY_ASSIGN(record, opt_outs_alone(options.subject, store->recipients()));
  }
  if (!record)
    return fail(Code::kNotFound, "there is no recipient " + printable(id) + ", and no opt-out of it",
                "notifyctl recipient set or import makes one; the id is the one given there");
  const Shown shown(*record, options.reveal, context);
  if (context.json())
    context.out().line(to_text(shown.json()));
  else
    shown.print();
  return 0;
}

}  // namespace notify
