#include "support/real_channel.hpp"

#include <stdexcept>

#include "sys/signals.hpp"

namespace notify::test {
namespace {

// Longer than any time limit in these tests: running into it is a call that never came back.
constexpr Duration kLost = 3min;

}  // namespace

RealChannels::RealChannels(std::string ca_file)
    : ports_{loop_,
             processes_,
             clock_,
             credentials_,
             [this]() -> Result<HttpClient*> {
               if (http_ == nullptr) {
                 TRY_ASSIGN(http_, CurlHttp::create(loop_, http_settings_));
               }
               return http_.get();
             },
             "notifyctl",
             [this]() -> Result<MailClient*> {
               if (mail_ == nullptr) {
                 TRY_ASSIGN(mail_, CurlMail::create(loop_, mail_settings));
               }
               return mail_.get();
             }} {
  http_settings_.ca_file = std::move(ca_file);
  prepare_process();
}

std::unique_ptr<Channel> RealChannels::make(const ChannelConfig& config) {
  Result<std::unique_ptr<Channel>> channel = make_channel(config, ports_);
  if (!channel) throw std::runtime_error(channel.error().message);
  return std::move(*channel);
}

std::vector<Outcome> RealChannels::send(Channel& channel, const std::vector<Dispatch>& messages) {
  std::vector<Outcome> outcomes(messages.size());
  std::vector<int> calls(messages.size(), 0);
  std::size_t back = 0;
  bool inside_send = false;
  bool early = false;
  loop_.post([&] {
    inside_send = true;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      channel.send(messages[i], [&, i](Outcome outcome) {
        early = early || inside_send;
        outcomes[i] = std::move(outcome);
        if (++calls[i] == 1 && ++back == messages.size()) loop_.after(50ms, [&] { loop_.stop(); });
      });
    }
    inside_send = false;
  });
  bool lost = false;
  const Loop::Timer guard = loop_.after(kLost, [&] {
    lost = true;
    loop_.stop();
  });
  loop_.run();
  loop_.cancel(guard);
  if (lost) throw std::runtime_error("a call never came back");
  if (early) throw std::runtime_error("done was called from inside send()");
  for (const int n : calls)
    if (n != 1) throw std::runtime_error("done was called " + std::to_string(n) + " times");
  return outcomes;
}

}  // namespace notify::test
