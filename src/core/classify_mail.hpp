#pragma once

// Judges one SMTP transaction by what could be observed of it. Pure.

#include <string>
#include <string_view>

#include "core/outcome.hpp"
#include "core/ports/mail.hpp"

namespace notify {

// The line between "certainly not sent" and "unknown" is the final dot. Before the server said 354, or while the message
// was not handed over completely, nothing can have been accepted. Once it was, only a reply tells: 2yz accepted, 4yz not,
// 5yz never; no reply is kUnknown (RFC 5321 4.2.1, 4.5.3.2.6, 6.1).
//
// Sets every member of the outcome. `detail` holds the server's words, made safe and bounded, or libcurl's when there are
// none; the caller takes out of it what a server may repeat of the message (address, subject). `reference` is the
// server's queue id where the reply has one, else what it said.
Outcome classify_mail(const MailEvidence& evidence);

// The name under which the last server to accept a message knows it, from the text of its reply to the final dot as the
// common servers write it (Postfix, Exim, Sendmail, OpenSMTPD, Exchange, qmail); the whole text, bounded, from others.
std::string queue_id(std::string_view reply_text);

}  // namespace notify
