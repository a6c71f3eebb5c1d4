#pragma once

#include <string>

#include "core/config_smtp.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// Whether a server can be talked to: resolves the name, connects, and for https shakes hands with the
// certificate verified. Sends no request. Errors are kUnavailable and do not repeat the URL.
Result<void> check_reachable(const std::string& url, const std::string& ca_bundle, Duration timeout);

// The same of a mail server: greeting, EHLO, and TLS as configured with the certificate verified; no login, no message.
Result<void> check_mail_server(const SmtpDriverConfig& server, const std::string& ca_bundle, Duration timeout);

}  // namespace notify
