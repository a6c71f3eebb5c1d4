#pragma once

// Every key of a recipe: the reader refuses what is not in this table, and notifyctl-recipes(5) is made from it.

#include <span>
#include <string_view>
#include <vector>

#include "sys/config_keys.hpp"

namespace notify {

std::span<const ConfigSection> recipe_sections() noexcept;  // in the order of the manual
std::span<const ConfigKey> recipe_keys() noexcept;          // `driver` is not used

// The keys of one section.
std::vector<std::string_view> recipe_keys_of(std::string_view section);

}  // namespace notify
