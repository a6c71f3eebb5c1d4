// What the program prints: help, manual, completions, errors, tables.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cmd/command.hpp"
#include "cmd/errors.hpp"
#include "cmd/exit_codes.hpp"
#include "cmd/help.hpp"
#include "cmd/man_page.hpp"
#include "cmd/mdoc.hpp"
#include "cmd/output.hpp"
#include "cmd/render.hpp"
#include "cmd/shell_completion.hpp"
#include "cmd/status.hpp"

namespace notify {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_width(const std::string& text, std::size_t width) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
}

TEST(Help, fits_into_80_columns) {
  expect_width(overview(80), 80);
  for (const Command& command : commands()) expect_width(command_help(command, 80), 80);
}

TEST(Help, shows_options_examples_and_exit_statuses) {
  for (const Command& command : commands()) {
    const std::string help = command_help(command, 80);
    EXPECT_THAT(help, HasSubstr("Usage:"));
    EXPECT_THAT(help, HasSubstr("Examples:"));
    EXPECT_THAT(help, HasSubstr("Exit status:"));
    EXPECT_THAT(help, HasSubstr("--json"));
    EXPECT_THAT(help, Not(HasSubstr("`")));
  }
}

TEST(Help, on_a_narrow_terminal_is_narrow_too) {
  const std::string help = overview(60);
  expect_width(help, 60);
}

TEST(Manual, has_a_page_for_every_command_and_the_formats) {
  EXPECT_EQ(man_pages().size(), commands().size() + 4);
  for (const std::string& name : man_pages()) {
    const auto page = man_page(name);
    ASSERT_TRUE(page) << name;
    EXPECT_THAT(*page, HasSubstr("\n.Sh NAME\n"));
    for (const std::string& line : lines_of(*page)) {
      EXPECT_FALSE(line.ends_with(' ')) << name << ": " << line;
    }
  }
  EXPECT_FALSE(man_page("notifyctl-frobnicate"));
}

TEST(Mdoc, escapes_what_the_language_would_take_for_itself) {
  EXPECT_EQ(Mdoc::argument("plain"), "plain");
  EXPECT_EQ(Mdoc::argument("No"), "\\&No");
  EXPECT_EQ(Mdoc::argument("."), "\\&.");
  EXPECT_EQ(Mdoc::argument("a b"), "\"a b\"");
  EXPECT_EQ(Mdoc::argument("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(Mdoc::argument("--x\\y"), "\\-\\-x\\ey");
  EXPECT_EQ(Mdoc::flag("--batch"), "Fl \\-batch");
}

TEST(Mdoc, puts_each_sentence_on_a_line_of_its_own) {
  Mdoc page("x", 1, "y");
  page.section("Z");
  page.text("One `a.b`. Two (`c`), three.\n\n.Four");
  EXPECT_THAT(page.source(), HasSubstr("One\n.Ql a.b .\nTwo\n.Ql ( c ) ,\nthree.\n.Pp\n\\&.Four\n"));
}

TEST(Completions, exist_for_three_shells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = shell_completion(shell);
    ASSERT_TRUE(script);
    for (const Command& command : commands()) EXPECT_THAT(*script, HasSubstr(std::string(command.name)));
    EXPECT_THAT(*script, HasSubstr("reject"));
  }
  EXPECT_FALSE(shell_completion("tcsh"));
}

TEST(ExitCodes, are_those_of_the_error_codes) {
  std::map<std::string, int> documented;
  for (const ExitCode& code : exit_codes()) {
    std::istringstream names{std::string(code.codes)};
    for (std::string name; names >> name;) documented[name] = code.status;
  }
  std::map<std::string, int> known;
  for (int i = 0; i <= static_cast<int>(Code::kConfig); ++i) {
    const Code code = static_cast<Code>(i);
    known[std::string(code_name(code))] = exit_status(code);
  }
  EXPECT_EQ(documented, known);
}

TEST(ExitCodes, of_every_command_are_documented) {
  for (const Command& command : commands())
    for (const ExitNote& note : command.page().exits) {
      const bool known = std::any_of(exit_codes().begin(), exit_codes().end(),
                                     [&](const ExitCode& code) { return code.status == note.status; });
      // status --check answers as monitoring systems expect
      EXPECT_TRUE(known || (command.name == "status" && note.status == 2)) << command.name << " " << note.status;
    }
}

TEST(ExitCodes, stand_in_docs) {
  std::ifstream file(std::string(NOTIFYCTL_SOURCE_DIR) + "/docs/exit-codes.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const ExitCode& code : exit_codes()) {
    std::string row = "| " + std::to_string(code.status) + " | ";
    std::istringstream names{std::string(code.codes)};
    std::string list;
    for (std::string name; names >> name;) list += (list.empty() ? "`" : ", `") + name + "`";
    row += (list.empty() ? "–" : list) + " | " + std::string(code.meaning) + " |";
    EXPECT_THAT(text.str(), HasSubstr(row));
  }
}

TEST(Errors, are_two_lines_or_one_object) {
  const Error error{Code::kBusy, "cannot write: busy", "try again", {}};
  EXPECT_EQ(error_text(error), "notifyctl: cannot write: busy\nhint: try again\n");
  const auto json = nlohmann::json::parse(error_json(error));
  EXPECT_EQ(json["error"]["code"], "busy");
  EXPECT_EQ(json["error"]["exit"], 75);
  EXPECT_EQ(json["error"]["message"], "cannot write: busy");
  EXPECT_EQ(json["error"]["hint"], "try again");
}

TEST(Errors, F59_of_any_bytes_are_printable_and_valid_json) {
  const Error error{Code::kBadInput, "x\xff\x1b[31m\xed\xa0\x80y\n", "\xc0\xaf", {}};
  const std::string text = error_text(error);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(nlohmann::json::parse(error_json(error), nullptr, false).is_discarded());
}

TEST(Render, measures_what_a_terminal_shows) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("한글"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("한글한글", 5), "한글…");
  EXPECT_EQ(shorten("abc", 3), "abc");
}

TEST(Render, wraps_at_the_width) {
  EXPECT_EQ(wrap("aa bb  cc\ndd", 5), "aa bb\ncc dd");
  EXPECT_EQ(wrap("aa bb", 6, 2), "  aa\n  bb");
  EXPECT_EQ(wrap("longerthanthewidth x", 5), "longerthanthewidth\nx");
}

TEST(Render, a_table_shrinks_only_what_may) {
  Table table({{"ID"}, {"TEXT", true}});
  table.add({"12345678901", "some rather long text that does not fit"});
  const std::string text = table.text(30);
  expect_width(text, 30);
  EXPECT_THAT(text, HasSubstr("12345678901"));
  EXPECT_THAT(text, HasSubstr("…"));
}

TEST(Render, a_cell_cannot_move_the_cursor) {
  Table table({{"A"}});
  table.add({"x\x1b[2Jy"});
  EXPECT_THAT(table.text(80), Not(HasSubstr("\x1b")));
}

TEST(Render, ages_and_sizes_at_a_glance) {
  EXPECT_EQ(show_age(59), "59 s");
  EXPECT_EQ(show_age(600), "10 min");
  EXPECT_EQ(show_age(3 * 3600), "3 h");
  EXPECT_EQ(show_age(3 * 86400), "3 d");
  EXPECT_EQ(show_bytes(512), "512 B");
  EXPECT_EQ(show_bytes(1536), "1.5 KiB");
}

TEST(Output, remembers_a_full_disk) {
  const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  {
    Output out(fd);
    out.line("x");
    const auto flushed = out.flush();
    ASSERT_FALSE(flushed);
    EXPECT_EQ(flushed.error().code, Code::kDiskFull);
    EXPECT_FALSE(out.flush()) << "an error is not forgotten";
  }
  close(fd);
}

TEST(Output, a_reader_that_went_away_is_no_error) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  {
    Output out(ends[1]);
    out.line("x");
    EXPECT_TRUE(out.flush());
    EXPECT_TRUE(out.abandoned());
  }
  close(ends[1]);
}

// --- status --check
// -------------------------------------------------------------------------------------------

StatusReport sound() {
  StatusReport report;
  report.identity.holds = true;
  report.database.journal_mode = "wal";
  return report;
}

TEST(StatusCheck, alarms_when_every_write_is_refused) {
  EXPECT_EQ(judge(sound(), {}, fail(Code::kConfig, "an older copy of itself")).status, 2);
  StatusReport report = sound();
  report.database.journal_mode = "delete";
  EXPECT_EQ(judge(report, {}).status, 2);
}

TEST(StatusCheck, is_ok_when_nothing_is_wrong) { EXPECT_EQ(judge(sound(), {}).status, 0); }

TEST(StatusCheck, warns_and_alarms) {
  StatusReport report = sound();
  report.parked.total = 1;
  EXPECT_EQ(judge(report, {}).status, 1);
  EXPECT_EQ(judge(report, {.max_parked = 1}).status, 0);
  report.oldest_unsent = 16min;
  EXPECT_EQ(judge(report, {}).status, 2);
  EXPECT_EQ(judge(report, {.max_age = 20min, .max_parked = 1}).status, 0);
  report = sound();
  report.identity.holds = false;
  EXPECT_EQ(judge(report, {}).status, 2);
  report = sound();
  report.inbox.error = 1;
  EXPECT_EQ(judge(report, {}).status, 1);
  report = sound();
  report.alerts_open = 1;
  EXPECT_EQ(judge(report, {}).status, 1);
  report = sound();
  report.channels.push_back({.channel = "sms", .state = "halted"});
  EXPECT_THAT(judge(report, {}).text, HasSubstr("channel sms is halted"));
}

TEST(StatusPrometheus, has_the_same_families_whatever_the_numbers) {
  const auto families = [](const StatusReport& report) {
    std::vector<std::string> names;
    for (const std::string& line : lines_of(status_prometheus(report)))
      if (line.starts_with("# TYPE")) names.push_back(line);
    return names;
  };
  StatusReport busy = sound();
  busy.outbox.pending = 5;
  busy.parked = {3, {{"template-missing", 3}}};
  EXPECT_EQ(families(sound()), families(busy));
  EXPECT_THAT(status_prometheus(busy), HasSubstr("notifyctl_outbox_messages{state=\"PENDING\"} 5\n"));
}

}  // namespace
}  // namespace notify
