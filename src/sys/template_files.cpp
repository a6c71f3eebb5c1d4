#include "sys/template_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/near_miss.hpp"
#include "sys/files.hpp"
#include "sys/toml_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLargestTemplate = 1024 * 1024;
constexpr std::array kParts{"subject", "body", "html", "alt"};
constexpr std::array kVariantKeys{"channel", "locale", "subject", "body", "html", "alt"};

struct File {
  const std::string& path;

  tl::unexpected<Error> problem(const toml::node& at, std::string_view key, const std::string& reason,
                                std::string hint = {}) const {
    const auto place = at.source().begin;
    std::string message = path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
    if (!key.empty()) message += std::string(key) + ": ";
    return fail(Code::kConfig, message + reason, std::move(hint));
  }

  Result<std::string> text(const toml::node& node, std::string_view key) const {
    auto value = node.value_exact<std::string>();
    if (!value) return problem(node, key, "must be a string");
    return std::move(*value);
  }

  // A subject written as a block ends in a line end that nobody means.
  Result<std::string> subject(const toml::node& node) const {
    TRY_ASSIGN(std::string value, text(node, "subject"));
    if (value.ends_with('\n')) value.pop_back();
    if (value.ends_with('\r')) value.pop_back();
    if (value.find_first_of("\r\n") != std::string::npos) return problem(node, "subject", "must be one line");
    return value;
  }

  Result<void> part(TemplateVariant& variant, std::string_view key, const toml::node& node) const {
    if (key == "subject") {
      TRY_ASSIGN(variant.subject, subject(node));
    } else if (key == "body") {
      TRY_ASSIGN(variant.body, text(node, key));
    } else if (key == "html") {
      TRY_ASSIGN(variant.html, text(node, key));
    } else if (key == "alt") {
      TRY_ASSIGN(variant.alt, text(node, key));
    } else if (key == "channel") {
      TRY_ASSIGN(variant.channel, text(node, key));
    } else {
      TRY_ASSIGN(variant.locale, text(node, key));
    }
    return {};
  }

  template <class Known>
  Result<TemplateVariant> variant(const toml::table& table, const Known& known) const {
    TemplateVariant result;
    for (const auto& [key, node] : table) {
      if (key.str() == "variant" && known.size() == kParts.size()) continue;
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        return problem(node, key.str(), "unknown key", did_you_mean(key.str(), known));
      TRY(part(result, key.str(), node));
    }
    return result;
  }

  Result<std::vector<TemplateVariant>> variants(const toml::table& root) const {
    std::vector<TemplateVariant> result;
    TRY_ASSIGN(TemplateVariant general, variant(root, kParts));
    if (general.subject || general.body || general.html || general.alt) result.push_back(std::move(general));
    const toml::node* list = root.get("variant");
    if (list == nullptr) return result;
    if (!list->is_array_of_tables()) return problem(*list, "variant", "must be written as [[variant]]");
    for (const toml::node& item : *list->as_array()) {
      TRY_ASSIGN(TemplateVariant special, variant(*item.as_table(), kVariantKeys));
      if (special.channel.empty() && special.locale.empty())
        return problem(item, "variant", "needs a channel or a locale");
      result.push_back(std::move(special));
    }
    return result;
  }
};

Result<void> load_one(TemplateSet& set, const std::string& path, const std::string& name) {
  TRY_ASSIGN(const std::string text, read_file(path, kLargestTemplate));
  TRY_ASSIGN(const toml::table root, parse_toml(text, path));
  TRY_ASSIGN(std::vector<TemplateVariant> variants, File{path}.variants(root));
  if (auto good = check_template(name, variants); !good) {
    Error error = std::move(good).error();
    const std::string place = error.field.empty() ? path : path + ": " + error.field;
    error = with_context(std::move(error), place);
    error.code = Code::kConfig;
    error.field.clear();
    return fail(std::move(error));
  }
  set.templates.emplace(name, std::move(variants));
  return {};
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; });
}

tl::unexpected<Error> not_a_name(const std::string& path) {
  return fail(Code::kConfig, path + ": a template's name is made of letters, digits, _ . and -");
}

}  // namespace

Result<TemplateSet> load_templates(const std::string& directory) {
  TemplateSet set;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entries(directory, error);
  if (error) return fail(Code::kConfig, "cannot read the templates in " + directory + ": " + error.message());
  for (const auto& entry : entries)
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const std::string name = file.stem().string();
    Result<void> loaded = is_name(name) ? load_one(set, file.string(), name) : not_a_name(file.string());
    if (!loaded) set.broken.emplace(name, std::move(loaded).error());
  }
  return set;
}

Result<TemplateSet> load_template(const std::string& directory, std::string_view name) {
  TemplateSet set;
  const std::string path = directory + "/" + std::string(name) + ".toml";
  std::error_code error;
  if (!is_name(name) || !std::filesystem::exists(path, error)) return set;
  TRY(load_one(set, path, std::string(name)));
  return set;
}

}  // namespace notify
