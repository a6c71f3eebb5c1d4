// The webhook driver over libcurl, against vendors that misbehave.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/signature.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"
#include "support/real_channel.hpp"
#include "support/stub_process.hpp"

namespace notify {
namespace {

using nlohmann::json;
using test::make_config;
using test::make_dispatch;
using test::plain_secret;
using test::RealChannels;
using test::secret_from_file;
using test::StubProcess;
using testing::HasSubstr;
using testing::Not;

WebhookDriverConfig to(std::string url) {
  WebhookDriverConfig driver;
  driver.url = plain_secret(std::move(url));
  return driver;
}

Dispatch numbered(int n) { return make_dispatch("shop-0123abcd-" + std::to_string(n)); }

class ChannelWebhookLive : public testing::Test {
 protected:
  std::unique_ptr<Channel> make(WebhookDriverConfig driver, Duration timeout = 10s) {
    ChannelConfig config = make_config(std::move(driver));
    config.timeout = timeout;
    config.connect_timeout = timeout / 2;
    return channels.make(config);
  }

  RealChannels channels{};
};

TEST_F(ChannelWebhookLive, F58_TheSignatureHoldsForTheBytesOnTheWire) {
  StubProcess stub({"--all-headers"});
  const std::string key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  WebhookDriverConfig driver = to(stub.url());
  driver.secrets = {secret_from_file(key + "\n"), secret_from_file("the old one")};
  const auto channel = make(driver);
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = "가 \"q\" \\/";
  dispatch.content.data = R"({"a":1e3,"b":1.0,"c":"\/"})";
  ASSERT_EQ(channels.send(*channel, dispatch).cls, OutcomeClass::kSent);

  const json request = stub.log().at(0);
  const json& headers = request.at("headers");
  const std::vector<SigningKey> keys{signing_key(key).value(), SigningKey("the old one")};
  EXPECT_EQ(headers.at("webhook-signature"),
            webhook_signature(keys, headers.at("webhook-id").get<std::string>(),
                              std::stoll(headers.at("webhook-timestamp").get<std::string>()),
                              request.at("body").get<std::string>()));
  EXPECT_EQ(headers.at("idempotency-key"), "shop-0123abcd-7");
}

TEST_F(ChannelWebhookLive, F46_OnlyTheHeadersThatWereMeantArrive) {
  StubProcess stub({"--all-headers"});
  WebhookDriverConfig driver = to(stub.url());
  driver.headers = {{"X-Source", plain_secret("shop; a=\"b\", c")}};
  const auto channel = make(driver);
  Dispatch dispatch = make_dispatch();
  dispatch.envelope.correlation = "req 1: \"x\"";
  ASSERT_EQ(channels.send(*channel, dispatch).cls, OutcomeClass::kSent);
  std::map<std::string, std::string> headers;
  const json request = stub.log().at(0);
  for (const json& pair : request.at("all_headers")) headers[pair[0]] = pair[1];
  EXPECT_EQ(headers["X-Source"], "shop; a=\"b\", c");
  EXPECT_EQ(headers["X-Correlation-Id"], "req 1: \"x\"");
  for (const auto& [name, value] : headers)
    EXPECT_THAT(
        (std::vector<std::string>{"Host", "Accept", "User-Agent", "Content-Type", "Content-Length", "Idempotency-Key",
                                  "webhook-id", "webhook-timestamp", "X-Source", "X-Correlation-Id"}),
        testing::Contains(name));
}

TEST_F(ChannelWebhookLive, F02_AConnectionThatDiesUnderARequestIsUnknownAndAskedOnce) {
  for (const char* mode : {"rst2", "close2"}) {
    StubProcess stub;
    const auto channel = make(to(stub.url(mode)));
    EXPECT_EQ(channels.send(*channel, numbered(1)).cls, OutcomeClass::kSent);
    const Outcome second = channels.send(*channel, numbered(2));
    EXPECT_EQ(second.cls, OutcomeClass::kUnknown) << mode << " " << second.reason;
    int asked = 0;
    for (const json& request : stub.log()) asked += request.at("id") == "shop-0123abcd-2";
    EXPECT_EQ(asked, 1) << mode;
  }
}

TEST_F(ChannelWebhookLive, F03_NoAnswerAfterTheRequestLeftIsUnknown) {
  for (const char* mode : {"hang", "rst", "close", "half-status", "not-http"}) {
    StubProcess stub;
    const auto channel = make(to(stub.url(mode)), 700ms);
    const Outcome outcome = channels.send(*channel, make_dispatch());
    EXPECT_EQ(outcome.cls, OutcomeClass::kUnknown) << mode << " " << outcome.reason;
    EXPECT_FALSE(outcome.halt_channel) << mode;
    EXPECT_EQ(stub.log().size(), 1U) << mode;
  }
}

TEST_F(ChannelWebhookLive, F59_BytesOfTheVendorNeverBreakAnything) {
  StubProcess stub;
  for (const char* answer : {"code:500?sample=euc-kr", "code:400?sample=bad-utf8", "code:500?sample=cut-utf8",
                             "code:599?reason=caf%e9", "code:400?sample=html", "cut-body:500", "endless:3000000"}) {
    const auto channel = make(to(stub.url(answer)));
    const Outcome outcome = channels.send(*channel, make_dispatch());
    EXPECT_TRUE(valid_utf8(outcome.detail)) << answer;
    EXPECT_LE(outcome.detail.size(), limits::kDetail) << answer;
    EXPECT_EQ(json::parse(json(outcome.detail).dump()), outcome.detail) << answer;
    EXPECT_NE(outcome.reason, "") << answer;
  }
}

TEST_F(ChannelWebhookLive, F57_NoOutcomeHoldsTheSecretsOfTheUrlAndTheHeaders) {
  StubProcess stub;
  const std::vector<std::string> targets{
      stub.url("code:400/T/SECRETPART?body=%25{to}+SECRETPART+tok_SECRET"),
      stub.url("redirect:302/SECRETPART?location=http://x.test/SECRETPART"),
      stub.url("hang/SECRETPART"),
      "http://127.0.0.1:1/T/SECRETPART",
      "http://no-such-host.invalid/T/SECRETPART",
      "https://127.0.0.1:" + std::to_string(stub.port()) + "/T/SECRETPART",
  };
  for (const std::string& target : targets) {
    WebhookDriverConfig driver = to(target);
    driver.headers = {{"Authorization", secret_from_file("Bearer tok_SECRET")}};
    const auto channel = make(driver, 1s);
    const Outcome outcome = channels.send(*channel, make_dispatch());
    EXPECT_NE(outcome.cls, OutcomeClass::kSent) << target;
    EXPECT_THAT(outcome.reason + outcome.detail + outcome.reference + outcome.phase, Not(HasSubstr("SECRET")));
    EXPECT_THAT(outcome.detail, Not(HasSubstr("821000000042")));
  }
}

// --- F33: URLs that come with the data may not lead inwards

// Listens on every local address, IPv4 and IPv6, and counts who connects.
class Listener {
 public:
  Listener() {
    const int off = 0;
    ::setsockopt(fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin6_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int connections() {
    int count = 0;
    for (int fd = 0; (fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0; ++count) ::close(fd);
    return count;
  }

  int port = 0;

 private:
  int fd_ = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
};

TEST_F(ChannelWebhookLive, F33_AddressesOfOurOwnNetworkGetNoPacket) {
  Listener listener;
  const auto guarded = make({}, 2s);
  for (const std::string host : {"127.0.0.1",
                                 "127.1",
                                 "127.0.1",
                                 "2130706433",
                                 "0x7f000001",
                                 "0x7f.1",
                                 "0177.0.0.1",
                                 "0.0.0.0",
                                 "0",
                                 "localhost",
                                 "LOCALHOST",

                                 "[::1]",
                                 "[::]",
                                 "[::ffff:127.0.0.1]",
                                 "[::ffff:7f00:1]",
                                 "[0:0:0:0:0:0:0:1]",
                                 "[64:ff9b::a9fe:a9fe]",
                                 "[64:ff9b::7f00:1]",
                                 "[2002:7f00:1::]",
                                 "[fe80::1]",
                                 "[fd00::1]",
                                 "169.254.169.254",
                                 "10.0.0.1",
                                 "172.16.0.1",
                                 "192.168.0.1",
                                 "100.64.0.1"}) {
    const Dispatch dispatch =
        make_dispatch("shop-0123abcd-7", "http://" + host + ":" + std::to_string(listener.port) + "/latest/meta-data");
    ASSERT_TRUE(guarded->check(dispatch).has_value()) << host;
    const Outcome outcome = channels.send(*guarded, dispatch);
    EXPECT_EQ(outcome.reason, "address-blocked") << host << ": " << outcome.detail;
    EXPECT_NE(outcome.detail.find("allow_private"), std::string::npos) << outcome.detail;
    EXPECT_EQ(outcome.bytes_sent, 0) << host;
    EXPECT_FALSE(outcome.halt_channel) << host << ": one recipient's URL must not stop the others";
    EXPECT_EQ(listener.connections(), 0) << host;
  }
}

TEST_F(ChannelWebhookLive, F33_TheListenerWouldHaveNoticed) {
  Listener listener;
  WebhookDriverConfig driver;
  driver.allow_private = true;
  const auto unguarded = make(driver, 300ms);
  for (const std::string host : {"127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]"}) {
    channels.send(*unguarded,
                  make_dispatch("shop-0123abcd-7", "http://" + host + ":" + std::to_string(listener.port) + "/"));
    EXPECT_GE(listener.connections(), 1) << host;
  }
}

TEST_F(ChannelWebhookLive, F33_RedirectsAreNotFollowed) {
  Listener listener;
  StubProcess stub;
  const std::string inwards = "http://127.0.0.1:" + std::to_string(listener.port) + "/";
  for (const char* status : {"301", "302", "303", "307", "308"}) {
    const auto channel = make(to(stub.url("redirect:" + std::string(status) + "?location=" + inwards)));
    const Outcome outcome = channels.send(*channel, make_dispatch());
    EXPECT_EQ(outcome.cls, OutcomeClass::kPermanent) << status;
    EXPECT_TRUE(outcome.halt_channel) << status;
    EXPECT_EQ(listener.connections(), 0) << status;
  }
  EXPECT_EQ(stub.log().size(), 5U);
}

}  // namespace
}  // namespace notify
