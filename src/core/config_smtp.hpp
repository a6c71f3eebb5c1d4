#pragma once

// The settings of a channel with driver "smtp". Read by sys/config_smtp.cpp, checked for what needs no address
// syntax there and for the rest when the channel is made (channel/smtp_settings.hpp).

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ports/mail.hpp"
#include "core/secret.hpp"

namespace notify {

struct SmtpDriverConfig {
  std::string host{};  // name or address, without a port
  int port = 0;        // 1…65535
  MailTls tls = MailTls::kStartTls;

  std::string username{};    // empty: no login
  SecretSetting password{};  // one of the two, whenever there is a username
  SecretSetting token{};     // OAuth 2 access token; read again while the worker runs when it comes from a file
  std::string auth{};  // "plain", "login", "xoauth2", "oauthbearer"; empty: what the server offers of the fit ones

  std::string from{};               // "Name <a@b>" or "a@b"
  std::string reply_to{};           // the same; empty: none
  std::string return_path{};        // envelope sender; "{id}" stands for the message id; empty: the address of `from`
  std::string message_id_domain{};  // empty: the domain of `from`
  std::string helo{};               // name in EHLO; empty: this machine's
  std::vector<std::pair<std::string, std::string>> headers{};  // added to every message
  std::string list_unsubscribe{};  // https URL with placeholders, for messages of the category advertising
  std::size_t max_message_bytes = 10 * 1024 * 1024;  // of the whole message as it is sent
};

// Ports that go with each way of TLS: 587, 465, 25 (RFC 8314, RFC 6409, RFC 5321).
int default_mail_port(MailTls tls) noexcept;

// Whether the host is this machine by its very spelling: localhost, 127.0.0.0/8, ::1.
bool is_loopback_name(std::string_view host) noexcept;

}  // namespace notify
