// What holds for every driver. A new driver needs a Site here: something local that receives from it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "contract/channel_sites.hpp"
#include "core/crypto.hpp"
#include "support/channel_support.hpp"
#include "support/real_channel.hpp"
#include "support/stub_process.hpp"
#include "sys/recipe_file.hpp"

namespace notify {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Directory;
using test::make_config;
using test::make_dispatch;
using test::plain_secret;
using test::RealChannels;
using test::Site;
using test::StubProcess;
using testing::HasSubstr;
using testing::Not;

class FileSite final : public Site {
 public:
  DriverConfig accepting() override { return FileDriverConfig{directory_.path / "out"}; }
  DriverConfig unreachable() override { return FileDriverConfig{directory_.path / "missing" / "out"}; }
  std::vector<json> received() override {
    std::vector<json> documents;
    std::ifstream file(directory_.path / "out");
    for (std::string line; std::getline(file, line);) documents.push_back(json::parse(line));
    return documents;
  }

 private:
  Directory directory_{};
};

class ExecSite final : public Site {
 public:
  DriverConfig accepting() override {
    const std::string script = "cat > '" + directory_.path.string() + "'/\"$NOTIFYCTL_MESSAGE_ID.$$\"";
    return ExecDriverConfig{{"/bin/sh", "-c", script}};
  }
  DriverConfig unreachable() override { return ExecDriverConfig{{directory_.path / "missing"}}; }
  DriverConfig refusing() override {
    return ExecDriverConfig{{"/bin/sh", "-c", "read -r line; echo \"refused: $line\" >&2; exit 65"}};
  }
  std::vector<json> received() override {
    std::vector<json> documents;
    for (const auto& entry : fs::directory_iterator(directory_.path))
      documents.push_back(json::parse(std::ifstream(entry.path())));
    return documents;
  }

 private:
  Directory directory_{};
};

class WebhookSite final : public Site {
 public:
  DriverConfig accepting() override { return to(stub_.url("ok")); }
  DriverConfig unreachable() override { return to("http://127.0.0.1:1/"); }
  DriverConfig refusing() override { return to(stub_.url("code:400?body=refused:%20{to}")); }
  std::vector<json> received() override {
    std::vector<json> documents;
    for (const json& request : stub_.log()) documents.push_back(json::parse(request.at("body").get<std::string>()));
    return documents;
  }

 private:
  static DriverConfig to(std::string url) {
    WebhookDriverConfig driver;
    driver.url = plain_secret(std::move(url));
    return driver;
  }

  StubProcess stub_{};
};

// Reads back what the driver has made of a message: a text, nothing else.
class SmtpSite final : public Site {
 public:
  DriverConfig accepting() override { return to(stub_.port()); }
  DriverConfig unreachable() override { return to(1); }
  DriverConfig refusing() override {
    refuser_ = std::make_unique<StubProcess>(
        smtp("smtp-reply:rcpt text=\"550 5.7.1 <" + address() + "> refused: Your order 42 is paid.\""));
    return to(refuser_->port());
  }
  std::vector<json> received() override {
    std::vector<json> documents;
    for (const json& mail : stub_.log()) {
      const std::string id = mail.at("id");
      const std::string text = mail.at("body");
      documents.push_back({{"message_id", id.substr(1, id.find('@') - 1)},
                           {"to", mail.at("to")},
                           {"body", body_of(text.substr(text.find("\r\n\r\n") + 4))}});
    }
    return documents;
  }
  std::string address() const override { return "kim821000000042@example.com"; }
  bool carries_data() const override { return false; }

 private:
  static std::vector<std::string> smtp(const std::string& mode) { return {"--protocol", "smtp", "--mode", mode}; }
  static DriverConfig to(int port) {
    SmtpDriverConfig driver;
    driver.host = "127.0.0.1";
    driver.port = port;
    driver.tls = MailTls::kNone;
    driver.helo = "client.test";
    driver.from = "shop@shop.test";
    return driver;
  }
  // Without the line ends of base64, and with those of the text as they were.
  static std::string body_of(std::string lines) {
    std::erase_if(lines, [](char c) { return c == '\r' || c == '\n'; });
    std::string bytes;
    EXPECT_TRUE(from_base64(lines, bytes));
    std::erase(bytes, '\r');
    return bytes;
  }

  StubProcess stub_{smtp("smtp-log")};
  std::unique_ptr<StubProcess> refuser_{};
};

// A recipe that hands over what the other drivers hand over.
class HttpSite final : public Site {
 public:
  DriverConfig accepting() override { return to(stub_.url("ok")); }
  DriverConfig unreachable() override { return to("http://127.0.0.1:1/"); }
  DriverConfig refusing() override { return to(stub_.url("code:400?body=refused:%20{to}")); }
  std::vector<json> received() override {
    std::vector<json> documents;
    for (const json& request : stub_.log()) documents.push_back(json::parse(request.at("body").get<std::string>()));
    return documents;
  }

 private:
  static DriverConfig to(std::string url) {
    constexpr const char* kRecipe = R"(
summary = "for this test"
[settings.url]
text = "where to"
required = true
[request]
url = "{{settings.url}}"
json = { message_id = "{{message_id}}", to = "{{to}}", body = "{{body}}", data = "{{data|json}}" }
[[answer]]
status = 200
outcome = "sent"
)";
    HttpDriverConfig driver;
    driver.recipe_name = "test.toml";
    driver.recipe = parse_recipe(kRecipe, driver.recipe_name).value();
    driver.settings.emplace("url", plain_secret(std::move(url)));
    return driver;
  }

  StubProcess stub_{};
};

template <class T>
std::unique_ptr<Site> make_site() {
  return std::make_unique<T>();
}

struct SiteKind {
  std::unique_ptr<Site> (*make)();
  bool can_refuse;  // has refusing()
};

const std::map<std::string, SiteKind, std::less<>>& sites() {
  static const std::map<std::string, SiteKind, std::less<>> all{
      {"exec", {make_site<ExecSite>, true}},        {"file", {make_site<FileSite>, false}},
      {"smtp", {make_site<SmtpSite>, true}},        {"http", {make_site<HttpSite>, true}},
      {"webhook", {make_site<WebhookSite>, true}},  {"apns", {test::make_apns_site, true}},
      {"fcm", {test::make_fcm_site, true}},         {"ses", {test::make_ses_site, true}},
      {"webpush", {test::make_webpush_site, true}},
  };
  return all;
}

class ChannelContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sites().contains(GetParam())) << "driver " << GetParam() << " has no Site in this test";
    site = sites().at(GetParam()).make();
    real = std::make_unique<RealChannels>(site->ca_file());
  }
  std::unique_ptr<Channel> make(DriverConfig driver) {
    ChannelConfig config = make_config(std::move(driver));
    config.timeout = 2min;  // a busy machine is no failure
    return real->make(config);
  }
  Dispatch message(std::string id = "shop-0123abcd-7") { return make_dispatch(std::move(id), site->address()); }

  std::unique_ptr<Site> site{};
  std::unique_ptr<RealChannels> real{};
};

class ChannelRefusal : public ChannelContract {};

std::vector<std::string> driver_names(bool only_those_that_can_be_refused) {
  std::vector<std::string> names;
  for (const Driver& driver : drivers()) {
    const auto site = sites().find(driver.name);
    if (!only_those_that_can_be_refused || (site != sites().end() && site->second.can_refuse))
      names.emplace_back(driver.name);
  }
  return names;
}

std::string name_of(const testing::TestParamInfo<std::string>& driver) { return driver.param; }

INSTANTIATE_TEST_SUITE_P(EveryDriver, ChannelContract, testing::ValuesIn(driver_names(false)), name_of);
INSTANTIATE_TEST_SUITE_P(EveryDriver, ChannelRefusal, testing::ValuesIn(driver_names(true)), name_of);

TEST_P(ChannelContract, AMessageThatIsSentArrivesOnceAndWhole) {
  const auto channel = make(site->accepting());
  Dispatch dispatch = message();
  dispatch.content.body = "line1\nline2 \"q\" \\ \x07 </script> {{x}} 가😀\xe2\x80\xa8";
  dispatch.content.data = R"({"a":[1,2.50,null],"b":"\u0001"})";
  ASSERT_TRUE(channel->check(dispatch).has_value());
  const Outcome outcome = real->send(*channel, dispatch);
  EXPECT_EQ(outcome.cls, OutcomeClass::kSent) << outcome.reason << " " << outcome.detail;
  EXPECT_GE(outcome.bytes_sent, static_cast<std::int64_t>(dispatch.content.body.size()));
  const std::vector<json> documents = site->received();
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0]["message_id"], site->mark_of(dispatch.envelope.message_id));
  EXPECT_EQ(documents[0]["to"], dispatch.address);
  if (site->carries_body()) {
    EXPECT_EQ(documents[0]["body"], dispatch.content.body);
  }
  if (site->carries_data()) {
    EXPECT_EQ(documents[0]["data"], json::parse(dispatch.content.data));
  }
}

TEST_P(ChannelContract, ManyAtATimeArriveEachOnce) {
  const auto channel = make(site->accepting());
  std::vector<Dispatch> messages;
  for (int i = 0; i < 50; ++i) messages.push_back(message("shop-0123abcd-" + std::to_string(i)));
  for (const Outcome& outcome : real->send(*channel, messages))
    EXPECT_EQ(outcome.cls, OutcomeClass::kSent) << outcome.reason << " " << outcome.detail;
  std::map<std::string, int> arrived;
  for (const json& document : site->received()) ++arrived[document["message_id"]];
  EXPECT_EQ(arrived.size(), messages.size());
  for (const auto& [id, times] : arrived) EXPECT_EQ(times, 1) << id;
}

TEST_P(ChannelContract, ALargeMessageArrives) {
  const auto channel = make(site->accepting());
  Dispatch dispatch = message();
  dispatch.content.body = std::string(site->largest_body(), 'x');
  ASSERT_TRUE(channel->check(dispatch).has_value());
  EXPECT_EQ(real->send(*channel, dispatch).cls, OutcomeClass::kSent);
  ASSERT_EQ(site->received().size(), 1U);
  if (site->carries_body()) {
    EXPECT_EQ(site->received()[0]["body"], dispatch.content.body);
  }
}

TEST_P(ChannelContract, WhatCannotBeReachedIsCertainlyNotSent) {
  const auto channel = make(site->unreachable());
  const Outcome outcome = real->send(*channel, message());
  EXPECT_EQ(outcome.cls, OutcomeClass::kNotSent) << outcome.reason << " " << outcome.detail;
  EXPECT_EQ(outcome.halt_channel || outcome.connect_refused, site->is_the_lane());
  EXPECT_FALSE(outcome.reason.empty());
  EXPECT_EQ(outcome.bytes_sent, 0);
  EXPECT_TRUE(site->received().empty());
}

TEST_P(ChannelRefusal, F57_IsToldWithoutWhatWasSent) {
  const auto channel = make(site->refusing());
  const Outcome outcome = real->send(*channel, message());
  EXPECT_EQ(outcome.cls, OutcomeClass::kPermanent);
  EXPECT_THAT(outcome.detail, HasSubstr("refused"));
  EXPECT_THAT(outcome.detail, Not(HasSubstr("821000000042")));
  EXPECT_THAT(outcome.detail, Not(HasSubstr("order 42")));
}

TEST_P(ChannelContract, F46_CheckRefusesControlCharactersAndForeignIds) {
  const auto channel = make(site->accepting());
  for (const std::string bad : {"x\r\nBcc: e@evil.test", "x\n", "x\xc2\x85", "x\xe2\x80\xa8", "\xff", ""}) {
    EXPECT_FALSE(channel->check(message(bad)).has_value()) << bad;
    EXPECT_FALSE(channel->check(make_dispatch("shop-0123abcd-7", bad)).has_value()) << bad;
  }
}

}  // namespace
}  // namespace notify
