// Runs whole processes, one command after the other in turn (A B A B …), and measures each from its start to
// its end. Small itself, because a child's peak of resident memory begins with its parent's.
//
//   time_processes COUNT [PAUSE_US] -- A… [-- B…]
//
// %n in an argument becomes the number of the round. stdout of the children goes to /dev/null; stderr is
// ours. Prints an array with one object a command: {"us":[…],"exits":{"0":N},"rss_kb":N,"cpu_us":N}.

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "bench_support.hpp"

extern char** environ;

namespace {

struct Command {
  std::vector<std::string> words{};
  std::vector<double> us{};
  std::map<int, int> exits{};
  long rss_kb = 0;
  std::int64_t cpu_us = 0;
};

std::string with_number(std::string word, int number) {
  for (std::size_t at = word.find("%n"); at != std::string::npos; at = word.find("%n", at))
    word.replace(at, 2, std::to_string(number));
  return word;
}

std::int64_t micros(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

void run_once(Command& command, int number, const posix_spawn_file_actions_t& actions) {
  std::vector<std::string> words;
  std::vector<char*> argv;
  for (const std::string& word : command.words) words.push_back(with_number(word, number));
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  pid_t pid = 0;
  int status = 0;
  rusage usage{};
  const double start = bench::seconds();
  if (posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) bench::die("cannot run " + words[0]);
  if (wait4(pid, &status, 0, &usage) != pid) bench::die("wait4 failed");
  command.us.push_back((bench::seconds() - start) * 1e6);
  ++command.exits[WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)];
  command.rss_kb = std::max(command.rss_kb, usage.ru_maxrss);
  command.cpu_us += micros(usage.ru_utime) + micros(usage.ru_stime);
}

void print(const Command& command) {
  std::printf("{\"us\":[");
  for (std::size_t i = 0; i < command.us.size(); ++i) std::printf("%s%.0f", i == 0 ? "" : ",", command.us[i]);
  std::printf("],\"exits\":{");
  const char* comma = "";
  for (const auto& [code, count] : command.exits) {
    std::printf("%s\"%d\":%d", comma, code, count);
    comma = ",";
  }
  std::printf("},\"rss_kb\":%ld,\"cpu_us\":%lld}", command.rss_kb, static_cast<long long>(command.cpu_us));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> numbers;
  std::vector<Command> commands;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      commands.emplace_back();
    } else if (commands.empty()) {
      numbers.push_back(std::atoi(argv[i]));
    } else {
      commands.back().words.push_back(word);
    }
  }
  if (numbers.empty() || commands.empty() || commands.back().words.empty())
    bench::die("time_processes COUNT [PAUSE_US] -- A... [-- B...]");

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (int round = 1; round <= numbers[0]; ++round) {
    for (Command& command : commands) run_once(command, round, actions);
    if (numbers.size() > 1) usleep(static_cast<useconds_t>(numbers[1]));
  }
  std::printf("[");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) std::printf(",\n");
    print(commands[i]);
  }
  std::printf("]\n");
}
