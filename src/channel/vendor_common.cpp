#include "channel/vendor_common.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "channel/personal_parts.hpp"
#include "core/crypto.hpp"
#include "core/keys.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr int kBelieved = 10;
constexpr std::size_t kPreviewLine = 4096;
constexpr std::size_t kLongestReason = 64;

}  // namespace

nlohmann::json json_of(const HttpEvidence& evidence) { return nlohmann::json::parse(evidence.body, nullptr, false); }

std::string text_member(const nlohmann::json& json, std::string_view name) {
  if (!json.is_object()) return {};
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_reason_word(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kLongestReason && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

HttpRequest vendor_request(const ChannelConfig& config, HttpRequest::Version version) {
  HttpRequest request;
  request.connect_timeout = config.connect_timeout;
  request.timeout = config.timeout;
  request.once = config.semantics != Semantics::kAtLeastOnce;
  request.allow_private = true;  // the URL is configured
  request.version = version;
  return request;
}

void spend(HttpRequest& request, Duration waited) {
  request.timeout = std::max(request.timeout - waited, Duration{1});
  request.connect_timeout = std::min(request.connect_timeout, request.timeout);
}

void start_with_credential(CredentialSource& credentials, HttpClient& http, Clock& clock, HttpRequest request,
                           std::string prefix,
                           std::function<Outcome(const Credential& shown, const HttpEvidence& evidence)> judge,
                           Channel::Done done) {
  credentials.get([&http, &clock, began = clock.monotonic(), request = std::move(request), prefix = std::move(prefix),
                   judge = std::move(judge), done = std::move(done)](CredentialSource::Fetched credential) mutable {
    if (!credential) return done(std::move(credential).error());
    spend(request, clock.monotonic() - began);
    request.headers.emplace_back("Authorization", prefix + " " + credential->value.reveal());
    http.start(std::move(request), [shown = *credential, judge = std::move(judge), done = std::move(done)](
                                       const HttpEvidence& evidence) { done(judge(shown, evidence)); });
  });
}

void doubt_without_reference(const HttpEvidence& evidence, Outcome& outcome) {
  if (outcome.cls != OutcomeClass::kSent || !outcome.reference.empty() || evidence.body_truncated) return;
  outcome.cls = OutcomeClass::kUnknown;
  outcome.reason = "answer-not-known";
}

std::string safe_detail(const HttpEvidence& evidence, std::string_view said, const Dispatch& dispatch,
                        std::span<const std::string> secrets) {
  std::vector<std::string> parts = personal_parts(dispatch);
  parts.insert(parts.end(), secrets.begin(), secrets.end());
  if (evidence.status == 0) said = evidence.curl_error;
  return safe_text_without(said.empty() ? std::string_view(evidence.body) : said, parts, limits::kDetail);
}

std::string preview_of(const HttpRequest& request, std::span<const std::string> secrets) {
  std::string text = request.method + " " + request.url + "\n";
  for (const auto& [name, value] : request.headers)
    text.append(safe_text_without(std::string(name).append(": ").append(value), secrets, kPreviewLine)).append("\n");
  return text + "\n" + request.body + "\n";
}

std::string message_mark(std::string_view message_id) {
  Sha256Hasher hasher;
  hasher.update(message_id);
  const Sha256 digest = hasher.finish();
  return to_base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

void ForeignStreak::judge(Outcome& outcome, bool foreign, std::string_view advice) {
  if (outcome.cls == OutcomeClass::kSent) in_a_row_ = 0;
  if (!foreign || ++in_a_row_ < kBelieved) return;
  outcome.disable_endpoint = false;
  outcome.halt_channel = true;
  outcome.detail = "the vendor calls every address a wrong one: " + std::string(advice);
}

}  // namespace notify
