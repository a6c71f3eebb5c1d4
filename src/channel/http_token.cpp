#include "channel/http_token.hpp"

#include <utility>

#include "channel/token_endpoint.hpp"
#include "core/recipe_request.hpp"
#include "core/recipe_token.hpp"

namespace notify {
namespace {

using Settings = std::shared_ptr<const HttpChannelSettings>;
using Fetched = CredentialSource::Fetched;

std::string identity_of(const HttpChannelSettings& settings) {
  std::string identity = settings.recipe->name;
  for (const auto& [name, value] : settings.values) identity.append(1, '\0').append(name).append(1, '\0').append(value);
  return identity;
}

}  // namespace

std::shared_ptr<CredentialSource> make_token_source(const Settings& settings, HttpClient& http,
                                                    const ChannelPorts& ports) {
  const auto fetch = [settings, &http, &clock = ports.clock](const std::function<void(Fetched)>& done) {
    const RecipeToken& token = *settings->recipe->token;
    RecipeInput input{*settings->recipe, settings->values};
    input.now = clock.now();
    input.nonce = std::to_string(input.now.ms);
    HttpRequest base = settings->base;
    base.once = false;  // a second token does no harm
    auto call = make_call(token.request, token.auth, std::nullopt, std::move(input), std::move(base));
    if (!call) return done(tl::unexpected<Outcome>(credential_failed("token-request", call.error().message)));
    std::vector<std::string> secrets = settings->secrets;
    secrets.insert(secrets.end(), call->secrets.begin(), call->secrets.end());
    http.start(std::move(call->request),
               [done, settings, secrets = std::move(secrets), &clock](const HttpEvidence& evidence) {
                 const Instant now = clock.now();
                 if (std::optional<Credential> granted = granted_token(*settings->recipe->token, evidence, now))
                   return done(std::move(*granted));
                 done(tl::unexpected<Outcome>(no_token(evidence, evidence.body, secrets, now)));
               });
  };
  return CredentialSource::make(credential_name(settings->channel, identity_of(*settings)), {}, fetch,
                                ports.credentials, ports.loop, ports.clock);
}

}  // namespace notify
