#pragma once

// Typed access to the tables of a TOML file, for config_file.cpp and its parts only. A wrong value becomes a
// problem with its place and leaves the default standing, so that one run reports everything that is wrong.

#include <climits>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "sys/toml.hpp"

namespace notify::config_file {

struct Source {
  std::string path{};       // of the file
  std::string directory{};  // that relative paths count from
  bool is_private = false;
  std::string manual = "notifyctl.toml(5)";  // that describes the keys
  std::vector<Error> problems{};

  void problem(const toml::node& where, std::string_view key, std::string_view reason, std::string hint = {});
};

inline constexpr Duration kShortest = 1ms;
inline constexpr Duration kLongest = 24h * 3650;

class Section {
 public:
  // name: as written ("channels.sms"). pattern: as in config_keys() ("channels.*").
  Section(Source& source, const toml::table& table, std::string name, std::string pattern)
      : source_(source), table_(table), name_(std::move(name)), pattern_(std::move(pattern)) {}

  // Refuses keys that are not in config_keys(), for channels also those of other drivers.
  void check_keys(std::string_view driver = {});
  // The same for small tables that have no entry of their own there.
  void check_keys(const std::vector<std::string_view>& known);
  void check_keys(std::initializer_list<std::string_view> known) { check_keys(std::vector<std::string_view>(known)); }

  const toml::node* find(std::string_view key) const { return table_.get(key); }
  const toml::table* table(std::string_view key);  // nullptr: absent, or not a table (a problem)
  const toml::array* array(std::string_view key);
  const toml::node& node() const noexcept { return table_; }
  std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : name_ + "." + std::string(key);
  }
  Source& source() noexcept { return source_; }

  // Each leaves the target alone when the key is absent or wrong, and tells whether it was set.
  bool text(std::string_view key, std::string& target);
  bool texts(std::string_view key, std::vector<std::string>& target);
  bool path(std::string_view key, std::string& target);
  bool boolean(std::string_view key, bool& target);
  bool integer(std::string_view key, int& target, int low, int high);
  bool duration(std::string_view key, Duration& target, Duration low = kShortest, Duration high = kLongest);
  bool durations(std::string_view key, std::vector<Duration>& target);
  bool secret(std::string_view key, SecretSetting& target, bool plain_must_be_private);

  // One of a few words: the index of the one that is written.
  std::optional<std::size_t> choice(std::string_view key, std::initializer_list<std::string_view> words);

  void require(std::string_view key);  // a problem when it is absent
  // A problem unless `value`, of this key, is shorter than `limit`, that of another.
  void must_be_shorter(std::string_view key, Duration value, std::string_view other, Duration limit);
  void problem(std::string_view key, std::string_view reason, std::string hint = {});

 private:
  void unknown(const toml::key& key, const std::vector<std::string_view>& known, std::string_view driver);

  Source& source_;
  const toml::table& table_;
  std::string name_;
  std::string pattern_;
};

// A secret from a string, { file = … }, { env = … } or { command = [ … ] }; a problem and false otherwise.
bool read_secret(Source& source, const toml::node& node, const std::string& key, SecretSetting& target,
                 bool plain_must_be_private);

// config_vendor.cpp: the keys of one driver each.
ApnsDriverConfig read_apns(Section& section);
FcmDriverConfig read_fcm(Section& section);
WebPushDriverConfig read_webpush(Section& section);
SesDriverConfig read_ses(Section& section);
// config_smtp.cpp: the keys of driver "smtp".
SmtpDriverConfig read_smtp(Section& channel);

// config_channel.cpp: [channels.NAME].
void read_channel(Source& source, const toml::table& table, std::string_view name, Config& config);

}  // namespace notify::config_file
