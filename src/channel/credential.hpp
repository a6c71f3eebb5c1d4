#pragma once

// The credential that a driver's requests carry, shared by all calls of this process and, through the cache, by all
// processes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/outcome.hpp"
#include "core/ports/clock.hpp"
#include "core/ports/credential_cache.hpp"
#include "core/ports/loop.hpp"

namespace notify {

// A name for the cache that holds everything the credential depends on (account, key, scope, where it is fetched): a
// channel whose key was changed never meets the old key's token. No part of the identity can be read from it.
std::string credential_name(std::string_view channel, std::string_view identity);

// Why there is no credential, as the outcome of the message that waited for one: never sent, and at no cost to it.
// failed: whoever issues them cannot be reached or refuses us, which every message would meet, so the lane halts.
// absent: trouble of our own that passes.
Outcome credential_failed(std::string reason, std::string detail);
Outcome credential_absent(std::string reason, std::string detail);

// Gets credentials by `fetch` (a request, or a signature made here), one fetch at a time over all processes, keeps them
// in memory and in the cache, and renews them before they end. Loop thread only. Owned by shared pointer, because calls
// that are out may outlive their channel.
class CredentialSource : public std::enable_shared_from_this<CredentialSource> {
 public:
  struct Policy {
    // A credential that ends sooner than this is renewed, while the calls go on with it. At most half of its life.
    Duration renew_before = 5min;
    // It is not used any more when it ends sooner than this (the vendor's clock may be ahead). At most a tenth of its life.
    Duration margin = 1min;
    // How long a call waits for one. Short: between its claim and its request a call must not lie around.
    Duration patience = 4s;
    // A fetch that takes longer is over, whatever became of it; other processes then fetch for themselves.
    Duration fetch_timeout = 10s;
    // One that is younger is kept even when it is refused: some vendors punish too many new ones.
    Duration minimum_age{0};
  };
  using Fetched = tl::expected<Credential, Outcome>;
  // Calls back exactly once, at once or later. The outcome of a failure is kNotSent.
  using Fetch = std::function<void(std::function<void(Fetched)>)>;
  using Done = std::function<void(Fetched)>;

  // `cache`, `loop` and `clock` outlive the source and all calls that wait for it.
  static std::shared_ptr<CredentialSource> make(std::string name, const Policy& policy, Fetch fetch,
                                                CredentialCache& cache, Loop& loop, Clock& clock);

  // A usable credential, or why there is none (kNotSent). Exactly once: from inside get() when one is at hand, otherwise
  // later. Errors always come later.
  void get(Done done);

  // The vendor has refused it (401). True: it is forgotten, and the next get() brings another one, so the message may go
  // again. False: another one would not help (the last one was new, too, or this one is too young to be replaced); the
  // lane halts.
  bool refused(const Credential& credential);
  // The vendor has accepted one: a later refusal is a new story.
  void accepted() noexcept { renewed_in_vain_ = false; }

  // What the answer to a call said of the credential that it showed. A refused one that can be replaced costs the message
  // nothing; one that cannot halts the lane.
  enum class Said { kNothing, kAccepted, kRefused };
  void judge(const Credential& shown, Said said, Outcome& outcome);

 private:
  struct Waiter {
    std::uint64_t id;
    Done done;
    Loop::Timer timer;
  };

  CredentialSource(std::string name, const Policy& policy, Fetch fetch, CredentialCache& cache, Loop& loop,
                   Clock& clock);

  bool usable(const Credential& credential) const;
  bool wants_renewal(const Credential& credential) const;
  void renew();
  void look();
  void fetch();
  void fetched(std::uint64_t number, Fetched result);
  void keep(Credential credential);
  void succeed();
  void give_up(const Outcome& why);
  void wait(Done waiting);
  void out_of_patience(std::uint64_t waiter);

  const std::string name_;
  const Policy policy_;
  const Fetch fetch_;
  CredentialCache& cache_;
  Loop& loop_;
  Clock& clock_;

  std::optional<Credential> current_{};
  std::vector<Waiter> waiters_{};
  std::uint64_t last_waiter_ = 0;
  bool busy_ = false;               // looking, fetching or waiting for another process's fetch
  std::uint64_t fetch_number_ = 0;  // of the fetch that is out; a late answer has another one
  Loop::Timer fetch_timer_ = 0;
  Duration not_before_{0};        // monotonic: after a failed renewal the next one waits
  bool renewed_in_vain_ = false;  // the last one was refused, and none has been accepted since
};

}  // namespace notify
