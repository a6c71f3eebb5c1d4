#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/instant.hpp"

namespace notify {

enum class MailTls {
  kStartTls,  // begins in the clear and must change to TLS before anything else (RFC 3207)
  kImplicit,  // TLS from the first byte (RFC 8314)
  kNone,      // clear text
};

// One message to one recipient: one SMTP transaction.
struct MailRequest {
  std::string host{};  // name, IPv4 or IPv6 address (without brackets)
  int port = 587;
  MailTls tls = MailTls::kStartTls;
  std::string helo{};  // name in EHLO; empty: this machine's

  // The login. A user without one that succeeds sends nothing. One of password and token.
  std::string user{};  // empty: no login
  std::string password{};
  std::string token{};                    // OAuth 2 access token
  std::vector<std::string> mechanisms{};  // those that may be used: "PLAIN", "LOGIN", "XOAUTH2", "OAUTHBEARER"

  std::string sender{};     // envelope; empty: the null reverse-path
  std::string recipient{};  // envelope; local@domain
  std::string message{};    // header and body; every line ends in CR LF and is at most 998 bytes long (RFC 5322 2.1.1).
                            // Dots at the beginning of lines are the client's business
  bool needs_utf8 = false;  // an address is not ASCII: only a server that offers SMTPUTF8 may get it (RFC 6531)
  Duration connect_timeout{5000};
  Duration timeout{50000};  // from the name's resolution to the reply to the final dot
};

// How far the conversation got: the last command that was sent.
enum class MailStage {
  kConnect,    // nothing was sent, no greeting came (name, TCP, implicit TLS)
  kGreeting,   // the server has said something
  kHello,      // EHLO or HELO
  kStartTls,   // STARTTLS, and the TLS handshake behind it
  kLogin,      // AUTH
  kSender,     // MAIL
  kRecipient,  // RCPT
  kData,       // DATA
  kBody,       // the server said 354: message and final dot
};

// Everything that could be observed of one transaction. Pure data; classify_mail() judges it.
struct MailEvidence {
  int curl_code = 0;         // CURLcode
  std::string curl_error{};  // text for people, without secrets

  MailStage stage = MailStage::kConnect;
  int reply = 0;             // code of the complete reply to that stage; 0: none came (354 is the stage kBody itself)
  std::string reply_text{};  // its lines without code and enhanced code, joined by spaces; bounded; foreign bytes
  std::string enhanced{};    // RFC 3463, "5.1.1"; empty: none

  // All of the message has been handed to the connection, so that the final dot may have followed. Without it the server
  // has no whole message and must throw away what it has (RFC 5321 4.1.1.4).
  bool body_complete = false;
  std::int64_t bytes_out = 0;  // of the message

  bool login_missing = false;    // a login was asked for and the server has none (or none of ours); nothing was sent
  bool utf8_missing = false;     // SMTPUTF8 was needed and is not offered; nothing was sent
  bool refused_locally = false;  // the request itself is impossible; nothing was tried
  bool shortage = false;         // this process had no descriptors, threads or memory left (curl_error says which)
  bool timed_out = false;
  bool resolved = false;   // the name, or none had to be
  bool handshake = false;  // of TLS was begun
  bool reused = false;     // went over a connection that was open already
  Duration elapsed{0};
};

// Asynchronous mail submission for one event loop; the loop's thread only. Connections are kept for the next message and
// logged in to once.
class MailClient {
 public:
  virtual ~MailClient() = default;
  // `done` is called exactly once, from the loop, never from inside start(). A message is never sent a second time.
  virtual void start(MailRequest request, std::function<void(MailEvidence)> done) = 0;
};

}  // namespace notify
