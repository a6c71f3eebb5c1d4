#pragma once

#include "core/config.hpp"
#include "core/error.hpp"
#include "sys/environment.hpp"

namespace notify {

// Reads the secret that the setting names into its value. Files that others may read are refused. A command is run
// without a shell, for at most 10 seconds; what it prints, at most 64 KiB, is the secret.
Result<void> load_secret(SecretSetting& setting, const Environment& environment);

// All secrets of a channel. The error names the channel and the key, never a value.
Result<void> load_secrets(ChannelConfig& channel, const Environment& environment);

}  // namespace notify
