#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/error.hpp"

namespace notify {

// Where distributions keep their CA certificates (PROVIDERS 1.8): Debian and Alpine, RHEL, SUSE, BSD.
std::span<const char* const> well_known_ca_bundles() noexcept;

// The file with the CA certificates: the configured one, else SSL_CERT_FILE's, else the first of the well-known ones
// that can be read. A configured or exported path that cannot be read is an error, not a reason to look elsewhere.
// None: kConfig, listing where it looked.
Result<std::string> find_ca_bundle(const std::string& configured, const std::optional<std::string>& ssl_cert_file);

}  // namespace notify
