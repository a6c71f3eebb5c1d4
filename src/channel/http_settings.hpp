#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/http.hpp"
#include "core/recipe.hpp"
#include "core/recipe_values.hpp"

namespace notify {

// Everything about an http channel that does not change; shared with the calls that are out.
struct HttpChannelSettings {
  std::shared_ptr<const Recipe> recipe{};
  std::string channel{};  // its name
  RecipeSettings values{};
  std::vector<std::string> secrets{};  // never in the text of an outcome
  HttpRequest base{};                  // limits, flags and the User-Agent
  int batch = 1;                       // messages in one request
};

// The secrets in `config` must have been loaded. Errors (kConfig) name the key, never a secret.
Result<std::shared_ptr<const HttpChannelSettings>> make_http_settings(const ChannelConfig& config,
                                                                      const std::string& user_agent);

// The settings' values, defaults included.
RecipeSettings setting_values(const HttpDriverConfig& driver);

// The URL that the channel's requests begin with, as far as it does not depend on the message; empty when the recipient is
// the URL. Errors: it is none.
Result<std::string> recipe_url(const HttpDriverConfig& driver);

}  // namespace notify
