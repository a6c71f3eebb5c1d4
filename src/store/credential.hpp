#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/ports/credential_cache.hpp"
#include "store/sqlite_store.hpp"

namespace notify {

// The cache in notification_credential, over a connection of its own that the first call opens: drivers live on the
// event loop's thread, the worker's store on another one, and most processes never need a credential.
class SharedCredentials final : public CredentialCache {
 public:
  // `run`: this process's row in notification_run. A fetch of a run that has ended or is dead holds nobody up.
  SharedCredentials(std::string path, std::int64_t run) : path_(std::move(path)), run_(run) {}

  Result<std::optional<Credential>> find(std::string_view name) override;
  Result<bool> begin_fetch(std::string_view name, Instant until, Instant now) override;
  Result<bool> keep(std::string_view name, const Credential& credential) override;
  Result<void> end_fetch(std::string_view name) override;
  Result<bool> forget(std::string_view name, const Secret& refused) override;

 private:
  Result<SqliteStore*> store();

  std::string path_;
  std::int64_t run_;
  std::unique_ptr<SqliteStore> store_{};
};

}  // namespace notify
