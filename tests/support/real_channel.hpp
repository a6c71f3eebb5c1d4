#pragma once

// Drivers over the real adapters: epoll, libcurl, child processes.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "channel/registry.hpp"
#include "core/outcome.hpp"
#include "support/fakes.hpp"
#include "sys/curl_http.hpp"
#include "sys/curl_mail.hpp"
#include "sys/epoll_loop.hpp"
#include "sys/process_runner.hpp"
#include "sys/system_clock.hpp"

namespace notify::test {

class RealChannels {
 public:
  // `ca_file`: whom https trusts; empty: nobody.
  explicit RealChannels(std::string ca_file = {});

  std::unique_ptr<Channel> make(const ChannelConfig& config);
  // Hands all of them over in one round of the loop and waits for every outcome; in the order of the
  // messages.
  std::vector<Outcome> send(Channel& channel, const std::vector<Dispatch>& messages);
  Outcome send(Channel& channel, const Dispatch& message) { return send(channel, std::vector{message}).at(0); }

  EpollLoop& loop() { return loop_; }

  MailSettings mail_settings{};  // for the mail client, which the first mail channel makes

 private:
  SystemClock clock_{};
  EpollLoop loop_{};
  SystemProcessRunner processes_{loop_};
  FakeCredentials credentials_{};
  HttpSettings http_settings_{};
  std::unique_ptr<CurlHttp> http_{};
  std::unique_ptr<CurlMail> mail_{};
  ChannelPorts ports_;
};

}  // namespace notify::test
