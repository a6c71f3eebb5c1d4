// The protocol side of a connection.
#pragma once

#include <cstdint>

#include "behaviour.hpp"

namespace stub {

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // New bytes are in connection.in(); take what can be used.
  virtual void on_input() = 0;

  // What will be done about `stream` has just been decided; other requests may come before it is performed.
  virtual void decided(std::uint32_t /*stream*/, const Behaviour& /*act*/) {}

  // The request on `stream` is in the log; now do what was decided.
  virtual void perform(std::uint32_t stream, const Behaviour& act) = 0;

  // A timer set with Server::tick_later came.
  virtual void tick(std::uint32_t stream, const Behaviour& act) = 0;

  // Everything queued has been handed to the kernel.
  virtual void drained() {}

  // The peer will send no more. True if an answer is still owed and worth sending.
  virtual bool wants_to_finish() const { return false; }
};

}  // namespace stub
