#pragma once

#include <memory>

#include "channel/credential.hpp"
#include "channel/http_settings.hpp"
#include "channel/registry.hpp"

namespace notify {

// The token of a recipe's token endpoint, shared by all processes. Everything that the request is made of belongs to its
// name in the cache, so that a new password never meets the old one's token.
std::shared_ptr<CredentialSource> make_token_source(const std::shared_ptr<const HttpChannelSettings>& settings,
                                                    HttpClient& http, const ChannelPorts& ports);

}  // namespace notify
