#include "cmd/completion.hpp"

#include "cmd/context.hpp"
#include "cmd/shell_completion.hpp"

namespace notify {

Page completion_page() {
  Page page;
  page.synopsis = {"SHELL"};
  page.description = "Prints the script by which the shell completes commands, options and their values.";
  page.examples = {{"bash, for this user",
                    "mkdir -p ~/.local/share/bash-completion/completions\n"
                    "notifyctl completion bash \\\n"
                    "  > ~/.local/share/bash-completion/completions/notifyctl"},
                   {"zsh, into a directory of fpath", "notifyctl completion zsh > ~/.zfunc/_notifyctl"},
                   {"fish", "notifyctl completion fish > ~/.config/fish/completions/notifyctl.fish"}};
  page.exits = {{0, "done"}};
  return page;
}

void register_options(OptionSet& set, CompletionOptions& options) {
  set.positional("SHELL", &options.shell, "the shell to complete for").one_of({"bash", "zsh", "fish"}).required();
}

Result<int> run(const CompletionOptions& options, Context& context) {
  TRY_ASSIGN(const std::string script, shell_completion(options.shell));
  context.out().write(script);
  return 0;
}

}  // namespace notify
