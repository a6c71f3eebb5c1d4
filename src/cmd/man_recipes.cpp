#include "cmd/man_recipes.hpp"

#include <string_view>
#include <vector>

#include "cmd/mdoc.hpp"
#include "core/recipe_text.hpp"
#include "sys/recipe_file.hpp"
#include "sys/recipe_keys.hpp"

namespace notify {
namespace {

constexpr std::string_view kDescription =
    "A recipe describes a vendor with an HTTP API in one TOML file: the request that a message becomes, and what each "
    "answer means. The driver `http` of notifyctl.toml(5) runs it. Some are built in; `notifyctl channel recipes` "
    "lists "
    "them, and prints one with its name. A vendor of your own is a file, named in the channel by its path.\n\n"
    "A recipe is examined as a whole when the configuration is read: every pointer, every placeholder, and whether "
    "every "
    "rule can be reached. What is wrong is told with file, line and key. `notifyctl channel recipes ./vendor.toml` "
    "does the "
    "same without a channel, and `notifyctl channel test NAME --to ADDRESS --dry-run` shows the request that would be "
    "made.\n\n"
    "The promise of the inbox is as good as the recipe: `not_sent` means that the vendor documents that nothing was "
    "done, "
    "and makes the message be sent again. When in doubt it is `unknown`.";

constexpr std::string_view kPlaceholders =
    "A text may hold placeholders: `{{name}}`, `{{name|filter|filter:argument}}`, `{{name:-default}}`. The default "
    "stands "
    "for a value that is missing or empty. `{{{{` is a literal `{{`. Values are put in once and never looked at again, "
    "and "
    "escaped for the place where they stand: a JSON string, a form, a URL, a header. No value can leave its place.";

constexpr std::string_view kMarks =
    "The name of a member of `json`, `form`, `query` or `headers` may end in a mark. `\"name?\"`: the member is left "
    "out "
    "when its value is empty or missing. `\"name?condition\"`: it is left out unless the condition holds; several are "
    "joined "
    "by `&`. In a list of JSON objects the member `\"?\"` is the object's own condition. The mark is not sent.";

constexpr std::string_view kConditions =
    "`body` holds when it is not empty, `!body` when it is; `category = advertising` and `category != advertising` "
    "compare; "
    "`body > 90 CP949` holds when the text is longer than so many units, or has a character that the encoding does not "
    "have. Filters may stand behind the name: `body|compose > 90 CP949`. Where a list of conditions stands, all must "
    "hold.";

constexpr std::string_view kExample =
    "summary = \"Example: text messages\"\n"
    "\n"
    "[settings.token]\n"
    "text = \"The access token\"\n"
    "required = true\n"
    "secret = true\n"
    "\n"
    "[[check]]\n"
    "name = \"the text\"\n"
    "value = \"{{body}}\"\n"
    "required = true\n"
    "max = 160\n"
    "\n"
    "[auth]\n"
    "kind = \"bearer\"\n"
    "token = \"{{settings.token}}\"\n"
    "\n"
    "[request]\n"
    "url = \"https://api.example.com/messages\"\n"
    "json = { to = \"{{to|e164}}\", text = \"{{body}}\", ref = \"{{message_id}}\" }\n"
    "\n"
    "[evidence]\n"
    "reference = \"/id\"\n"
    "code = \"/error/code\"\n"
    "\n"
    "[[answer]]\n"
    "status = 201\n"
    "json = { \"/id\" = \"*\" }\n"
    "outcome = \"sent\"\n"
    "\n"
    "[[answer]]\n"
    "status = 400\n"
    "json = { \"/error/code\" = \"unknown-number\" }\n"
    "outcome = \"permanent\"\n"
    "disable_endpoint = true";

void write_words(Mdoc& page, const std::vector<RecipeWord>& words) {
  page.begin_list();
  for (const RecipeWord& word : words) {
    page.item("Ic " + std::string(word.word));
    page.text(word.text);
  }
  page.end_list();
}

void write_section(Mdoc& page, const ConfigSection& section) {
  std::string heading = section.name.empty() ? "Top of the file" : "Table " + std::string(section.name);
  if (heading.ends_with('*')) heading.replace(heading.size() - 1, 1, "NAME");
  page.subsection(heading);
  page.text(section.text);
  bool begun = false;
  for (const ConfigKey& key : recipe_keys()) {
    if (key.section != section.name) continue;
    if (!begun) page.begin_list();
    begun = true;
    write_key(page, key);
  }
  if (begun) page.end_list();
}

}  // namespace

void write_key(Mdoc& page, const ConfigKey& key) {
  page.item("Ic " + std::string(key.key));
  std::string text = std::string(key.text) + " (" + std::string(key.type);
  if (!key.fallback.empty()) text += ", default `" + std::string(key.fallback) + "`";
  page.text(text + ")");
}

std::string recipes_page() {
  Mdoc page("notifyctl-recipes", 5, "vendors described by a file");
  page.section("DESCRIPTION");
  page.text(kDescription);
  for (const ConfigSection& section : recipe_sections()) write_section(page, section);
  page.section("PLACEHOLDERS");
  page.text(kPlaceholders);
  write_words(page, recipe_names());
  page.subsection("Filters");
  write_words(page, recipe_filters());
  page.subsection("Marks");
  page.text(kMarks);
  page.subsection("Conditions");
  page.text(kConditions);
  page.section("BUILT-IN RECIPES");
  page.begin_list();
  for (const BuiltInRecipe& built_in : built_in_recipes()) {
    page.item("Ic " + std::string(built_in.name));
    if (const auto recipe = load_recipe(std::string(built_in.name), {})) page.text((*recipe)->summary);
  }
  page.end_list();
  page.section("EXAMPLES");
  page.literal(kExample);
  page.section("SEE ALSO");
  page.macro(".Xr notifyctl 1 ,");
  page.macro(".Xr notifyctl-channel 1 ,");
  page.macro(".Xr notifyctl-reconcile 1 ,");
  page.macro(".Xr notifyctl.toml 5");
  return page.source();
}

}  // namespace notify
