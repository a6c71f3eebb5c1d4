// A vendor that misbehaves on demand. See README.md.
#include <iostream>
#include <stdexcept>

#include "server.hpp"
#include "sockets.hpp"
#include "summary.hpp"

namespace {

void announce(const stub::ServerSettings& settings, const stub::Server& server) {
  const auto write_port = [](const std::string& file, int port) {
    if (!file.empty()) stub::write_file_atomically(file, std::to_string(port) + "\n", 0644);
  };
  write_port(settings.control_port_file, server.control_port());
  write_port(settings.port_file, server.port());
  std::cout << "listening " << server.port();
  if (server.control_port() != 0) std::cout << " control " << server.control_port();
  std::cout << std::endl;
}

int serve(stub::ServerSettings settings) {
  if (settings.parent_death) stub::die_with_parent();
  if (settings.smtp && settings.policy.mode == "ok") settings.policy.mode = "smtp-log";
  if (!settings.certificate.self_signed.empty()) stub::make_certificates(settings.certificate);
  stub::Server server(settings);
  if (!settings.certificate.self_signed.empty()) stub::remove_server_certificate(settings.certificate);
  announce(settings, server);
  server.run();
  std::cout << server.statistics() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const stub::CommandLine line = stub::parse_command_line({argv + 1, argv + argc});
    if (line.help) {
      std::cout << stub::help_text();
      return 0;
    }
    return line.summary ? stub::print_summary(*line.summary) : serve(line.server);
  } catch (const std::invalid_argument& error) {
    std::cerr << "vendor_stub: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "vendor_stub: " << error.what() << "\n";
    return 3;
  }
}
