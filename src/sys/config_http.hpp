#pragma once

// The keys of a channel with the driver "http", for config_channel.cpp.

#include "core/config.hpp"
#include "sys/config_reader.hpp"

namespace notify::config_file {

// The recipe and the settings that it declares. A recipe that cannot be loaded is a problem, and leaves none.
HttpDriverConfig read_http(Section& channel);

// After the keys that all channels have: keys that the recipe does not know, and what it does not allow.
void check_recipe(Section& section, ChannelConfig& channel);

}  // namespace notify::config_file
