#include "core/text_encoding.hpp"

#include <gtest/gtest.h>

namespace notify {
namespace {

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string utf8(char32_t c) {
  std::string out;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

// How many characters of the basic plane an encoding has.
int size_of(TextEncoding encoding, std::size_t bytes) {
  int count = 0;
  for (char32_t c = 0; c < 0x10000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const EncodedSize size = encoded_size(utf8(c), encoding);
    count += size.unencodable == 0 && size.bytes == bytes ? 1 : 0;
  }
  return count;
}

TEST(TextEncoding, CountsBytesAsTheVendorDoes) {
  struct Row {
    const char* text;
    TextEncoding encoding;
    std::size_t bytes;
  };
  for (const Row& row : {Row{"", TextEncoding::kUtf8, 0}, Row{"안녕", TextEncoding::kUtf8, 6},
                         Row{"\U0001F600", TextEncoding::kUtf8, 4}, Row{"안녕 a", TextEncoding::kEucKr, 6},
                         Row{"漢字", TextEncoding::kEucKr, 4}, Row{"똠방각하", TextEncoding::kCp949, 8},
                         Row{"안녕", TextEncoding::kUcs2, 4}, Row{"\U0001F600", TextEncoding::kUcs2, 4},
                         Row{"Grüße [€]", TextEncoding::kGsm7, 12}, Row{"\n@_", TextEncoding::kGsm7, 3}}) {
    SCOPED_TRACE(row.text);
    const EncodedSize size = encoded_size(row.text, row.encoding);
    EXPECT_EQ(size.unencodable, 0U);
    EXPECT_EQ(size.bytes, row.bytes);
  }
}

TEST(TextEncoding, NamesTheFirstCharacterThatIsNotThere) {
  const EncodedSize emoji = encoded_size("안녕 \U0001F600!", TextEncoding::kEucKr);
  EXPECT_EQ(emoji.unencodable, U'\U0001F600');
  EXPECT_EQ(emoji.position, 4U);
  EXPECT_EQ(encoded_size("똠", TextEncoding::kEucKr).unencodable, U'똠');  // not among the 2350 of KS X 1001
  EXPECT_EQ(encoded_size("안", TextEncoding::kGsm7).unencodable, U'안');
  EXPECT_EQ(encoded_size("`", TextEncoding::kGsm7).unencodable, U'`');
}

TEST(TextEncoding, TheTablesHaveTheSizesOfTheStandards) {
  EXPECT_EQ(size_of(TextEncoding::kEucKr, 2), 8226);
  EXPECT_EQ(size_of(TextEncoding::kCp949, 2), 8226 + 8822);  // and the syllables that it lacks
  EXPECT_EQ(size_of(TextEncoding::kGsm7, 1), 127);           // 128 without the escape
  EXPECT_EQ(size_of(TextEncoding::kGsm7, 2), 10);
}

TEST(TextEncoding, F41_PairsNeverStraddleParts) {
  const auto size = [](const std::string& text, TextEncoding encoding) {
    const EncodedSize found = encoded_size(text, encoding);
    return std::pair(found.bytes, found.segments);
  };
  EXPECT_EQ(size(repeat("|", 69) + "∞", TextEncoding::kUcs2), (std::pair<std::size_t, int>(140, 1)));
  EXPECT_EQ(size(repeat("[", 80), TextEncoding::kGsm7), (std::pair<std::size_t, int>(160, 1)));
  EXPECT_EQ(size(repeat("[", 81), TextEncoding::kGsm7), (std::pair<std::size_t, int>(162, 2)));
  EXPECT_EQ(size(repeat("a", 152) + "[" + repeat("b", 152), TextEncoding::kGsm7),
            (std::pair<std::size_t, int>(306, 3)));
  EXPECT_EQ(size(repeat("😀", 70), TextEncoding::kUcs2), (std::pair<std::size_t, int>(280, 3)));
  EXPECT_EQ(size(repeat("a", 159) + "’", TextEncoding::kUcs2), (std::pair<std::size_t, int>(320, 3)));
  EXPECT_EQ(encoded_size(repeat("|", 69) + "∞", TextEncoding::kGsm7).unencodable, U'∞');
}

TEST(TextEncoding, CountsSegmentsAsPhonesDo) {
  EXPECT_EQ(encoded_size(repeat("a", 160), TextEncoding::kGsm7).segments, 1);
  EXPECT_EQ(encoded_size(repeat("a", 161), TextEncoding::kGsm7).segments, 2);
  EXPECT_EQ(encoded_size(repeat("a", 306), TextEncoding::kGsm7).segments, 2);
  EXPECT_EQ(encoded_size(repeat("a", 307), TextEncoding::kGsm7).segments, 3);
  // An escape and its character stay together: 152 + 2 do not fit into a part of 153.
  EXPECT_EQ(encoded_size(repeat("a", 152) + "€" + repeat("a", 151), TextEncoding::kGsm7).segments, 2);
  EXPECT_EQ(encoded_size(repeat("a", 152) + "€" + repeat("a", 152), TextEncoding::kGsm7).segments, 3);
  EXPECT_EQ(encoded_size(repeat("안", 70), TextEncoding::kUcs2).segments, 1);
  EXPECT_EQ(encoded_size(repeat("안", 71), TextEncoding::kUcs2).segments, 2);
}

TEST(TextEncoding, WhatDoesNotFitSaysHowMuchAndHowMuchMay) {
  EXPECT_TRUE(check_text_limit("the body", repeat("가", 45), {TextEncoding::kEucKr, 90}));
  const auto longer = check_text_limit("the body", repeat("가", 46), {TextEncoding::kEucKr, 90});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().field, "text-too-long");
  EXPECT_EQ(longer.error().message, "the body has 92 bytes as EUC-KR; the channel takes 90");
  const auto emoji = check_text_limit("the body", "hi \U0001F600", {TextEncoding::kEucKr, 90});
  ASSERT_FALSE(emoji);
  EXPECT_EQ(emoji.error().field, "text-not-encodable");
  EXPECT_NE(emoji.error().message.find("U+1F600"), std::string::npos);
}

TEST(TextEncoding, F42_NinetyBytesOfTheVendorsEncoding) {
  const auto fits = [](const std::string& text, TextEncoding encoding) {
    Payload content;
    content.body = text;
    return check_text_limit(content, {encoding, 90}).has_value();
  };
  EXPECT_TRUE(fits(repeat("가", 45), TextEncoding::kCp949));
  EXPECT_FALSE(fits(repeat("가", 45) + "a", TextEncoding::kCp949));
  EXPECT_TRUE(fits(repeat("가", 44) + "뷁", TextEncoding::kCp949));
  EXPECT_FALSE(fits(repeat("가", 44) + "뷁", TextEncoding::kEucKr));
  EXPECT_FALSE(fits("안녕😀", TextEncoding::kCp949));
  for (const char* text : {"€", "·", "－"}) EXPECT_TRUE(fits(text, TextEncoding::kEucKr)) << text;
  EXPECT_TRUE(fits(repeat("\u1100\u1161", 45), TextEncoding::kEucKr));  // spelled in letters
}

TEST(TextEncoding, LettersBecomeSyllables) {
  EXPECT_EQ(compose_hangul("a\u1100\u1161b"), "a가b");
  EXPECT_EQ(compose_hangul("\u1112\u1161\u11ab\u1100\u1173\u11af!"), "한글!");
  EXPECT_EQ(compose_hangul("가\u11a8"), "각");
  EXPECT_EQ(compose_hangul("각\u11a8"), "각\u11a8");
  EXPECT_EQ(compose_hangul("\u1100"), "\u1100");
  EXPECT_EQ(compose_hangul("한글 😀"), "한글 😀");
}

TEST(TextEncoding, TheAlternativeTextIsLimitedForItself) {
  Payload content;
  content.body = repeat("a", 80);
  content.alt = repeat("b", 80);
  EXPECT_TRUE(check_text_limit(content, {TextEncoding::kUtf8, 90}));
  content.alt = repeat("b", 91);
  EXPECT_FALSE(check_text_limit(content, {TextEncoding::kUtf8, 90}));
}

}  // namespace
}  // namespace notify
