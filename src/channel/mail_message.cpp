#include "channel/mail_message.hpp"

#include <algorithm>
#include <array>

#include "channel/mail_header.hpp"
#include "core/ascii.hpp"
#include "core/crypto.hpp"

namespace notify {
namespace {

// Base64 has no underscore, so that neither can occur inside a part.
constexpr std::string_view kMixed = "=_notifyctl_mixed";
constexpr std::string_view kAlternative = "=_notifyctl_alternative";

// What a server or a reader must find only once, or what decides who gets the mail.
constexpr std::array<std::string_view, 24> kReserved{"date",
                                                     "from",
                                                     "sender",
                                                     "to",
                                                     "cc",
                                                     "bcc",
                                                     "reply-to",
                                                     "subject",
                                                     "message-id",
                                                     "mime-version",
                                                     "content-type",
                                                     "content-transfer-encoding",
                                                     "content-id",
                                                     "return-path",
                                                     "received",
                                                     "resent-to",
                                                     "resent-cc",
                                                     "resent-bcc",
                                                     "resent-from",
                                                     "resent-date",
                                                     "x-correlation-id",
                                                     "auto-submitted",
                                                     "list-unsubscribe",
                                                     "list-unsubscribe-post"};

// LF, CR and CR LF all end a line.
std::string with_mail_line_ends(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' && text[i] != '\n') {
      out += text[i];
      continue;
    }
    out += "\r\n";
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

// A part: its header fields, an empty line, its body.
std::string text_part(std::string_view subtype, std::string_view text) {
  std::string part = "Content-Type: text/";
  part.append(subtype).append("; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
  return part + base64_lines(to_base64(with_mail_line_ends(text)));
}

std::string attachment_part(const MailAttachment& attachment) {
  return "Content-Type: " + attachment.content_type + "\r\nContent-Transfer-Encoding: base64\r\n" +
         "Content-Disposition: attachment" + header_parameter("filename", attachment.filename) + "\r\n\r\n" +
         base64_lines(attachment.base64);
}

std::string multipart(std::string_view kind, std::string_view boundary, const std::vector<std::string>& parts) {
  std::string out = "Content-Type: multipart/";
  out.append(kind).append(";\r\n boundary=\"").append(boundary).append("\"\r\n\r\n");
  for (const std::string& part : parts) out.append("--").append(boundary).append("\r\n").append(part);
  return out.append("--").append(boundary).append("--\r\n");
}

std::string body_of(const Payload& content) {
  if (content.html.empty()) return text_part("plain", content.body);
  if (content.body.empty()) return text_part("html", content.html);
  return multipart("alternative", kAlternative, {text_part("plain", content.body), text_part("html", content.html)});
}

std::string body_with(const Payload& content, const std::vector<MailAttachment>& attachments) {
  if (attachments.empty()) return body_of(content);
  std::vector<std::string> parts{body_of(content)};
  for (const MailAttachment& attachment : attachments) parts.push_back(attachment_part(attachment));
  return multipart("mixed", kMixed, parts);
}

// What programs look for stays as it is, however long.
std::string correlation_header(std::string_view correlation) {
  constexpr const char* kName = "X-Correlation-Id";
  const bool ascii = std::all_of(correlation.begin(), correlation.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return ascii ? plain_header(kName, correlation) : text_header(kName, correlation);
}

}  // namespace

std::string make_mail(const Dispatch& dispatch, const MailStyle& style, const MailContent& content, Instant now) {
  const Envelope& envelope = dispatch.envelope;
  std::string mail = plain_header("Date", mail_date(now));
  mail += address_header("From", style.from);
  mail += address_header("To", content.to);
  if (style.reply_to) mail += address_header("Reply-To", *style.reply_to);
  mail += plain_header("Message-ID", "<" + envelope.message_id + "@" + style.message_id_domain + ">");
  mail += text_header("Subject", dispatch.content.subject);
  mail += plain_header("Auto-Submitted", "auto-generated");  // RFC 3834: no vacation notice shall answer it
  if (!envelope.correlation.empty()) mail += correlation_header(envelope.correlation);
  if (!content.unsubscribe_url.empty()) {
    mail += plain_header("List-Unsubscribe", "<" + content.unsubscribe_url + ">");
    mail += plain_header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");  // RFC 8058
  }
  for (const auto& [name, value] : style.headers) mail += text_header(name, value);
  return mail + "MIME-Version: 1.0\r\n" + body_with(dispatch.content, content.attachments);
}

bool is_reserved_mail_header(std::string_view name) noexcept {
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view own) { return same_ignoring_case(name, own); });
}

}  // namespace notify
