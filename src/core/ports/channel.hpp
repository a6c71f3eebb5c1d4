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

  // Starts the call. `done` is called exactly once, later, on the loop thread, within the channel's time-out.
  // The driver never repeats a request by itself.
  virtual void send(Dispatch dispatch, Done done) = 0;
};

}  // namespace notify
