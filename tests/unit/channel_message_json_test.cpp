#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "channel/message_json.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using nlohmann::json;
using test::make_dispatch;

TEST(ChannelMessageJson, IsTheDocumentedObjectInOneLine) {
  EXPECT_EQ(message_json(make_dispatch()),
            R"({"message_id":"shop-0123abcd-7","to":"+821000000042","kind":"order-paid","category":"transactional",)"
            R"("subject":"Paid","body":"Your order 42 is paid.","data":{"order":42},)"
            R"("enqueued_at":"2026-11-29T13:26:09.000Z"})");
}

TEST(ChannelMessageJson, OptionalMembersAppearWhenTheMessageHasThem) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.html = "<b>Paid</b>";
  dispatch.content.alt = "paid";
  dispatch.envelope.correlation = "req-1";
  const json document = json::parse(message_json(dispatch));
  EXPECT_EQ(document["html"], "<b>Paid</b>");
  EXPECT_EQ(document["alt"], "paid");
  EXPECT_EQ(document["correlation"], "req-1");
}

TEST(ChannelMessageJson, RequiredMembersAreThereEvenWhenEmpty) {
  Dispatch dispatch;
  const json document = json::parse(message_json(dispatch));
  EXPECT_EQ(document.size(), 8U);
  for (const char* name : {"message_id", "to", "kind", "category", "subject", "body"}) EXPECT_EQ(document[name], "");
  EXPECT_TRUE(document["data"].is_null());
}

TEST(ChannelMessageJson, NamesTheAddressItGoesToNow) {
  Dispatch dispatch = make_dispatch();
  dispatch.envelope.recipient = "@customer-7";
  EXPECT_EQ(json::parse(message_json(dispatch))["to"], "+821000000042");
}

TEST(ChannelMessageJson, F48_HoldsTheExactValues) {
  const std::string value = "line1\nline2 \"q\" \\ \x07 </script> {{x}} 가😀\xe2\x80\xa8";
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = value;
  const std::string text = message_json(dispatch);
  EXPECT_EQ(json::parse(text)["body"], value);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(ChannelMessageJson, F58_DataIsCopiedAsItStands) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.data = R"({"a":1e3,"b":1.0,"c":12345678901234567890,"d":"\/"})";
  EXPECT_NE(message_json(dispatch).find(R"("data":{"a":1e3,"b":1.0,"c":12345678901234567890,"d":"\/"},)"),
            std::string::npos);
}

TEST(ChannelMessageJson, F59_IsValidUtf8WhateverTheColumnsHold) {
  for (const std::string bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x98", "\xc0\xaf", "a\xffz"}) {
    Dispatch dispatch = make_dispatch();
    dispatch.envelope.kind = bytes;
    dispatch.envelope.correlation = bytes;
    dispatch.address = bytes;
    dispatch.content.body = bytes;
    const std::string text = message_json(dispatch);
    EXPECT_TRUE(valid_utf8(text));
    EXPECT_TRUE(json::accept(text)) << text;
    EXPECT_NE(text.find("\xef\xbf\xbd"), std::string::npos);
  }
}

}  // namespace
}  // namespace notify
