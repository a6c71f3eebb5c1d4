#include "sys/recipe_file.hpp"

#include <embedded/recipes.hpp>

#include "core/near_miss.hpp"
#include "sys/config_file.hpp"
#include "sys/files.hpp"
#include "sys/recipe_reader.hpp"
#include "sys/toml_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLargestRecipe = 256 * 1024;
constexpr std::string_view kSuffix = ".toml";

bool is_path(std::string_view written) {
  return written.find('/') != std::string_view::npos || written.ends_with(kSuffix);
}

Error first_recipe_problem(const std::vector<Error>& problems) {
  Error error = problems.front();
  if (problems.size() > 1)
    error.message +=
        " (and " + std::to_string(problems.size() - 1) + " more problem" + (problems.size() > 2 ? "s)" : ")");
  return error;
}

}  // namespace

std::vector<BuiltInRecipe> built_in_recipes() {
  std::vector<BuiltInRecipe> recipes;
  for (const embedded::File& file : embedded::recipes())
    recipes.push_back({file.name.substr(0, file.name.size() - kSuffix.size()), file.text});
  return recipes;
}

Result<std::shared_ptr<const Recipe>> parse_recipe(std::string_view text, const std::string& name,
                                                   std::vector<Error>* problems) {
  auto recipe = std::make_shared<Recipe>();
  recipe->name = name;
  config_file::Source source;
  source.path = is_path(name) ? name : "built-in recipe " + name;
  source.manual = "notifyctl-recipes(5)";
  if (const auto root = parse_toml(text, source.path, "a recipe is written in TOML, see notifyctl-recipes(5)"))
    recipe_file::RecipeReader(source, *recipe).read(*root);
  else
    source.problems.push_back(root.error());
  if (source.problems.empty()) return std::shared_ptr<const Recipe>(std::move(recipe));
  Error error = first_recipe_problem(source.problems);
  if (problems != nullptr) *problems = std::move(source.problems);
  return fail(std::move(error));
}

Result<std::shared_ptr<const Recipe>> load_recipe(const std::string& written, const std::string& directory,
                                                  std::vector<Error>* problems) {
  if (is_path(written)) {
    const std::string path = absolute_path(written, directory);
    auto text = read_file(path, kLargestRecipe);
    if (!text) {
      Error error = with_context(std::move(text).error(), "cannot read the recipe");
      if (error.code != Code::kPermission) error.code = Code::kConfig;
      return fail(std::move(error));
    }
    return parse_recipe(*text, path, problems);
  }
  std::vector<std::string_view> names;
  for (const BuiltInRecipe& recipe : built_in_recipes()) {
    if (recipe.name == written) return parse_recipe(recipe.text, written, problems);
    names.push_back(recipe.name);
  }
  std::string hint = did_you_mean(written, names);
  if (hint.empty()) hint = "notifyctl channel recipes lists them; a file of your own is named by its path";
  return fail(Code::kConfig, "no recipe \"" + written + "\" is built in", std::move(hint));
}

}  // namespace notify
