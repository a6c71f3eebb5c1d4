#pragma once

// What Amazon SES reports later: the events of a configuration set, as SNS posts them (in SNS's envelope), as EventBridge
// hands them on, or bare. Pure.

#include <string>
#include <string_view>

#include "core/recipe_receipt.hpp"

namespace notify {

// What tells that it was SNS who posted, and for whom. Every AWS account can have SNS sign what it likes, so the topic
// counts as much as the signature.
struct SnsProof {
  std::string topic{};        // its ARN; empty: whatever comes is believed
  std::string certificate{};  // PEM
};

// The receipts in one body. Errors as of read_receipts(); that SNS asks whether it may post here is one (kBadInput), whose
// hint says where to answer.
Result<RecipeReceipts> read_ses_events(std::string_view body, const SnsProof& proof);

}  // namespace notify
