#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "channel/message_json.hpp"
#include "channel/personal_parts.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using testing::HasSubstr;
using testing::Not;

Dispatch secretive() {
  Dispatch dispatch = test::make_dispatch();
  dispatch.envelope.recipient = "@customer-SECRET";
  dispatch.content.subject = "SECRET subject";
  dispatch.content.body = "Your \"code\":\n482913";
  dispatch.content.html = "<b>SECRET</b>";
  dispatch.content.alt = "SECRET alt";
  dispatch.content.data = R"({"pin":"SECRET"})";
  return dispatch;
}

std::string shown(std::string_view echo) { return safe_text_without(echo, personal_parts(secretive()), 1024); }

TEST(ChannelPersonalParts, F57_NothingOfTheMessageIsLeftInAnEchoOfTheDocument) {
  const std::string text = shown("rejected: " + message_json(secretive()));
  EXPECT_THAT(text, HasSubstr("rejected: "));
  for (const char* part : {"SECRET", "482913", "code", "821000000042"}) EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(ChannelPersonalParts, F57_NorInAnEchoOfTheTextsThemselves) {
  const std::string text = shown("to +821000000042 (@customer-SECRET): Your \"code\":\n482913, SECRET subject");
  EXPECT_EQ(text, "to *** (***): ***, ***");
}

TEST(ChannelPersonalParts, F57_NorWhenTheEchoIsCutOff) {
  for (const std::string cut : {"Your \"code\":\n4829", "Your", "+82100", "SECRET su"})
    EXPECT_EQ(shown("echo: " + cut), "echo: ***");
  EXPECT_EQ(shown("echo: You"), "echo: You") << "three letters give nothing away";
}

TEST(ChannelPersonalParts, ATextInsideALongerOneDoesNotBreakItUp) {
  Dispatch dispatch = test::make_dispatch();
  dispatch.content.subject = "order 42";
  dispatch.content.body = "Your order 42 is paid.";
  EXPECT_EQ(safe_text_without("<Your order 42 is paid.> order 42", personal_parts(dispatch), 100), "<***> ***");
}

TEST(ChannelPersonalParts, EmptyTextsMaskNothing) {
  EXPECT_EQ(safe_text_without("an ordinary error", personal_parts(Dispatch{}), 100), "an ordinary error");
}

}  // namespace
}  // namespace notify
