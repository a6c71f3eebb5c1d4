#include "sys/config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cmd/starter_config.hpp"
#include "core/safe_text.hpp"
#include "sys/config_keys.hpp"

namespace notify {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/etc/notifyctl/config.toml";

Result<Config> parse(std::string_view text, bool is_private = true) { return parse_config(text, kPath, is_private); }

std::vector<std::string> problems_of(std::string_view text, bool is_private = true) {
  std::vector<Error> problems;
  EXPECT_FALSE(parse_config(text, kPath, is_private, &problems)) << text;
  std::vector<std::string> messages;
  for (const Error& problem : problems) messages.push_back(problem.message + " | " + problem.hint);
  return messages;
}

// Exactly one problem, which says this.
void expect_problem(std::string_view text, const std::string& part, bool is_private = true) {
  const auto problems = problems_of(text, is_private);
  ASSERT_EQ(problems.size(), 1U) << text << testing::PrintToString(problems);
  EXPECT_THAT(problems[0], HasSubstr(part));
}

Environment variables(std::map<std::string, std::string> values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(ConfigFile, an_empty_file_means_all_defaults) {
  const auto config = parse("");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->relay.batch, 50);
  EXPECT_EQ(config->relay.lease, 15min);
  EXPECT_EQ(config->relay.backoff.size(), 6U);
  EXPECT_EQ(config->queue.delivery_limit, 20);
  EXPECT_TRUE(config->channels.empty());
  EXPECT_FALSE(config->retention.keep_keys);
}

TEST(ConfigFile, reads_every_key) {
  const auto config = parse(R"(
database = "notify.db"
environment = "staging"
timezone = "Asia/Seoul"
ca_bundle = "/etc/ssl/mine.pem"
[guard]
allow = ["+8210000*", "*@example.com"]
[relay]
batch = 7
lease = "10m"
confirm_timeout = "2s"
batch_deadline = "30s"
backoff = ["1s", "1m30s"]
alert_after = 3
give_up_after = "2d"
[queue]
lease = "4m"
delivery_limit = 9
[work]
concurrency = 32
shutdown_grace = "90s"
[retention]
keep_keys = "400d"
[quiet_hours.advertising]
relay = { from = "20:40", until = "08:00" }
worker = { from = "20:50", until = "08:00" }
[channels.hook]
driver = "webhook"
semantics = "at-least-once"
url = "https://example.com/hook"
headers = { X-Source = "shop", Authorization = { env = "HOOK_TOKEN" } }
secret = [{ file = "new.key" }, { file = "/abs/old.key" }]
http_version = "2"
not_sent = [503, 429]
allow_private = true
connect_timeout = "2s"
timeout = "20s"
stale_after = "15m"
concurrency = 4
rate = "50/s"
retry = ["1s"]
per_recipient = { limit = 3, per = "1d", category = "advertising" }
idempotency_window = "12h"
max_text_bytes = { encoding = "EUC-KR", limit = 2000 }
[channels.archive]
driver = "file"
path = "out.jsonl"
[channels.sms]
driver = "exec"
command = ["bin/send", "--fast"]
[alerts]
exec = ["/bin/page"]
channel = "sms"
to = "+821000000000"
repeat_after = "2h"
[templates]
directory = "templates"
default_locale = "ko"
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->database, "/etc/notifyctl/notify.db");
  EXPECT_EQ(config->relay.backoff[1], 90s);
  EXPECT_EQ(config->retention.keep_keys, Duration(400 * 24h));
  EXPECT_EQ(config->quiet_hours.at("advertising").relay->from, 20 * 60 + 40);
  EXPECT_EQ(config->quiet_hours.at("advertising").worker->until, 8 * 60);
  ASSERT_EQ(config->channels.size(), 3U);
  EXPECT_EQ(config->channels[0].name, "archive");
  EXPECT_EQ(std::get<FileDriverConfig>(config->channels[0].driver).path, "/etc/notifyctl/out.jsonl");
  EXPECT_EQ(std::get<ExecDriverConfig>(config->channel("sms")->driver).command[0], "/etc/notifyctl/bin/send");
  const ChannelConfig& hook = *config->channel("hook");
  EXPECT_EQ(hook.semantics, Semantics::kAtLeastOnce);
  EXPECT_EQ(hook.timeout, 20s);
  EXPECT_EQ(hook.rate, (Rate{50, 1s}));
  EXPECT_EQ(hook.per_recipient->category, "advertising");
  EXPECT_EQ(hook.max_text_bytes->encoding, TextEncoding::kEucKr);
  const auto& webhook = std::get<WebhookDriverConfig>(hook.driver);
  EXPECT_EQ(webhook.url.value.reveal(), "https://example.com/hook");
  EXPECT_EQ(webhook.http_version, HttpVersion::k2);
  EXPECT_THAT(webhook.not_sent, testing::ElementsAre(503, 429));
  ASSERT_EQ(webhook.secrets.size(), 2U);
  EXPECT_EQ(webhook.secrets[0].from, "/etc/notifyctl/new.key");
  ASSERT_EQ(webhook.headers.size(), 2U);
  EXPECT_EQ(webhook.headers[0].name, "Authorization");
  EXPECT_EQ(webhook.headers[0].value.from, "HOOK_TOKEN");
  EXPECT_EQ(config->alerts.repeat_after, 2h);
  EXPECT_EQ(config->templates.directory, "/etc/notifyctl/templates");
}

TEST(ConfigFile, problems_name_file_line_column_and_key) {
  const auto config = parse("\n[relay]\n  batch = 0\n");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::kConfig);
  EXPECT_EQ(config.error().message, "/etc/notifyctl/config.toml:3:11: relay.batch: must be between 1 and 1000");
}

TEST(ConfigFile, an_unknown_key_is_an_error_with_a_near_miss) {
  expect_problem("[relay]\nbatsh = 1\n", "relay.batsh: unknown key | did you mean \"batch\"?");
  expect_problem("[realy]\n", "realy: unknown key | did you mean \"relay\"?");
  expect_problem("databse = \"/x\"\n", "did you mean \"database\"?");
  expect_problem("environment = \"x\"\n[channels.a]\ndriver = \"file\"\npath = \"/x\"\nurl = \"https://x\"\n",
                 "channels.a.url: is a key of the driver \"webhook\", \"apns\", \"fcm\", \"ses\" only");
  expect_problem(
      "timezone = \"UTC\"\n[quiet_hours.advertising]\nrelay = { from = \"20:00\", untill = \"08:00\", until "
      "= \"08:00\" }\n",
      "quiet_hours.advertising.relay.untill: unknown key | did you mean \"until\"?");
}

TEST(ConfigFile, reports_all_problems_at_once_in_the_order_of_the_file) {
  const auto problems = problems_of(R"([work]
concurrency = "many"
[relay]
batch = 5000
lease = 900
frobnicate = true
)");
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_THAT(problems[0], HasSubstr(":2:15: work.concurrency: must be an integer, not a string"));
  EXPECT_THAT(problems[1], HasSubstr(":4:9: relay.batch: must be between 1 and 1000"));
  EXPECT_THAT(problems[2], HasSubstr(":5:9: relay.lease: must be a duration such as \"10s\", not an integer"));
  EXPECT_THAT(problems[3], HasSubstr(":6:"));
  EXPECT_THAT(parse("[work]\nconcurrency = 0\n[relay]\nbatch = 0\n").error().message,
              HasSubstr("(and one more problem)"));
}

TEST(ConfigFile, what_is_not_toml_is_named_with_its_place) {
  expect_problem("\n£", "/etc/notifyctl/config.toml:2:1");  // see sys/toml.hpp
  expect_problem("[relay\nbatch = 1\n", "/etc/notifyctl/config.toml:1:");
  expect_problem("database = \"/a\"\ndatabase = \"/b\"\n", "/etc/notifyctl/config.toml:2:");
  expect_problem(std::string("database = \"/\xff\"\n"), "/etc/notifyctl/config.toml:1:");
}

struct Nesting {
  const char* text;
  const char* expected;
};

class NestedLimits : public testing::TestWithParam<Nesting> {};

TEST_P(NestedLimits, are_checked_when_the_file_is_read) { expect_problem(GetParam().text, GetParam().expected); }

#define CHANNEL "environment = \"x\"\n[channels.a]\ndriver = \"file\"\npath = \"/x\"\n"
INSTANTIATE_TEST_SUITE_P(
    ConfigFile, NestedLimits,
    testing::Values(
        Nesting{CHANNEL "timeout = \"10s\"\nconnect_timeout = \"10s\"\n",
                "channels.a.connect_timeout: 10s must be shorter than timeout (10s)"},
        Nesting{CHANNEL "timeout = \"50s\"\n[queue]\nlease = \"50s\"\n",
                "channels.a.timeout: 50s must be shorter than queue.lease (50s)"},
        Nesting{CHANNEL "stale_after = \"5m\"\n", "channels.a.stale_after: 5m must be longer than queue.lease (5m)"},
        Nesting{CHANNEL "timeout = \"60s\"\n", "channels.a.timeout: 1m must be shorter than work.shutdown_grace (1m)"},
        Nesting{"[relay]\nconfirm_timeout = \"1m\"\n", "must be shorter than relay.batch_deadline (1m)"},
        Nesting{"[relay]\nlease = \"1m\"\n", "relay.batch_deadline: 1m must be shorter than relay.lease (1m)"}));

TEST(ConfigFile, a_short_timeout_shrinks_the_default_of_connecting) {
  const auto config = parse(CHANNEL "timeout = \"3s\"\n");
  ASSERT_TRUE(config);
  EXPECT_LT(config->channels[0].connect_timeout, 3s);
}

TEST(ConfigFile, a_channel_needs_an_environment) {
  expect_problem("[channels.a]\ndriver = \"file\"\npath = \"/x\"\n", "with a channel, environment must be set");
}

TEST(ConfigFile, an_unknown_driver_is_told_with_a_near_one) {
  expect_problem("environment = \"x\"\n[channels.a]\ndriver = \"webhok\"\n", "did you mean \"webhook\"?");
  expect_problem("environment = \"x\"\n[channels.a]\n", "channels.a.driver: is missing");
}

TEST(ConfigFile, F53_an_unknown_zone_is_refused_and_never_utc) {
  for (const char* zone : {"Asia/Seuol", "KST", "GMT+9", "asia/seoul", "../../etc/passwd"})
    expect_problem("timezone = \"" + std::string(zone) + "\"\n", ":1:12: timezone: ");
  expect_problem("timezone = \"\"\n", "timezone: must not be empty");
  expect_problem("[quiet_hours.advertising]\nrelay = { from = \"20:00\", until = \"08:00\" }\n",
                 "quiet hours need a time zone");
}

TEST(ConfigFile, quiet_hours_refuse_what_is_no_window) {
  const std::string head = "timezone = \"UTC\"\n[quiet_hours.advertising]\n";
  expect_problem(head + "relay = { from = \"24:00\", until = \"08:00\" }\n", "quiet_hours.advertising.relay.from");
  expect_problem(head + "relay = { from = \"08:00\", until = \"08:00\" }\n", "must differ from \"from\"");
  expect_problem("timezone = \"UTC\"\n[quiet_hours.news]\n", "quiet_hours.news: is not a category");
}

TEST(ConfigFile, F57_a_plain_secret_needs_a_private_file_and_is_never_repeated) {
  const std::string hook = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  const std::string text = hook + "secret = \"whsec_VERYSECRET\"\n";
  EXPECT_TRUE(parse(text, true));
  const auto problems = problems_of(text, false);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("a secret must not stand in a file that others can read"));
  EXPECT_THAT(problems[0], testing::Not(HasSubstr("VERYSECRET")));
  expect_problem(hook + "headers = { Authorization = \"Bearer tok_SECRET\" }\n", "channels.a.headers.Authorization",
                 false);
  expect_problem(hook + "headers = { X-Api-Key = \"SECRET\" }\n", "channels.a.headers.X-Api-Key", false);
  EXPECT_TRUE(parse(hook + "headers = { X-Source = \"shop\" }\n", false));
  EXPECT_TRUE(parse(hook + "url = \"https://example.com/x\"\n", false));
}

TEST(ConfigFile, F57_a_wrong_url_is_not_repeated) {
  const std::string hook = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  for (const char* url :
       {"ftp://host/SECRET", "https:///SECRET", "https://user:SECRET@host/", "SECRET", "https://h/SECRET x"}) {
    const auto problems = problems_of(hook + "url = \"" + url + "\"\n");
    ASSERT_EQ(problems.size(), 1U) << url;
    EXPECT_THAT(problems[0], HasSubstr("channels.a.url: "));
    EXPECT_THAT(problems[0], testing::Not(HasSubstr("SECRET"))) << url;
  }
}

TEST(ConfigFile, F46_a_header_cannot_hold_another_one) {
  const std::string hook = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  expect_problem(hook + "headers = { X-A = \"x\\r\\nBcc: e@evil.test\" }\n", "must not contain line ends");
  expect_problem(hook + "headers = { X-A = \"x\\n\" }\n", "must not contain line ends");
  expect_problem(hook + "headers = { \"X A\" = \"x\" }\n", "is not a header's name");
  expect_problem(hook + "headers = { \"X:\" = \"x\" }\n", "is not a header's name");
  expect_problem(hook + "headers = { Content-Length = \"1\" }\n", "is set by notifyctl itself");
  expect_problem(hook + "headers = { idempotency-key = \"1\" }\n", "is set by notifyctl itself");
}

TEST(ConfigFile, a_secret_comes_from_one_place) {
  const std::string hook = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  expect_problem(hook + "secret = { file = \"/x\", env = \"X\" }\n", "needs one of file, env and command");
  expect_problem(hook + "secret = {}\n", "needs one of file, env and command");
  expect_problem(hook + "secret = { fiel = \"/x\" }\n", "did you mean \"file\"?");
  expect_problem(hook + "secret = 5\n",
                 "must be a string, { file = … }, { env = … } or { command = [ … ] }, not an integer");
}

TEST(ConfigFile, a_secret_may_come_from_a_command) {
  const std::string hook = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  const auto config = parse(hook + "secret = { command = [\"pass\", \"show\", \"hook\"] }\n");
  const SecretSetting& secret = std::get<WebhookDriverConfig>(config->channels[0].driver).secrets.at(0);
  EXPECT_EQ(secret.source, SecretSetting::Source::kCommand);
  EXPECT_EQ(secret.command, (std::vector<std::string>{"pass", "show", "hook"}));
  EXPECT_TRUE(secret.value.empty()) << "nothing runs before it is needed";
  expect_problem(hook + "secret = { command = \"pass show hook\" }\n", "must be a list");
  expect_problem(hook + "secret = { command = [] }\n", "must not be empty");
}

TEST(ConfigFile, a_secret_is_not_printable) {
  const auto config = parse("environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\nsecret = \"s3cret\"\n");
  ASSERT_TRUE(config);
  const auto& webhook = std::get<WebhookDriverConfig>(config->channels[0].driver);
  EXPECT_EQ(to_string(webhook.secrets[0].value), "***");
  EXPECT_EQ(webhook.secrets[0].value.reveal(), "s3cret");
}

TEST(ConfigFile, alerts_name_a_channel_that_exists) {
  expect_problem("[alerts]\nchannel = \"ops\"\nto = \"x\"\n", "there is no [channels.ops]");
  expect_problem(CHANNEL "[alerts]\nchannel = \"a\"\n", "alerts.to: is missing");
}

TEST(ConfigFile, the_guard_is_on_everywhere_but_in_production) {
  const std::string channel = "[channels.a]\ndriver = \"file\"\npath = \"/x\"\n";
  EXPECT_TRUE(parse("environment = \"staging\"\n" + channel)->guarded());
  EXPECT_TRUE(parse("environment = \"Production\"\n" + channel)->guarded());
  EXPECT_FALSE(parse("environment = \"production\"\n" + channel)->guarded());
}

TEST(ConfigFile, the_starter_configuration_loads) {
  EXPECT_TRUE(parse(starter_config("")));
  const auto config = parse(starter_config("Asia/Seoul"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->timezone, "Asia/Seoul");
}

// What the manual says about defaults must be what holds: each one, written out, changes nothing.
TEST(ConfigFile, documented_defaults_load) {
  std::map<std::string, std::string> sections;
  for (const ConfigKey& key : config_keys())
    if (!key.fallback.empty() && key.section.find('*') == std::string_view::npos)
      sections[std::string(key.section)] += std::string(key.key) + " = " + std::string(key.fallback) + "\n";
  std::string text;
  for (const auto& [name, keys] : sections) text += (name.empty() ? "" : "[" + name + "]\n") + keys;
  const auto config = parse(text);
  ASSERT_TRUE(config) << config.error().message << "\n" << text;
  const Config defaults;
  EXPECT_EQ(config->relay.batch, defaults.relay.batch);
  EXPECT_EQ(config->relay.lease, defaults.relay.lease);
  EXPECT_EQ(config->relay.confirm_timeout, defaults.relay.confirm_timeout);
  EXPECT_EQ(config->relay.batch_deadline, defaults.relay.batch_deadline);
  EXPECT_EQ(config->relay.backoff, defaults.relay.backoff);
  EXPECT_EQ(config->relay.alert_after, defaults.relay.alert_after);
  EXPECT_EQ(config->relay.give_up_after, defaults.relay.give_up_after);
  EXPECT_EQ(config->queue.lease, defaults.queue.lease);
  EXPECT_EQ(config->queue.delivery_limit, defaults.queue.delivery_limit);
  EXPECT_EQ(config->work.concurrency, defaults.work.concurrency);
  EXPECT_EQ(config->work.shutdown_grace, defaults.work.shutdown_grace);
  EXPECT_EQ(config->retention.keep_keys, defaults.retention.keep_keys);
  EXPECT_EQ(config->alerts.repeat_after, defaults.alerts.repeat_after);
}

TEST(ConfigFile, documented_defaults_of_a_channel_load) {
  std::string text = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\n";
  for (const ConfigKey& key : config_keys())
    if (!key.fallback.empty() && key.section == "channels.*" && key.key != "idempotency_window" &&
        (key.driver.empty() || key.driver == "webhook"))
      text += std::string(key.key) + " = " + std::string(key.fallback) + "\n";
  const auto config = parse(text);
  ASSERT_TRUE(config) << config.error().message << "\n" << text;
  const ChannelConfig defaults;
  const ChannelConfig& channel = config->channels[0];
  EXPECT_EQ(channel.semantics, defaults.semantics);
  EXPECT_EQ(channel.connect_timeout, defaults.connect_timeout);
  EXPECT_EQ(channel.timeout, defaults.timeout);
  EXPECT_EQ(channel.stale_after, defaults.stale_after);
  EXPECT_EQ(channel.concurrency, defaults.concurrency);
  EXPECT_EQ(channel.retry, defaults.retry);
}

TEST(ConfigFile, every_key_is_described_once_and_in_a_known_section) {
  std::set<std::string> seen;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(
        seen.insert(std::string(key.section) + "." + std::string(key.key) + "/" + std::string(key.driver)).second)
        << key.key;
    EXPECT_FALSE(key.text.empty()) << key.key;
    const auto sections = config_sections();
    EXPECT_TRUE(std::any_of(sections.begin(), sections.end(), [&](const ConfigSection& section) {
      return section.name == key.section;
    })) << key.section;
  }
}

TEST(ConfigFile, apns_channels_are_read) {
  const std::string head = "environment = \"x\"\n[channels.a]\ndriver = \"apns\"\n";
  const std::string all = head +
                          "key = { file = \"/k.p8\" }\nkey_id = \"ABC123DEFG\"\nteam_id = \"DEF123GHIJ\"\n"
                          "topic = \"com.example.shop\"\n";
  const auto config = parse(all);
  ASSERT_TRUE(config) << config.error().message;
  const auto& driver = std::get<ApnsDriverConfig>(config->channels[0].driver);
  EXPECT_EQ(driver.key.from, "/k.p8");
  EXPECT_EQ(driver.key_id, "ABC123DEFG");
  EXPECT_EQ(driver.url, "https://api.push.apple.com");
  EXPECT_EQ(driver.priority, 10);
  EXPECT_FALSE(driver.ttl.has_value());
  const auto sandbox =
      parse(all + "environment = \"sandbox\"\npush_type = \"background\"\nttl = \"1h\"\nsound = \"default\"\n");
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  const auto& other = std::get<ApnsDriverConfig>(sandbox->channels[0].driver);
  EXPECT_EQ(other.url, "https://api.sandbox.push.apple.com");
  EXPECT_EQ(other.priority, 5);
  EXPECT_EQ(other.ttl, Duration{1h});
  EXPECT_EQ(std::get<ApnsDriverConfig>(parse(all + "url = \"https://127.0.0.1:8443\"\n")->channels[0].driver).url,
            "https://127.0.0.1:8443");
  const std::string without_topic = all.substr(0, all.find("topic"));
  expect_problem(without_topic, "channels.a.topic: is missing");
  expect_problem(all.substr(0, all.find("key_id")) + all.substr(all.find("team_id")), "channels.a.key_id: is missing");
  expect_problem(all + "url = \"http://127.0.0.1\"\n", "must be https://HOST");
  expect_problem(all + "url = \"https://h/path\"\n", "must be https://HOST");
  expect_problem(all + "priority = 7\n", "must be 10, 5 or 1");
  expect_problem(all + "push_type = \"background\"\npriority = 10\n", "must be 5 for a background push");
  expect_problem(all + "push_type = \"alarm\"\n", "is not one of");
  expect_problem(all + "project = \"x\"\n", "is a key of the driver");
}

TEST(ConfigFile, fcm_webpush_and_ses_channels_are_read) {
  const std::string head = "environment = \"x\"\n[channels.a]\n";
  const auto fcm = parse(head +
                         "driver = \"fcm\"\nservice_account = { file = \"/sa.json\" }\ntarget = \"topic\"\n"
                         "priority = \"high\"\nttl = \"28d\"\n");
  ASSERT_TRUE(fcm) << fcm.error().message;
  EXPECT_EQ(std::get<FcmDriverConfig>(fcm->channels[0].driver).target, "topic");
  EXPECT_EQ(std::get<FcmDriverConfig>(fcm->channels[0].driver).priority, "high");
  expect_problem(head + "driver = \"fcm\"\n", "service_account: is missing");
  expect_problem(head + "driver = \"fcm\"\nservice_account = { file = \"/x\" }\nttl = \"29d\"\n", "between 0s and 28d");

  const auto webpush = parse(head +
                             "driver = \"webpush\"\nkey = { env = \"K\" }\nsubject = \"mailto:a@b.test\"\n"
                             "allow_hosts = [\"fcm.googleapis.com\"]\n");
  ASSERT_TRUE(webpush) << webpush.error().message;
  EXPECT_EQ(std::get<WebPushDriverConfig>(webpush->channels[0].driver).ttl, Duration{24h});
  expect_problem(head + "driver = \"webpush\"\nkey = { env = \"K\" }\nsubject = \"a@b.test\"\n", "mailto: or https://");

  const std::string ses = head +
                          "driver = \"ses\"\nregion = \"eu-west-1\"\naccess_key_id = \"AKID\"\n"
                          "secret_access_key = { env = \"K\" }\nfrom = \"a@b.test\"\n";
  const auto mail = parse(ses);
  ASSERT_TRUE(mail) << mail.error().message;
  EXPECT_EQ(std::get<SesDriverConfig>(mail->channels[0].driver).url, "https://email.eu-west-1.amazonaws.com");
  expect_problem(ses.substr(0, ses.find("from")), "channels.a.from: is missing");
  expect_problem(ses.substr(0, ses.find("from")) + "from = \"shop\"\n", "is no mail address");
}

TEST(ConfigFile, a_named_file_must_exist_and_others_need_not) {
  const auto missing = find_config_file("/nonexistent/x.toml", variables({}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kConfig);
  const auto none = find_config_file(std::nullopt, variables({{"XDG_CONFIG_HOME", "/nonexistent"}}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->value_or("/etc/notifyctl/config.toml"), "/etc/notifyctl/config.toml");
}

TEST(ConfigFile, only_a_file_is_a_database) {
  expect_problem("database = \"postgresql://h/d\"\n", "database: only a file can be the database in this version");
  expect_problem("database = \"~/notify.db\"\n", "database: ~ means nothing here");
}

TEST(ConfigFile, the_default_database_follows_the_xdg_directories) {
  EXPECT_EQ(*default_database(variables({{"HOME", "/home/a"}}), false), "/home/a/.local/state/notifyctl/notify.db");
  EXPECT_EQ(*default_database(variables({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/s"}}), false),
            "/s/notifyctl/notify.db");
  EXPECT_EQ(*default_database(variables({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "relative"}}), false),
            "/home/a/.local/state/notifyctl/notify.db");
  EXPECT_EQ(*default_database(variables({{"HOME", "/root"}}), true), "/var/lib/notifyctl/notify.db");
  const auto nowhere = default_database(variables({}), false);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::kConfig);
}

}  // namespace
}  // namespace notify
