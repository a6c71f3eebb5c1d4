#include "sys/config_http.hpp"

#include <algorithm>

#include "core/duration.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/recipe.hpp"
#include "core/safe_text.hpp"
#include "sys/config_keys.hpp"
#include "sys/recipe_file.hpp"

namespace notify::config_file {
namespace {

// A word that is one of the recipe's choices; what stands in a file or in the environment is looked at later.
void check_choice(Section& channel, const RecipeSetting& declared, const SecretSetting& setting) {
  if (declared.choices.empty() || setting.source != SecretSetting::Source::kPlain) return;
  const std::string& value = setting.value.reveal();
  if (std::find(declared.choices.begin(), declared.choices.end(), value) != declared.choices.end()) return;
  std::string list;
  for (const std::string& choice : declared.choices) list += (list.empty() ? "\"" : ", \"") + choice + "\"";
  channel.problem(declared.name, "must be one of " + list, did_you_mean(value, declared.choices));
}

void read_setting(Section& channel, const RecipeSetting& declared, HttpDriverConfig& driver) {
  if (channel.find(declared.name) == nullptr) {
    if (declared.required)
      channel.source().problem(channel.node(), channel.full(declared.name), "is missing: the recipe needs it",
                               declared.name + ": " + declared.text);
    return;
  }
  SecretSetting setting;
  if (!channel.secret(declared.name, setting, declared.secret)) return;
  const std::string& value = setting.value.reveal();
  if (!valid_utf8(value)) return channel.problem(declared.name, "must be UTF-8");
  if (!declared.lines && value.find_first_of("\r\n") != std::string::npos)
    return channel.problem(declared.name, "must be one line of UTF-8");
  check_choice(channel, declared, setting);
  driver.settings.insert_or_assign(declared.name, std::move(setting));
}

void check_batch(Section& section, const ChannelConfig& channel, int batch, const Recipe& recipe) {
  if (batch <= 1) return;
  if (!recipe.batch)
    return section.problem("batch", "this recipe sends one message a request", "leave it at 1, or leave it out");
  const int most = static_cast<int>(recipe.batch->max);
  if (batch > most)
    section.problem("batch", "the vendor takes " + std::to_string(most) + " messages a request at the most");
  if (batch > channel.concurrency)
    section.problem("batch",
                    "is more than concurrency (" + std::to_string(channel.concurrency) +
                        "), so that no request would ever hold that many",
                    "raise concurrency, and work.concurrency with it");
  if (channel.semantics == Semantics::kAtLeastOnce)
    section.problem("batch",
                    "a request with several messages carries the key of none of them, so a second call could "
                    "be a second message",
                    "leave it at 1 with semantics = \"at-least-once\"");
}

}  // namespace

HttpDriverConfig read_http(Section& channel) {
  HttpDriverConfig driver;
  channel.require("recipe");
  if (!channel.text("recipe", driver.recipe_name)) return driver;
  std::vector<Error> problems;
  auto recipe = load_recipe(driver.recipe_name, channel.source().directory, &problems);
  if (!recipe) {
    if (problems.empty()) problems.push_back(recipe.error());
    for (Error& problem : problems) channel.problem("recipe", problem.message, problem.hint);
    return driver;
  }
  driver.recipe = std::move(*recipe);
  for (const RecipeSetting& setting : driver.recipe->settings) read_setting(channel, setting, driver);
  channel.integer("batch", driver.batch, 1, static_cast<int>(limits::kBatch));
  return driver;
}

void check_recipe(Section& section, ChannelConfig& channel) {
  const auto& driver = std::get<HttpDriverConfig>(channel.driver);
  if (driver.recipe == nullptr) return;  // which keys there are is not known
  const Recipe& recipe = *driver.recipe;
  std::vector<std::string_view> known{"recipe", "batch"};
  for (const ConfigKey& key : config_keys())
    if (key.section == "channels.*" && key.driver.empty()) known.push_back(key.key);
  for (const RecipeSetting& setting : recipe.settings) known.push_back(setting.name);
  section.check_keys(known);
  check_batch(section, channel, driver.batch, recipe);

  if (channel.semantics != Semantics::kAtLeastOnce) return;
  if (!recipe.idempotency_window)
    return section.problem("semantics",
                           "this vendor honours no idempotency key, so a second call could be a second "
                           "message",
                           "leave it at \"at-most-once\"");
  if (section.find("idempotency_window") == nullptr)
    channel.idempotency_window = *recipe.idempotency_window;
  else if (channel.idempotency_window > *recipe.idempotency_window)
    section.problem("idempotency_window",
                    "the vendor remembers a key for " + format_duration(*recipe.idempotency_window) + " only");
}

}  // namespace notify::config_file
