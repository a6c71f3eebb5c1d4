#pragma once

// What a command is: a name, a page of documentation, options that go into a plain struct, and a function
// that takes the struct. A new command is one file and one line in commands.cpp; help, man page and
// completions follow from that.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/option_set.hpp"
#include "core/error.hpp"

namespace notify {

class Context;

struct Example {
  std::string_view text{};     // what it does, one sentence
  std::string_view command{};  // as typed; lines after the first are continuations
};

struct ExitNote {
  int status = 0;
  std::string_view meaning{};
};
inline constexpr ExitNote kUsageExit{64, "the command line is wrong"};  // of every command

// Documentation beyond the options. Texts are paragraphs divided by blank lines; line ends inside a paragraph
// mean nothing; `literal` marks what is typed or printed as it stands.
struct Page {
  std::vector<std::string_view> synopsis{};  // after the command's name, one form each; options in [ ]
  std::string_view description{};
  std::vector<Example> examples{};
  std::vector<ExitNote> exits{};             // 64 (usage) is added to every page
  std::vector<std::string_view> see_also{};  // "notifyctl-relay(1)"
};

// The page's exit statuses in order, with that of every command unless the page says more about it.
std::vector<ExitNote> exits_of(const Page& page);

using Runner = std::function<Result<int>(Context&)>;  // the exit status of the process, or an error

struct Command {
  std::string_view name{};     // "enqueue", "park add"
  std::string_view group{};    // heading in the overview
  std::string_view summary{};  // what it does, one line without a full stop
  Page (*page)() = nullptr;
  // Registers the options into a struct of its own and returns what runs with it.
  Runner (*bind)(OptionSet&) = nullptr;
  bool hidden = false;
  bool writes_config = false;  // --config may stand without a FILE
};

// For commands.cpp. The command's header declares, for its own Options type:
//   void register_options(OptionSet&, Options&);
//   Result<int> run(const Options&, Context&);
template <class Options>
Runner bind_options(OptionSet& set) {
  auto options = std::make_shared<Options>();
  register_options(set, *options);
  return [options](Context& context) { return run(*options, context); };
}

std::span<const Command> commands() noexcept;

// The command that the words begin with (two words before one), or nullptr. `used`: how many words its name
// has.
const Command* find_command(std::span<const std::string> words, std::size_t& used) noexcept;

}  // namespace notify
