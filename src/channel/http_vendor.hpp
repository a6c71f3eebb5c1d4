#pragma once

// What the calls of an http channel share with it; the channel may be gone before they are. For http*.cpp only.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/credential.hpp"
#include "channel/http_settings.hpp"
#include "channel/registry.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/http.hpp"
#include "core/recipe_request.hpp"
#include "core/recipe_values.hpp"

namespace notify {

struct HttpVendor {
  // What `ports` refers to outlives the vendor.
  HttpVendor(std::shared_ptr<const HttpChannelSettings> given, HttpClient& client, const ChannelPorts& ports);

  std::shared_ptr<const HttpChannelSettings> settings;
  HttpClient& http;
  Loop& loop;
  Clock& clock;
  std::shared_ptr<CredentialSource> tokens{};  // null: the recipe has no token endpoint
  std::atomic<std::uint64_t> calls{0};

  const Recipe& recipe() const { return *settings->recipe; }

  // Refers to the settings, and to `dispatch`.
  RecipeInput input(const std::string& id, int attempt, std::string token);
  RecipeInput input(const Dispatch& dispatch, std::string token);

  // The request for one message.
  Result<RecipeCall> call(const Dispatch& dispatch, std::string token);

  // What must not come back in the text of an outcome: the settings' secrets, those `made` for the request, and the
  // address as the vendor was told it.
  std::vector<std::string> private_parts(const std::vector<std::string>& made, const std::string& address) const;
};

// The outcome of a message whose request cannot be made.
Outcome impossible_call(const Error& error);

// Channel::send() with a request for this message alone.
void send_alone(const std::shared_ptr<HttpVendor>& vendor, Dispatch dispatch, Channel::Done done);

}  // namespace notify
