#pragma once

// Whether a message may go now. The relay asks before it claims a row, the worker asks before it claims the
// message and again right before the call: what was right an hour ago need not be right now.

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/instant.hpp"
#include "core/message.hpp"
#include "core/ports/zone.hpp"

namespace notify {

struct Verdict {
  enum class Kind { kGo, kDefer, kSkip, kExpire };
  Kind kind = Kind::kGo;
  Instant until{};       // kDefer: when to look again
  std::string reason{};  // short and stable: "guard", "quiet-hours", "expired"
};

// Outside production only recipients that match a pattern of [guard] allow are written to. Both are compared as opt-outs
// compare addresses, however they are written.
bool guard_allows(const Config& config, std::string_view recipient);

// Who is asking: each has its own quiet hours, the relay's close earlier.
enum class Stage { kRelay, kWork };

class Policies {
 public:
  // `zone` is needed when quiet hours are configured and may be null otherwise. Both outlive this object.
  Policies(const Config& config, const Zone* zone);

  // Thread-safe, no I/O. `address`: where the message goes now; empty: to the recipient as written, and for one that is
  // known by its id the guard waits for the address.
  Verdict judge(const Envelope& envelope, Stage stage, Instant now, std::string_view address = {}) const;

  bool guard_allows(std::string_view recipient) const { return notify::guard_allows(config_, recipient); }

 private:
  std::optional<Instant> next_opening(std::string_view category, Stage stage, Instant now) const;

  const Config& config_;
  const Zone* zone_;
};

// Pattern with '*' for any run of bytes; everything else is itself.
bool glob_match(std::string_view pattern, std::string_view text) noexcept;

}  // namespace notify
