// channel recipes: the vendors that the driver "http" knows, and what each wants to be told.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cmd/channel.hpp"
#include "cmd/context.hpp"
#include "cmd/render.hpp"
#include "core/duration.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

Json recipe_json(const Recipe& recipe) {
  Json settings = Json::array();
  for (const RecipeSetting& setting : recipe.settings)
    settings.push_back(Json{{"name", setting.name},
                            {"text", setting.text},
                            {"required", setting.required},
                            {"secret", setting.secret},
                            {"default", maybe(setting.fallback)},
                            {"choices", setting.choices}});
  return Json{
      {"recipe", recipe.name},
      {"summary", recipe.summary},
      {"manual", maybe(recipe.manual)},
      {"settings", std::move(settings)},
      {"batch", recipe.batch ? Json(recipe.batch->max) : Json()},
      {"look_up", recipe.look_up.has_value()},
      {"receipts", recipe.receipt.has_value()},
      {"idempotency_window", recipe.idempotency_window ? Json(format_duration(*recipe.idempotency_window)) : Json()}};
}

Result<void> list_recipes(Context& context) {
  Table table({{"RECIPE", true}, {"SUMMARY", true}});
  for (const BuiltInRecipe& built_in : built_in_recipes()) {
    TRY_ASSIGN(const std::shared_ptr<const Recipe> recipe, load_recipe(std::string(built_in.name), {}));
    if (context.json())
      context.out().line(to_text(recipe_json(*recipe)));
    else
      table.add({recipe->name, recipe->summary});
  }
  const auto width = static_cast<std::size_t>(context.out().is_terminal() ? context.out().width() : 10'000);
  if (!context.json()) context.out().write(table.text(width));
  return {};
}

}  // namespace

Result<int> show_recipes(const ChannelOptions& options, Context& context) {
  if (options.name.empty()) {
    TRY(list_recipes(context));
    return 0;
  }
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  std::vector<Error> problems;
  const auto recipe = load_recipe(options.name, here, &problems);
  if (!recipe) {
    // All of them at once, for whoever writes one.
    for (std::size_t i = 1; i < problems.size(); ++i) context.warn(problems[i].message, problems[i].hint);
    return fail(problems.empty() ? recipe.error() : problems.front());
  }
  if (context.json()) {
    context.out().line(to_text(recipe_json(**recipe)));
    return 0;
  }
  for (const BuiltInRecipe& built_in : built_in_recipes()) {
    if (built_in.name != options.name) continue;
    context.out().write(built_in.text);
    return 0;
  }
  context.out().line(recipe_json(**recipe).at("summary").get<std::string>());
  for (const RecipeSetting& setting : (*recipe)->settings)
    context.out().line("  " + setting.name + (setting.required ? " (required)" : "") + ": " + setting.text);
  return 0;
}

}  // namespace notify
