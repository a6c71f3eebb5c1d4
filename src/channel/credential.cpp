#include "channel/credential.hpp"

#include <algorithm>
#include <utility>

#include "core/crypto.hpp"

namespace notify {
namespace {

constexpr Duration kLookAgain = 200ms;  // while another process fetches
constexpr Duration kRenewAgain = 30s;   // after a renewal that failed
constexpr Duration kAskAgain = 1s;      // after the store refused

Duration life_of(const Credential& credential) { return credential.expires - credential.made; }

// The database is busy or out of reach, and maybe for a while: asking again at once would ask without end.
Outcome no_cache(const Error& error) {
  Outcome outcome = credential_absent("credential-cache", error.message);
  outcome.retry_after = kAskAgain;
  return outcome;
}

}  // namespace

std::string credential_name(std::string_view channel, std::string_view identity) {
  Sha256Hasher hasher;
  hasher.update(identity);
  const Sha256 digest = hasher.finish();
  return std::string(channel) + ":" + to_hex(bytes_of(digest).substr(0, 16));
}

Outcome credential_failed(std::string reason, std::string detail) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kNotSent;
  outcome.halt_channel = true;
  outcome.reason = std::move(reason);
  outcome.detail = std::move(detail);
  return outcome;
}

Outcome credential_absent(std::string reason, std::string detail) {
  Outcome outcome = credential_failed(std::move(reason), std::move(detail));
  outcome.halt_channel = false;
  outcome.not_begun = true;
  return outcome;
}

CredentialSource::CredentialSource(std::string name, const Policy& policy, Fetch fetch, CredentialCache& cache,
                                   Loop& loop, Clock& clock)
    : name_(std::move(name)), policy_(policy), fetch_(std::move(fetch)), cache_(cache), loop_(loop), clock_(clock) {}

std::shared_ptr<CredentialSource> CredentialSource::make(std::string name, const Policy& policy, Fetch fetch,
                                                         CredentialCache& cache, Loop& loop, Clock& clock) {
  return std::shared_ptr<CredentialSource>(
      new CredentialSource(std::move(name), policy, std::move(fetch), cache, loop, clock));
}

bool CredentialSource::usable(const Credential& credential) const {
  return clock_.now() < credential.expires - std::min(policy_.margin, life_of(credential) / 10);
}

bool CredentialSource::wants_renewal(const Credential& credential) const {
  return clock_.now() >= credential.expires - std::min(policy_.renew_before, life_of(credential) / 2);
}

void CredentialSource::get(Done done) {
  if (current_ && usable(*current_)) {
    if (wants_renewal(*current_) && clock_.monotonic() >= not_before_) renew();
    return done(*current_);
  }
  wait(std::move(done));
  renew();
}

void CredentialSource::wait(Done waiting) {
  const std::uint64_t id = ++last_waiter_;
  const Loop::Timer timer =
      loop_.after(policy_.patience, [self = shared_from_this(), id] { self->out_of_patience(id); });
  waiters_.push_back({id, std::move(waiting), timer});
}

// Whether the fetch succeeds or fails is told to those who wait then; this one only goes back.
void CredentialSource::out_of_patience(std::uint64_t waiter) {
  const auto found =
      std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& one) { return one.id == waiter; });
  if (found == waiters_.end()) return;
  const Done done = std::move(found->done);
  waiters_.erase(found);
  done(tl::unexpected(credential_absent("credential-late", "no credential came in time")));
}

// In a turn of its own, so that nothing calls back from inside get().
void CredentialSource::renew() {
  if (std::exchange(busy_, true)) return;
  loop_.post([self = shared_from_this()] { self->look(); });
}

// What another process has fetched is as good as our own.
void CredentialSource::look() {
  const auto kept = cache_.find(name_);
  if (!kept) return give_up(no_cache(kept.error()));
  if (*kept && usable(**kept) && !wants_renewal(**kept)) {
    current_ = **kept;
    return succeed();
  }
  const Instant now = clock_.now();
  const auto ours = cache_.begin_fetch(name_, now + policy_.fetch_timeout, now);
  if (!ours) return give_up(no_cache(ours.error()));
  if (*ours) return fetch();
  if (*kept && usable(**kept)) {  // renewed elsewhere while this one still holds
    current_ = **kept;
    return succeed();
  }
  loop_.after(kLookAgain, [self = shared_from_this()] { self->look(); });
}

void CredentialSource::fetch() {
  const std::uint64_t number = ++fetch_number_;
  fetch_timer_ = loop_.after(policy_.fetch_timeout, [self = shared_from_this(), number] {
    self->fetched(number,
                  tl::unexpected(credential_failed("credential-timeout", "fetching a credential took too long")));
  });
  fetch_([self = shared_from_this(), number](Fetched result) { self->fetched(number, std::move(result)); });
}

void CredentialSource::fetched(std::uint64_t number, Fetched result) {
  if (number != fetch_number_) return;
  ++fetch_number_;
  loop_.cancel(fetch_timer_);
  if (result) return keep(std::move(*result));
  not_before_ = clock_.monotonic() + kRenewAgain;
  if (const auto ended = cache_.end_fetch(name_); !ended) return give_up(no_cache(ended.error()));
  give_up(result.error());
}

void CredentialSource::keep(Credential credential) {
  const auto kept = cache_.keep(name_, credential);
  if (!kept) return give_up(no_cache(kept.error()));
  if (!*kept) return look();  // we stood still for too long, and another process took over
  current_ = std::move(credential);
  succeed();
}

void CredentialSource::succeed() {
  busy_ = false;
  for (Waiter& waiter : std::exchange(waiters_, {})) {
    loop_.cancel(waiter.timer);
    waiter.done(*current_);
  }
}

void CredentialSource::give_up(const Outcome& why) {
  busy_ = false;
  for (Waiter& waiter : std::exchange(waiters_, {})) {
    loop_.cancel(waiter.timer);
    waiter.done(tl::unexpected(why));
  }
}

bool CredentialSource::refused(const Credential& credential) {
  // A late answer to a request with one that has been replaced, or forgotten, already.
  if (!current_ || !(current_->value == credential.value)) return true;
  if (clock_.now() - credential.made < policy_.minimum_age) return false;
  current_.reset();
  const auto forgotten = cache_.forget(name_, credential.value);
  return forgotten.has_value() && !std::exchange(renewed_in_vain_, true);
}

void CredentialSource::judge(const Credential& shown, Said said, Outcome& outcome) {
  if (said == Said::kAccepted) accepted();
  if (said != Said::kRefused) return;
  outcome.not_begun = refused(shown);
  outcome.halt_channel = !outcome.not_begun;
}

}  // namespace notify
