#include "channel/http.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "channel/dispatch_check.hpp"
#include "channel/http_settings.hpp"
#include "channel/http_token.hpp"
#include "channel/personal_parts.hpp"
#include "channel/target_url.hpp"
#include "channel/vendor_common.hpp"
#include "core/classify.hpp"
#include "core/crypto.hpp"
#include "core/policy.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_checks.hpp"
#include "core/recipe_request.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

using Settings = std::shared_ptr<const HttpChannelSettings>;

constexpr const char* kTokenShown = "TOKEN";
constexpr std::size_t kLongestPreview = 1024 * 1024;

std::string nonce_of(const std::string& id, int attempt, Instant now, std::uint64_t number) {
  Sha256Hasher hasher;
  for (const std::string& part : {id, std::to_string(attempt), std::to_string(now.ms), std::to_string(number)}) {
    hasher.update(part);
    hasher.update("\n");
  }
  const Sha256 digest = hasher.finish();
  return to_hex({reinterpret_cast<const char*>(digest.data()), 16});
}

// A recipient that is the URL: nobody but the vendor gets what is in the message.
Result<void> check_recipient_url(const Recipe& recipe, const std::string& url) {
  TRY(check_target_url(url));
  if (!url.starts_with("https://")) return fail_field("to", "URL: does not begin with https://");
  if (url.find_first_of("?#") != std::string::npos)
    return fail_field("to", "URL: has a query, which the vendor's has not");
  const std::string host = target_host(url);
  const auto& hosts = recipe.recipient_hosts;
  if (std::any_of(hosts.begin(), hosts.end(), [&](const std::string& known) { return glob_match(known, host); }))
    return {};
  return fail_field("to", "URL: is not one of the vendor's", "the recipe names the hosts that it may lead to");
}

// What must not come back in the text of an outcome: also the address as the vendor was told it.
std::vector<std::string> private_parts(const HttpChannelSettings& settings, const std::vector<std::string>& made,
                                       const std::string& address) {
  std::vector<std::string> parts = settings.secrets;
  parts.insert(parts.end(), made.begin(), made.end());
  std::string digits;
  std::copy_if(address.begin(), address.end(), std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.size() >= 7) {
    parts.push_back(digits);
    parts.push_back(digits.substr(digits.starts_with("82") ? 2 : 1));  // as it is dialled at home, without the zero
  }
  if (recipient_is_url(*settings.recipe, settings.values))
    for (std::string& part : telling_parts(address)) parts.push_back(std::move(part));
  return parts;
}

// Where the recipient is the endpoint, its troubles are not the lane's; where the configured URL is, they are.
void judge_endpoint(const HttpChannelSettings& settings, const HttpEvidence& evidence, Outcome& outcome) {
  if (settings.recipe->recipient_hosts.empty()) return;
  if (!recipient_is_url(*settings.recipe, settings.values)) {
    outcome.halt_channel = outcome.halt_channel || outcome.disable_endpoint;
    outcome.disable_endpoint = false;
    return;
  }
  spare_the_lane(evidence, outcome);
}

// What the calls that are out share with their channel, which may be gone before they are.
struct Vendor {
  Vendor(Settings given, HttpClient& client, const ChannelPorts& ports)
      : settings(std::move(given)), http(client), loop(ports.loop), clock(ports.clock) {}

  Settings settings;
  HttpClient& http;
  Loop& loop;
  Clock& clock;
  std::shared_ptr<CredentialSource> tokens{};  // null: the recipe has no token endpoint
  std::atomic<std::uint64_t> calls{0};

  const Recipe& recipe() const { return *settings->recipe; }

  RecipeInput input(const std::string& id, int attempt, std::string token) {
    RecipeInput input{recipe(), settings->values};
    input.now = clock.now();
    input.nonce = nonce_of(id, attempt, input.now, ++calls);
    input.token = std::move(token);
    return input;
  }

  Result<RecipeCall> call(const Dispatch& dispatch, std::string token) {
    RecipeInput in = input(dispatch.envelope.message_id, dispatch.attempt, std::move(token));
    in.message = &dispatch;
    return make_call(recipe().request, recipe().auth, recipe().signature, std::move(in), settings->base);
  }
};

// `waited`: for the token.
void start_call(const std::shared_ptr<Vendor>& vendor, const Dispatch& dispatch, const std::optional<Credential>& token,
                Duration waited, Channel::Done done) {
  auto call = vendor->call(dispatch, token ? token->value.reveal() : std::string());
  if (!call) {
    // check() lets nothing through that comes here.
    Outcome outcome;
    outcome.cls = OutcomeClass::kPermanent;
    outcome.reason = "bad-request";
    outcome.detail = safe_text(call.error().message, limits::kDetail);
    vendor->loop.post([done = std::move(done), outcome = std::move(outcome)] { done(outcome); });
    return;
  }
  std::vector<std::string> parts = personal_parts(dispatch);
  for (std::string& part : private_parts(*vendor->settings, call->secrets, dispatch.address))
    parts.push_back(std::move(part));
  if (token) parts.push_back(token->value.reveal());
  spend(call->request, waited);
  vendor->http.start(std::move(call->request), [done = std::move(done), parts = std::move(parts), token,
                                                vendor](const HttpEvidence& evidence) {
    RecipeVerdict verdict = judge_answer(vendor->recipe(), evidence, vendor->clock.now(), parts);
    judge_endpoint(*vendor->settings, evidence, verdict.outcome);
    using Said = CredentialSource::Said;
    const bool sent = verdict.outcome.cls == OutcomeClass::kSent;
    const Said said = verdict.refresh_token ? Said::kRefused : sent ? Said::kAccepted : Said::kNothing;
    if (token) vendor->tokens->judge(*token, said, verdict.outcome);
    done(std::move(verdict.outcome));
  });
}

class HttpLookUp final : public LookUp {
 public:
  explicit HttpLookUp(std::shared_ptr<Vendor> vendor) : vendor_(std::move(vendor)) {}

  void look_up(LookUpQuestion question, std::function<void(LookUpAnswer)> done) override {
    auto asked = std::make_shared<const LookUpQuestion>(std::move(question));
    if (vendor_->tokens == nullptr) return ask(vendor_, asked, {}, std::move(done));
    vendor_->tokens->get([vendor = vendor_, asked, done = std::move(done)](const auto& token) {
      if (token) return ask(vendor, asked, token->value.reveal(), done);
      give_up(vendor, "no-token", done);
    });
  }

 private:
  static void give_up(const std::shared_ptr<Vendor>& vendor, std::string reason,
                      std::function<void(LookUpAnswer)> done) {
    LookUpAnswer answer;
    answer.reason = std::move(reason);
    vendor->loop.post([done = std::move(done), answer = std::move(answer)] { done(answer); });
  }

  static void ask(const std::shared_ptr<Vendor>& vendor, const std::shared_ptr<const LookUpQuestion>& asked,
                  const std::string& token, std::function<void(LookUpAnswer)> done) {
    const RecipeLookUp& recipe = *vendor->recipe().look_up;
    RecipeInput input = vendor->input(asked->message_id, 0, token);
    input.question = asked.get();
    const Result<bool> possible = holds(recipe.needs, input);
    if (!possible || !*possible) return give_up(vendor, "cannot-be-asked", std::move(done));
    HttpRequest base = vendor->settings->base;
    base.once = false;  // a question changes nothing
    auto call = make_call(recipe.request, vendor->recipe().auth, vendor->recipe().signature, input, std::move(base));
    if (!call) return give_up(vendor, "cannot-be-asked", std::move(done));
    std::vector<std::string> parts = private_parts(*vendor->settings, call->secrets, asked->address);
    for (const std::string& part : {asked->address, token})
      if (!part.empty()) parts.push_back(part);
    vendor->http.start(std::move(call->request), [vendor, asked, input = std::move(input), done = std::move(done),
                                                  parts = std::move(parts)](const HttpEvidence& evidence) {
      done(judge_look_up(*vendor->recipe().look_up, evidence, input, parts));
    });
  }

  std::shared_ptr<Vendor> vendor_;
};

class HttpChannel final : public Channel {
 public:
  explicit HttpChannel(std::shared_ptr<Vendor> vendor) : vendor_(std::move(vendor)), look_up_(vendor_) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    const Recipe& recipe = vendor_->recipe();
    const bool own_url = recipient_is_url(recipe, vendor_->settings->values);
    if (own_url) TRY(check_recipient_url(recipe, dispatch.address));
    RecipeInput input = vendor_->input(dispatch.envelope.message_id, dispatch.attempt, {});
    input.message = &dispatch;
    TRY(check_message(recipe, input));
    TRY_ASSIGN(const RecipeCall call, vendor_->call(dispatch, kTokenShown));
    return check_target_url(call.request.url);
  }

  std::string preview(const Dispatch& dispatch) const override {
    const auto call = vendor_->call(dispatch, kTokenShown);
    if (!call) return {};
    std::vector<std::string> secrets = vendor_->settings->secrets;
    secrets.insert(secrets.end(), call->secrets.begin(), call->secrets.end());
    const auto masked = [&](std::string_view text) { return safe_text_without(text, secrets, kLongestPreview); };
    std::string text = call->request.method + " " + masked(call->request.url) + "\n";
    for (const auto& [name, value] : call->request.headers)
      text.append(name).append(": ").append(masked(value)) += '\n';
    return text + "\n" + masked(call->request.body) + "\n";
  }

  void send(Dispatch dispatch, Done done) override {
    if (vendor_->tokens == nullptr) return start_call(vendor_, dispatch, std::nullopt, {}, std::move(done));
    vendor_->tokens->get([vendor = vendor_, began = vendor_->clock.monotonic(), dispatch = std::move(dispatch),
                          done = std::move(done)](const auto& token) {
      if (!token) return done(token.error());
      start_call(vendor, dispatch, *token, vendor->clock.monotonic() - began, done);
    });
  }

  LookUp* look_up() override { return vendor_->recipe().look_up ? &look_up_ : nullptr; }

 private:
  std::shared_ptr<Vendor> vendor_;
  HttpLookUp look_up_;
};

}  // namespace

Result<std::unique_ptr<Channel>> make_http_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  TRY_ASSIGN(Settings settings, make_http_settings(config, ports.user_agent));
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto vendor = std::make_shared<Vendor>(std::move(settings), *http, ports);
  if (vendor->recipe().token) vendor->tokens = make_token_source(vendor->settings, *http, ports);
  return std::make_unique<HttpChannel>(std::move(vendor));
}

}  // namespace notify
