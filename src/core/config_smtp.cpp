#include "core/config_smtp.hpp"

#include <algorithm>

namespace notify {

int default_mail_port(MailTls tls) noexcept {
  switch (tls) {
    case MailTls::kStartTls: return 587;
    case MailTls::kImplicit: return 465;
    case MailTls::kNone: return 25;
  }
  return 587;
}

bool is_loopback_name(std::string_view host) noexcept {
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  // "127.example.com" is a name like any other.
  return host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3 &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace notify
