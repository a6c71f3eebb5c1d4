#pragma once

// Every key of the configuration: the loader refuses what is not in this table, and notifyctl.toml(5) is made
// from it.

#include <span>
#include <string_view>

namespace notify {

struct ConfigKey {
  std::string_view section{};  // "", "relay", "channels.*"; "*" stands for a name that the user chooses
  std::string_view key{};
  std::string_view type{};      // as people say it: "duration", "list of strings"
  std::string_view fallback{};  // default as written in TOML; empty: none
  std::string_view text{};      // whole sentences, `literal` marked
  std::string_view driver{};    // of channels: only with this driver; empty: with every one
};

struct ConfigSection {
  std::string_view name{};
  std::string_view text{};
};

std::span<const ConfigSection> config_sections() noexcept;  // in the order of the manual
std::span<const ConfigKey> config_keys() noexcept;

}  // namespace notify
