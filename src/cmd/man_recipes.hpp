#pragma once

#include <string>

namespace notify {

// notifyctl-recipes(5), from the keys that the reader of recipes knows.
std::string recipes_page();

}  // namespace notify
