#include "support/stub_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace notify::test {
namespace {

std::string make_directory() {
  std::string pattern = std::filesystem::temp_directory_path() / "vendor-stub-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  return pattern;
}

// Its standard output becomes `out`, so that the first line can be waited for.
pid_t spawn(const std::vector<std::string>& words, int out) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  return pid;
}

std::string first_line(int fd) {
  std::string line;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

StubProcess::StubProcess(std::vector<std::string> options) : directory_(make_directory()) {
  const char* program = std::getenv("VENDOR_STUB");
  if (program == nullptr) throw std::runtime_error("VENDOR_STUB is not set: run the tests by ctest or make test");
  std::vector<std::string> words{program, "--parent-death", "--log", directory_ + "/log"};
  words.insert(words.end(), options.begin(), options.end());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = spawn(words, ends[1]);
  ::close(ends[1]);
  const std::string line = first_line(ends[0]);  // "listening PORT"
  ::close(ends[0]);
  if (!line.starts_with("listening ")) throw std::runtime_error("vendor_stub did not come up: " + line);
  port_ = std::stoi(line.substr(10));
}

StubProcess::~StubProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove_all(directory_);
}

std::string StubProcess::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + path;
}

std::vector<nlohmann::json> StubProcess::log() const {
  std::vector<nlohmann::json> requests;
  std::ifstream file(directory_ + "/log");
  for (std::string line; std::getline(file, line);) requests.push_back(nlohmann::json::parse(line));
  return requests;
}

}  // namespace notify::test
