// The list of commands: the composition root's table of contents. A new command is one line here.

#include <algorithm>
#include <array>

#include "cmd/cancel.hpp"
#include "cmd/channel.hpp"
#include "cmd/check.hpp"
#include "cmd/command.hpp"

#include "cmd/completion.hpp"
#include "cmd/enqueue.hpp"
#include "cmd/help_command.hpp"
#include "cmd/init.hpp"
#include "cmd/list.hpp"
#include "cmd/park.hpp"
#include "cmd/prune.hpp"
#include "cmd/recipient.hpp"
#include "cmd/reconcile.hpp"
#include "cmd/relay.hpp"
#include "cmd/replay.hpp"
#include "cmd/show.hpp"
#include "cmd/status.hpp"
#include "cmd/work.hpp"

namespace notify {
namespace {

constexpr std::array kCommands{
    Command{"enqueue", "Deliver", "accepts a message, or a stream of them", enqueue_page, bind_options<EnqueueOptions>},
    Command{"relay", "Deliver", "hands messages that are due to the queue", relay_page,
            bind_options<RelayCommandOptions>},
    Command{"work", "Deliver", "sends what is in the queue", work_page, bind_options<WorkCommandOptions>},
    Command{"park", "Repair", "lists, adds and drops what is set aside", park_page, bind_options<ParkOptions>},
    Command{"replay", "Repair", "sends parked and failed messages again", replay_page,
            bind_options<ReplayCommandOptions>},
    Command{"cancel", "Repair", "stops messages that have not been sent", cancel_page, bind_options<CancelOptions>},
    Command{"reconcile", "Repair", "ends what was left open, takes receipts, tells alerts", reconcile_page,
            bind_options<ReconcileOptions>},
    Command{"status", "Inspect", "counts what is where and what stands still", status_page,
            bind_options<StatusOptions>},
    Command{"list", "Inspect", "lists messages, parked ones or alerts", list_page, bind_options<ListOptions>},
    Command{"show", "Inspect", "tells the whole life of one message", show_page, bind_options<ShowOptions>},
    Command{"init", "Set up", "makes the database, or its tables in yours", init_page, bind_options<InitCommandOptions>,
            false, true},
    Command{"prune", "Set up", "removes finished messages, keeps their keys", prune_page,
            bind_options<PruneCommandOptions>},
    Command{"channel", "Set up", "shows, pauses, resumes and tests the channels", channel_page,
            bind_options<ChannelOptions>},
    Command{"recipient", "Set up", "keeps recipients, their endpoints and opt-outs", recipient_page,
            bind_options<RecipientOptions>},
    Command{"check", "Set up", "examines configuration, database and machine", check_page, bind_options<CheckOptions>},
    Command{"completion", "Set up", "prints the completion script of a shell", completion_page,
            bind_options<CompletionOptions>},
    Command{"help", "Set up", "explains a command", help_page, bind_options<HelpOptions>},
};

}  // namespace

std::span<const Command> commands() noexcept { return kCommands; }

std::vector<ExitNote> exits_of(const Page& page) {
  std::vector<ExitNote> exits = page.exits;
  const auto by_status = [](const ExitNote& a, const ExitNote& b) { return a.status < b.status; };
  const auto usage = [](const ExitNote& note) { return note.status == kUsageExit.status; };
  if (std::none_of(exits.begin(), exits.end(), usage)) exits.push_back(kUsageExit);
  std::sort(exits.begin(), exits.end(), by_status);
  return exits;
}

const Command* find_command(std::span<const std::string> words, std::size_t& used) noexcept {
  for (const std::size_t length : {std::size_t{2}, std::size_t{1}}) {
    if (words.size() < length) continue;
    const std::string name = length == 2 ? words[0] + " " + words[1] : words[0];
    for (const Command& command : kCommands) {
      if (command.name != name) continue;
      used = length;
      return &command;
    }
  }
  return nullptr;
}

}  // namespace notify
