#include "core/ses_events.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/crypto.hpp"
#include "core/keys.hpp"
#include "core/recipe_answer.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kLongestSnsUrl = 1024;

using Names = std::vector<std::string>;

RecipeSource source_at(const std::string& root, const Names& segments) {
  RecipeSource source;
  if (!root.empty()) source.pointer.push_back(root);
  source.pointer.insert(source.pointer.end(), segments.begin(), segments.end());
  return source;
}

std::string member(const RecipeDocument& document, const char* name) {
  return document.value(source_at({}, {name})).value_or("");
}

RecipeTest is_one(RecipeSource source, Names values) { return {std::move(source), {std::move(values), {}}}; }

// Documentation: "Contents of event data that Amazon SES publishes to Amazon SNS". `kind`: the events of configuration sets
// have an eventType, the notifications of identities a notificationType.
void add_rules(RecipeReceipt& receipt, const std::string& root, const char* kind) {
  using Verdict = ReceiptVerdict;
  const auto add = [&](Names kinds, std::optional<Verdict> verdict, bool disable, std::optional<RecipeTest> more = {}) {
    RecipeReceiptRule rule;
    rule.match.tests.push_back(is_one(source_at(root, {kind}), std::move(kinds)));
    if (more) rule.match.tests.push_back(std::move(*more));
    rule.verdict = verdict;
    rule.disable_endpoint = disable;
    receipt.rules.push_back(std::move(rule));
  };
  const auto bounce = [&](const Names& types) { return is_one(source_at(root, {"bounce", "bounceType"}), types); };
  add({"Send", "Delivery"}, Verdict::kAccepted, false);
  add({"Bounce"}, Verdict::kRefused, true, bounce({"Permanent"}));
  // "Out of the office" is a transient bounce, too.
  add({"Bounce"}, std::nullopt, false, bounce({"Transient"}));
  add({"Bounce"}, Verdict::kRefused, false);
  // Not sent at all, because of an earlier complaint.
  add({"Complaint"}, Verdict::kRefused, true,
      is_one(source_at(root, {"complaint", "complaintSubType"}), {"OnAccountSuppressionList"}));
  add({"Complaint"}, Verdict::kAccepted, false,
      is_one(source_at(root, {"complaint", "complaintFeedbackType"}), {"not-spam"}));
  add({"Complaint"}, Verdict::kAccepted, true);
  add({"Reject", "Rendering Failure"}, Verdict::kRefused, false);
  add({"*"}, std::nullopt, false);
}

// An event, as a recipe would describe it.
Recipe describe_event(const std::string& root) {
  Recipe recipe;
  recipe.name = "ses";
  RecipeReceipt& receipt = recipe.receipt.emplace();
  receipt.message_id.push_back(source_at(root, {"mail", "tags", "notifyctl-message-id", "0"}));
  receipt.reference.push_back(source_at(root, {"mail", "messageId"}));
  for (const Names& place :
       {Names{"bounce", "bouncedRecipients", "0", "diagnosticCode"}, Names{"bounce", "bounceSubType"},
        Names{"complaint", "complaintFeedbackType"}, Names{"complaint", "complaintSubType"}, Names{"reject", "reason"},
        Names{"failure", "errorMessage"}})
    receipt.reason.push_back(source_at(root, place));
  for (const char* const kind : {"eventType", "notificationType"}) add_rules(receipt, root, kind);
  return recipe;
}

tl::unexpected<Error> unproven(std::string why, std::string hint) {
  return fail(Code::kPermission, std::move(why), std::move(hint));
}

// Documentation: "Verifying the signatures of Amazon SNS messages".
std::string text_that_sns_signs(const RecipeDocument& envelope) {
  const bool event = member(envelope, "Type") == "Notification";
  const Names names = event ? Names{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
                            : Names{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"};
  std::string text;
  for (const std::string& name : names)
    if (const auto value = envelope.value(source_at({}, {name})))
      text.append(name).append("\n").append(*value).append("\n");
  return text;
}

Result<void> check_sns(const RecipeDocument& envelope, const SnsProof& proof) {
  if (proof.topic.empty()) return {};
  std::string signature;
  if (member(envelope, "Signature").empty())
    return unproven("the event is not in an envelope that SNS has signed, and the channel has sns_topic",
                    "is raw message delivery on? What comes by another way belongs to a channel without sns_topic");
  if (member(envelope, "TopicArn") != proof.topic)
    return unproven("the event is of another SNS topic: " + safe_text(member(envelope, "TopicArn"), 200), {});
  TRY_ASSIGN(const PublicKey key, PublicKey::from_certificate(proof.certificate));
  const auto digest =
      member(envelope, "SignatureVersion") == "2" ? PublicKey::Digest::kSha256 : PublicKey::Digest::kSha1;
  if (from_base64(member(envelope, "Signature"), signature) &&
      key.verify(text_that_sns_signs(envelope), signature, digest))
    return {};
  return unproven(
      "the event's signature is wrong",
      "SNS changes its certificate now and then: fetch that of SigningCertURL and give it as sns_certificate");
}

}  // namespace

Result<RecipeReceipts> read_ses_events(std::string_view body, const SnsProof& proof) {
  const RecipeDocument envelope(body, {});
  if (!envelope.is_json() || body.empty()) return fail(Code::kBadInput, "the body is not JSON", "is it whole?");
  TRY(check_sns(envelope, proof));
  const std::string type = member(envelope, "Type");
  if (type == "SubscriptionConfirmation")
    return fail(Code::kBadInput, "SNS asks whether it may post here",
                "answer once by opening " + safe_text(member(envelope, "SubscribeURL"), kLongestSnsUrl));
  RecipeReceived received;
  received.body = type == "Notification" ? member(envelope, "Message") : std::string(body);
  const RecipeDocument event(received.body, {});
  if (!event.is_json()) {  // "Successfully validated SNS topic for Amazon SES event publishing."
    RecipeReceipts nothing;
    nothing.ignored = 1;
    return nothing;
  }
  static const Recipe bare = describe_event({});
  static const Recipe of_event_bridge = describe_event("detail");
  const bool bridged = event.value(source_at("detail", {"mail", "messageId"})).has_value();
  return read_receipts(bridged ? of_event_bridge : bare, {}, {}, std::move(received));
}

}  // namespace notify
