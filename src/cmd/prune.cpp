#include "cmd/prune.hpp"

#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/operator.hpp"
#include "cmd/reading.hpp"
#include "cmd/render.hpp"
#include "core/duration.hpp"
#include "core/prune.hpp"
#include "store/open.hpp"

namespace notify {
namespace {

std::string in_words(const PruneSummary& summary, bool dry_run) {
  std::string text = (dry_run ? "would remove " : "removed ") + messages(summary.removed);
  if (summary.scrubbed > 0)
    text += ", " + std::string(dry_run ? "scrub " : "scrubbed ") + std::to_string(summary.scrubbed);
  if (summary.keys_removed > 0)
    text += ", " + std::string(dry_run ? "forget " : "forgot ") + std::to_string(summary.keys_removed) + " keys";
  return text;
}

Result<std::unique_ptr<SqliteStore>> open_for_pruning(Context& context) {
  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.commit_gap = kServiceCommitGap;
  return open_store(open);
}

}  // namespace

Page prune_page() {
  Page page;
  page.synopsis = {"--older-than T [--scrub-after T] [--dry-run]", "--scrub-after T [--dry-run]"};
  page.description =
      "Removes messages that came to their end long ago: SENT, FAILED, SKIPPED, EXPIRED. What is queued, parked, being "
      "sent "
      "or ERROR stays, however old. All rows of a message go together, in small "
      "transactions while everything else runs; an interrupted run is completed by the next one.\n\n"
      "The dedup keys of removed messages are kept, for ever unless `keep_keys` in `[retention]` says otherwise: a "
      "rerun of "
      "an old job still sends nothing twice.\n\n"
      "With `--scrub-after` the content, the address and the vendor's words of finished messages are emptied; their "
      "states, "
      "times and keys stay. A scrubbed message cannot be replayed.\n\n"
      "The file does not shrink; the space is used again.";
  page.examples = {{"Once a day, from cron", "15 4 * * *  notifyctl prune --older-than 90d --scrub-after 30d"},
                   {"What would go?", "notifyctl prune --older-than 90d --dry-run"}};
  page.exits = {{0, "done, or there was nothing to remove"},
                {65, "there is no database"},
                {74, "the database could not be written (disk full)"},
                {75, "the database is busy"},
                {78, "the configuration is wrong"}};
  page.see_also = {"notifyctl-show(1)", "notifyctl-status(1)", "notifyctl.toml(5)"};
  return page;
}

void register_options(OptionSet& set, PruneCommandOptions& options) {
  set.add("--older-than", &options.older_than, "T", "remove what came to its end longer ago, as 90d")
      .between(1s, kLongestDuration);
  set.add("--scrub-after", &options.scrub_after, "T", "empty the content of what came to its end longer ago")
      .between(1s, kLongestDuration);
  set.flag("--dry-run", options.dry_run, "say how many; change nothing");
}

Result<int> run(const PruneCommandOptions& options, Context& context) {
  if (!options.older_than && !options.scrub_after)
    return fail(Code::kUsage, "--older-than or --scrub-after is needed", "as: notifyctl prune --older-than 90d");
  TRY_ASSIGN(const Config* config, context.config());
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store,
             options.dry_run ? open_for_reading(context) : open_for_pruning(context));
  TRY_ASSIGN(const PruneSummary summary,
             prune(*store, store->prune(), context.clock(), context.crash_points(),
                   {options.older_than, options.scrub_after, config->retention.keep_keys, options.dry_run}));
  if (context.json()) {
    context.out().line(to_text({{"dry_run", options.dry_run},
                                {"removed", summary.removed},
                                {"scrubbed", summary.scrubbed},
                                {"keys_removed", summary.keys_removed}}));
  } else if (options.dry_run || (context.out().is_terminal() && !context.globals().quiet)) {
    context.out().line(in_words(summary, options.dry_run));
  }
  return 0;
}

}  // namespace notify
