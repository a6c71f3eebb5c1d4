#include "channel/http_settings.hpp"

#include <algorithm>
#include <variant>

#include "channel/target_url.hpp"
#include "core/json_write.hpp"
#include "core/recipe_request.hpp"
#include "core/safe_text.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLongestAnswer = 64 * 1024;

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

// Loaded from files and the environment, so that the configuration's loader could not look at them.
Result<void> check_value(const RecipeSetting& declared, const std::string& value) {
  const auto forbidden = [&](char c) {
    if (declared.lines && (c == '\n' || c == '\r')) return false;
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  };
  if (!valid_utf8(value) || std::any_of(value.begin(), value.end(), forbidden))
    return fail(Code::kConfig,
                declared.name + (declared.lines ? ": must be UTF-8, without control characters"
                                                : ": must be one line of UTF-8, without control characters"));
  if (!declared.choices.empty() &&
      std::find(declared.choices.begin(), declared.choices.end(), value) == declared.choices.end())
    return fail(Code::kConfig, declared.name + ": is none of the words that the recipe knows");
  return {};
}

// As it is, and as forms, URLs and JSON write it.
void add_secret(const std::string& secret, std::vector<std::string>& secrets) {
  secrets.push_back(secret);
  if (std::string encoded = percent_encoded(secret); encoded != secret) secrets.push_back(std::move(encoded));
  std::string json;
  append_json_string(json, secret);
  json = json.substr(1, json.size() - 2);
  if (json != secret) secrets.push_back(std::move(json));
}

// A key that cannot sign is found before a message needs it.
Result<void> check_jwt(const HttpChannelSettings& settings) {
  if (!settings.recipe->jwt) return {};
  const auto made = make_jwt(*settings.recipe->jwt, RecipeInput{*settings.recipe, settings.values});
  if (!made) return fail(Code::kConfig, made.error().message, made.error().hint);
  return {};
}

}  // namespace

RecipeSettings setting_values(const HttpDriverConfig& driver) {
  RecipeSettings values;
  for (const RecipeSetting& declared : driver.recipe->settings) {
    const auto given = driver.settings.find(declared.name);
    if (given != driver.settings.end())
      values.emplace(declared.name, given->second.value.reveal());
    else if (!declared.fallback.empty())
      values.emplace(declared.name, declared.fallback);
  }
  return values;
}

Result<std::string> recipe_url(const HttpDriverConfig& driver) {
  const RecipeSettings values = setting_values(driver);
  if (recipient_is_url(*driver.recipe, values)) return std::string();
  const RecipeText& url = driver.recipe->request.url;
  if (url.empty()) return std::string();
  std::string base = url.front().literal;
  if (url.front().place) {
    const auto value = values.find(url.front().place->path);
    if (value != values.end()) base = value->second;
  }
  if (const Result<void> valid = check_target_url(base); !valid)
    return fail(Code::kConfig, valid.error().message, valid.error().hint);
  return base;
}

Result<std::shared_ptr<const HttpChannelSettings>> make_http_settings(const ChannelConfig& config,
                                                                      const std::string& user_agent) {
  const auto* driver = std::get_if<HttpDriverConfig>(&config.driver);
  ASSERT(driver != nullptr && driver->recipe != nullptr);
  auto settings = std::make_shared<HttpChannelSettings>();
  settings->recipe = driver->recipe;
  settings->channel = config.name;
  settings->batch = driver->batch;
  settings->values = setting_values(*driver);
  for (const RecipeSetting& declared : settings->recipe->settings) {
    const auto value = settings->values.find(declared.name);
    if (value == settings->values.end()) {
      if (declared.required) return fail(Code::kConfig, declared.name + ": is missing", declared.text);
      continue;
    }
    TRY(check_value(declared, value->second));
    if (!declared.secret) continue;
    add_secret(value->second, settings->secrets);
    // A URL that is a secret is one from its path on; its host may be told.
    if (is_url(value->second))
      for (std::string& part : telling_parts(value->second)) settings->secrets.push_back(std::move(part));
  }
  TRY(recipe_url(*driver));
  TRY(check_jwt(*settings));
  HttpRequest& base = settings->base;
  base.connect_timeout = config.connect_timeout;
  base.timeout = config.timeout;
  base.once = config.semantics != Semantics::kAtLeastOnce;
  base.allow_private = !recipient_is_url(*settings->recipe, settings->values);
  base.max_response = kLongestAnswer;
  base.headers.emplace_back("User-Agent", user_agent);
  return settings;
}

}  // namespace notify
