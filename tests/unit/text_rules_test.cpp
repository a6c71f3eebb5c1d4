#include "core/text_rules.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/safe_text.hpp"

namespace notify {
namespace {

TEST(TextRules, F46_FindsEveryCharacterThatCouldEndALine) {
  for (unsigned c = 0; c < 0x20; ++c) EXPECT_TRUE(find_control(std::string("ab") + static_cast<char>(c))) << c;
  EXPECT_EQ(find_control("ab\x7f")->position, 2U);
  for (int second = 0x80; second < 0xa0; ++second) {
    const auto found = find_control(std::string("a\xc2") + static_cast<char>(second));
    ASSERT_TRUE(found) << second;
    EXPECT_EQ(found->character, static_cast<char32_t>(second));
    EXPECT_EQ(found->position, 1U);
  }
  EXPECT_EQ(find_control("é\u2028")->character, U'\u2028');
  EXPECT_EQ(find_control("é\u2029")->position, 2U);
}

TEST(TextRules, OtherCharactersAreFine) {
  for (const char* text : {"", "plain", "é\u00a0\u00bf", "\u2027\u202f\u2030…", "한글", "😀", "\u0380"})
    EXPECT_FALSE(find_control(text)) << text;
  EXPECT_FALSE(find_control("a\tb", LineUse::kSubject));
  EXPECT_TRUE(find_control("a\tb\n", LineUse::kSubject));
}

TEST(TextRules, NamesHoldNothingThatTurnsOrHidesText) {
  for (const char* mark : {"\t", "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\ufeff"}) {
    const std::string text = "ab" + std::string(mark) + "cd";
    const auto found = find_control(text);
    ASSERT_TRUE(found) << mark;
    EXPECT_EQ(found->position, 2U);
    EXPECT_FALSE(find_control(text, LineUse::kSubject)) << "right-to-left text needs them";
    EXPECT_NE(safe_text(text, text.size()), text) << "what a channel would refuse is refused here as well";
  }
  for (const char* text : {"\u061b\u0620", "\u2065\u206a", "\ufefe", "\xd8", "\xe2\x80", "\xef"})
    EXPECT_FALSE(find_control(text)) << text;
}

TEST(TextRules, SaysWhichCharacterAndWhere) {
  const auto checked = check_line("to", "the recipient", "ab\u0085", 100);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "the recipient holds a control character (U+0085 at byte 3)");
  EXPECT_EQ(checked.error().field, "to");
}

}  // namespace
}  // namespace notify
