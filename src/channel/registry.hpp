#pragma once

// Every driver there is. A new one is one entry in registry.cpp; --version, help, the check of `driver = "…"`
// and the contract tests read the list.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/ports/channel.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/credential_cache.hpp"
#include "core/ports/http.hpp"
#include "core/ports/loop.hpp"
#include "core/ports/mail.hpp"
#include "core/ports/process.hpp"
#include "core/secret.hpp"

namespace notify {

// Reads a secret again from where the configuration takes it.
using ReadSecret = std::function<Result<Secret>(const SecretSetting&)>;

// What drivers need of this process. Everything referred to must outlive the channels made with it.
struct ChannelPorts {
  Loop& loop;
  ProcessRunner& processes;
  Clock& clock;
  CredentialCache& credentials;  // of all processes; the first use may open the database
  // The process's HTTP client, made by the first call: a process without an HTTP channel never pays for it.
  // The error (no CA bundle, say) becomes that of make_channel().
  std::function<Result<HttpClient*>()> http{};
  std::string user_agent = "notifyctl";
  // The same for mail.
  std::function<Result<MailClient*>()> mail{};
  ReadSecret read_secret{};  // may be empty: secrets stay as they were loaded
};

struct Driver {
  std::string_view name;     // as in `driver = "…"` and driver_name()
  std::string_view summary;  // one line for people, without a full stop
  Result<std::unique_ptr<Channel>> (*make)(const ChannelConfig& config, const ChannelPorts& ports);
  // Whether its channels may have a look_up(): reconcile makes only those, and reads no other channel's secrets.
  bool looks_up = false;
};

// Sorted by name.
std::span<const Driver> drivers() noexcept;

// Whether the driver of this channel can ask its vendor about a message.
bool looks_up(const ChannelConfig& config) noexcept;

// The channel that `config` describes. The secrets in it must have been loaded. Does no I/O and makes no
// connection: what is wrong with the surroundings shows at the first send. Errors: kConfig.
Result<std::unique_ptr<Channel>> make_channel(const ChannelConfig& config, const ChannelPorts& ports);

}  // namespace notify
