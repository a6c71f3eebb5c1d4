#pragma once

#include <string>

namespace notify {

// Version of the machine's time zone data, like "2025b"; "unknown" when it does not say.
std::string zone_data_version();

}  // namespace notify
