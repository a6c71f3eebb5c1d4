#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/ports/events.hpp"

namespace notify {

class ProgressLine;

// Log lines on standard error; the only user of spdlog. Thread-safe. Masks nothing: what must not be seen must not be
// passed in. Control characters and broken UTF-8 in texts are made visible, so that one event is always one line and
// JSON is always valid.
//   text: 2026-01-02T03:04:05.678Z warning lane.halted credentials refused channel=kakao
//   json: {"time":"2026-01-02T03:04:05.678Z","level":"warning","event":"lane.halted","text":…,"channel":…,"message_id":…,
//         "correlation":…}
class Log {
 public:
  enum class Format { kText, kJson };
  struct Options {
    Format format = Format::kText;
    Event::Level minimum = Event::Level::kInfo;
    ProgressLine* progress = nullptr;  // taken off the screen before a line is written; must outlive the log
  };

  explicit Log(const Options& options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool enabled(Event::Level level) const noexcept;
  void write(const Event& event);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::optional<Log::Format> parse_log_format(std::string_view text) noexcept;  // "text", "json"

}  // namespace notify
