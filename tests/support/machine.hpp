#pragma once

// A directory with a configuration, a database and the program itself, run as its users run it.

#include <sys/types.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace notify::test {

inline constexpr int kCrashed = 137;  // how a program ends at a crash point: as if killed

struct Ran {
  int status = -1;  // exit status; 128 + N when ended by signal N
  std::string out{};
  std::string err{};
};

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// A program running in the background. Killed when this object goes.
class Running {
 public:
  Running(pid_t pid, std::string out, std::string err) : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool ended();  // without waiting
  Ran wait();

 private:
  Ran collect(int wait_status);
  pid_t pid_;
  std::string out_;
  std::string err_;
  std::optional<Ran> result_{};
};

class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string database() const { return path("notify.db"); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

  // config.toml: environment = "production", and the text after it.
  void configure(const std::string& toml) const;
  // [channels.hook], a webhook to this URL, with further lines.
  void configure_webhook(const std::string& url, const std::string& more = {}) const;

  // Runs the program of the environment variable NOTIFYCTL with --config and --db of this machine.
  Ran run(const Words& words, const std::string& input = {}, const Variables& variables = {}) const;
  Running start(const Words& words, const std::string& input = {}, const Variables& variables = {}) const;
  // The same with the test build (NOTIFYCTL_CRASH), which dies at the crash point ("name" or "name:N").
  Ran crash(const std::string& point, const Words& words, const std::string& input = {}) const;

  // Shorthands that fail the test when the command does.
  std::string enqueue(const std::string& key, const Words& more = {}) const;  // the message id
  void ok(const Words& words) const;
  nlohmann::json status() const;
  std::string inbox(const std::string& id) const;  // "SENT" …, or "" without a row
  // Enqueued = sum of the states, nothing unaccounted. Fails the test otherwise.
  void check_accounts() const;

 private:
  Running launch(const char* program_variable, const Words& words, const std::string& input,
                 const Variables& variables) const;

  std::string directory_{};
};

// Waits until the condition holds; false after `seconds` (generous: only a failing test waits that long).
bool eventually(const std::function<bool()>& condition, int seconds = 60);

}  // namespace notify::test
