#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/lane_book.hpp"
#include "core/ports/channel.hpp"
#include "sys/curl_http.hpp"
#include "sys/process_runner.hpp"

namespace notify {

class Engine;

// The drivers of the served channels over the engine's loop, with the HTTP client and the process runner that they
// share.
class Drivers {
 public:
  // Reads the channels' secrets. Errors (kConfig, kPermission) name the channel. The engine outlives the drivers.
  static Result<std::unique_ptr<Drivers>> make(Engine& engine, std::vector<ChannelConfig> channels, int concurrency);
  ~Drivers();

  const std::vector<WorkLane>& lanes() const noexcept { return lanes_; }

 private:
  Drivers(Engine& engine, std::vector<ChannelConfig> channels);
  Result<HttpClient*> http(Engine& engine, int concurrency);

  std::vector<ChannelConfig> channels_;
  SystemProcessRunner processes_;
  std::unique_ptr<CurlHttp> http_{};
  std::vector<std::unique_ptr<Channel>> drivers_{};
  std::vector<WorkLane> lanes_{};
};

}  // namespace notify
