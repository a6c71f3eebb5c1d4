#pragma once

#include <string>
#include <utility>
#include <vector>

namespace notify {

// A value that must never be shown: password, token, signing key, a URL that is one. It has no stream
// operator and no conversion; only reveal() gives the text, so that every place that uses it can be found by
// that name.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  const std::string& reveal() const noexcept { return value_; }
  bool empty() const noexcept { return value_.empty(); }

  // What may be printed in its place.
  static const char* masked() noexcept { return "***"; }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string value_{};
};

inline std::string to_string(const Secret&) { return Secret::masked(); }

// Where the configuration takes a secret from. Loading the configuration does not read it (a user who may
// enqueue need not be one who may read the vendors' passwords); sys/secrets.hpp does, for the commands that
// send, and fills `value`.
struct SecretSetting {
  enum class Source { kNone, kPlain, kFile, kEnvironment, kCommand };
  Source source = Source::kNone;
  std::string from{};                  // path of the file, or name of the variable
  Secret value{};                      // kPlain: at once; else after load_secrets()
  std::vector<std::string> command{};  // argv of the program that prints it

  bool is_set() const noexcept { return source != Source::kNone; }
};

}  // namespace notify
