#include "sys/zone_data.hpp"

#include <fstream>
#include <string_view>

#include "sys/environment.hpp"

namespace notify {

std::string zone_data_version() {
  const std::string directory = environment_variable("TZDIR").value_or("/usr/share/zoneinfo");
  // "# version 2025b"
  constexpr std::string_view kMark = "# version ";
  std::ifstream rules(directory + "/tzdata.zi");
  std::string line;
  if (std::getline(rules, line) && line.starts_with(kMark) && line.size() < 40) return line.substr(kMark.size());
  std::ifstream plain(directory + "/+VERSION");
  if (std::getline(plain, line) && !line.empty() && line.size() < 40) return line;
  return "unknown";
}

}  // namespace notify
