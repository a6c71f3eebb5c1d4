#pragma once

// The whole configuration as plain data, with the defaults that hold when nothing is configured. Loaded and
// checked by sys/config_file.hpp; every key is described in sys/config_keys.cpp, from which notifyctl.toml(5)
// is made. Who holds a const Config may rely on the checks listed at each member.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/config_apns.hpp"
#include "core/config_fcm.hpp"
#include "core/config_http.hpp"
#include "core/config_ses.hpp"
#include "core/config_smtp.hpp"
#include "core/config_webpush.hpp"
#include "core/instant.hpp"
#include "core/secret.hpp"

namespace notify {

// At most `count` calls in any span of `per`; shared by all processes through the database.
struct Rate {
  int count = 1;  // ≥ 1
  Duration per{1000};

  friend bool operator==(const Rate&, const Rate&) = default;
};

// Minutes of the local day, 0 ≤ m < 1440, from ≠ until. The window is closed from `from` (inclusive) to
// `until` (exclusive) and spans midnight when until < from.
struct DailyWindow {
  int from = 0;
  int until = 0;

  friend bool operator==(const DailyWindow&, const DailyWindow&) = default;
};

// Quiet hours of one category. The relay's window opens earlier, so that what it publishes is still sent.
struct QuietHours {
  std::optional<DailyWindow> relay{};
  std::optional<DailyWindow> worker{};
};

struct GuardConfig {
  std::vector<std::string> allow{};  // patterns with '*'; who may be written to outside production
};

// How many messages may be handed on before somebody is asked. 0: no limit.
struct SurgeConfig {
  std::int64_t per_run_max = 0;
  std::int64_t per_hour_max = 0;  // what a relay that stays makes of per_run_max
  int hourly_factor = 0;          // times the busiest hour of the last day
  std::int64_t hourly_min = 100;  // an hour with so many is never a surge by hourly_factor

  bool on() const noexcept { return per_run_max > 0 || per_hour_max > 0 || hourly_factor > 0; }
};

struct RelayConfig {
  int batch = 50;  // 1…1000
  Duration lease = 15min;
  Duration confirm_timeout = 5s;
  Duration batch_deadline = 1min;                                       // confirm_timeout < batch_deadline < lease
  std::vector<Duration> backoff{1min, 2min, 4min, 8min, 16min, 30min};  // the last one repeats; not empty
  int alert_after = 5;
  Duration give_up_after = 24h;
  SurgeConfig surge{};
};

struct QueueConfig {
  Duration lease = 5min;  // every channel's timeout < lease < its stale_after
  int delivery_limit = 20;
  Duration unaccounted_after = 1h;  // brokers: what has been nowhere for so long is handed on again
};

struct WorkConfig {
  int concurrency = 64;           // 1…1024
  Duration shutdown_grace = 60s;  // every channel's timeout < shutdown_grace
};

struct RetentionConfig {
  std::optional<Duration> keep_keys{};  // empty: for ever
};

struct AlertsConfig {
  std::vector<std::string> exec{};  // argv; empty: none
  std::string channel{};            // name of a configured channel; empty: none
  std::string to{};                 // set whenever channel is
  Duration timeout = 30s;           // of exec
  Duration repeat_after = 1h;
  int parked_growth = 100;    // more parked between two runs of reconcile than this
  Duration backlog_age = 1h;  // the oldest unsent message is older than this
  Duration run_missing = 1h;  // relay or work succeeded longer ago than this, with something to do
};

struct TemplatesConfig {
  std::string directory{};  // absolute; empty: no templates
  std::string default_locale{};
};

enum class Semantics {
  kAtMostOnce,   // an unknown outcome is final: ERROR
  kAtLeastOnce,  // the vendor honours the message id as idempotency key: repeated inside its window
};

struct RecipientCap {
  int limit = 1;
  Duration per = 24h;
  std::string category{};  // empty: every category
};

enum class TextEncoding { kUtf8, kEucKr, kCp949, kUcs2, kGsm7 };

struct TextLimit {
  TextEncoding encoding = TextEncoding::kUtf8;
  std::size_t limit = 0;  // bytes in that encoding; septets of GSM-7
};

// --- drivers
// ------------------------------------------------------------------------------------------------

struct FileDriverConfig {
  std::string path{};  // absolute
};

struct ExecDriverConfig {
  std::vector<std::string> command{};  // argv, not empty
};

enum class HttpVersion { k1_1, k2 };

struct Header {
  std::string name{};  // an RFC 9110 token
  SecretSetting value{};
};

struct WebhookDriverConfig {
  SecretSetting url{};  // not set: the recipient is the URL
  std::vector<Header> headers{};
  std::vector<SecretSetting> secrets{};  // signing keys; the first is the newest, all of them sign
  HttpVersion http_version = HttpVersion::k1_1;
  std::vector<int> not_sent{};  // statuses by which this receiver promises that nothing was done
  bool allow_private = false;   // for URLs that come from the recipient; a configured url may always
  // How Idempotency-Key is written: as it is, or as the string of RFC 8941 that the header's draft asks for.
  enum class KeyStyle { kPlain, kQuoted, kNone } idempotency_key = KeyStyle::kPlain;
};

using DriverConfig =
    std::variant<FileDriverConfig, ExecDriverConfig, WebhookDriverConfig, HttpDriverConfig, SmtpDriverConfig,
                 ApnsDriverConfig, FcmDriverConfig, WebPushDriverConfig, SesDriverConfig>;

// --- channel
// ------------------------------------------------------------------------------------------------

// One configured channel (lane).
struct ChannelConfig {
  std::string name{};  // is_channel_name()
  DriverConfig driver{};
  Semantics semantics = Semantics::kAtMostOnce;
  Duration connect_timeout = 5s;  // < timeout
  Duration timeout = 10s;         // the whole call; < queue.lease and < work.shutdown_grace
  Duration stale_after = 10min;   // > queue.lease
  int concurrency = 16;           // calls in flight in one process, 1…1024
  std::optional<Rate> rate{};
  std::vector<Duration> retry{1s, 1s, 10min, 10min, 10min};  // then parked; empty: parked at once
  std::optional<RecipientCap> per_recipient{};
  Duration idempotency_window = 24h;  // how long the vendor remembers a key, from the first call
  std::optional<TextLimit> max_text_bytes{};
};

// "file", "exec", "webhook" …: as written in `driver = …`.
std::string_view driver_name(const DriverConfig& driver) noexcept;

struct Config {
  std::string file{};      // where it was read from; empty: no file, all defaults
  std::string database{};  // absolute; empty: not configured
  std::string environment{};
  std::string timezone{};   // IANA name; empty: UTC was not chosen, times need an explicit zone
  std::string ca_bundle{};  // absolute; empty: search
  GuardConfig guard{};
  RelayConfig relay{};
  QueueConfig queue{};
  WorkConfig work{};
  RetentionConfig retention{};
  AlertsConfig alerts{};
  TemplatesConfig templates{};
  std::map<std::string, QuietHours> quiet_hours{};  // by category
  std::vector<ChannelConfig> channels{};            // sorted by name

  const ChannelConfig* channel(std::string_view name) const noexcept;  // nullptr: not configured

  // The recipient guard is on everywhere but in production.
  bool guarded() const noexcept { return !channels.empty() && environment != "production"; }
};

}  // namespace notify
