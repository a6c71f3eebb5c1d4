#include "sys/ca_bundle.hpp"

#include <unistd.h>

#include <array>

namespace notify {
namespace {

constexpr std::array kWellKnown{
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

bool readable(const char* path) noexcept { return ::access(path, R_OK) == 0; }

}  // namespace

std::span<const char* const> well_known_ca_bundles() noexcept { return kWellKnown; }

Result<std::string> find_ca_bundle(const std::string& configured, const std::optional<std::string>& ssl_cert_file) {
  if (!configured.empty()) {
    if (readable(configured.c_str())) return configured;
    return fail(Code::kConfig, "the configured CA bundle '" + configured + "' cannot be read");
  }
  if (ssl_cert_file && !ssl_cert_file->empty()) {
    if (readable(ssl_cert_file->c_str())) return *ssl_cert_file;
    return fail(Code::kConfig, "the CA bundle '" + *ssl_cert_file + "' named by SSL_CERT_FILE cannot be read");
  }
  std::string looked;
  for (const char* path : kWellKnown) {
    if (readable(path)) return std::string(path);
    looked += looked.empty() ? "" : ", ";
    looked += path;
  }
  return fail(Code::kConfig, "no CA certificates found: looked at SSL_CERT_FILE (not set), " + looked,
              "install the package ca-certificates, set ca_file in the configuration, or export SSL_CERT_FILE");
}

}  // namespace notify
