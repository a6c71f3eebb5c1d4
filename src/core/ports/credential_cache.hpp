#pragma once

#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/secret.hpp"

namespace notify {

// Something short-lived that proves to a vendor who we are: a signed token, an OAuth2 access token.
struct Credential {
  Secret value{};
  Instant made{};
  Instant expires{};
};

// The credentials of all processes over one database, so that a vendor sees one token however many processes send.
// Names are the callers' (at most 200 bytes); whoever chooses one puts everything into it that the credential depends on.
// Every change is durable when its call returns. One thread. Errors are those of the store.
class CredentialCache {
 public:
  virtual ~CredentialCache() = default;

  // The last one kept under this name, whether it still holds or not.
  virtual Result<std::optional<Credential>> find(std::string_view name) = 0;

  // Makes this process the only one that fetches `name`, until `until`. False: another one is at it, and neither has its
  // time ended nor its process. A lease that ends later than one minute after `until` is none: the clock was set back.
  virtual Result<bool> begin_fetch(std::string_view name, Instant until, Instant now) = 0;
  // Keeps what was fetched, and ends the fetch. False: the fetch was not ours any more, and nothing has changed.
  virtual Result<bool> keep(std::string_view name, const Credential& credential) = 0;
  // The fetch has failed; another may begin. Changes nothing when it was not ours any more.
  virtual Result<void> end_fetch(std::string_view name) = 0;

  // The vendor has refused `refused`: it is dropped, unless another one has been kept since (false).
  virtual Result<bool> forget(std::string_view name, const Secret& refused) = 0;
};

}  // namespace notify
