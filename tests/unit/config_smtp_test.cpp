#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config_smtp.hpp"
#include "sys/config_file.hpp"

namespace notify {
namespace {

using testing::HasSubstr;

std::string with(const std::string& lines, const std::string& before = {}) {
  return before + "environment = \"x\"\n[channels.mail]\ndriver = \"smtp\"\nhost = \"mail.shop.test\"\n" +
         "from = \"Shop <shop@shop.test>\"\n" + lines;
}

Result<Config> parse(const std::string& text) { return parse_config(text, "/etc/notifyctl/config.toml", true); }

SmtpDriverConfig driver_of(const std::string& lines) {
  const Result<Config> config = parse(with(lines));
  EXPECT_TRUE(config) << config.error().message;
  return config ? std::get<SmtpDriverConfig>(config->channels.at(0).driver) : SmtpDriverConfig{};
}

TEST(ConfigSmtp, TheDefaultsAreSafe) {
  const Config config = parse(with("")).value();
  const ChannelConfig& channel = config.channels.at(0);
  const auto& driver = std::get<SmtpDriverConfig>(channel.driver);
  EXPECT_EQ(driver.tls, MailTls::kStartTls);
  EXPECT_EQ(driver.port, 587);
  EXPECT_EQ(channel.timeout, 50s);
  EXPECT_EQ(channel.connect_timeout, 5s);
  EXPECT_EQ(channel.concurrency, 4);
  EXPECT_EQ(driver.max_message_bytes, 10U * 1024 * 1024);
}

TEST(ConfigSmtp, TheTimeOutFitsIntoTheLimitsAround) {
  const std::string lines = "[work]\nshutdown_grace = \"30s\"\n";
  EXPECT_EQ(parse(with(lines)).value().channels.at(0).timeout, 25s);
  EXPECT_THAT(parse(with("timeout = \"60s\"\n")).error().message, HasSubstr("work.shutdown_grace"));
}

TEST(ConfigSmtp, EachWayOfTlsHasItsPort) {
  EXPECT_EQ(driver_of("tls = \"implicit\"\n").port, 465);
  EXPECT_EQ(driver_of("tls = \"implicit\"\nport = 2465\n").port, 2465);
  EXPECT_EQ(driver_of("tls = \"none\"\nallow_cleartext = true\n").port, 25);
}

TEST(ConfigSmtp, EverythingIsRead) {
  const SmtpDriverConfig driver = driver_of(R"(
username = "shop"
password = { file = "mail.secret" }
auth = "login"
reply_to = "help@shop.test"
return_path = "bounce+{id}@shop.test"
message_id_domain = "ids.shop.test"
helo = "client.shop.test"
headers = { X-Tenant = "shop" }
list_unsubscribe = "https://shop.test/u?t={data.token}"
max_message_bytes = 2000000
)");
  EXPECT_EQ(driver.username, "shop");
  EXPECT_EQ(driver.password.from, "/etc/notifyctl/mail.secret");
  EXPECT_EQ(driver.auth, "login");
  EXPECT_EQ(driver.reply_to, "help@shop.test");
  EXPECT_EQ(driver.return_path, "bounce+{id}@shop.test");
  EXPECT_EQ(driver.message_id_domain, "ids.shop.test");
  EXPECT_EQ(driver.helo, "client.shop.test");
  EXPECT_THAT(driver.headers, testing::ElementsAre(testing::Pair("X-Tenant", "shop")));
  EXPECT_EQ(driver.list_unsubscribe, "https://shop.test/u?t={data.token}");
  EXPECT_EQ(driver.max_message_bytes, 2'000'000U);
}

TEST(ConfigSmtp, WhatIsWrongIsNamed) {
  struct Case {
    const char* lines;
    const char* says;
  };
  for (const Case& row : {
           Case{"tls = \"none\"\n", "channels.mail.tls: \"none\" would send messages and passwords in the clear"},
           Case{"tls = \"try\"\n", "channels.mail.tls"},
           Case{"port = 0\n", "channels.mail.port"},
           Case{"username = \"a\"\n", "needs a password or a token"},
           Case{"password = { env = \"P\" }\n", "channels.mail.username: is missing"},
           Case{"username = \"a\"\npassword = { env = \"P\" }\ntoken = { env = \"T\" }\n", "give one of them"},
           Case{"username = \"a\"\npassword = { env = \"P\" }\nauth = \"xoauth2\"\n", "needs a token"},
           Case{"username = \"a\"\ntoken = { env = \"T\" }\nauth = \"plain\"\n", "needs a password"},
           Case{"reply_to = \"nobody\"\n", "channels.mail.reply_to"},
           Case{"helo = \"a b\"\n", "channels.mail.helo"},
           Case{"message_id_domain = \"예.test\"\n", "channels.mail.message_id_domain"},
           Case{"headers = { X-A = 1 }\n", "channels.mail.headers.X-A: must be a string"},
           Case{"semantics = \"at-least-once\"\n", "channels.mail.semantics"},
           Case{"url = \"https://x.test/\"\n", "channels.mail.url: is a key of the driver \"webhook\""},
       }) {
    const Result<Config> config = parse(with(row.lines));
    ASSERT_FALSE(config) << row.lines;
    EXPECT_THAT(config.error().message + config.error().hint, HasSubstr(row.says)) << row.lines;
  }
  EXPECT_FALSE(parse("environment = \"x\"\n[channels.mail]\ndriver = \"smtp\"\nhost = \"mail.shop.test\"\n"));
  EXPECT_FALSE(parse("environment = \"x\"\n[channels.mail]\ndriver = \"smtp\"\nfrom = \"a@b.test\"\n"));
  EXPECT_FALSE(parse(
      "environment = \"x\"\n[channels.mail]\ndriver = \"smtp\"\nhost = \"smtp://m.test\"\nfrom = \"a@b.test\"\n"));
}

TEST(ConfigSmtp, OnlyThisMachineItselfMayBeSpokenToInTheClear) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.8.8", "::1"}) EXPECT_TRUE(is_loopback_name(host)) << host;
  for (const char* host : {"127.0.0.1.evil.test", "127.example.test", "10.0.0.1", "localhost.evil.test", ""})
    EXPECT_FALSE(is_loopback_name(host)) << host;
}

}  // namespace
}  // namespace notify
