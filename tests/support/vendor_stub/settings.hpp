// What the command line says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy.hpp"
#include "tls.hpp"

namespace stub {

struct ServerSettings {
  std::string listen = "127.0.0.1:0";
  std::string port_file;
  std::string control;  // a second, plain listener for /__stub/ only
  std::string control_port_file;
  bool smtp = false;
  bool tls = false;
  bool starttls = false;
  TlsSettings certificate;
  std::string log;
  bool with_body = true;
  std::uint32_t http2_streams = 1000;
  bool all_headers = false;
  bool sends_continue = true;
  bool parent_death = false;
  std::string vendor;  // whose rules hold for requests that no rule and no path is about
  PolicySettings policy;
};

struct SummarySettings {
  std::vector<std::string> files;
  std::optional<std::uint64_t> expect;
  std::optional<Nanos> span;
  bool ignore_refused = false;
};

struct CommandLine {
  ServerSettings server;
  std::optional<SummarySettings> summary;
  bool help = false;
};

// Throws std::invalid_argument with a message for the user.
CommandLine parse_command_line(const std::vector<std::string>& words);

std::string help_text();

}  // namespace stub
