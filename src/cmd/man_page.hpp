#pragma once

// The manual, made from the same registrations as the program itself.

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace notify {

// File names of all pages: "notifyctl.1", "notifyctl-enqueue.1", "notifyctl.toml.5", "notifyctl-sql.5".
std::vector<std::string> man_pages();

// The mdoc source of one of them; also by page name alone ("notifyctl-enqueue").
Result<std::string> man_page(std::string_view name);

}  // namespace notify
