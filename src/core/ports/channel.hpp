#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"

namespace notify {

// One message ready to be handed to a vendor: the envelope with its payload parsed and rendered.
struct Dispatch {
  Envelope envelope{};
  Payload content{};      // rendered: template and vars are resolved into subject, body, html, alt
  std::string address{};  // where it goes now: the recipient as written, or the endpoint looked up for @ID
  int attempt = 1;        // 1 for the first call of this message
  int tries = 0;          // tries before this one that sent nothing, for reasons of the message's own
};

// A message whose call ended without a result, as its vendor may know it.
struct LookUpQuestion {
  std::string message_id{};
  std::string reference{};  // the vendor's id, where a call brought one; may be empty
  std::string address{};    // whom it was for; may be empty
  Instant called_at{};
};

struct LookUpAnswer {
  enum class Kind {
    kAccepted,      // the vendor has it
    kRefused,       // the vendor had it and will never deliver it
    kNeverArrived,  // the vendor would know of it, and does not
    kUnknown,       // no answer, or none that proves anything
  };
  Kind kind = Kind::kUnknown;
  bool disable_endpoint = false;  // with kAccepted or kRefused: and the address is dead
  bool halt_channel = false;      // with kAccepted or kRefused: and the lane is broken
  std::string reason{};           // short stable word
  std::string detail{};           // bounded, valid UTF-8, no control characters, no secret
  std::string reference{};        // the vendor's id of the message; may be empty
};

// Asks a vendor what became of a message, by message id. Loop thread only.
class LookUp {
 public:
  virtual ~LookUp() = default;
  // `done` is called exactly once, later, on the loop thread, within the channel's time-out. Changes nothing at the
  // vendor. Only a documented answer is more than kUnknown: an empty list from an index that lags is none.
  virtual void look_up(LookUpQuestion question, std::function<void(LookUpAnswer)> done) = 0;
};

// A driver of one configured channel (lane). Lives on the event-loop thread; check() may be called from any
// thread and does no I/O.
class Channel {
 public:
  using Done = std::function<void(Outcome)>;

  virtual ~Channel() = default;

  // Can this message be sent at all? Called before the claim, so that what fails here is parked with no call
  // made. The error's message becomes the park reason.
  virtual Result<void> check(const Dispatch& dispatch) const = 0;

  // What send() would hand over, for people, in lines, with every secret masked; empty: this driver cannot tell. No I/O.
  virtual std::string preview(const Dispatch& /*dispatch*/) const { return {}; }

  // Starts the call. `done` is called exactly once, later, on the loop thread, within the channel's time-out.
  // The driver never repeats a request by itself.
  virtual void send(Dispatch dispatch, Done done) = 0;

  // Where the vendor can be asked; nullptr: it cannot. Lives as long as the channel.
  virtual LookUp* look_up() { return nullptr; }
};

}  // namespace notify
