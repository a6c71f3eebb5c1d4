// Files that the configuration leads to: secrets and templates.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/config_file.hpp"
#include "sys/secrets.hpp"
#include "sys/template_files.hpp"

namespace notify {
namespace {

using testing::HasSubstr;
using testing::Not;

class ConfigFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "notify-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, std::string_view text, mode_t mode = 0600) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  std::string directory_;
};

Environment no_variables() {
  return [](const char*) { return std::nullopt; };
}

TEST_F(ConfigFiles, F57_secret_files_that_others_may_read_are_refused) {
  for (const mode_t mode : {mode_t{0640}, mode_t{0604}, mode_t{0660}, mode_t{0620}}) {
    SecretSetting setting{SecretSetting::Source::kFile, write("key", "hunter2\n", mode), {}};
    const auto loaded = load_secret(setting, no_variables());
    ASSERT_FALSE(loaded) << mode;
    EXPECT_EQ(loaded.error().code, Code::kPermission);
    EXPECT_THAT(loaded.error().message, HasSubstr(setting.from));
    EXPECT_THAT(loaded.error().message, Not(HasSubstr("hunter2")));
  }
}

TEST_F(ConfigFiles, one_line_end_is_not_part_of_a_secret) {
  const auto load = [&](std::string_view text) {
    SecretSetting setting{SecretSetting::Source::kFile, write("key", text), {}};
    EXPECT_TRUE(load_secret(setting, no_variables()));
    return setting.value.reveal();
  };
  EXPECT_EQ(load("hunter2\n"), "hunter2");
  EXPECT_EQ(load("hunter2"), "hunter2");
  EXPECT_EQ(load(" hunter2 \n\n"), " hunter2 \n");
}

TEST_F(ConfigFiles, a_secret_of_the_environment_must_be_set) {
  SecretSetting setting{SecretSetting::Source::kEnvironment, "HOOK_TOKEN", {}};
  ASSERT_FALSE(load_secret(setting, no_variables()));
  ASSERT_TRUE(load_secret(setting, [](const char* name) { return std::optional<std::string>(name); }));
  EXPECT_EQ(setting.value.reveal(), "HOOK_TOKEN");
}

TEST_F(ConfigFiles, a_command_prints_a_secret) {
  SecretSetting setting;
  setting.source = SecretSetting::Source::kCommand;
  setting.command = {"printf", "hunter2\\n"};
  ASSERT_TRUE(load_secret(setting, no_variables()));
  EXPECT_EQ(setting.value.reveal(), "hunter2");
}

TEST_F(ConfigFiles, F57_a_command_that_fails_tells_nothing_of_what_it_printed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"sh", "-c", "echo hunter2; exit 3"}, "ended with 3"},
      {{"sh", "-c", "echo hunter2; kill -9 $$"}, "ended by signal 9"},
      {{"true"}, "printed nothing"},
      {{"sh", "-c", "head -c 70000 /dev/zero | tr '\\0' x"}, "printed more than 64 KiB"},
      {{"/nonexistent/pass", "hunter2"}, "does not start"},
  };
  for (const auto& [command, why] : cases) {
    SecretSetting setting;
    setting.source = SecretSetting::Source::kCommand;
    setting.command = command;
    const auto loaded = load_secret(setting, no_variables());
    ASSERT_FALSE(loaded) << why;
    EXPECT_EQ(loaded.error().code, Code::kConfig);
    EXPECT_THAT(loaded.error().message, HasSubstr(why));
    EXPECT_THAT(loaded.error().message, Not(HasSubstr("hunter2")));
    EXPECT_TRUE(setting.value.empty());
  }
}

TEST_F(ConfigFiles, errors_about_secrets_name_channel_and_key) {
  ChannelConfig channel;
  channel.name = "ops";
  WebhookDriverConfig webhook;
  webhook.headers.push_back({"Authorization", {SecretSetting::Source::kFile, directory_ + "/missing", {}}});
  channel.driver = webhook;
  const auto loaded = load_secrets(channel, no_variables());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("channels.ops.headers.Authorization: "));
}

TEST_F(ConfigFiles, F46_a_line_end_inside_a_header_read_from_a_file_is_refused) {
  ChannelConfig channel;
  channel.name = "ops";
  WebhookDriverConfig webhook;
  webhook.headers.push_back({"Authorization", {SecretSetting::Source::kFile, write("token", "a\r\nBcc: e\n"), {}}});
  channel.driver = webhook;
  EXPECT_FALSE(load_secrets(channel, no_variables()));
}

TEST_F(ConfigFiles, plain_secrets_are_judged_by_the_mode_of_the_configuration) {
  const char* text = "environment = \"x\"\n[channels.a]\ndriver = \"webhook\"\nsecret = \"plain\"\n";
  EXPECT_TRUE(load_config(write("config.toml", text, 0600)));
  EXPECT_FALSE(load_config(write("config.toml", text, 0640)));
}

TEST_F(ConfigFiles, a_directory_or_nothing_is_no_configuration) {
  const auto directory = load_config(directory_);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, Code::kConfig);
  EXPECT_EQ(load_config(directory_ + "/none.toml").error().code, Code::kConfig);
}

TEST_F(ConfigFiles, templates_have_wordings_for_channels_and_locales) {
  write("welcome.toml", R"(
subject = "Welcome, {{name}}"
body = "Hello {{name}}"
[[variant]]
channel = "sms"
locale = "ko"
body = "{{name}}님, 환영합니다"
)");
  write("README.md", "not a template");
  const auto set = load_templates(directory_);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->templates.size(), 1U);
  const auto& variants = set->templates.at("welcome");
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].subject, "Welcome, {{name}}");
  EXPECT_EQ(variants[1].channel, "sms");
  EXPECT_EQ(variants[1].locale, "ko");
  EXPECT_FALSE(variants[1].subject);
}

TEST_F(ConfigFiles, F46_a_subject_of_several_lines_is_trimmed_or_refused) {
  write("a.toml", "subject = \"\"\"\nOne line\n\"\"\"\nbody = \"x\"\n");
  const auto trimmed = load_templates(directory_);
  ASSERT_TRUE(trimmed) << trimmed.error().message;
  EXPECT_EQ(trimmed->templates.at("a")[0].subject, "One line");
  write("a.toml", "subject = \"One\\nBcc: e@evil.test\"\nbody = \"x\"\n");
  const auto refused = load_templates(directory_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a.toml:1:11: subject: must be one line"));
}

TEST_F(ConfigFiles, wrong_templates_are_named_with_file_and_line) {
  write("a.toml", "body = \"x\"\nsubjct = \"y\"\n");
  auto set = load_templates(directory_);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("a.toml:2:"));
  EXPECT_THAT(set.error().hint, HasSubstr("subject"));
  write("a.toml", "body = 5\n");
  EXPECT_THAT(load_templates(directory_).error().message, HasSubstr("body: must be a string"));
  write("a.toml", "[[variant]]\nbody = \"x\"\n");
  EXPECT_THAT(load_templates(directory_).error().message, HasSubstr("needs a channel or a locale"));
  write("a.toml", "body = \"{{open\"\n");
  set = load_templates(directory_);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::kConfig);
  EXPECT_THAT(set.error().message, HasSubstr("a.toml"));
}

TEST_F(ConfigFiles, one_template_is_found_by_its_name_and_never_by_a_path) {
  std::filesystem::create_directory(directory_ + "/inner");
  write("a.toml", "body = \"x\"\n");
  EXPECT_EQ(load_template(directory_, "a")->templates.size(), 1U);
  EXPECT_TRUE(load_template(directory_, "b")->templates.empty());
  EXPECT_TRUE(load_template(directory_ + "/inner", "../a")->templates.empty());
}

}  // namespace
}  // namespace notify
