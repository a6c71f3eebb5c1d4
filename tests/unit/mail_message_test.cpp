// Mail as it is made: header fields, parts, and that nothing in a message can change what is around it.

#include "channel/mail_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "channel/mail_header.hpp"
#include "channel/url_template.hpp"
#include "core/crypto.hpp"
#include "core/safe_text.hpp"
#include "support/channel_support.hpp"

namespace notify {
namespace {

using test::make_dispatch;
using testing::HasSubstr;
using testing::Not;

// No error at all is one without words.
template <class T>
Error error_in(const Result<T>& result) {
  return result ? Error{} : result.error();
}

std::vector<std::string> lines_of(const std::string& mail) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < mail.size();) {
    const std::size_t end = mail.find("\r\n", start);
    if (end == std::string::npos) {
      ADD_FAILURE() << "the last line has no end";
      break;
    }
    lines.push_back(mail.substr(start, end - start));
    start = end + 2;
  }
  return lines;
}

// What every message must be, whatever is in it.
void expect_sound(const std::string& mail) {
  for (const std::string& line : lines_of(mail)) {
    EXPECT_LE(line.size(), 998U);
    EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos) << line;
    EXPECT_FALSE(line.starts_with(".")) << line;
    for (const char c : line) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << line;
  }
}

std::string unfolded(const std::string& field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field.compare(i, 2, "\r\n") == 0) {
      ++i;
      continue;
    }
    out += field[i];
  }
  return out;
}

// RFC 2047: encoded words next to each other are one text.
std::string decoded(const std::string& field) {
  const std::string text = unfolded(field);
  std::string out;
  std::size_t at = 0;
  bool after_word = false;
  while (at < text.size()) {
    const std::size_t word = text.find("=?UTF-8?B?", at);
    const std::string between = text.substr(at, word - at);
    if (!(after_word && between == " ")) out += between;
    if (word == std::string::npos) break;
    const std::size_t end = text.find("?=", word + 10);
    std::string bytes;
    EXPECT_TRUE(from_base64(text.substr(word + 10, end - word - 10), bytes));
    EXPECT_TRUE(valid_utf8(bytes)) << "a character was torn apart";
    EXPECT_LE(end + 2 - word, 75U);
    out += bytes;
    at = end + 2;
    after_word = true;
  }
  return out;
}

std::string field_of(const std::string& mail, const std::string& name) {
  const std::string head = mail.substr(0, mail.find("\r\n\r\n") + 2);
  const std::size_t at = ("\r\n" + head).find("\r\n" + name + ": ");
  if (at == std::string::npos) return "(none)";
  std::size_t end = head.find("\r\n", at);
  while (end + 2 < head.size() && (head[end + 2] == ' ' || head[end + 2] == '\t')) end = head.find("\r\n", end + 2);
  return head.substr(at + name.size() + 2, end - at - name.size() - 2);
}

MailStyle style_of(const std::string& from = "Shop <shop@shop.test>") {
  MailStyle style;
  style.from = parse_mailbox(from).value();
  style.message_id_domain = "shop.test";
  return style;
}

MailContent content_to(const std::string& to = "kim@example.com") {
  MailContent content;
  content.to = parse_mail_address(to).value();
  return content;
}

std::string mail_of(const Dispatch& dispatch) {
  const std::string mail = make_mail(dispatch, style_of(), content_to(), test::kSomeTime);
  expect_sound(mail);
  return mail;
}

std::string part_text(const std::string& mail, const std::string& type) {
  const std::size_t at = mail.find("Content-Type: " + type);
  EXPECT_NE(at, std::string::npos) << type;
  const std::size_t start = mail.find("\r\n\r\n", at) + 4;
  std::string base64;
  for (const std::string& line : lines_of(mail.substr(start))) {
    if (line.empty() || line.starts_with("--")) break;
    EXPECT_LE(line.size(), 76U);
    base64 += line;
  }
  std::string bytes;
  EXPECT_TRUE(from_base64(base64, bytes));
  return bytes;
}

TEST(MailMessage, SaysWhatAMailMustSay) {
  Dispatch dispatch = make_dispatch();
  dispatch.envelope.correlation = "req-1";
  const std::string mail = mail_of(dispatch);
  EXPECT_EQ(field_of(mail, "Date"), "Sun, 29 Nov 2026 13:26:09 +0000");
  EXPECT_EQ(field_of(mail, "From"), "Shop <shop@shop.test>");
  EXPECT_EQ(field_of(mail, "To"), "kim@example.com");
  EXPECT_EQ(field_of(mail, "Subject"), "Paid");
  EXPECT_EQ(field_of(mail, "Message-ID"), "<shop-0123abcd-7@shop.test>");
  EXPECT_EQ(field_of(mail, "Auto-Submitted"), "auto-generated");
  EXPECT_EQ(field_of(mail, "X-Correlation-Id"), "req-1");
  EXPECT_EQ(field_of(mail, "MIME-Version"), "1.0");
  EXPECT_EQ(field_of(mail, "Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(field_of(mail, "List-Unsubscribe"), "(none)");
  EXPECT_EQ(part_text(mail, "text/plain"), "Your order 42 is paid.");
}

TEST(MailMessage, F03_TheMessageIdIsTheSameOnEveryTry) {
  Dispatch dispatch = make_dispatch();
  const std::string first = field_of(mail_of(dispatch), "Message-ID");
  dispatch.attempt = 4;
  EXPECT_EQ(field_of(make_mail(dispatch, style_of(), content_to(), Instant{0}), "Message-ID"), first);
}

TEST(MailMessage, F44_DotsLineEndsAndLongLinesSurvive) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = ".\n.x\n..x\r\nbare\rend\nFrom here\n" + std::string(3000, 'z') + "\n.";
  EXPECT_EQ(part_text(mail_of(dispatch), "text/plain"),
            ".\r\n.x\r\n..x\r\nbare\r\nend\r\nFrom here\r\n" + std::string(3000, 'z') + "\r\n.");
}

TEST(MailMessage, TextAndHtmlAreAlternativesTheTextFirst) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.body = "결제되었습니다";
  dispatch.content.html = "<p>결제되었습니다</p>";
  const std::string mail = mail_of(dispatch);
  EXPECT_THAT(field_of(mail, "Content-Type"), HasSubstr("multipart/alternative"));
  EXPECT_LT(mail.find("text/plain"), mail.find("text/html"));
  EXPECT_EQ(part_text(mail, "text/plain"), dispatch.content.body);
  EXPECT_EQ(part_text(mail, "text/html"), dispatch.content.html);

  dispatch.content.body.clear();
  EXPECT_EQ(field_of(mail_of(dispatch), "Content-Type"), "text/html; charset=utf-8");
}

TEST(MailMessage, AttachmentsGoAroundTheRest) {
  Dispatch dispatch = make_dispatch();
  dispatch.content.html = "<b>x</b>";
  MailContent content = content_to();
  content.attachments = {{"영수증.pdf", "application/pdf", to_base64(std::string(1000, '\x01'))}};
  const std::string mail = make_mail(dispatch, style_of(), content, test::kSomeTime);
  expect_sound(mail);
  EXPECT_THAT(field_of(mail, "Content-Type"), HasSubstr("multipart/mixed"));
  EXPECT_THAT(mail, HasSubstr("multipart/alternative"));
  EXPECT_THAT(mail, HasSubstr("filename*=UTF-8''%EC%98%81%EC%88%98%EC%A6%9D.pdf"));
  EXPECT_EQ(part_text(mail, "application/pdf"), std::string(1000, '\x01'));
  EXPECT_TRUE(mail.ends_with("--=_notifyctl_mixed--\r\n"));
}

TEST(MailMessage, UnsubscribingIsOneClick) {
  MailContent content = content_to();
  content.unsubscribe_url = "https://shop.test/u?t=abc";
  const std::string mail = make_mail(make_dispatch(), style_of(), content, test::kSomeTime);
  EXPECT_EQ(field_of(mail, "List-Unsubscribe"), "<https://shop.test/u?t=abc>");
  EXPECT_EQ(field_of(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
}

TEST(MailMessage, OwnHeadersAreAdded) {
  MailStyle style = style_of();
  style.headers = {{"X-Tenant", "가게"}};
  style.reply_to = parse_mailbox("\"Kim, Min-su\" <kim@shop.test>").value();
  const std::string mail = make_mail(make_dispatch(), style, content_to(), test::kSomeTime);
  EXPECT_EQ(decoded(field_of(mail, "X-Tenant")), "가게");
  EXPECT_EQ(field_of(mail, "Reply-To"), "\"Kim, Min-su\" <kim@shop.test>");
  for (const char* name : {"Bcc", "to", "MESSAGE-ID", "Content-Type", "Return-Path"})
    EXPECT_TRUE(is_reserved_mail_header(name)) << name;
  EXPECT_FALSE(is_reserved_mail_header("X-Tenant"));
}

// --- header fields

TEST(MailHeader, TextsComeBackAsTheyWere) {
  std::string all;
  for (int i = 0; i < 100; ++i) all += "가나 다😀é ";
  for (const std::string& text :
       {std::string("Paid"), std::string(),
        std::string("주문 42번이 결제되었습니다. 감사합니다, 또 오세요! 언제든지 환영합니다."),
        std::string("two  spaces"), std::string(" leads"), std::string("trails "), std::string("=?UTF-8?B?eA==?="),
        std::string(200, 'x'), std::string("a ") + std::string(77, 'y') + " b", std::string("tab\tinside"), all,
        std::string(
            "many short words that do not fit into one line of seventy-eight characters at all, so that they fold")}) {
    const std::string field = text_header("Subject", text);
    for (const std::string& line : lines_of(field)) EXPECT_LE(line.size(), 78U) << line;
    expect_sound(field);
    EXPECT_EQ(decoded(field), "Subject: " + text);
    EXPECT_EQ(field.find("\r\n \r\n"), std::string::npos) << "a line of nothing but space";
  }
}

TEST(MailHeader, AsciiIsNotEncodedWithoutNeed) {
  EXPECT_EQ(text_header("Subject", "Order 42: paid (EUR 9.99)"), "Subject: Order 42: paid (EUR 9.99)\r\n");
}

TEST(MailHeader, NamesAreQuotedOrEncodedAsTheyNeed) {
  struct Name {
    const char* name;
    const char* field;
  };
  for (const Name& row : {Name{"", "From: a@b.test\r\n"}, Name{"Shop", "From: Shop <a@b.test>\r\n"},
                          Name{"Shop, Inc.", "From: \"Shop, Inc.\" <a@b.test>\r\n"},
                          Name{"The \"Shop\" \\", "From: \"The \\\"Shop\\\" \\\\\" <a@b.test>\r\n"},
                          Name{"가게", "From: =?UTF-8?B?6rCA6rKM?= <a@b.test>\r\n"}})
    EXPECT_EQ(address_header("From", {row.name, "a", "b.test"}), row.field);
  const MailAddress longest{std::string(40, 'n') + " 가게 " + std::string(60, 'm'), std::string(64, 'l'), "b.test"};
  for (const std::string& line : lines_of(address_header("From", longest))) EXPECT_LE(line.size(), 78U) << line;
}

TEST(MailHeader, LongFileNamesContinue) {
  std::string name;
  for (int i = 0; i < 27; ++i) name += "영수증";
  name += ".pdf";
  const std::string text = header_parameter("filename", name);
  EXPECT_THAT(text, HasSubstr("filename*0*=UTF-8''%EC"));
  EXPECT_THAT(text, HasSubstr("filename*1*="));
  std::string bytes;
  for (const std::string& line : lines_of(text.substr(3) + "\r\n")) {
    EXPECT_LE(line.size(), 78U);
    std::string value = line.substr(line.find('=') + 1);
    if (value.ends_with(';')) value.pop_back();
    if (value.starts_with("UTF-8''")) value = value.substr(7);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] != '%') {
        bytes += value[i];
        continue;
      }
      bytes += static_cast<char>(std::stoi(value.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  EXPECT_EQ(bytes, name);
  EXPECT_EQ(header_parameter("filename", "a b.pdf"), ";\r\n filename=\"a b.pdf\"");
}

TEST(MailHeader, DatesAreOfTheRfc) {
  EXPECT_EQ(mail_date(Instant{1'700'000'000'000}), "Tue, 14 Nov 2023 22:13:20 +0000");
  EXPECT_EQ(mail_date(Instant{0}), "Thu, 01 Jan 1970 00:00:00 +0000");
}

// --- addresses

TEST(MailAddress, GoodOnes) {
  for (const char* text : {"a@b.test", "first.last+tag@sub.example.com", "o'hara@example.com", "x@localhost",
                           "a@xn--h32b11m.test", "민수@예시.test"}) {
    const auto address = parse_mail_address(text);
    ASSERT_TRUE(address) << text << ": " << address.error().message;
    EXPECT_EQ(address->spec(), text);
  }
  EXPECT_TRUE(parse_mail_address("a@b.test")->is_ascii());
  EXPECT_FALSE(parse_mail_address("민수@b.test")->is_ascii());
}

TEST(MailAddress, F46_BadOnes) {
  for (const std::string& text : {std::string(),
                                  std::string("a"),
                                  std::string("@b.test"),
                                  std::string("a@"),
                                  std::string("a b@c.test"),
                                  std::string("a@b..test"),
                                  std::string(".a@b.test"),
                                  std::string("a.@b.test"),
                                  std::string("a..b@c.test"),
                                  std::string("\"a b\"@c.test"),
                                  std::string("a@[127.0.0.1]"),
                                  std::string("<a@b.test>"),
                                  std::string("a@b.test,c@d.test"),
                                  std::string("a@x.test>\r\nRCPT TO:<e@evil.test"),
                                  std::string("a@b.test\n"),
                                  std::string("a@b.test\0", 9),
                                  std::string("a\xc2\x85@b.test"),
                                  std::string("a@b\xe2\x80\xa8.test"),
                                  std::string("\xff@b.test"),
                                  std::string("a@-b.test"),
                                  std::string("a@b_c.test"),
                                  std::string(65, 'l') + "@b.test",
                                  "a@" + std::string(64, 'd') + ".test",
                                  std::string("a@예시.test")}) {
    const auto address = parse_mail_address(text);
    EXPECT_FALSE(address) << text;
    EXPECT_EQ(error_in(address).field, "to");
  }
}

TEST(MailAddress, ADomainOutsideAsciiIsAnsweredWithItsRepair) {
  EXPECT_THAT(parse_mail_address("a@예시.test").error().hint, HasSubstr("xn--"));
}

TEST(MailAddress, MailboxesHaveNames) {
  const auto quoted = parse_mailbox("\"Shop, \\\"Inc\\\"\" <a@b.test>");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->name, "Shop, \"Inc\"");
  EXPECT_EQ(parse_mailbox("a@b.test")->name, "");
  EXPECT_EQ(parse_mailbox(" 가게 <a@b.test> ")->name, "가게");
  EXPECT_FALSE(parse_mailbox("x\r\nBcc: e@evil.test <a@b.test>"));
  EXPECT_FALSE(parse_mailbox("Shop <a@b.test"));
}

// --- attachments

TEST(MailAttachments, AreReadFromTheData) {
  const auto files =
      read_attachments(R"({"attachments":[{"filename":"a.txt","content_type":"text/plain","content_base64":"SGk="},)"
                       R"({"content_base64":"","filename":"b"}],"order":1})");
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].filename, "a.txt");
  EXPECT_EQ((*files)[0].base64, "SGk=");
  EXPECT_EQ((*files)[1].content_type, "application/octet-stream");
  EXPECT_TRUE(read_attachments("")->empty());
  EXPECT_TRUE(read_attachments(R"({"order":42})")->empty());
  EXPECT_TRUE(read_attachments(R"({"note":"\"attachments\""})")->empty());
}

TEST(MailAttachments, F46_WhatIsWrongIsNamed) {
  struct Case {
    const char* item;
    const char* says;
  };
  for (const Case& row : {
           Case{R"("x")", "is no object"},
           Case{R"({"content_base64":"SGk="})", "filename"},
           Case{R"({"filename":"../etc/x","content_base64":"SGk="})", "filename"},
           Case{R"({"filename":"a\r\nX: y","content_base64":"SGk="})", "filename"},
           Case{R"({"filename":"a"})", "content_base64 is missing"},
           Case{R"({"filename":"a","content_base64":"SGk"})", "not base64"},
           Case{R"({"filename":"a","content_base64":"SG\r\n"})", "not base64"},
           Case{R"({"filename":"a","content_base64":5})", "no string"},
           Case{R"({"filename":"a","content_type":"text","content_base64":""})", "content_type"},
           Case{R"({"filename":"a","content_type":"text/plain\r\nX: y","content_base64":""})", "content_type"},
           Case{R"({"filename":"a","content_type":"message/rfc822","content_base64":""})", "content_type"},
           Case{R"({"filename":"a","content_base64":"","path":"/etc/passwd"})", "unknown member path"},
       }) {
    const auto files = read_attachments(std::string(R"({"attachments":[)") + row.item + "]}");
    ASSERT_FALSE(files) << row.item;
    EXPECT_THAT(files.error().message, HasSubstr(row.says)) << row.item;
    EXPECT_THAT(files.error().message, HasSubstr("attachments[0]"));
    EXPECT_EQ(files.error().field, "data");
  }
  EXPECT_FALSE(read_attachments(R"({"attachments":{}})"));
}

// --- placeholders

TEST(UrlTemplate, FillsAndEncodes) {
  Dispatch dispatch = make_dispatch("id-1", "a+b@c.test");
  dispatch.content.data = R"({"n":7,"t":"a/b?c=d&e\r\nX: y"})";
  EXPECT_EQ(fill_url_template("https://u.test/x?i={id}&m={to}&t={data.t}&n={data.n}&k={kind}", dispatch).value(),
            "https://u.test/x?i=id-1&m=a%2Bb%40c.test&t=a%2Fb%3Fc%3Dd%26e%0D%0AX%3A%20y&n=7&k=order-paid");
  EXPECT_FALSE(fill_url_template("https://u.test/{data.missing}", dispatch));
}

TEST(UrlTemplate, UnknownPlaceholdersAreFoundWithoutAMessage) {
  EXPECT_TRUE(check_url_template("https://u.test/{id}/{data.token}"));
  for (const char* text :
       {"https://u.test/{x}", "https://u.test/{", "https://u.test/}", "https://u.test/{data.}", "{}"})
    EXPECT_FALSE(check_url_template(text)) << text;
}

}  // namespace
}  // namespace notify
