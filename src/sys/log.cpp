#include "sys/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/safe_text.hpp"
#include "sys/terminal.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxText = 4096;

struct LevelRow {
  Event::Level level;
  spdlog::level::level_enum theirs;
  std::string_view name;
};

constexpr std::array kLevels{
    LevelRow{Event::Level::kDebug, spdlog::level::debug, "debug"},
    LevelRow{Event::Level::kInfo, spdlog::level::info, "info"},
    LevelRow{Event::Level::kWarning, spdlog::level::warn, "warning"},
    LevelRow{Event::Level::kError, spdlog::level::err, "error"},
};

const LevelRow& row(Event::Level level) noexcept {
  for (const LevelRow& one : kLevels)
    if (one.level == level) return one;
  return kLevels.back();
}

// 2026-01-02T03:04:05.678Z, from the library's own stamp of the message.
std::string utc_text(spdlog::log_clock::time_point time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, ms % 1000);
}

// The text is safe already (no control characters, valid UTF-8), so two characters are left to escape.
void append_json(std::string& line, std::string_view name, std::string_view value) {
  line += ",\"";
  line += name;
  line += "\":\"";
  for (const char c : safe_text(value, kMaxText)) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  line += '"';
}

void append_text(std::string& line, std::string_view name, std::string_view value) {
  line += ' ';
  line += name;
  line += '=';
  line += safe_text(value, kMaxText);
}

std::string json_line(const Event& event, const std::string& time) {
  std::string line = "{\"time\":\"" + time + '"';
  append_json(line, "level", row(event.level).name);
  append_json(line, "event", event.name);
  append_json(line, "text", event.text);
  if (!event.channel.empty()) append_json(line, "channel", event.channel);
  if (!event.message_id.empty()) append_json(line, "message_id", event.message_id);
  if (!event.correlation.empty()) append_json(line, "correlation", event.correlation);
  if (event.count != 0) line += ",\"count\":" + std::to_string(event.count);
  return line + "}\n";
}

std::string text_line(const Event& event, const std::string& time) {
  std::string line = time + ' ' + std::string(row(event.level).name) + ' ' + safe_text(event.name, kMaxText);
  if (!event.text.empty()) line += ' ' + safe_text(event.text, kMaxText);
  if (!event.channel.empty()) append_text(line, "channel", event.channel);
  if (!event.message_id.empty()) append_text(line, "message_id", event.message_id);
  if (!event.correlation.empty()) append_text(line, "correlation", event.correlation);
  if (event.count != 0) append_text(line, "count", std::to_string(event.count));
  return line + '\n';
}

// Standard error by one write(2) a line, so that lines of several processes do not mix.
class StandardErrorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StandardErrorSink(ProgressLine* progress) : progress_(progress) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view line(message.payload.data(), message.payload.size());
    if (progress_ != nullptr)
      progress_->write_line(line);
    else
      write_all(STDERR_FILENO, line);
  }
  void flush_() override {}

  ProgressLine* progress_;
};

}  // namespace

struct Log::Impl {
  explicit Impl(const Options& options)
      : format(options.format), logger("notifyctl", std::make_shared<StandardErrorSink>(options.progress)) {
    logger.set_level(row(options.minimum).theirs);
  }

  Format format;
  spdlog::logger logger;
};

Log::Log(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Log::~Log() = default;

bool Log::enabled(Event::Level level) const noexcept { return impl_->logger.should_log(row(level).theirs); }

void Log::write(const Event& event) {
  if (!enabled(event.level)) return;
  const auto now = spdlog::log_clock::now();
  const std::string time = utc_text(now);
  const std::string line = impl_->format == Format::kJson ? json_line(event, time) : text_line(event, time);
  impl_->logger.log(now, spdlog::source_loc{}, row(event.level).theirs,
                    spdlog::string_view_t(line.data(), line.size()));
}

std::optional<Log::Format> parse_log_format(std::string_view text) noexcept {
  if (text == "text") return Log::Format::kText;
  if (text == "json") return Log::Format::kJson;
  return std::nullopt;
}

}  // namespace notify
