#pragma once

#include <cstdint>
#include <string>

namespace notify {

// What core tells the outside while it works. cmd turns events into progress bars and log lines; nothing in
// core prints. Texts hold no payload and no full address.
struct Event {
  enum class Level { kDebug, kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string name{};         // stable: "relay.published", "work.settled", "lane.halted"
  std::string message_id{};   // may be empty
  std::string channel{};      // may be empty
  std::string text{};         // for people, one line
  std::int64_t count = 0;     // for progress; 0 when it says nothing
  std::string correlation{};  // the message's, as its sender gave it; may be empty
};

// Called from any thread; implementations are thread-safe and do not block.
class Events {
 public:
  virtual ~Events() = default;
  virtual void emit(const Event& event) = 0;
};

}  // namespace notify
