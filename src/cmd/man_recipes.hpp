#pragma once

#include <string>

#include "cmd/mdoc.hpp"
#include "sys/config_keys.hpp"

namespace notify {

// notifyctl-recipes(5), from the keys that the reader of recipes knows.
std::string recipes_page();

// One item of a list of keys: its name, what it does, its type and its default.
void write_key(Mdoc& page, const ConfigKey& key);

}  // namespace notify
