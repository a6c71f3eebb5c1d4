// Certificates and TLS contexts.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;

namespace stub {

enum class CertificateKind { good, wrong_host, expired, future, unknown_ca };

struct TlsSettings {
  std::string certificate;  // PEM files
  std::string key;
  std::string self_signed;  // a directory for a private CA and a server certificate
  CertificateKind kind = CertificateKind::good;
  bool http2 = true;
};

struct ContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, ContextDeleter>;

// Throws when files are missing or do not fit together.
TlsContext make_tls_context(const TlsSettings& settings);

// Makes DIR/ca.pem and ca.key unless they are there, and a server certificate of the wanted kind for
// localhost, 127.0.0.1 and ::1. Returns its PEM paths in `certificate` and `key`.
void make_certificates(TlsSettings& settings);

// The files made for this process alone are of no use once they are loaded; the CA stays.
void remove_server_certificate(const TlsSettings& settings);

}  // namespace stub
