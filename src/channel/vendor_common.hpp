#pragma once

// Small things that the drivers of vendors with a JSON API share.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "channel/credential.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/http.hpp"

namespace notify {

// The body of an answer; a discarded value when it is not JSON. Never throws.
nlohmann::json json_of(const HttpEvidence& evidence);

// The member as text; empty when it is not there or is no string. `json` may be anything.
std::string text_member(const nlohmann::json& json, std::string_view name);

// Letters, digits and '_', at most 64: fit to be kept as an outcome's reason.
bool is_reason_word(std::string_view text) noexcept;

// A value as JSON text; what is not UTF-8 becomes U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

// A request with the channel's limits. `version` as for HttpRequest.
HttpRequest vendor_request(const ChannelConfig& config, HttpRequest::Version version);

// Takes what a call has waited already (for its credential) off the time it has.
void spend(HttpRequest& request, Duration waited);

// Starts a request that shows a credential as `Authorization: PREFIX credential`, which may have to be fetched first; the
// wait comes off the request's time. `done` gets what `judge` makes of the answer, or why there is no credential. All that
// is given outlives the call. Loop thread only.
void start_with_credential(CredentialSource& credentials, HttpClient& http, Clock& clock, HttpRequest request,
                           std::string prefix,
                           std::function<Outcome(const Credential& shown, const HttpEvidence& evidence)> judge,
                           Channel::Done done);

// For vendors whose success names the message. An answer that is whole and names none is somebody else's, a portal's or a
// proxy's: what became of the message is not known.
void doubt_without_reference(const HttpEvidence& evidence, Outcome& outcome);

// What the vendor or libcurl says about a call that did not succeed, without the message's parts and the secrets.
std::string safe_detail(const HttpEvidence& evidence, std::string_view said, const Dispatch& dispatch,
                        std::span<const std::string> secrets);

// The request as people read it, for Channel::preview().
std::string preview_of(const HttpRequest& request, std::span<const std::string> secrets);

// 43 characters that are the same for all attempts of a message and for no other message: for collapse keys and tags,
// whose places are shorter than a message id.
std::string message_mark(std::string_view message_id);

// Vendors say of a single address that it is not of this environment or application. When they say it of all, it is our
// configuration that is wrong, and believing them would disable every device. Loop thread only.
class ForeignStreak {
 public:
  // Takes an outcome into account; `foreign`: the vendor has said so. From the tenth in a row on it does not disable the
  // endpoint but halts the lane. Devices that are gone do not count: they were of this application.
  void judge(Outcome& outcome, bool foreign, std::string_view advice);

 private:
  int in_a_row_ = 0;
};

}  // namespace notify
