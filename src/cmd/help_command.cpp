#include "cmd/help_command.hpp"

#include "cmd/context.hpp"
#include "cmd/help.hpp"
#include "cmd/man_page.hpp"
#include "core/near_miss.hpp"
#include "sys/files.hpp"

namespace notify {

Page help_page() {
  Page page;
  page.synopsis = {"[COMMAND]"};
  page.description =
      "Shows what a command does, its options, examples and exit statuses; without a command the list "
      "of all of them. `notifyctl COMMAND --help` shows the same.";
  page.examples = {{"What can it do?", "notifyctl help"}, {"How is a message accepted?", "notifyctl help enqueue"}};
  page.exits = {{0, "done"}};
  return page;
}

void register_options(OptionSet& set, HelpOptions& options) {
  set.positional("COMMAND", &options.words, "the command to explain").completes(Completion::kCommand);
  set.add("--man", &options.man, "PAGE", "print the source of a manual page").hidden();
  set.add("--man-all", &options.man_all, "DIR", "write all manual pages there").hidden();
}

Result<int> run(const HelpOptions& options, Context& context) {
  Output& out = context.out();
  if (options.man) {
    TRY_ASSIGN(const std::string source, man_page(*options.man));
    out.write(source);
  } else if (options.man_all) {
    for (const std::string& name : man_pages()) {
      TRY_ASSIGN(const std::string source, man_page(name));
      TRY(write_file_atomically(*options.man_all + "/" + name, source, 0644));
    }
  } else if (options.words.empty()) {
    out.write(overview(help_width(out)));
  } else {
    std::size_t used = 0;
    const Command* command = find_command(options.words, used);
    if (command == nullptr || used != options.words.size()) {
      std::vector<std::string_view> names;
      for (const Command& known : commands()) names.push_back(known.name);
      if (command != nullptr) {
        const std::string& extra = options.words[used];
        return fail(Code::kUsage, "unexpected argument \"" + extra + "\": help explains one command",
                    "notifyctl help " + std::string(command->name));
      }
      std::string hint = did_you_mean(options.words.front(), names);
      if (hint.empty()) hint = "notifyctl help lists the commands";
      return fail(Code::kUsage, "there is no command " + options.words.front(), std::move(hint));
    }
    out.write(command_help(*command, help_width(out)));
  }
  return 0;
}

}  // namespace notify
