#include "core/recipient.hpp"

#include <gtest/gtest.h>

#include "core/recipient_import.hpp"

namespace notify {
namespace {

TEST(MatchAddress, ComparesWhatMeansTheSame) {
  struct Row {
    const char* written;
    const char* compared;
  };
  for (const Row& row : {Row{"Ann@Example.COM", "ann@example.com"}, Row{"+82 (10) 1234-5678", "+821012345678"},
                         Row{"010-1234-5678", "01012345678"}, Row{"+821012345678", "+821012345678"},
                         Row{"-1001234567890", "-1001234567890"},  // a chat room, no telephone
                         Row{"1234", "1234"}, Row{"dGVzdA:APA91b_x", "dGVzdA:APA91b_x"},
                         Row{"https://User@host/Path", "https://User@host/Path"}, Row{"", ""}}) {
    EXPECT_EQ(match_address(row.written), row.compared) << row.written;
  }
}

TEST(MatchAddress, ASubjectOfConsentKeepsIdsAsTheyAre) {
  EXPECT_EQ(consent_subject("@A42"), "@A42");
  EXPECT_EQ(consent_subject("A@B.C"), "a@b.c");
}

TEST(Recipient, IdsAreOneWord) {
  EXPECT_TRUE(check_recipient_id("42"));
  EXPECT_TRUE(check_recipient_id("학생-42"));
  EXPECT_TRUE(check_recipient_id(std::string(128, 'x')));
  for (const std::string& id : {std::string(), std::string("@42"), std::string("a b"), std::string("a\nb"),
                                std::string(129, 'x'), std::string("\xff")})
    EXPECT_FALSE(check_recipient_id(id)) << id;
}

class RecipientLine : public ::testing::Test {
 protected:
  std::string field(std::string_view line) {
    const auto read = read_recipient_line(reader, line);
    return read ? "none" : read.error().field;
  }
  JsonReader reader{};
};

TEST_F(RecipientLine, SaysWhatIsToBeWrittenAndWhatStays) {
  const auto read = read_recipient_line(
      reader, R"({"id":"42","locale":"ko","endpoints":{"sms":"+8210","push":["a","b"],"mail":[]},"groups":["x"]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, "42");
  EXPECT_EQ(read->locale, "ko");
  EXPECT_EQ(read->endpoints.at("push"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read->endpoints.at("sms"), std::vector<std::string>{"+8210"});
  EXPECT_TRUE(read->endpoints.at("mail").empty());
  EXPECT_EQ(read->groups, std::vector<std::string>{"x"});
  EXPECT_FALSE(read->enable);
  const auto least = read_recipient_line(reader, R"({"id":"42"})");
  ASSERT_TRUE(least);
  EXPECT_FALSE(least->locale);
  EXPECT_FALSE(least->groups);
  EXPECT_TRUE(least->endpoints.empty());
}

TEST_F(RecipientLine, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(field(R"({"locale":"ko"})"), "id");
  EXPECT_EQ(field(R"({"id":42})"), "id");
  EXPECT_EQ(field(R"({"id":"@42"})"), "id");
  EXPECT_EQ(field(R"({"id":"1","id":"2"})"), "id");
  EXPECT_EQ(field(R"({"id":"1","Locale":"ko"})"), "Locale");
  EXPECT_EQ(field(R"({"id":"1","locale":"k o"})"), "locale");
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"SMS":"1"}})"), "endpoints");
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"sms":7}})"), "endpoints.sms");
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"sms":["+82 10","+8210"]}})"), "none");  // too short for a telephone number
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"sms":["+82 1012","+821012"]}})"), "endpoints.sms");
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"sms":"@2"}})"), "endpoints.sms");
  EXPECT_EQ(field(R"({"id":"1","endpoints":{"sms":""}})"), "endpoints.sms");
  EXPECT_EQ(field(R"({"id":"1","groups":"x"})"), "groups");
  EXPECT_EQ(field(R"({"id":"1","groups":[""]})"), "groups");
  EXPECT_EQ(field(R"({"id":"1"} x)"), "");
}

}  // namespace
}  // namespace notify
