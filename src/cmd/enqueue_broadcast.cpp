// enqueue --broadcast: one message to many, accepted with one small commit.

#include <nlohmann/json.hpp>

#include "cmd/enqueue.hpp"
#include "cmd/errors.hpp"
#include "cmd/input.hpp"
#include "cmd/render.hpp"
#include "core/broadcast.hpp"
#include "core/text_rules.hpp"
#include "store/open.hpp"
#include "sys/spool.hpp"

namespace notify {
namespace {

constexpr std::string_view kGroupPrefix = "group:";
constexpr int kBadLinesShown = 100;
constexpr int kMembersAtOnce = 1000;

Result<void> check_broadcast_options(const EnqueueOptions& options) {
  const auto usage = [](std::string message, std::string hint = {}) {
    return fail(Code::kUsage, std::move(message), std::move(hint));
  };
  if (!options.broadcast) return usage("--recipients needs --broadcast KEY", "the key makes a rerun harmless");
  if (!options.recipients)
    return usage("--broadcast needs --recipients FILE or --recipients group:NAME",
                 "notifyctl help enqueue shows examples");
  if (!options.channel) return usage("--channel is missing", "notifyctl help enqueue shows examples");
  if (options.to) return usage("either --to or --recipients, not both", "a single message needs no --broadcast");
  if (options.key)
    return usage("either --key or --broadcast KEY, not both", "a broadcast's key is that of --broadcast");
  if (options.jsonl || options.rejects || options.atomic)
    return usage("--jsonl, --rejects and --atomic do not go with --broadcast",
                 "a list of recipients is one address a line");
  if (options.now || options.wait)
    return usage("--now and --wait are for a single message", "notifyctl status --broadcast KEY shows how far it is");
  if (options.body && options.body_file)
    return usage("either --body or --body-file, not both", "leave one of them out");
  if (options.recipients == "-" && (options.body_file == "-" || options.html_file == "-"))
    return usage("standard input can be the recipients or a text, not both", "put one of them into a file");
  return {};
}

// The list as it is kept: one recipient a line, nothing else.
class List {
 public:
  List(FileSpool::Writer writer, Context& context, std::string source)
      : writer_(std::move(writer)), context_(context), source_(std::move(source)) {}

  Result<void> add(std::string_view recipient) {
    TRY(writer_.add(recipient));
    TRY(writer_.add("\n"));
    ++recipients_;
    return {};
  }

  // Lines of any length in constant memory.
  Result<void> read(Input& input) {
    std::string open;
    while (true) {
      TRY_ASSIGN(std::string_view bytes, input.read());
      if (bytes.empty()) return line(open);
      while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        if (open.size() <= kLongest) open.append(bytes.substr(0, end));
        if (end == std::string_view::npos) break;
        TRY(line(open));
        open.clear();
        bytes.remove_prefix(end + 1);
      }
    }
  }

  std::int64_t bad() const noexcept { return bad_; }
  std::int64_t recipients() const noexcept { return recipients_; }
  FileSpool::Writer& writer() noexcept { return writer_; }

 private:
  static constexpr std::size_t kLongest = limits::kRecipient + 2;

  Result<void> line(std::string_view text) {
    ++lines_;
    if (lines_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    if (text.empty()) return {};
    if (const Result<void> good = check_broadcast_recipient(text); !good) {
      if (++bad_ <= kBadLinesShown) report_line(context_, context_.err(), source_, lines_, good.error());
      return {};
    }
    return add(text);
  }

  FileSpool::Writer writer_;
  Context& context_;
  std::string source_;
  std::int64_t lines_ = 0;
  std::int64_t recipients_ = 0;
  std::int64_t bad_ = 0;
};

Result<void> read_file(List& list, const std::string& path, Input& input) {
  TRY(list.read(input));
  if (list.bad() > 0)
    return fail(Code::kBadInput,
                "--recipients: " + std::to_string(list.bad()) + (list.bad() == 1 ? " line of " : " lines of ") +
                    input.name() + " cannot be used; nothing was accepted",
                "mend them and run it again: a broadcast is accepted as a whole");
  if (list.recipients() == 0)
    return fail(Code::kBadInput, "--recipients: " + (path == "-" ? "standard input" : path) + " names nobody",
                "one address or @ID a line");
  return {};
}

// Frozen as it is now; where each member is reached is looked up when the relay gets to it.
Result<void> read_group(List& list, const std::string& group, SqliteStore& store) {
  std::string last;
  while (true) {
    TRY_ASSIGN(const std::vector<std::string> members, store.recipients().members(group, last, kMembersAtOnce));
    for (const std::string& id : members) TRY(list.add("@" + id));
    if (members.size() < static_cast<std::size_t>(kMembersAtOnce)) break;
    last = members.back();
  }
  if (list.recipients() > 0) return {};
  return fail(Code::kBadInput, "--recipients: the group \"" + group + "\" has no members",
              "notifyctl recipient import and set put recipients into groups");
}

tl::unexpected<Error> conflict(const Broadcast& existing, const NewBroadcast& given) {
  constexpr std::size_t kShort = 12;
  const std::string theirs = to_hex(existing.request.fingerprint);
  const std::string ours = to_hex(given.fingerprint);
  Error error{Code::kConflict,
              "the broadcast \"" + given.key + "\" exists with other content or recipients: it has the fingerprint " +
                  theirs.substr(0, kShort) + "…, this request " + ours.substr(0, kShort) + "…",
              "notifyctl status --broadcast KEY tells what was accepted; another broadcast needs another key", "key"};
  error.details = {{"broadcast_id", "broadcast-" + std::to_string(existing.id)},
                   {"existing_fingerprint", theirs},
                   {"given_fingerprint", ours}};
  return fail(std::move(error));
}

void print(const BroadcastInsert& inserted, Context& context) {
  const Broadcast& broadcast = inserted.broadcast;
  const std::string id = "broadcast-" + std::to_string(broadcast.id);
  if (!context.json()) return context.out().line(id);
  context.out().line(to_text({{"broadcast_id", id},
                              {"key", broadcast.request.key},
                              {"status", name(broadcast.state)},
                              {"recipients", broadcast.request.recipients},
                              {"created", inserted.kind == BroadcastInsert::Kind::kCreated}}));
}

}  // namespace

Result<int> run_broadcast(const EnqueueOptions& options, Context& context) {
  TRY(check_broadcast_options(options));
  NewBroadcast broadcast;
  broadcast.key = *options.broadcast;
  if (broadcast.key.empty())
    return fail(Code::kUsage, "--broadcast: the key is empty", "the key makes a rerun harmless");
  if (auto good = check_line("broadcast", "the key", broadcast.key, limits::kDedupKey); !good)
    return fail(with_context(std::move(good).error(), "--broadcast"));
  EnqueueOptions one = options;
  one.to = "everybody";
  TRY_ASSIGN(broadcast.message, message_of(one, context));
  TRY(warn_of_unknown_channel(broadcast.message.channel, context));

  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.create = true;
  open.create_parent = context.database_is_default();
  const bool is_group = options.recipients->starts_with(kGroupPrefix);
  std::optional<Input> input;
  if (!is_group) {
    TRY_ASSIGN(input, Input::open(*options.recipients, context));
  }
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(open));
  FileSpool spool(store->path());
  TRY_ASSIGN(FileSpool::Writer writer, spool.write());
  List list(std::move(writer), context, input ? input->name() : *options.recipients);
  if (input)
    TRY(read_file(list, *options.recipients, *input));
  else
    TRY(read_group(list, options.recipients->substr(kGroupPrefix.size()), *store));
  broadcast.list_bytes = list.writer().bytes();
  broadcast.recipients = list.recipients();
  broadcast.list = list.writer().seal();
  sign_broadcast(broadcast, is_group ? *options.recipients : broadcast.list);
  // What is refused leaves no list behind. (The commit decides; this only looks.)
  TRY_ASSIGN(const std::optional<Broadcast> same_key, store->broadcasts().find(broadcast.key));
  if (same_key && same_key->request.key == broadcast.key && same_key->request.fingerprint != broadcast.fingerprint)
    return conflict(*same_key, broadcast);
  TRY(list.writer().keep());
  context.crash_points().reach(CrashPoint::kBroadcastAfterSpool);

  TRY_ASSIGN(const BroadcastInsert inserted,
             accept_broadcast(*store, context.clock(), context.crash_points(), broadcast));
  if (inserted.kind == BroadcastInsert::Kind::kConflict) return conflict(inserted.broadcast, broadcast);
  print(inserted, context);
  return 0;
}

}  // namespace notify
