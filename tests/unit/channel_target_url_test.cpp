#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "channel/target_url.hpp"
#include "core/message.hpp"

namespace notify {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(ChannelTargetUrl, TakesHttpAndHttps) {
  for (const char* url : {
           "https://hooks.example.com/in",
           "http://hooks.example.com",
           "HTTPS://Hooks.Example.COM:8443/a/b?c=d&e=f#g",
           "https://hooks.example.com?x=1",
           "http://192.0.2.7:80/",
           "http://[2001:db8::7]:8080/x",
           "http://[::ffff:192.0.2.7]/",
           "https://xn--bcher-kva.example/%20",
           "https://under_score.example/it's(fine);~{a}|^`*,+=$!",
           "https://example.com./",
       })
    EXPECT_TRUE(check_target_url(url).has_value()) << url;
}

struct Refused {
  std::string url;
  std::string why;
};

TEST(ChannelTargetUrl, F33_RefusesOtherSchemesAndTricksWithTheHost) {
  const Refused cases[] = {
      {"file:///etc/passwd", "http://"},
      {"gopher://192.0.2.7/x", "http://"},
      {"ftp://192.0.2.7/x", "http://"},
      {"javascript://192.0.2.7/", "http://"},
      {"//192.0.2.7/", "http://"},
      {"192.0.2.7/", "http://"},
      {"", "http://"},
      {"http:/192.0.2.7/", "http://"},
      {"http:192.0.2.7", "http://"},
      {"http://user@good.test@127.0.0.1/", "user name"},
      {"http://good.test@127.0.0.1/", "user name"},
      {"http://user:pass@good.test/", "user name"},
      {"http://@127.0.0.1/", "user name"},
      {"http://good.test\\@127.0.0.1/", "character"},
      {"http://[fe80::1%25lo]/", "host"},
      {"http://127.0.0.1%2f.good.test/", "host"},
      {"http://good.test%00.evil.test/", "host"},
      {"http:///path", "host"},
      {"http://:80/", "host"},
      {"http://?x=1", "host"},
      {"http://[]/", "host"},
      {"http://[::1/", "host"},
      {"http://[::1]x/", "host"},
      {"http://..good.test/", "host"},
      {"http://a..b/", "host"},
      {"http://a,b/", "host"},
      {"http://good.test:/", "port"},
      {"http://good.test:0/", "port"},
      {"http://good.test:65536/", "port"},
      {"http://good.test:8o/", "port"},
      {"http://good.test:80:80/", "port"},
      {"http://good.test:+80/", "port"},
  };
  for (const Refused& c : cases) {
    const Result<void> checked = check_target_url(c.url);
    ASSERT_FALSE(checked.has_value()) << c.url;
    EXPECT_THAT(checked.error().message, HasSubstr(c.why)) << c.url;
    EXPECT_EQ(checked.error().field, "to");
  }
}

TEST(ChannelTargetUrl, F46_RefusesWhatCouldBreakTheRequestLine) {
  const std::string_view breaks[] = {
      "x\r\nBcc: e@evil.test",    "x\n", "x\r", "x\xc2\x85", "x\xe2\x80\xa8",
      std::string_view("x\0", 2), "x y", "x\t", "x\x7f",     "\"a@x.test>\r\nRCPT TO:<e@evil.test"};
  for (const std::string_view text : breaks) {
    for (const std::string prefix : {"http://good.test/", "http://good.test/?q=", "http://"}) {
      const Result<void> checked = check_target_url(prefix + std::string(text));
      ASSERT_FALSE(checked.has_value());
      EXPECT_THAT(checked.error().message, HasSubstr("character"));
    }
  }
}

TEST(ChannelTargetUrl, IsBounded) {
  const std::string longest = "http://good.test/" + std::string(limits::kRecipient - 17, 'a');
  EXPECT_TRUE(check_target_url(longest).has_value());
  EXPECT_FALSE(check_target_url(longest + "a").has_value());
}

TEST(ChannelTargetUrl, F57_NeverRepeatsTheUrl) {
  for (const char* url : {"https://hooks.test:SECRETPART/", "ftp://hooks.test/T/SECRETPART", "https://a@b/SECRETPART",
                          "https://h/SECRETPART\n"}) {
    const Result<void> checked = check_target_url(url);
    ASSERT_FALSE(checked.has_value());
    EXPECT_THAT(checked.error().message + checked.error().hint, Not(HasSubstr("SECRETPART")));
  }
}

TEST(ChannelTargetUrl, TellingPartsAreWhatASecretCouldBeRecognisedBy) {
  const auto parts = telling_parts("https://hooks.test/T01/SECRETPART/x?token=TOKENVALUE&v=1#frag");
  EXPECT_THAT(parts, Contains("https://hooks.test/T01/SECRETPART/x?token=TOKENVALUE&v=1#frag"));
  EXPECT_THAT(parts, Contains("/T01/SECRETPART/x?token=TOKENVALUE&v=1#frag"));
  EXPECT_THAT(parts, Contains("SECRETPART"));
  EXPECT_THAT(parts, Contains("TOKENVALUE"));
  EXPECT_THAT(parts, Not(Contains("T01"))) << "too short to tell";
}

}  // namespace
}  // namespace notify
