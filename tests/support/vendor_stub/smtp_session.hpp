// SMTP on one connection. Mails are logged at the final dot with their bytes as they came, dots and all.
#pragma once

#include <string>
#include <string_view>

#include "connection.hpp"
#include "request.hpp"

namespace stub {

class SmtpSession : public Session {
 public:
  explicit SmtpSession(Connection& connection);

  void on_input() override;
  void perform(std::uint32_t stream, const Behaviour& act) override;
  void tick(std::uint32_t, const Behaviour&) override {}
  bool wants_to_finish() const override { return state_ == State::owed || connection_.unsent() > 0; }

 private:
  enum class State : std::uint8_t { command, login_user, login_password, data, owed, dead };

  bool take_line();
  bool take_data();
  void on_command(std::string_view line);
  void on_ehlo(std::string_view argument, bool extended);
  void on_starttls();
  void on_auth(std::string_view argument);
  void on_auth_line(std::string_view line);
  void on_mail(std::string_view argument);
  void on_rcpt(std::string_view argument);
  void on_data();
  void on_quit();
  void begin_mail();

  // True if the policy took over at this stage.
  bool intercepted(SmtpStage stage);
  void act_now(const Behaviour& act);
  void say(std::string_view text);

  Connection& connection_;
  Request request_;
  State state_ = State::command;
  std::string authorization_;
  std::string greeting_name_;
  std::uint64_t mails_ = 0;
  std::size_t searched_ = 0;  // of the input, for the final dot
  bool in_mail_ = false;
};

}  // namespace stub
