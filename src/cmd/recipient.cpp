#include "cmd/recipient.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/render.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/text_rules.hpp"
#include "store/open.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kRecipientActions{"import",  "set",    "show",
                                                            "opt-out", "opt-in", "disable-endpoint"};

Result<std::unique_ptr<SqliteStore>> open_or_create(Context& context) {
  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.create = true;
  open.create_parent = context.database_is_default();
  return open_store(open);
}

// A channel is not known everywhere where recipients are kept; a mistyped one is still worth a word.
Result<void> check_channel(const std::string& channel, Context& context) {
  if (!is_channel_name(channel))
    return fail(Code::kUsage, "\"" + printable(channel) + "\" is not a name for a channel",
                "names have lower-case letters, digits, _, - and . only");
  TRY_ASSIGN(const Config* config, context.config());
  if (config->channels.empty() || config->channel(channel) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const ChannelConfig& known : config->channels) names.push_back(known.name);
  std::string hint = did_you_mean(channel, names);
  context.warn("no channel " + channel + " is configured in " + config->file,
               hint.empty() ? "notifyctl channel list shows those here" : hint);
  return {};
}

std::string without_at(const std::string& given) { return is_recipient_reference(given) ? given.substr(1) : given; }

Error as_bad_input(Error error, const char* what) {
  error = with_context(std::move(error), what);
  error.code = Code::kBadInput;
  return error;
}

Result<RecipientChange> change_of(const RecipientOptions& options, Context& context) {
  RecipientChange change;
  change.id = without_at(options.subject);
  change.locale = options.locale;
  change.enable = true;
  for (const std::string& endpoint : options.endpoints) {
    const std::size_t equals = endpoint.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kUsage, "--endpoint: \"" + printable(endpoint) + "\" is not CHANNEL=ADDRESS",
                  "write for example --endpoint sms=+821012345678");
    const std::string channel = endpoint.substr(0, equals);
    TRY(check_channel(channel, context));
    std::vector<std::string>& addresses = change.endpoints[channel];
    if (equals + 1 < endpoint.size()) addresses.push_back(endpoint.substr(equals + 1));
  }
  if (!options.groups.empty()) {
    change.groups.emplace();
    for (const std::string& group : options.groups)
      if (!group.empty()) change.groups->push_back(group);
  }
  if (auto sound = check_recipient(change); !sound)
    return fail(as_bad_input(std::move(sound).error(), "cannot set the recipient"));
  return change;
}

Result<int> set_recipient(const RecipientOptions& options, Context& context) {
  TRY_ASSIGN(const RecipientChange change, change_of(options, context));
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_or_create(context));
  TRY(store->write([&] { return store->recipients().set(change, context.clock().now()); }));
  if (context.json()) context.out().line(to_text(Json{{"id", change.id}}));
  return 0;
}

Result<ConsentScope> scope_of(const RecipientOptions& options, Context& context) {
  if (!options.channel.empty()) TRY(check_channel(options.channel, context));
  TRY(check_line("kind", "the kind", options.kind, limits::kKind));
  return ConsentScope{options.channel, options.category, options.kind};
}

Result<int> opt(const RecipientOptions& options, bool out, Context& context) {
  TRY_ASSIGN(const ConsentScope scope, scope_of(options, context));
  TRY(check_line("recipient", "the recipient", options.subject, limits::kRecipient));
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_or_create(context));
  int changed = 0;
  TRY(store->write([&]() -> Result<void> {
    changed = 0;
    const Instant now = context.clock().now();
    for (const std::string& subject : consent_subjects(options.subject)) {
      if (out) {
        TRY_ASSIGN(const bool added, store->recipients().opt_out({subject, scope, now}));
        changed += added ? 1 : 0;
      } else {
        TRY_ASSIGN(const int ended, store->recipients().opt_in(subject, scope));
        changed += ended;
      }
    }
    return {};
  }));
  if (context.json()) context.out().line(to_text(Json{{"opted_out", out}, {"changed", changed > 0}}));
  if (changed == 0) context.note(out ? "was opted out already" : "there was no such opt-out");
  return 0;
}

// Of a recipient when there is one with that id, else of an address.
Result<int> disable(const RecipientOptions& options, Context& context) {
  if (options.channel.empty()) return fail(Code::kUsage, "--channel is missing", "an endpoint belongs to a channel");
  if (!options.reason || options.reason->empty())
    return fail(Code::kUsage, "--reason is missing", "say why; show tells it");
  TRY(check_channel(options.channel, context));
  TRY(check_line("reason", "the reason", *options.reason, limits::kReason));
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_or_create(context));
  const std::string id = without_at(options.subject);
  int changed = 0;
  TRY(store->write([&]() -> Result<void> {
    const Instant now = context.clock().now();
    TRY_ASSIGN(const std::optional<RecipientRecord> known, store->recipients().find(id));
    if (known) {
      TRY_ASSIGN(changed, store->recipients().disable_endpoints(id, options.channel, *options.reason, now));
      return {};
    }
    if (is_recipient_reference(options.subject))
      return fail(Code::kNotFound, "there is no recipient " + id, "without the @ it is taken as an address");
    TRY_ASSIGN(const bool added, store->recipients().disable_address(options.channel, options.subject, *options.reason,
                                                                     std::nullopt, now));
    changed = added ? 1 : 0;
    return {};
  }));
  if (context.json()) context.out().line(to_text(Json{{"channel", options.channel}, {"disabled", changed}}));
  if (changed == 0) context.note("nothing was enabled there");
  return 0;
}

Result<void> check_options(const RecipientOptions& options) {
  const std::string& action = options.action;
  const bool sets = !options.endpoints.empty() || options.locale || !options.groups.empty();
  const bool scoped = !options.category.empty() || !options.kind.empty();
  const bool opts = action == "opt-out" || action == "opt-in";
  const bool disables = action == "disable-endpoint";
  if (options.subject.empty())
    return fail(Code::kUsage, "recipient " + action + ": " +
                                  (action == "import" ? "the FILE is missing" : "the ID or ADDRESS is missing"));
  if (sets && action != "set") return fail(Code::kUsage, "--endpoint, --locale and --group belong to set");
  if (scoped && !opts) return fail(Code::kUsage, "--category and --kind belong to opt-out and opt-in");
  if (!options.channel.empty() && !opts && !disables)
    return fail(Code::kUsage, "--channel belongs to opt-out, opt-in and disable-endpoint");
  if (options.reason && !disables) return fail(Code::kUsage, "--reason belongs to disable-endpoint");
  if (options.reveal && action != "show") return fail(Code::kUsage, "--reveal belongs to show");
  return {};
}

}  // namespace

std::vector<std::string> consent_subjects(const std::string& given) {
  if (is_recipient_reference(given)) return {given};
  std::vector<std::string> subjects{match_address(given)};
  if (check_recipient_id(given)) subjects.push_back("@" + given);
  return subjects;
}

Page recipient_page() {
  Page page;
  page.synopsis = {"import FILE",
                   "set ID [--endpoint CHANNEL=ADDRESS] [--locale LOCALE] [--group NAME]",
                   "show ID|ADDRESS [--reveal]",
                   "opt-out ID [--channel NAME] [--category WORD] [--kind KIND]",
                   "opt-in ID [--channel NAME] [--category WORD] [--kind KIND]",
                   "disable-endpoint ID --channel NAME --reason TEXT"};
  page.description =
      "Keeps recipients under ids of your own, so that `enqueue --to @ID` reaches them at the address that is right "
      "when the message is sent: the first endpoint of its channel that is not disabled. Their locale chooses the "
      "template. A message to an unknown id, or to one without an endpoint for the channel, is parked as "
      "`no-endpoint`; where all endpoints are disabled it is skipped as `endpoint-disabled`.\n\n"
      "`set` and `import` write what is given and leave the rest as it is. A list replaces the one before: the "
      "endpoints of each channel named, the groups. `--endpoint CHANNEL=` without an address removes the channel's, "
      "`--group \"\"` all groups. `set` enables what it names again; `import` does not, so that a nightly list brings "
      "no "
      "dead address back.\n\n"
      "`import` reads one JSON object a line, - for standard input: "
      "`{\"id\":\"42\",\"locale\":\"ko\",\"endpoints\":{\"sms\":\"+8210…\"}}`. "
      "Good lines are taken, bad ones reported as `FILE:LINE: field: reason`.\n\n"
      "`opt-out` stops messages to an id or an address: all of them, or those of a channel, a category or a kind. They "
      "are skipped as `opted-out`, also those that are waiting already. An opt-out of an id covers its addresses, "
      "however a message is addressed. Without the `@` the word is taken as an id and as an address. `opt-in` ends the "
      "opt-outs in its scope. `show` tells of opt-outs also where there is no such recipient.\n\n"
      "`disable-endpoint` takes an address out of use, as a vendor's answer does that calls it dead. "
      "Addresses are compared without regard to how they are written: e-mail in lower case, telephone numbers by their "
      "digits. They are masked unless `--reveal` is given.";
  page.examples = {{"A recipient with two endpoints",
                    "notifyctl recipient set 42 --endpoint sms=+821012345678 \\\n"
                    "    --endpoint mail=ann@example.com"},
                   {"Send to them", "notifyctl enqueue --channel sms --to @42 --body \"Your grades are in.\""},
                   {"No more advertising", "notifyctl recipient opt-out 42 --category advertising"},
                   {"Every night, the list of the day", "./export | notifyctl recipient import -"}};
  page.exits = {{0, "done"},
                {1, "import: some lines were refused"},
                {65, "no such recipient, or what is given is not valid"},
                {73, "the database cannot be created"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"},
                {78, "the configuration or the database is not usable"}};
  page.see_also = {"notifyctl-enqueue(1)", "notifyctl-show(1)"};
  return page;
}

void register_options(OptionSet& set, RecipientOptions& options) {
  set.positional("ACTION", &options.action, "what to do")
      .one_of({kRecipientActions.begin(), kRecipientActions.end()})
      .required();
  set.positional("ID", &options.subject, "the recipient's id, an address, or the FILE to import")
      .completes(Completion::kFile);
  set.group("Set");
  set.add("--endpoint", &options.endpoints, "CHANNEL=ADDRESS", "where a channel reaches them, the first choice first");
  set.add("--locale", &options.locale, "LOCALE", "which wording of a template they get, like ko or en-GB");
  set.add("--group", &options.groups, "NAME", "a group that they belong to");
  set.group("Opt out and in, disable");
  set.add("--channel", &options.channel, "NAME", "only this channel").completes(Completion::kChannel);
  set.add("--category", &options.category, "WORD", "only this category").one_of({kTransactional, kAdvertising});
  set.add("--kind", &options.kind, "KIND", "only this kind");
  set.add("--reason", &options.reason, "TEXT", "why an endpoint is disabled");
  set.group("Show");
  set.flag("--reveal", options.reveal, "show addresses as they are");
}

Result<int> run(const RecipientOptions& options, Context& context) {
  TRY(check_options(options));
  if (options.action == "import") return import_recipients(options.subject, context);
  if (options.action == "set") return set_recipient(options, context);
  if (options.action == "show") return show_recipient(options, context);
  if (options.action == "disable-endpoint") return disable(options, context);
  return opt(options, options.action == "opt-out", context);
}

}  // namespace notify
