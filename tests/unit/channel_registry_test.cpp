#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "support/channel_support.hpp"

namespace notify {
namespace {

template <class... Drivers>
std::vector<std::string> names_of(const std::variant<Drivers...>*) {
  return {std::string(driver_name(DriverConfig(Drivers{})))...};
}

TEST(ChannelRegistry, HasExactlyTheDriversThatCanBeConfigured) {
  std::vector<std::string> configurable = names_of(static_cast<const DriverConfig*>(nullptr));
  std::vector<std::string> registered;
  for (const Driver& driver : drivers()) registered.emplace_back(driver.name);
  EXPECT_TRUE(std::is_sorted(registered.begin(), registered.end()));
  EXPECT_THAT(registered, testing::UnorderedElementsAreArray(configurable));
}

TEST(ChannelRegistry, EveryDriverSaysWhatItDoesInOneLine) {
  for (const Driver& driver : drivers()) {
    EXPECT_FALSE(driver.summary.empty()) << driver.name;
    EXPECT_LE(driver.summary.size(), 70U) << driver.name;
    EXPECT_NE(driver.summary.back(), '.') << driver.name;
  }
}

TEST(ChannelRegistry, OnlyHttpDriversMakeTheHttpClient) {
  test::Bench bench;
  int made = 0;
  bench.ports.http = [&]() -> Result<HttpClient*> { return ++made, &bench.http; };
  ASSERT_TRUE(make_channel(test::make_config(FileDriverConfig{"/nowhere/x"}), bench.ports).has_value());
  ASSERT_TRUE(make_channel(test::make_config(ExecDriverConfig{{"/bin/true"}}), bench.ports).has_value());
  EXPECT_EQ(made, 0);
  ASSERT_TRUE(make_channel(test::make_config(WebhookDriverConfig{}), bench.ports).has_value());
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace notify
