#pragma once

// Finding, reading and checking the configuration.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "sys/environment.hpp"

namespace notify {

// The file that counts: the one named by the user (which must exist), else the first of
// $XDG_CONFIG_HOME/notifyctl/config.toml (~/.config) and /etc/notifyctl/config.toml; none at all is fine.
Result<std::optional<std::string>> find_config_file(const std::optional<std::string>& named,
                                                    const Environment& environment);

// Where the configuration of this user (of the machine, for root) belongs; nothing when HOME is not known.
std::optional<std::string> default_config_file(const Environment& environment, bool is_root);

// Reads and checks a file. The error is the first problem ("FILE:LINE:COLUMN: key: reason") and says how many
// more there are; `problems` gets them all. Secrets are not read, see sys/secrets.hpp.
Result<Config> load_config(const std::string& path, std::vector<Error>* problems = nullptr);

// The same from text. `is_private`: only the owner may read the file, so that plain secrets are allowed in
// it.
Result<Config> parse_config(std::string_view text, const std::string& path, bool is_private,
                            std::vector<Error>* problems = nullptr);

// Where the database is when neither the command line nor the environment nor the configuration says so.
Result<std::string> default_database(const Environment& environment, bool is_root);

// `path` seen from the directory `base`; unchanged when it is absolute.
std::string absolute_path(std::string_view path, std::string_view base);

}  // namespace notify
