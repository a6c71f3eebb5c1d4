#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"

namespace notify {

struct RecipientOptions {
  std::string action{};
  std::string subject{};  // ID, ADDRESS or FILE
  // set
  std::vector<std::string> endpoints{};  // CHANNEL=ADDRESS
  std::optional<std::string> locale{};
  std::vector<std::string> groups{};
  // opt-out, opt-in, disable-endpoint
  std::string channel{};
  std::string category{};
  std::string kind{};
  std::optional<std::string> reason{};
  bool reveal = false;  // show
};

Page recipient_page();
void register_options(OptionSet& set, RecipientOptions& options);
Result<int> run(const RecipientOptions& options, Context& context);

// Whom a word means. "@42" is an id, and nothing else. Anything else can be both an address and an id, in this order: an
// opt-out must not miss.
std::vector<std::string> consent_subjects(const std::string& given);

// `recipient import` and `recipient show`, in files of their own.
Result<int> import_recipients(const std::string& file, Context& context);
Result<int> show_recipient(const RecipientOptions& options, Context& context);

}  // namespace notify
