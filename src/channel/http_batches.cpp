#include "channel/http_batches.hpp"

#include <algorithm>
#include <utility>

#include "channel/personal_parts.hpp"
#include "channel/vendor_common.hpp"

namespace notify {
namespace {

constexpr std::size_t kLargestBatch = 1024 * 1024;  // bytes of its elements; a single larger one goes alone
constexpr std::size_t kLongestResult = 2 * 1024;    // bytes of the answer for each message

}  // namespace

Result<void> HttpBatches::check(const Dispatch& dispatch, const std::string& token) const {
  TRY_ASSIGN(const RecipeBatchPart part, batch_part(*vendor_->recipe().batch, vendor_->input(dispatch, {})));
  TRY(make_batch_call(vendor_->recipe(), vendor_->input(dispatch, token), {part.element}, vendor_->settings->base));
  return {};
}

void HttpBatches::send(Dispatch dispatch, Channel::Done done) {
  if (dispatch.tries > 0) return send_alone(vendor_, std::move(dispatch), std::move(done));
  auto part = batch_part(*vendor_->recipe().batch, vendor_->input(dispatch, {}));
  if (!part) return send_alone(vendor_, std::move(dispatch), std::move(done));
  Group& group = groups_[part->together];
  if (group.keys.contains(part->key) || group.bytes + part->element.size() > kLargestBatch)
    start(std::exchange(group, {}));
  if (!part->key.empty()) group.keys.insert(part->key);
  group.bytes += part->element.size();
  group.members.push_back({std::move(dispatch), std::move(*part), std::move(done)});
  if (group.members.size() >= static_cast<std::size_t>(vendor_->settings->batch)) start(std::exchange(group, {}));
  if (std::exchange(flush_posted_, true)) return;
  vendor_->loop.post([self = shared_from_this()] { self->flush(); });
}

void HttpBatches::flush() {
  flush_posted_ = false;
  for (auto& [together, group] : std::exchange(groups_, {})) start(std::move(group));
}

void HttpBatches::start(Group group) {
  if (group.members.empty()) return;
  if (group.members.size() == 1)
    return send_alone(vendor_, std::move(group.members[0].dispatch), std::move(group.members[0].done));
  auto members = std::make_shared<std::vector<Member>>(std::move(group.members));
  if (vendor_->tokens == nullptr) return call(vendor_, members, std::nullopt, {});
  vendor_->tokens->get([vendor = vendor_, members, began = vendor_->clock.monotonic()](const auto& token) {
    if (token) return call(vendor, members, *token, vendor->clock.monotonic() - began);
    for (const Member& member : *members) member.done(token.error());
  });
}

void HttpBatches::call(const std::shared_ptr<HttpVendor>& vendor, const std::shared_ptr<std::vector<Member>>& members,
                       const std::optional<Credential>& token, Duration waited) {
  std::vector<std::string> elements;
  for (Member& member : *members) elements.push_back(std::move(member.part.element));
  HttpRequest base = vendor->settings->base;
  base.max_response += members->size() * kLongestResult;
  const std::string shown = token ? token->value.reveal() : std::string();
  auto call =
      make_batch_call(vendor->recipe(), vendor->input(members->front().dispatch, shown), elements, std::move(base));
  if (!call) {
    // check() lets nothing through that comes here.
    vendor->loop.post([members, outcome = impossible_call(call.error())] {
      for (const Member& member : *members) member.done(outcome);
    });
    return;
  }
  std::vector<std::string> secrets = call->secrets;
  if (token) secrets.push_back(shown);
  spend(call->request, waited);
  vendor->http.start(std::move(call->request),
                     [vendor, members, token, secrets = std::move(secrets)](const HttpEvidence& evidence) {
                       settle(*vendor, *members, token, secrets, evidence);
                     });
}

void HttpBatches::settle(HttpVendor& vendor, std::vector<Member>& members, const std::optional<Credential>& token,
                         std::vector<std::string> secrets, const HttpEvidence& evidence) {
  std::vector<RecipeBatchMember> judged;
  for (Member& member : members) {
    std::vector<std::string> parts = personal_parts(member.dispatch);
    for (std::string& part : vendor.private_parts({}, member.dispatch.address)) parts.push_back(std::move(part));
    judged.push_back({std::move(member.part.key), std::move(parts)});
  }
  RecipeBatchVerdict verdict = judge_batch(vendor.recipe(), evidence, vendor.clock.now(), judged, secrets);
  if (token && verdict.accepted) {
    vendor.tokens->accepted();
  } else if (token && verdict.refresh_token) {
    vendor.tokens->judge(*token, CredentialSource::Said::kRefused, verdict.outcomes.front());
    std::fill(verdict.outcomes.begin() + 1, verdict.outcomes.end(), verdict.outcomes.front());
  }
  for (std::size_t i = 0; i < members.size(); ++i) members[i].done(std::move(verdict.outcomes[i]));
}

}  // namespace notify
