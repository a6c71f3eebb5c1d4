#pragma once

// How often one recipient may be written to (per_recipient of a channel).

#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/ports/channel.hpp"
#include "core/recipient.hpp"

namespace notify {

// The channel's limit, when it concerns this message.
inline std::optional<RecipientCap> recipient_cap(const ChannelConfig& channel, const Envelope& envelope) {
  if (!channel.per_recipient) return std::nullopt;
  const RecipientCap& cap = *channel.per_recipient;
  if (!cap.category.empty() && cap.category != envelope.category) return std::nullopt;
  return cap;
}

// For whom a call counts: the address, and the recipient's id when the message was written to it.
inline std::vector<std::string> recipient_subjects(const Dispatch& dispatch) {
  std::vector<std::string> subjects{match_address(dispatch.address)};
  if (is_recipient_reference(dispatch.envelope.recipient)) subjects.push_back(dispatch.envelope.recipient);
  return subjects;
}

}  // namespace notify
