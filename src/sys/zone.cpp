#include "sys/zone.hpp"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/near_miss.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

namespace fs = std::filesystem;

class AbslZone : public Zone {
 public:
  AbslZone(std::string name, absl::TimeZone zone) : name_(std::move(name)), zone_(zone) {}

  Result<Instant> from_local(const CivilTime& local) const override {
    const absl::CivilSecond civil(local.year, local.month, local.day, local.hour, local.minute, local.second);
    // Abseil turns February 30 into March 2.
    if (from_absl(civil) != local || local.year < 1 || local.year > 9999)
      return fail(Code::kBadInput, "there is no such date or time of day");
    const absl::TimeZone::TimeInfo info = zone_.At(civil);
    const bool skipped = info.kind == absl::TimeZone::TimeInfo::SKIPPED;
    return Instant{absl::ToUnixMillis(skipped ? info.trans : info.pre)};
  }

  CivilTime to_local(Instant t) const override { return from_absl(zone_.At(absl::FromUnixMillis(t.ms)).cs); }

  Duration offset(Instant t) const override {
    return Duration{std::int64_t{zone_.At(absl::FromUnixMillis(t.ms)).offset} * 1000};
  }

  std::string_view name() const override { return name_; }

 private:
  static CivilTime from_absl(const absl::CivilSecond& c) {
    return {static_cast<int>(c.year()), c.month(), c.day(), c.hour(), c.minute(), c.second()};
  }

  std::string name_;
  absl::TimeZone zone_;
};

// Where Abseil looks for the database.
fs::path database_directory() {
  const char* dir = std::getenv("TZDIR");  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  return dir != nullptr && *dir != '\0' ? dir : "/usr/share/zoneinfo";
}

// A name of the database has one of its regions or is one of these. The rest of what the database holds are
// abbreviations ("EST", "PRC"), names that stand for another ("ROK") and POSIX's offsets with the turned sign
// ("Etc/GMT+9" is west of Greenwich).
constexpr std::array<std::string_view, 10> kRegions{"Africa/",   "America/",   "Antarctica/", "Arctic/", "Asia/",
                                                    "Atlantic/", "Australia/", "Europe/",     "Indian/", "Pacific/"};

bool is_database_name(std::string_view name) {
  if (name == "UTC" || name == "Etc/UTC") return true;
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '-' || c == '+';
  };
  return name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed) &&
         std::any_of(kRegions.begin(), kRegions.end(),
                     [&](std::string_view region) { return name.size() > region.size() && name.starts_with(region); });
}

// The database's zone names, for hints. Empty: there is no database.
std::vector<std::string> database_names() {
  std::vector<std::string> names;
  const fs::path directory = database_directory();
  std::error_code error;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(directory, options, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->is_regular_file(unreadable)) names.push_back(at->path().lexically_relative(directory).generic_string());
  }
  std::erase_if(names, [](const std::string& name) { return !is_database_name(name); });
  std::sort(names.begin(), names.end());
  return names;
}

struct CommonMistake {
  std::string_view written;
  std::string_view meant;
};
constexpr std::array kCommonMistakes{
    CommonMistake{"KST", "Asia/Seoul"},          CommonMistake{"ROK", "Asia/Seoul"},
    CommonMistake{"JST", "Asia/Tokyo"},          CommonMistake{"CET", "Europe/Berlin"},
    CommonMistake{"CEST", "Europe/Berlin"},      CommonMistake{"GMT", "Europe/London or UTC"},
    CommonMistake{"BST", "Europe/London"},       CommonMistake{"EST", "America/New_York"},
    CommonMistake{"EDT", "America/New_York"},    CommonMistake{"PST", "America/Los_Angeles"},
    CommonMistake{"PDT", "America/Los_Angeles"}, CommonMistake{"Z", "UTC"}};

tl::unexpected<Error> unknown_zone(std::string_view name) {
  const auto error = [&](std::string hint) {
    return fail(Code::kConfig, "unknown time zone \"" + safe_text(name, 64) + "\"", std::move(hint));
  };
  for (const CommonMistake& mistake : kCommonMistakes)
    if (mistake.written == name) return error("an abbreviation is not a zone; write " + std::string(mistake.meant));
  const std::vector<std::string> names = database_names();
  if (names.empty())
    return fail(Code::kConfig,
                "cannot load time zone \"" + safe_text(name, 64) + "\": this machine has no time zone data",
                "install the package tzdata, or set TZDIR to a directory with zone files");
  if (std::binary_search(names.begin(), names.end(), name))
    return fail(Code::kConfig, "cannot load time zone \"" + safe_text(name, 64) + "\": its data is damaged",
                "install the package tzdata again");
  std::string hint = did_you_mean(name, names);
  return error(hint.empty() ? "write a name of the time zone database, such as Asia/Seoul" : std::move(hint));
}

}  // namespace

Result<std::unique_ptr<const Zone>> load_zone(std::string_view name) {
  absl::TimeZone zone;
  if (name == "UTC" || name == "Etc/UTC")
    zone = absl::UTCTimeZone();
  else if (!is_database_name(name) || !absl::LoadTimeZone(std::string(name), &zone))
    return unknown_zone(name);
  return std::make_unique<AbslZone>(std::string(name), zone);
}

}  // namespace notify
