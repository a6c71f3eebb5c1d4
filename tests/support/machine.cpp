#include "support/machine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace notify::test {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const char* program(const char* variable) {
  const char* path = getenv(variable);  // NOLINT(concurrency-mt-unsafe): tests set nothing
  if (path == nullptr) throw std::runtime_error(std::string(variable) + " does not name the program under test");
  return path;
}

// Our own environment without NOTIFYCTL_*, which a developer may have set, and with the given variables.
std::vector<std::string> environment(const Variables& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).substr(0, 10) != "NOTIFYCTL_") entries.emplace_back(*entry);
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

// --- Running ------------------------------------------------------------------------------------------------

Running::Running(Running&& other) noexcept
    : pid_(other.pid_), out_(std::move(other.out_)), err_(std::move(other.err_)), result_(std::move(other.result_)) {
  other.pid_ = -1;
}

Running::~Running() {
  if (pid_ > 0 && !result_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void Running::signal(int number) const { kill(pid_, number); }

bool Running::ended() {
  if (result_) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) result_ = collect(status);
  return result_.has_value();
}

Ran Running::wait() {
  if (!result_) {
    int status = 0;
    waitpid(pid_, &status, 0);
    result_ = collect(status);
  }
  return *result_;
}

Ran Running::collect(int wait_status) {
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  return {status, slurp(out_), slurp(err_)};
}

// --- Machine ------------------------------------------------------------------------------------------------

Machine::Machine() {
  directory_ = (std::filesystem::temp_directory_path() / "notifyctl-e2e-XXXXXX").string();
  if (mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("mkdtemp");
  configure("");
}

Machine::~Machine() { std::filesystem::remove_all(directory_); }

void Machine::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Machine::read(const std::string& name) const { return slurp(path(name)); }

void Machine::configure(const std::string& toml) const {
  write("config.toml", "environment = \"production\"\n" + toml);
  chmod(path("config.toml").c_str(), 0600);
}

void Machine::configure_webhook(const std::string& url, const std::string& more) const {
  configure("[channels.hook]\ndriver = \"webhook\"\nurl = \"" + url + "\"\n" + more);
}

Running Machine::launch(const char* program_variable, const Words& words, const std::string& input,
                        const Variables& variables) const {
  static int serial = 0;
  const std::string base = path("run" + std::to_string(++serial));
  std::ofstream(base + ".in", std::ios::binary) << input;

  std::vector<std::string> arguments{program(program_variable)};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Variables all = variables;
  all.emplace("NOTIFYCTL_CONFIG", path("config.toml"));
  all.emplace("NOTIFYCTL_DB", database());
  std::vector<std::string> entries = environment(all);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, (base + ".in").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (base + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, (base + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = -1;
  const int failed =
      posix_spawn(&pid, arguments[0].c_str(), &files, nullptr, pointers(arguments).data(), pointers(entries).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start " + arguments[0]);
  return {pid, base + ".out", base + ".err"};
}

Ran Machine::run(const Words& words, const std::string& input, const Variables& variables) const {
  return launch("NOTIFYCTL", words, input, variables).wait();
}

Running Machine::start(const Words& words, const std::string& input, const Variables& variables) const {
  return launch("NOTIFYCTL", words, input, variables);
}

Ran Machine::crash(const std::string& point, const Words& words, const std::string& input) const {
  return launch("NOTIFYCTL_CRASH", words, input, {{"NOTIFYCTL_CRASH_AT", point}}).wait();
}

std::string Machine::enqueue(const std::string& key, const Words& more) const {
  Words words{"enqueue", "--channel", "hook", "--key", key};
  const auto by_default = [&](const char* option, const char* value) {
    if (std::find(more.begin(), more.end(), option) == more.end()) words.insert(words.end(), {option, value});
  };
  by_default("--to", "+821000000000");
  by_default("--body", "hello");
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out.substr(0, ran.out.find('\n'));
}

void Machine::ok(const Words& words) const {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << words.front() << ": " << ran.err;
}

nlohmann::json Machine::status() const {
  const Ran ran = run({"status", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

std::string Machine::inbox(const std::string& id) const {
  const Ran ran = run({"show", id, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const nlohmann::json story = nlohmann::json::parse(ran.out, nullptr, false);
  const auto row = story.find("inbox");
  return row == story.end() || row->is_null() ? std::string() : row->at("status").get<std::string>();
}

void Machine::check_accounts() const {
  const nlohmann::json report = status();
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report.at("unaccounted"), 0) << report.dump(1);
  std::int64_t sum = 0;
  for (const auto& [state, count] : report.at("outbox").items()) sum += count.get<std::int64_t>();
  EXPECT_EQ(report.at("identity").at("enqueued"), sum) << report.dump(1);
}

bool eventually(const std::function<bool()>& condition, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

}  // namespace notify::test
