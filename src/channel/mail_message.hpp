#pragma once

// One message of ours as mail (RFC 5322, MIME). Pure.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channel/mail_attachment.hpp"
#include "core/instant.hpp"
#include "core/mail_address.hpp"
#include "core/ports/channel.hpp"

namespace notify {

// What all messages of a channel have in common.
struct MailStyle {
  MailAddress from{};
  std::optional<MailAddress> reply_to{};
  std::string message_id_domain{};                             // ASCII
  std::vector<std::pair<std::string, std::string>> headers{};  // checked: names are field names, values one line
};

// What one of them brings.
struct MailContent {
  MailAddress to{};
  std::vector<MailAttachment> attachments{};
  std::string unsubscribe_url{};  // empty: no List-Unsubscribe
};

// The whole message: header, empty line, body; every line ends in CR LF and none is longer than 998 bytes.
//
// Texts and files are base64 in lines of 76 characters, every one of them. So nothing of a message can be taken for
// something else on its way: no line begins with a dot or "From ", none is too long, none ends in a bare CR or LF, and
// no server without 8BITMIME must convert anything. Line ends inside texts become CR LF first (RFC 2045 6.8).
//
// The parts: text, HTML, or both as multipart/alternative with the text first; with attachments inside
// multipart/mixed. An empty body is sent as an empty text. Message-ID is <message id@domain>, the same on every try; Date is
// `now`.
std::string make_mail(const Dispatch& dispatch, const MailStyle& style, const MailContent& content, Instant now);

// Names that make_mail() writes itself or that other places own; a configured header must not have one of them.
bool is_reserved_mail_header(std::string_view name) noexcept;

}  // namespace notify
