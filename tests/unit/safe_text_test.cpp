#include "core/safe_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace notify {
namespace {

constexpr const char* kBad = "\xEF\xBF\xBD";  // U+FFFD

TEST(ValidUtf8, F59_PositionOfTheFirstBadByte) {
  struct Case {
    std::string text;
    std::size_t position;
  };
  const std::vector<Case> cases{
      {"\xff", 0},
      {"ab\xff", 2},
      {"\xc3", 0},
      {"a\xc3(", 1},
      {"\xed\xa0\x80", 0},
      {"x\xf0\x9f\x98", 1},
      {"\xc0\xaf", 0},
      {"\xe0\x80\xaf", 0},
      {"\x80", 0},
      {"\xf4\x90\x80\x80", 0},
      {"\xf5\x80\x80\x80", 0},
      {"\xea\xb0\x80\xea\xb0", 3},
  };
  for (const Case& one : cases) {
    std::size_t position = 99;
    EXPECT_FALSE(valid_utf8(one.text, &position)) << one.text;
    EXPECT_EQ(position, one.position) << one.text;
    EXPECT_FALSE(valid_utf8(one.text));
  }
}

TEST(ValidUtf8, GoodOnes) {
  for (const char* text : {"", "plain", "가나다", "é", "😀", "\xf4\x8f\xbf\xbf", "\xee\x80\x80", "\xed\x9f\xbf"})
    EXPECT_TRUE(valid_utf8(text)) << text;
  EXPECT_TRUE(valid_utf8(std::string_view("\0", 1)));
}

TEST(CutUtf8, BetweenCharacters) {
  EXPECT_EQ(cut_utf8("가나", 6), "가나");
  EXPECT_EQ(cut_utf8("가나", 5), "가");
  EXPECT_EQ(cut_utf8("가나", 3), "가");
  EXPECT_EQ(cut_utf8("가나", 2), "");
  EXPECT_EQ(cut_utf8("a😀", 4), "a");
}

TEST(SafeText, GoodTextStays) {
  EXPECT_EQ(safe_text("plain", 100), "plain");
  EXPECT_EQ(safe_text("가나다 é 😀", 100), "가나다 é 😀");
  EXPECT_EQ(safe_text("", 0), "");
}

TEST(SafeText, F59_BrokenPartsBecomeReplacementCharacters) {
  EXPECT_EQ(safe_text("a\xff"
                      "b",
                      100),
            std::string("a") + kBad + "b");
  EXPECT_EQ(safe_text("\xc0\xaf", 100), std::string(kBad) + kBad);
  EXPECT_EQ(safe_text("\xed\xa0\x80", 100), std::string(kBad) + kBad + kBad);
  EXPECT_EQ(safe_text("\xf0\x9f\x98", 100), kBad);  // one maximal part, cut at the end
  EXPECT_EQ(safe_text("\xf0\x9f\x98z", 100), std::string(kBad) + "z");
  EXPECT_EQ(safe_text("\xea\xb0", 100), kBad);
  // EUC-KR text of a Korean vendor
  EXPECT_TRUE(valid_utf8(safe_text("\xb0\xa1\xb3\xaa OK", 100)));
}

TEST(SafeText, ControlCharactersAreVisible) {
  EXPECT_EQ(safe_text("a\tb\nc\rd", 100), "a b c d");
  EXPECT_EQ(safe_text("\x1b[31mred", 100), "\\u001b[31mred");
  EXPECT_EQ(safe_text(std::string_view("\0", 1), 100), "\\u0000");
  EXPECT_EQ(safe_text("\x7f", 100), "\\u007f");
  EXPECT_EQ(safe_text("\xc2\x85", 100), "\\u0085");      // C1: next line
  EXPECT_EQ(safe_text("\xe2\x80\xa8", 100), "\\u2028");  // line separator
  EXPECT_EQ(safe_text("\xe2\x80\xae", 100), "\\u202e");  // right-to-left override
  EXPECT_EQ(safe_text("\xef\xbb\xbf", 100), "\\ufeff");
}

TEST(SafeText, CutAtACharacterBoundaryWithAnEllipsis) {
  EXPECT_EQ(safe_text("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(safe_text("abcdefghi", 8), "abcde…");
  EXPECT_EQ(safe_text("가나다라", 11), "가나…");
  EXPECT_EQ(safe_text("가나다라", 12), "가나다라");
  EXPECT_EQ(safe_text("\x1b\x1b\x1b", 10), "\\u001b…");  // an escape is never cut in two
  EXPECT_EQ(safe_text("abc", 2), "");
  EXPECT_EQ(safe_text("abcd", 3), "…");
}

TEST(SafeText, AlwaysValidAlwaysBounded) {
  std::uint32_t state = 12345;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      bytes += static_cast<char>(state >> 24U);
    }
    for (const std::size_t max : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{30}, std::size_t{1000}}) {
      const std::string safe = safe_text(bytes, max);
      ASSERT_TRUE(valid_utf8(safe));
      ASSERT_LE(safe.size(), max);
      for (const char c : safe) ASSERT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
    }
  }
}

TEST(MaskAddress, F57_HidesWhatIdentifies) {
  EXPECT_EQ(mask_address("+821012341234"), "+8210****1234");
  EXPECT_EQ(mask_address("jane.doe@example.com"), "j***@example.com");
  EXPECT_EQ(mask_address("한@example.com"), "한***@example.com");
  EXPECT_EQ(mask_address("https://hooks.test/T/SECRETPART?x=1"), "https://hooks.test/***");
  EXPECT_EQ(mask_address("https://user:SECRET@hooks.test"), "https://hooks.test/***");
  EXPECT_EQ(mask_address("https://a@b:SECRET@hooks.test/"), "https://hooks.test/***");
  EXPECT_EQ(mask_address("https://hooks.test#SECRET"), "https://hooks.test/***");
  EXPECT_EQ(mask_address("abcdef0123456789abcdef"), "abc****cdef");
  EXPECT_EQ(mask_address("+82101234"), "***");
  EXPECT_EQ(mask_address("short"), "***");
  EXPECT_EQ(mask_address(""), "***");
  EXPECT_TRUE(valid_utf8(mask_address("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4")));
}

TEST(SafeTextWithout, F57_RemovesWhatWeSent) {
  const std::array<std::string, 3> secrets{"tok_SECRET", "abc", ""};
  EXPECT_EQ(safe_text_without("denied: Bearer tok_SECRET, abc, tok_SECRET", secrets, 100),
            "denied: Bearer ***, abc, ***");
  // A secret is removed before the cut, so that no half of it stays.
  EXPECT_EQ(safe_text_without("xxxxxxtok_SECRET", secrets, 12), "xxxxxx***");
}

}  // namespace
}  // namespace notify
