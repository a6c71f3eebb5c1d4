#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/cli.hpp"
#include "cmd/enqueue.hpp"
#include "cmd/option_set.hpp"

namespace notify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A set with one option of every kind.
struct Targets {
  bool flag = false;
  int number = 7;
  int verbose = 0;
  std::string text{};
  std::optional<std::string> maybe{};
  std::vector<std::string> many{};
  Duration time = 15min;
  std::optional<Duration> wait{};
  std::string first{};
  std::vector<std::string> rest{};
};

class Options : public testing::Test {
 protected:
  Options() {
    set_.flag("-f,--flag", targets_.flag, "a flag");
    set_.add("-n,--number", &targets_.number, "N", "a number").between(1, 10);
    set_.add("-v,--verbose", &targets_.verbose, "", "more").counted();
    set_.add("--text", &targets_.text, "TEXT", "a text").one_of({"", "a", "b", "--text=", "x"});
    set_.add("--maybe", &targets_.maybe, "TEXT", "a text or none");
    set_.add("--many", &targets_.many, "TEXT", "texts");
    set_.add("--time", &targets_.time, "TIME", "a duration").between(1s, 1h);
    set_.add("--wait", &targets_.wait, "TIME", "a duration").optional_value("30s");
    set_.positional("FIRST", &targets_.first, "the first");
    set_.positional("REST", &targets_.rest, "the rest");
  }

  Result<void> parse(const std::vector<std::string>& words) { return set_.parse(words); }
  Error error(const std::vector<std::string>& words) {
    const auto parsed = set_.parse(words);
    EXPECT_FALSE(parsed);
    return parsed ? Error{} : parsed.error();
  }

  Targets targets_;
  OptionSet set_;
};

TEST_F(Options, are_stored_in_the_struct) {
  ASSERT_TRUE(parse({"--flag", "--number", "3", "-vv", "--text=a", "--maybe", "m", "--many", "1", "--many=2", "--time",
                     "1m30s", "one", "two", "three"}));
  EXPECT_TRUE(targets_.flag);
  EXPECT_EQ(targets_.number, 3);
  EXPECT_EQ(targets_.verbose, 2);
  EXPECT_EQ(targets_.text, "a");
  EXPECT_EQ(targets_.maybe, "m");
  EXPECT_THAT(targets_.many, ElementsAre("1", "2"));
  EXPECT_EQ(targets_.time, 90s);
  EXPECT_EQ(targets_.first, "one");
  EXPECT_THAT(targets_.rest, ElementsAre("two", "three"));
  EXPECT_TRUE(set_.given("--number"));
  EXPECT_FALSE(set_.given("--wait"));
}

TEST_F(Options, keep_their_defaults_when_they_are_not_given) {
  ASSERT_TRUE(parse({}));
  EXPECT_EQ(targets_.number, 7);
  EXPECT_EQ(targets_.time, 15min);
  EXPECT_FALSE(targets_.maybe);
  EXPECT_EQ(set_.find("--number")->fallback, "7");
  EXPECT_EQ(set_.find("--time")->fallback, "15m");
}

TEST_F(Options, an_empty_value_is_a_value) {
  ASSERT_TRUE(parse({"--maybe=", "--many=", "one"}));
  EXPECT_EQ(targets_.maybe, "");
  EXPECT_THAT(targets_.many, ElementsAre(""));
  EXPECT_EQ(targets_.first, "one");
}

TEST_F(Options, a_value_may_look_like_an_option) {
  ASSERT_TRUE(parse({"--maybe", "--flag", "--many", "--text=", "--many", "--"}));
  EXPECT_EQ(targets_.maybe, "--flag");
  EXPECT_THAT(targets_.many, ElementsAre("--text=", "--"));
  EXPECT_FALSE(targets_.flag);
}

TEST_F(Options, brackets_and_braces_are_text) {
  ASSERT_TRUE(parse({"--many", "[a,b]", "--maybe", "{}", "[x]", "[y,z]"}));
  EXPECT_THAT(targets_.many, ElementsAre("[a,b]"));
  EXPECT_EQ(targets_.maybe, "{}");
  EXPECT_EQ(targets_.first, "[x]");
  EXPECT_THAT(targets_.rest, ElementsAre("[y,z]"));
}

TEST_F(Options, after_two_dashes_everything_is_an_argument) {
  ASSERT_TRUE(parse({"--", "--flag", "-", "--"}));
  EXPECT_FALSE(targets_.flag);
  EXPECT_EQ(targets_.first, "--flag");
  EXPECT_THAT(targets_.rest, ElementsAre("-", "--"));
}

TEST_F(Options, a_value_can_be_optional) {
  ASSERT_TRUE(parse({"--wait"}));
  EXPECT_EQ(targets_.wait, Duration(30s));
  targets_.wait.reset();
  ASSERT_TRUE(parse({"--wait", "--flag"}));
  EXPECT_EQ(targets_.wait, Duration(30s));
  EXPECT_TRUE(targets_.flag);
  ASSERT_TRUE(parse({"--wait=5s"}));
  EXPECT_EQ(targets_.wait, Duration(5s));
}

TEST_F(Options, unknown_ones_are_refused_with_a_near_miss) {
  EXPECT_EQ(error({"--nubmer", "3"}).message, "unknown option --nubmer");
  EXPECT_EQ(error({"--nubmer", "3"}).hint, "did you mean \"--number\"?");
  EXPECT_EQ(error({"--nubmer=3"}).message, "unknown option --nubmer");
  EXPECT_EQ(error({"-x"}).code, Code::kUsage);
}

TEST_F(Options, wrong_values_are_refused) {
  EXPECT_EQ(error({"--number", "11"}).message, "--number: 11 is not between 1 and 10");
  EXPECT_THAT(error({"--number", "3x"}).message, HasSubstr("--number: \"3x\""));
  EXPECT_THAT(error({"--number", ""}).message, HasSubstr("--number: "));
  EXPECT_THAT(error({"--wait="}).message, HasSubstr("--wait: "));
  EXPECT_THAT(error({"--number", "99999999999999999999"}).message, HasSubstr("--number: "));
  EXPECT_EQ(error({"--time", "2h"}).message, "--time: 2h is not between 1s and 1h");
  EXPECT_EQ(error({"--time", "90"}).code, Code::kUsage);
  EXPECT_THAT(error({"--text", "c"}).message, HasSubstr("--text: \"c\" is not known"));
}

TEST_F(Options, missing_values_and_repetitions_are_refused) {
  EXPECT_EQ(error({"--maybe"}).message, "--maybe lacks its value");
  EXPECT_EQ(error({"-n"}).message, "--number lacks its value");
  EXPECT_THAT(error({"--number", "1", "--number", "2"}).message, HasSubstr("--number was given 2 times"));
  EXPECT_THAT(error({"--flag=maybe"}).message, HasSubstr("--flag takes no value"));
}

TEST_F(Options, help_wins_over_errors) {
  ASSERT_TRUE(parse({"--number", "11", "--help"}));
  EXPECT_TRUE(set_.help_requested());
}

TEST_F(Options, help_as_a_value_is_no_request) {
  ASSERT_TRUE(parse({"--maybe", "--help"}));
  EXPECT_FALSE(set_.help_requested());
  EXPECT_EQ(targets_.maybe, "--help");
}

TEST(OptionSet, required_and_surplus_arguments) {
  std::string id;
  OptionSet set;
  set.positional("ID", &id, "an id").required();
  EXPECT_EQ(set.parse({}).error().message, "ID is missing");
  EXPECT_EQ(set.parse({"a", "b"}).error().message, "unexpected argument \"b\"");
}

Environment no_variables() {
  return [](const char*) { return std::nullopt; };
}

Environment variable(std::string name, std::string value) {
  return [name, value](const char* asked) { return asked == name ? std::optional(value) : std::nullopt; };
}

TEST(CommandLine, global_options_stand_before_and_after_the_command) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--db", "x.db", "--json", "status"},
                                             {"status", "--json", "--db", "x.db"},
                                             {"--json", "status", "--db=x.db"}}) {
    const auto invocation = parse_command_line(words, no_variables());
    ASSERT_TRUE(invocation) << invocation.error().message;
    EXPECT_EQ(invocation->command->name, "status");
    EXPECT_EQ(invocation->globals.db, "x.db");
    EXPECT_TRUE(invocation->globals.json);
  }
}

TEST(CommandLine, the_value_of_a_global_option_is_not_the_command) {
  const auto invocation = parse_command_line({"--db", "status", "list", "outbox"}, no_variables());
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->command->name, "list");
  EXPECT_EQ(invocation->globals.db, "status");
}

TEST(CommandLine, an_argument_may_be_named_like_a_command) {
  const auto invocation = parse_command_line({"show", "enqueue"}, no_variables());
  ASSERT_TRUE(invocation) << invocation.error().message;
  EXPECT_EQ(invocation->command->name, "show");
}

TEST(CommandLine, an_unknown_command_gets_a_near_miss) {
  const auto invocation = parse_command_line({"enqeue", "--channel", "x"}, no_variables());
  ASSERT_FALSE(invocation);
  EXPECT_EQ(invocation.error().code, Code::kUsage);
  EXPECT_EQ(invocation.error().hint, "did you mean \"enqueue\"?");
}

TEST(CommandLine, flags_win_over_the_environment) {
  const Environment environment = variable("NOTIFYCTL_DB", "/env.db");
  EXPECT_EQ(parse_command_line({"status"}, environment)->globals.db, "/env.db");
  EXPECT_EQ(parse_command_line({"status", "--db", "/flag.db"}, environment)->globals.db, "/flag.db");
  EXPECT_FALSE(parse_command_line({"status"}, variable("NOTIFYCTL_DB", ""))->globals.db);
  EXPECT_FALSE(parse_command_line({"status"}, variable("NOTIFYCTL_COLOR", "sometimes")));
}

TEST(CommandLine, only_init_takes_config_without_a_file) {
  const auto init = parse_command_line({"init", "--config"}, no_variables());
  ASSERT_TRUE(init) << init.error().message;
  EXPECT_EQ(init->globals.config, "");
  EXPECT_EQ(parse_command_line({"init", "--config=/x"}, no_variables())->globals.config, "/x");
  EXPECT_EQ(parse_command_line({"init", "--config"}, variable("NOTIFYCTL_CONFIG", "/env"))->globals.config, "/env");
  EXPECT_FALSE(parse_command_line({"status", "--config"}, no_variables()));
  EXPECT_FALSE(parse_command_line({"status", "--config="}, no_variables()));
}

TEST(CommandLine, help_is_understood_everywhere) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"enqueue", "--help"}, {"--json", "enqueue", "-h"}}) {
    const auto invocation = parse_command_line(words, no_variables());
    ASSERT_TRUE(invocation);
    EXPECT_TRUE(invocation->help);
  }
}

TEST(EnqueueCommand, options_reach_the_struct) {
  OptionSet set;
  EnqueueOptions options;
  register_options(set, options);
  ASSERT_TRUE(set.parse({"--channel", "sms", "--to", "+821000000000", "--key", "K", "--var", "a=1", "--var", "b=x=y",
                         "--priority", "9", "--wait=5s", "--subject="}));
  EXPECT_EQ(options.channel, "sms");
  EXPECT_EQ(options.to, "+821000000000");
  EXPECT_THAT(options.vars, ElementsAre("a=1", "b=x=y"));
  EXPECT_EQ(options.wait, Duration(5s));
  EXPECT_EQ(options.subject, "");
  EXPECT_FALSE(options.now);
}

TEST(Commands, each_is_complete) {
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_FALSE(command.summary.empty());
    EXPECT_LE(command.summary.size(), 60U);
    const Page page = command.page();
    EXPECT_FALSE(page.synopsis.empty());
    EXPECT_FALSE(page.description.empty());
    EXPECT_FALSE(page.examples.empty());
    EXPECT_FALSE(page.exits.empty());
    OptionSet set;
    ASSERT_TRUE(command.bind(set));
    for (const Option& option : set.options()) EXPECT_FALSE(option.help.empty()) << option.display();
  }
}

// A command's option that is named like a global one would hide it.
TEST(Commands, none_takes_the_name_of_a_global_option) {
  OptionSet globals;
  Globals ignored;
  register_options(globals, ignored);
  for (const Command& command : commands()) {
    OptionSet set;
    (void)command.bind(set);
    for (const Option& option : set.options()) {
      if (option.is_positional()) continue;
      EXPECT_EQ(globals.find(option.long_name), nullptr) << command.name << " " << option.long_name;
      EXPECT_TRUE(option.short_name.empty() || globals.find(option.short_name) == nullptr) << option.short_name;
    }
  }
}

}  // namespace
}  // namespace notify
