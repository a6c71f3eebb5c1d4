#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/lane_book.hpp"
#include "core/ports/channel.hpp"
#include "store/credential.hpp"
#include "sys/curl_http.hpp"
#include "sys/curl_mail.hpp"
#include "sys/process_runner.hpp"

namespace notify {

class Engine;
struct ChannelPorts;

// Whether a channel can need CA certificates: TLS to a mail server, an https URL, or URLs that only the recipients know.
// Its secrets have been loaded.
bool needs_certificates(const ChannelConfig& channel);

// The drivers of the served channels over the engine's loop, with the HTTP client, the mail client and the process
// runner that they share.
class Drivers {
 public:
  // Reads the channels' secrets. A channel whose secret cannot be read, or whose driver cannot be made, becomes a lane
  // without a driver, and says why (kConfig, kPermission); the others do not suffer. The engine outlives the drivers.
  Drivers(Engine& engine, std::vector<ChannelConfig> channels, int concurrency);
  ~Drivers();

  const std::vector<WorkLane>& lanes() const noexcept { return lanes_; }
  // Tries lanes without a driver again: somebody may have mended a secret. Returns the indices of those that have one now;
  // the loop's thread, as all calls to drivers.
  std::vector<std::size_t> try_closed();

 private:
  ChannelPorts ports();
  bool open(WorkLane& lane, ChannelConfig& channel);
  Result<std::unique_ptr<Channel>> driver(ChannelConfig& channel);
  Result<HttpClient*> http();
  Result<MailClient*> mail();

  Engine& engine_;
  int concurrency_;
  std::vector<ChannelConfig> channels_;
  SystemProcessRunner processes_;
  SharedCredentials credentials_;
  std::unique_ptr<CurlHttp> http_{};
  std::unique_ptr<CurlMail> mail_{};
  std::vector<std::unique_ptr<Channel>> drivers_{};
  std::vector<WorkLane> lanes_{};
};

}  // namespace notify
