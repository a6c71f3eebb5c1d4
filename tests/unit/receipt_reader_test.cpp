#include "core/receipt_reader.hpp"

#include <gtest/gtest.h>

#include "core/csv.hpp"

namespace notify {
namespace {

struct Read {
  std::vector<Receipt> receipts{};
  std::vector<std::string> bad{};  // "LINE field"
  Result<void> result{};
};

// In chunks of `size` bytes: nothing may depend on where the input is cut.
Read read(ReceiptFormat format, const std::string& text, std::size_t size = 1 << 20) {
  Read out;
  ReceiptReader reader(
      format, nullptr,
      {[&](Receipt receipt) -> Result<void> {
         out.receipts.push_back(std::move(receipt));
         return {};
       },
       [&](std::int64_t line, const Error& error) { out.bad.push_back(std::to_string(line) + " " + error.field); }});
  for (std::size_t at = 0; at < text.size() && out.result; at += size) out.result = reader.feed(text.substr(at, size));
  if (out.result) out.result = reader.finish();
  return out;
}

using Lines = std::vector<std::string>;

TEST(ReceiptReader, JsonLines) {
  const std::string text = R"({"message_id":"m-1","outcome":"accepted"}
{"reference":12345,"status":"undelivered","at":"2026-11-29T13:26:09Z","reason":"no\nsuch","attempt":2,"channel":"sms"}
)";
  for (const std::size_t size : {1U, 7U, 4096U}) {
    const Read out = read(ReceiptFormat::kJsonLines, text, size);
    ASSERT_TRUE(out.result);
    ASSERT_EQ(out.receipts.size(), 2U);
    EXPECT_EQ(out.receipts[0].message_id, "m-1");
    EXPECT_EQ(out.receipts[0].verdict, ReceiptVerdict::kAccepted);
    EXPECT_EQ(out.receipts[1].reference, "12345");
    EXPECT_EQ(out.receipts[1].verdict, ReceiptVerdict::kRefused);
    EXPECT_EQ(out.receipts[1].at, (Instant{1'795'958'769'000}));
    EXPECT_EQ(out.receipts[1].reason, "no such");
    EXPECT_EQ(out.receipts[1].attempt, 2);
    EXPECT_EQ(out.receipts[1].channel, "sms");
  }
}

TEST(ReceiptReader, BadLinesAreNamedAndTheOthersTaken) {
  const Read out = read(ReceiptFormat::kJsonLines, R"({"message_id":"a","status":"accepted"}
{"status":"accepted"}
{"message_id":"b","status":"perhaps"}
{"message_id":"c"}
{"message_id":"d","status":"accepted","outcome":"accepted"}
{"message_id":"e","status":"accepted","at":"+2h"}
{"message_id":"f","status":"accepted","attempt":0}
{"message_id":"g","status":"accepted","surprise":1}
{"message_id":"h","message_id":"h","status":"accepted"}
{"message_id":"i\u0000","status":"accepted"}
{"message_id":7,"status":"accepted"}
[]
{"message_id":"z","status":"accepted"})");
  ASSERT_TRUE(out.result);
  ASSERT_EQ(out.receipts.size(), 2U);
  EXPECT_EQ(out.receipts[1].message_id, "z");
  EXPECT_EQ(out.bad, (Lines{"2 message_id", "3 status", "4 outcome", "5 status", "6 at", "7 attempt", "8 surprise",
                            "9 message_id", "10 message_id", "11 message_id", "12 "}));
}

TEST(ReceiptReader, CsvAsRfc4180SaysIt) {
  const std::string text =
      "\xef\xbb\xbfreference,status,reason,message_id\r\n"
      "r-1,delivered,,\r\n"
      "\r\n"
      "\"r,2\",failed,\"he said \"\"no\"\"\r\ntwice\",m-2\r\n"
      "r-3,delivered\r\n"
      "r-4,de\"livered,,\r\n"
      "\"r-5\"x,delivered,,\r\n"
      "r-6,delivered,,";
  for (const std::size_t size : {1U, 2U, 3U, 5U, 4096U}) {
    const Read out = read(ReceiptFormat::kCsv, text, size);
    ASSERT_TRUE(out.result) << out.result.error().message;
    ASSERT_EQ(out.receipts.size(), 3U) << size;
    EXPECT_EQ(out.receipts[0].reference, "r-1");
    EXPECT_EQ(out.receipts[1].reference, "r,2");
    EXPECT_EQ(out.receipts[1].reason, "he said \"no\"  twice");
    EXPECT_EQ(out.receipts[1].message_id, "m-2");
    EXPECT_EQ(out.receipts[2].reference, "r-6");
    EXPECT_EQ(out.bad, (Lines{"6 ", "7 ", "8 "}));
  }
}

TEST(ReceiptReader, WithoutAHeaderNothingInACsvFileCanBeRead) {
  for (const char* header : {"message_id\nx\n", "status\nx\n", "message_id,status,status\nx,y,z\n", "id,status\nx,y\n",
                             "message_id,outcome,status\nx,y,z\n", "\"message_id,status\n"}) {
    const Read out = read(ReceiptFormat::kCsv, header);
    ASSERT_FALSE(out.result) << header;
    EXPECT_EQ(out.result.error().code, Code::kBadInput);
  }
}

TEST(ReceiptReader, WhatIsNotThatFormatAtAllIsRefusedAsAWhole) {
  EXPECT_FALSE(read(ReceiptFormat::kJsonLines, "message_id,status\nx,delivered\n").result);
  EXPECT_FALSE(read(ReceiptFormat::kJsonLines, std::string("\xff\xfe{\0", 4)).result);
  EXPECT_TRUE(read(ReceiptFormat::kJsonLines, "").result);
  EXPECT_TRUE(read(ReceiptFormat::kCsv, "message_id,status\n").result);
}

TEST(ReceiptReader, ALineWithoutAnEndCostsNoMemoryAndNotTheRest) {
  const std::string longest(kLongestReceipt + 10, 'x');
  const Read json =
      read(ReceiptFormat::kJsonLines, longest + "\n{\"message_id\":\"a\",\"status\":\"accepted\"}\n", 1000);
  EXPECT_EQ(json.receipts.size(), 1U);
  EXPECT_EQ(json.bad.size(), 1U);
  const Read csv = read(ReceiptFormat::kCsv, "message_id,status\n" + longest + ",accepted\na,accepted\n", 1000);
  EXPECT_EQ(csv.receipts.size(), 1U);
  EXPECT_EQ(csv.bad, (Lines{"2 "}));
}

}  // namespace
}  // namespace notify
