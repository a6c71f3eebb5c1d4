#include "cmd/enqueue.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/input.hpp"
#include "cmd/publish_now.hpp"
#include "cmd/render.hpp"
#include "core/crypto.hpp"
#include "core/duration.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "store/open.hpp"
#include "sys/files.hpp"
#include "sys/template_files.hpp"

namespace notify {
namespace {

// The program's own memory of texts that the fields point to.
struct Texts {
  std::string body{};
  std::string html{};
  std::string priority{};
};

Result<std::string> read_text(const std::string& path, Context& context) {
  TRY_ASSIGN(Input input, Input::open(path, context));
  return read_whole(input, limits::kPayload);
}

// What only a person at the command line can get wrong.
Result<void> check_options(const EnqueueOptions& options) {
  const auto usage = [](std::string message, std::string hint = {}) {
    return fail(Code::kUsage, std::move(message), std::move(hint));
  };
  if (options.rejects) return usage("--rejects needs --jsonl", "it is where refused lines of a stream go");
  if (options.atomic) return usage("--atomic needs --jsonl", "a single message is all or nothing anyway");
  if (!options.channel) return usage("--channel is missing", "notifyctl help enqueue shows examples");
  if (!options.to) return usage("--to is missing", "notifyctl help enqueue shows examples");
  if (options.body && options.body_file)
    return usage("either --body or --body-file, not both", "leave one of them out; both would be the text");
  if (options.body_file == "-" && options.html_file == "-")
    return usage("standard input can be the body or the HTML, not both", "put one of them into a file");
  return {};
}

Result<EnqueueFields> fields_of(const EnqueueOptions& options, Texts& texts, Context& context) {
  EnqueueFields fields;
  fields.channel = options.channel;
  fields.to = options.to;
  fields.key = options.key;
  fields.kind = options.kind;
  fields.category = options.category;
  fields.subject = options.subject;
  fields.body = options.body;
  fields.alt = options.alt;
  fields.data = options.data;
  fields.template_name = options.template_name;
  fields.not_before = options.not_before;
  fields.expires = options.expires;
  if (options.priority) {
    texts.priority = std::to_string(*options.priority);
    fields.priority = texts.priority;
  }
  fields.correlation = options.correlation;
  if (options.body_file) {
    TRY_ASSIGN(texts.body, read_text(*options.body_file, context));
    fields.body = texts.body;
  }
  if (options.html_file) {
    TRY_ASSIGN(texts.html, read_text(*options.html_file, context));
    fields.html = texts.html;
  }
  if (!options.vars.empty() && !options.template_name)
    return fail(Code::kUsage, "--var needs --template", "name the template that has the variable: --template NAME");
  for (const std::string& var : options.vars) {
    const std::size_t equals = var.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kUsage, "--var: \"" + var + "\" is not NAME=VALUE", "write for example --var host=db1");
    fields.vars.emplace_back(std::string_view(var).substr(0, equals), std::string_view(var).substr(equals + 1));
  }
  return fields;
}

// A file that cannot be used is what this request names, and no fault of the set-up that would stop others.
Result<TemplateSet> find_template(const std::string& directory, const std::string& name) {
  Result<TemplateSet> found = load_template(directory, name);
  if (!found && found.error().code == Code::kConfig) {
    found.error().code = Code::kBadInput;
    found.error().field = "template";
    if (found.error().hint.empty()) found.error().hint = "mend the file; notifyctl check examines all templates";
  } else if (found && found->templates.empty()) {
    return fail_field("template", "there is no template \"" + name + "\" in " + directory,
                      "a template is a file NAME.toml in that directory");
  }
  return found;
}

// Reads of the surroundings what this request depends on, and no more: the zone for times, one template.
Result<NewMessage> make(const EnqueueOptions& options, const EnqueueFields& fields, Context& context) {
  EnqueueContext surroundings;
  surroundings.now = context.clock().now();
  TRY_ASSIGN(const Config* const config, context.config());
  surroundings.limits = config->channels;
  if (options.not_before || options.expires) {
    TRY_ASSIGN(surroundings.zone, context.zone());
  }
  TemplateSet templates;
  if (options.template_name) {
    const std::string& directory = config->templates.directory;
    if (!directory.empty()) {
      TRY_ASSIGN(templates, find_template(directory, *options.template_name));
      surroundings.templates = &templates;
    }
    surroundings.default_locale = config->templates.default_locale;
  }
  return make_message(fields, surroundings);
}

// "not_before" → "--not-before"; members of an object by their parent.
std::string option_of(std::string_view field) {
  std::string name = "--" + std::string(field.substr(0, field.find('.')));
  for (char& c : name)
    if (c == '_') c = '-';
  if (name == "--html") return "--html-file";
  return name == "--vars" ? "--var" : name;
}

tl::unexpected<Error> bad_input(Error error) {
  if (error.field.empty()) return fail(std::move(error));
  const std::string option = option_of(error.field);
  return fail(with_context(std::move(error), option));
}

nlohmann::ordered_json accepted_json(const InsertResult& inserted, const EnqueueOptions& options) {
  nlohmann::ordered_json json{{"message_id", inserted.message_id}, {"outbox_id", inserted.outbox_id}};
  json["key"] = options.key ? nlohmann::ordered_json(*options.key) : nlohmann::ordered_json();
  json["status"] = name(inserted.state);
  json["created"] = inserted.kind == InsertResult::Kind::kCreated;
  return json;
}

// The id is out as soon as it is true. JSON is one object: with --now and --wait it tells what came of that, and comes
// then.
Result<void> print_accepted(const InsertResult& inserted, const EnqueueOptions& options, Context& context) {
  context.out().line(context.json() ? to_text(accepted_json(inserted, options)) : inserted.message_id);
  if (auto printed = context.out().flush(); !printed)
    return fail(with_context(std::move(printed).error(), inserted.message_id + " is accepted, but"));
  return {};
}

// --wait: what became of it, as JSON and as exit status.
Result<int> await_end(const InsertResult& inserted, const EnqueueOptions& options, Context& context) {
  const Result<Waited> waited = wait_for(context, inserted.message_id, *options.wait);
  if (context.json()) {
    nlohmann::ordered_json json = accepted_json(inserted, options);
    if (waited) {
      json["status"] = waited->status;
      json["reason"] = waited->reason.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(waited->reason);
    }
    context.out().line(to_text(json));
  }
  if (!waited) return fail(waited.error());
  if (!waited->final)
    return fail(Code::kTimeout,
                "message " + inserted.message_id + " is not sent after " + format_duration(*options.wait) + ": " +
                    waited->status,
                "it is safe; notifyctl show " + inserted.message_id + " tells where it is; is a worker running?");
  if (waited->status == "SENT") return 0;
  if (waited->status == "ERROR")
    return fail(Code::kPartial,
                "message " + inserted.message_id + " is ERROR, the outcome is unknown: it may have been sent" +
                    (waited->reason.empty() ? "" : ": " + waited->reason),
                "do not send it again by hand, it would arrive twice; notifyctl show " + inserted.message_id +
                    " tells what is known");
  return fail(Code::kPartial,
              "message " + inserted.message_id + " was not sent: " + waited->status +
                  (waited->reason.empty() ? "" : ": " + waited->reason),
              "notifyctl show " + inserted.message_id + " tells its whole life");
}

}  // namespace

Error key_conflict(std::string_view key, const InsertResult& inserted) {
  constexpr std::size_t kShort = 12;
  const std::string existing = to_hex(inserted.existing_fingerprint);
  const std::string given = to_hex(inserted.given_fingerprint);
  Error error{Code::kConflict,
              "the key \"" + std::string(key) + "\" exists with other content: " + inserted.message_id +
                  " has the fingerprint " + existing.substr(0, kShort) + "…, this request " + given.substr(0, kShort) +
                  "…",
              (inserted.pruned ? "that message was done with and pruned, its key stays taken"
                               : "notifyctl show " + inserted.message_id + " tells what was accepted") +
                  "; another message needs another key",
              "key"};
  error.details = {
      {"message_id", inserted.message_id}, {"existing_fingerprint", existing}, {"given_fingerprint", given}};
  return error;
}

Result<NewMessage> message_of(const EnqueueOptions& options, Context& context) {
  Texts texts;
  TRY_ASSIGN(const EnqueueFields fields, fields_of(options, texts, context));
  auto message = make(options, fields, context);
  if (!message) return bad_input(std::move(message).error());
  return message;
}

// A message for a channel that nobody serves waits in the queue until somebody does: the configuration of the machine that
// sends may be another.
Result<void> warn_of_unknown_channel(const std::string& channel, Context& context) {
  TRY_ASSIGN(const Config* const config, context.config());
  if (config->channels.empty() || config->channel(channel) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const ChannelConfig& known : config->channels) names.push_back(known.name);
  std::string hint = did_you_mean(channel, names);
  if (hint.empty())
    hint = "the message waits until somebody serves that channel; notifyctl channel list shows those here";
  context.warn("no channel " + channel + " is configured in " + config->file, hint);
  return {};
}

Page enqueue_page() {
  Page page;
  page.synopsis = {"--channel NAME --to ADDRESS [--key KEY] [options]", "--jsonl FILE [--rejects FILE] [--atomic]",
                   "--channel NAME --broadcast KEY --recipients FILE|group:NAME [options]"};
  page.description =
      "Accepts a message and prints its id. When the id is printed, the message is on the disk and will be "
      "delivered, "
      "once, by `notifyctl relay` and `notifyctl work`.\n\n"
      "The key is what makes a rerun harmless: the same key with the same content prints the id that exists "
      "and adds "
      "nothing; the same key with other content is refused with exit status 4. What is compared is channel, "
      "recipient, "
      "kind, category, the texts, data, template and variables, and not times, priority or correlation. "
      "Without a key "
      "every call accepts a new message.\n\n"
      "With `--jsonl` a stream of any length is taken, one JSON object a line, in constant memory. The "
      "members are named "
      "like the options: channel, to, key, kind, category, subject, body, html, alt, data, template, vars, "
      "not_before, "
      "expires, priority, correlation. Good lines are taken and bad ones reported as `FILE:LINE: field: "
      "reason`, so that "
      "mending the file and running it again completes it. While the input pauses, what has come is "
      "committed and "
      "nothing is locked.\n\n"
      "With `--broadcast` one message goes to many: the list of recipients (an address or @ID a line, or the members "
      "of a "
      "group) is kept as it is now, however long it is, and accepted with one commit, all or nothing. The relay then "
      "makes "
      "a message for each endpoint, in steps, also after it was killed. The key stands for text and list: the same "
      "again "
      "adds nothing, another list or text is refused with exit status 4 (of a group the name counts, not who is in "
      "it). "
      "`notifyctl status --broadcast KEY` shows how far it is, `notifyctl cancel --broadcast KEY` stops it.";
  page.examples = {{"A text message, harmless to repeat",
                    "notifyctl enqueue --channel sms --to +821012345678 \\\n"
                    "    --key GRADE:2026-11:42 --kind GRADE --body \"Your grades are in.\""},
                   {"A mail from files, worthless after two days",
                    "notifyctl enqueue --channel mail --to a@example.com --subject Report \\\n"
                    "    --body-file report.txt --html-file report.html --expires 2d"},
                   {"From a template, sent at once, with its outcome as exit status",
                    "notifyctl enqueue --channel ops --to oncall --template disk-full \\\n"
                    "    --var host=db1 --var free=2% --wait=30s"},
                   {"To everybody on a list",
                    "notifyctl enqueue --channel push --broadcast closing:2026-11-29 \\\n"
                    "    --recipients users.txt --subject \"Closed today\" --body \"Open on Monday.\""},
                   {"A stream, with the lines that were refused kept aside",
                    "./export | notifyctl enqueue --jsonl - --rejects bad.jsonl"}};
  page.exits = {{0, "accepted, or accepted before; with --wait: sent"},
                {1, "--jsonl: some lines were refused; --wait: not sent, or ERROR: it may have been sent"},
                {4, "the key exists with other content; nothing was changed"},
                {65, "the message is not valid, or its template does not render"},
                {73, "the database cannot be created"},
                {74, "the message could not be written (disk full) and is not accepted"},
                {75, "the database is busy; --wait: the time is over"},
                {77, "the database belongs to somebody else"},
                {78, "the configuration or the database is not usable"}};
  page.see_also = {"notifyctl-relay(1)", "notifyctl-work(1)", "notifyctl-show(1)", "notifyctl.toml(5)",
                   "notifyctl-sql(5)"};
  return page;
}

void register_options(OptionSet& set, EnqueueOptions& options) {
  set.group("Message");
  set.add("--channel", &options.channel, "NAME", "the channel to send through").completes(Completion::kChannel);
  set.add("--to", &options.to, "ADDRESS", "whom to send to, as the channel wants it");
  set.add("--key", &options.key, "KEY", "what makes a rerun harmless; at most 512 bytes");
  set.add("--kind", &options.kind, "KIND", "what it is about, for filters and statistics");
  set.add("--category", &options.category, "WORD", "advertising has quiet hours")
      .one_of({"transactional", "advertising"})
      .shows_default("transactional");
  set.add("--correlation", &options.correlation, "ID", "an id that is carried into logs and to the vendor");
  set.group("Content");
  set.add("--subject", &options.subject, "TEXT", "the subject; one line");
  set.add("--body", &options.body, "TEXT", "the text")
      .more("As it stands: `-` is a text of one character. `--body-file -` reads standard input.");
  set.add("--body-file", &options.body_file, "FILE", "the text from a file, - for standard input")
      .completes(Completion::kFile);
  set.add("--html-file", &options.html_file, "FILE", "the text as HTML from a file, - for standard input")
      .completes(Completion::kFile);
  set.add("--alt", &options.alt, "TEXT", "the text that a vendor falls back to");
  set.add("--data", &options.data, "JSON", "any JSON, for the receiver");
  set.add("--template", &options.template_name, "NAME", "a template instead of texts; must render now");
  set.add("--var", &options.vars, "NAME=VALUE", "a variable of the template");
  set.group("When");
  set.add("--not-before", &options.not_before, "TIME", "not earlier; +2h, 2026-11-29T08:00+09:00, today 08:00");
  set.add("--expires", &options.expires, "TIME", "worthless from then on");
  set.add("--priority", &options.priority, "0-9", "9 is the most urgent").between(0, 9).shows_default("5");
  set.flag("--now", options.now, "publish it at once, if it may go, without waiting for a relay")
      .more("A failure there leaves the message to the relay and is no error.");
  set.add("--wait", &options.wait, "TIME", "wait for the outcome, at most so long; implies --now")
      .optional_value("30s")
      .between(1ms, 24h)
      .more(
          "Without a TIME 30 seconds. A worker must be running. Exit status 0: sent; 1: not sent, or ERROR: nobody "
          "knows; 75: not known yet.");
  set.group("To many");
  set.add("--broadcast", &options.broadcast, "KEY", "accept one message to many under this key; needs --recipients");
  set.add("--recipients", &options.recipients, "FILE|group:NAME",
          "an address or @ID a line, - for standard input; or a group")
      .completes(Completion::kFile);
  set.group("Streams");
  set.add("--jsonl", &options.jsonl, "FILE", "messages as lines of JSON, - for standard input")
      .completes(Completion::kFile);
  set.add("--rejects", &options.rejects, "FILE", "write the lines that were refused there, as they are")
      .completes(Completion::kFile);
  set.flag("--atomic", options.atomic, "all lines or none; at most 100,000");
}

Result<int> run(const EnqueueOptions& options, Context& context) {
  if (options.broadcast || options.recipients) return run_broadcast(options, context);
  if (options.jsonl) return run_bulk(options, context);
  TRY(check_options(options));
  TRY_ASSIGN(const NewMessage message, message_of(options, context));
  TRY(warn_of_unknown_channel(message.channel, context));
  if (options.body == "-") context.warn("the text is \"-\"", "--body-file - reads it from standard input");

  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.create = true;
  open.create_parent = context.database_is_default();
  InsertResult inserted;
  {
    TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(open));
    TRY_ASSIGN(inserted, enqueue_one(*store, context.clock(), context.crash_points(), message));
  }
  if (inserted.kind == InsertResult::Kind::kConflict) return fail(key_conflict(message.dedup_key, inserted));

  const bool at_once = options.now || options.wait;
  if (!at_once || !context.json()) TRY(print_accepted(inserted, options, context));
  if (at_once) inserted.state = publish_now(context, inserted.outbox_id).value_or(inserted.state);
  if (options.wait) return await_end(inserted, options, context);
  if (at_once && context.json()) TRY(print_accepted(inserted, options, context));
  return 0;
}

}  // namespace notify
