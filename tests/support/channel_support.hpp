#pragma once

// What tests of drivers share: a message, channels, and the ports to make them with.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/registry.hpp"
#include "core/config.hpp"
#include "core/ports/channel.hpp"
#include "support/fakes.hpp"

namespace notify::test {

inline Dispatch make_dispatch(std::string message_id = "shop-0123abcd-7", std::string address = "+821000000042") {
  Dispatch dispatch;
  dispatch.envelope.message_id = std::move(message_id);
  dispatch.envelope.recipient = address;
  dispatch.envelope.channel = "lane";
  dispatch.envelope.kind = "order-paid";
  dispatch.envelope.category = kTransactional;
  dispatch.envelope.enqueued_at = kSomeTime;
  dispatch.content.subject = "Paid";
  dispatch.content.body = "Your order 42 is paid.";
  dispatch.content.data = R"({"order":42})";
  dispatch.address = std::move(address);
  return dispatch;
}

inline ChannelConfig make_config(DriverConfig driver) {
  ChannelConfig config;
  config.name = "lane";
  config.driver = std::move(driver);
  return config;
}

inline SecretSetting plain_secret(std::string value) {
  return {SecretSetting::Source::kPlain, {}, Secret(std::move(value))};
}
inline SecretSetting secret_from_file(std::string value) {
  return {SecretSetting::Source::kFile, "/etc/notifyctl/secret", Secret(std::move(value))};
}

// A channel over fakes.
struct Bench {
  FakeClock clock{};
  FakeLoop loop{clock};
  FakeHttp http{loop};
  FakeMail mail{loop};
  FakeProcess processes{loop};
  FakeCredentials credentials{};
  ChannelPorts ports{loop,
                     processes,
                     clock,
                     credentials,
                     [this]() -> Result<HttpClient*> { return &http; },
                     "notifyctl/9.9.9",
                     [this]() -> Result<MailClient*> { return &mail; },
                     {}};
  std::vector<Outcome> outcomes{};

  Channel::Done keep() {
    return [this](Outcome outcome) { outcomes.push_back(std::move(outcome)); };
  }
  // Sends one message, runs the loop, and gives back the outcome if there was exactly one.
  std::optional<Outcome> send(Channel& channel, Dispatch dispatch) {
    outcomes.clear();
    channel.send(std::move(dispatch), keep());
    loop.run();
    return outcomes.size() == 1 ? std::optional(outcomes.front()) : std::nullopt;
  }
};

}  // namespace notify::test
