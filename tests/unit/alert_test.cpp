#include "core/alert.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

TEST(Alert, ItsTextSaysTheReasonOnce) {
  EXPECT_EQ(alert_text("sms: timeout", "timeout"), "sms: timeout");
  EXPECT_EQ(alert_text("sms: http-500", "http-500: <html>"), "sms: http-500: <html>");
  EXPECT_EQ(alert_text("sms: http-5", "http-500"), "sms: http-5: http-500");
  EXPECT_EQ(alert_text("sms: retries-exhausted", "connect-failed"), "sms: retries-exhausted: connect-failed");
  EXPECT_EQ(alert_text("oldest", "waits"), "oldest: waits");
  EXPECT_EQ(alert_text("oldest", ""), "oldest");
}

TEST(Alert, OnlySomeAreAboutAChannel) {
  EXPECT_EQ(alert_channel("error", "sms: timeout"), "sms");
  EXPECT_EQ(alert_channel("lane-halted", "sms"), "sms");
  EXPECT_EQ(alert_channel("surge", "relay"), "");
  EXPECT_EQ(alert_channel("of-another-version", "sms: x"), "");
}

}  // namespace
}  // namespace notify
