#include "channel/http.hpp"

#include <algorithm>
#include <utility>

#include "channel/dispatch_check.hpp"
#include "channel/http_batches.hpp"
#include "channel/http_settings.hpp"
#include "channel/http_token.hpp"
#include "channel/http_vendor.hpp"
#include "channel/target_url.hpp"
#include "core/policy.hpp"
#include "core/recipe_answer.hpp"
#include "core/recipe_checks.hpp"
#include "core/recipe_request.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr const char* kTokenShown = "TOKEN";
constexpr std::size_t kLongestPreview = 1024 * 1024;

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

class HttpLookUp final : public LookUp {
 public:
  explicit HttpLookUp(std::shared_ptr<HttpVendor> vendor) : vendor_(std::move(vendor)) {}

  void look_up(LookUpQuestion question, std::function<void(LookUpAnswer)> done) override {
    auto asked = std::make_shared<const LookUpQuestion>(std::move(question));
    if (vendor_->tokens == nullptr) return ask(vendor_, asked, {}, std::move(done));
    vendor_->tokens->get([vendor = vendor_, asked, done = std::move(done)](const auto& token) {
      if (token) return ask(vendor, asked, token->value.reveal(), done);
      give_up(vendor, "no-token", done);
    });
  }

 private:
  static void give_up(const std::shared_ptr<HttpVendor>& vendor, std::string reason,
                      std::function<void(LookUpAnswer)> done) {
    LookUpAnswer answer;
    answer.reason = std::move(reason);
    vendor->loop.post([done = std::move(done), answer = std::move(answer)] { done(answer); });
  }

  static void ask(const std::shared_ptr<HttpVendor>& vendor, const std::shared_ptr<const LookUpQuestion>& asked,
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
    std::vector<std::string> parts = vendor->private_parts(call->secrets, asked->address);
    for (const std::string& part : {asked->address, token})
      if (!part.empty()) parts.push_back(part);
    vendor->http.start(std::move(call->request), [vendor, asked, input = std::move(input), done = std::move(done),
                                                  parts = std::move(parts)](const HttpEvidence& evidence) {
      done(judge_look_up(*vendor->recipe().look_up, evidence, input, parts));
    });
  }

  std::shared_ptr<HttpVendor> vendor_;
};

class HttpChannel final : public Channel {
 public:
  explicit HttpChannel(std::shared_ptr<HttpVendor> vendor) : vendor_(std::move(vendor)), look_up_(vendor_) {
    if (vendor_->settings->batch > 1) batches_ = std::make_shared<HttpBatches>(vendor_);
  }

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(check_dispatch(dispatch));
    const Recipe& recipe = vendor_->recipe();
    const bool own_url = recipient_is_url(recipe, vendor_->settings->values);
    if (own_url) TRY(check_recipient_url(recipe, dispatch.address));
    RecipeInput input = vendor_->input(dispatch.envelope.message_id, dispatch.attempt, {});
    input.message = &dispatch;
    TRY(check_message(recipe, input));
    TRY_ASSIGN(const RecipeCall call, vendor_->call(dispatch, kTokenShown));
    TRY(check_target_url(call.request.url));
    return batches_ != nullptr ? batches_->check(dispatch, kTokenShown) : Result<void>();
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
    if (batches_ != nullptr) return batches_->send(std::move(dispatch), std::move(done));
    send_alone(vendor_, std::move(dispatch), std::move(done));
  }

  LookUp* look_up() override { return vendor_->recipe().look_up ? &look_up_ : nullptr; }

 private:
  std::shared_ptr<HttpVendor> vendor_;
  HttpLookUp look_up_;
  std::shared_ptr<HttpBatches> batches_{};  // null: each message has a request of its own
};

}  // namespace

Result<std::unique_ptr<Channel>> make_http_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  TRY_ASSIGN(auto settings, make_http_settings(config, ports.user_agent));
  TRY_ASSIGN(HttpClient * http, ports.http());
  auto vendor = std::make_shared<HttpVendor>(std::move(settings), *http, ports);
  if (vendor->recipe().token) vendor->tokens = make_token_source(vendor->settings, *http, ports);
  return std::make_unique<HttpChannel>(std::move(vendor));
}

}  // namespace notify
