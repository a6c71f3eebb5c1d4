// Any text is a configuration, or an error that names its place; and what is accepted keeps the bounds that the rest of
// the program relies on.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "sys/config_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace notify;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Error> problems;
  const auto config = parse_config(text, "fuzz.toml", true, &problems);
  ASSERT(config.has_value() == problems.empty());
  for (const Error& problem : problems) {
    ASSERT(problem.message.starts_with("fuzz.toml"));
    ASSERT(problem.message.find('\n') == std::string::npos);
  }
  if (!config) return 0;
  for (const ChannelConfig& channel : config->channels) {
    ASSERT(!channel.name.empty() && channel.concurrency > 0);
    ASSERT(channel.timeout > 0ms && channel.stale_after > config->queue.lease);
  }
  return 0;
}
