#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channel/mail_message.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/mail.hpp"

namespace notify {

// Everything about an smtp channel that does not change; shared with the calls that are out.
struct SmtpSettings {
  MailRequest request{};  // server, login, limits, without a message; a token is added for each call
  MailStyle style{};
  std::string return_path{};       // "{id}" stands for the message id
  std::string list_unsubscribe{};  // URL with placeholders; empty: none
  std::size_t max_message_bytes = 0;
  std::vector<std::string> secrets{};  // never in the text of an outcome
};

// Checked: whatever is in the settings can be put into an envelope and a header. Errors (kConfig) name the key, never a
// secret.
Result<std::shared_ptr<const SmtpSettings>> make_smtp_settings(const ChannelConfig& config);

// The envelope sender of one message.
std::string return_path_of(const SmtpSettings& settings, const std::string& message_id);

}  // namespace notify
