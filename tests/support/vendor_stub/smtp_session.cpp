#include "smtp_session.hpp"

#include <algorithm>

#include "http1_parser.hpp"
#include "server.hpp"
#include "text.hpp"

namespace stub {

namespace {

constexpr std::size_t max_line = 16 * 1024;

const Behaviour& plain_mail() {
  static const Rule rule = parse_rule({"smtp-log"}, "");
  return rule.act;
}

// "FROM:<a@b> SIZE=3" gives a@b; quoted local parts may hold '>'.
std::string address_of(std::string_view argument) {
  const std::size_t start = argument.find('<');
  if (start == std::string_view::npos) return {};
  bool quoted = false;
  for (std::size_t i = start + 1; i < argument.size(); ++i) {
    if (argument[i] == '"') quoted = !quoted;
    if (argument[i] == '>' && !quoted) return std::string(argument.substr(start + 1, i - start - 1));
  }
  return {};
}

std::string message_id_of(std::string_view mail) {
  constexpr std::string_view name = "message-id:";
  for (std::size_t at = 0; at < mail.size();) {
    const std::size_t end = std::min(mail.find("\r\n", at), mail.size());
    const std::string_view line = mail.substr(at, end - at);
    if (line.empty()) return {};
    if (same_ignoring_case(line.substr(0, name.size()), name)) {
      const std::size_t start = line.find_first_not_of(" \t", name.size());
      return start == std::string_view::npos ? std::string{} : std::string(line.substr(start));
    }
    at = end + 2;
  }
  return {};
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

}  // namespace

SmtpSession::SmtpSession(Connection& connection) : connection_(connection) {
  request_.protocol = connection.encrypted() ? "smtps" : "smtp";
  begin_mail();
  if (!intercepted(SmtpStage::banner)) say("220 stub ESMTP");
}

void SmtpSession::say(std::string_view text) {
  connection_.write(text);
  connection_.write("\r\n");
}

void SmtpSession::begin_mail() {
  request_.clear();
  request_.connection = connection_.number();
  request_.number = mails_ + 1;
  in_mail_ = false;
}

bool SmtpSession::intercepted(SmtpStage stage) {
  const Behaviour* act = connection_.server().policy().at_smtp(stage, request_);
  if (act == nullptr || act->kind == Kind::smtp_log) return false;
  act_now(*act);
  return true;
}

void SmtpSession::act_now(const Behaviour& act) {
  switch (act.kind) {
    case Kind::smtp_reply:
      say(act.text);
      if (act.then_close) connection_.end_after_sending(Ending::linger);
      return;
    case Kind::smtp_close: state_ = State::dead; return connection_.end_after_sending(Ending::close);
    case Kind::smtp_rst: state_ = State::dead; return connection_.end_after_sending(Ending::reset);
    default: state_ = State::dead;  // silent from here on
  }
}

void SmtpSession::on_input() {
  while (connection_.open()) {
    switch (state_) {
      case State::dead: return connection_.in().clear();
      case State::owed: return;
      case State::data:
        if (!take_data()) return;
        break;
      default:
        if (!take_line()) return;
    }
  }
}

bool SmtpSession::take_line() {
  std::string& in = connection_.in();
  const std::size_t end = in.find('\n');
  if (end == std::string::npos) {
    if (in.size() > max_line) connection_.end_now(Ending::close);
    return false;
  }
  std::string line = in.substr(0, end);
  in.erase(0, end + 1);
  if (line.ends_with('\r')) line.pop_back();
  if (state_ == State::command)
    on_command(line);
  else
    on_auth_line(line);
  return true;
}

void SmtpSession::on_command(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string verb = to_lower(line.substr(0, space));
  const std::string_view argument = line.substr(std::min(space + 1, line.size()));
  if (verb == "ehlo" || verb == "helo") return on_ehlo(argument, verb == "ehlo");
  if (verb == "starttls") return on_starttls();
  if (verb == "auth") return on_auth(argument);
  if (verb == "mail") return on_mail(argument);
  if (verb == "rcpt") return on_rcpt(argument);
  if (verb == "data") return on_data();
  if (verb == "quit") return on_quit();
  if (verb == "rset") begin_mail();
  say(verb == "rset" || verb == "noop" ? "250 2.0.0 Ok" : "502 5.5.2 what?");
}

void SmtpSession::on_ehlo(std::string_view argument, bool extended) {
  greeting_name_ = argument;
  if (intercepted(SmtpStage::ehlo)) return;
  if (!extended) return say("250 stub");
  std::string lines = "250-stub\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-SIZE 67108864\r\n";
  if (connection_.server().offers_starttls() && !connection_.encrypted()) lines += "250-STARTTLS\r\n";
  say(lines + "250-AUTH PLAIN LOGIN XOAUTH2\r\n250 ENHANCEDSTATUSCODES");
}

void SmtpSession::on_starttls() {
  if (intercepted(SmtpStage::starttls)) return;
  if (!connection_.server().offers_starttls() || connection_.encrypted()) return say("502 5.5.1 not here");
  say("220 2.0.0 go ahead");
  connection_.flush();  // this line still goes out in the clear
  if (!connection_.open()) return;
  connection_.start_tls();
  request_.protocol = "smtps";
}

void SmtpSession::on_auth(std::string_view argument) {
  authorization_ = argument;
  const std::string kind = to_lower(argument.substr(0, argument.find(' ')));
  const bool complete = argument.find(' ') != std::string_view::npos;
  if (kind == "login") {
    state_ = complete ? State::login_password : State::login_user;
    return say(complete ? "334 UGFzc3dvcmQ6" : "334 VXNlcm5hbWU6");
  }
  state_ = State::login_password;  // what comes next, or came already, is the last line
  if (!complete) return say("334 ");
  state_ = State::command;
  if (!intercepted(SmtpStage::auth)) say("235 2.7.0 Ok");
}

void SmtpSession::on_auth_line(std::string_view line) {
  authorization_ += ' ';
  authorization_ += line;
  if (state_ == State::login_user) {
    state_ = State::login_password;
    return say("334 UGFzc3dvcmQ6");
  }
  state_ = State::command;
  if (!intercepted(SmtpStage::auth)) say("235 2.7.0 Ok");
}

void SmtpSession::on_mail(std::string_view argument) {
  begin_mail();
  request_.set(Field::method, "MAIL");
  request_.set(Field::path, address_of(argument));
  request_.set(Field::user_agent, greeting_name_);
  if (!authorization_.empty()) request_.set(Field::authorization, authorization_);
  if (intercepted(SmtpStage::mail)) return;
  in_mail_ = true;
  say("250 2.1.0 Ok");
}

void SmtpSession::on_rcpt(std::string_view argument) {
  if (!in_mail_) return say("503 5.5.1 MAIL first");
  const std::string address = address_of(argument);
  // While this one is judged it stands alone, or a rule for an earlier recipient would hit it.
  std::vector<std::string> earlier;
  earlier.swap(request_.recipients);
  request_.set(Field::to, address);
  const bool stopped = intercepted(SmtpStage::rcpt);
  earlier.swap(request_.recipients);
  if (stopped) return;
  request_.recipients.push_back(address);
  say("250 2.1.5 Ok");
}

void SmtpSession::on_data() {
  if (request_.recipients.empty()) return say("554 5.5.1 no recipients");
  request_.set(Field::to, join(request_.recipients));
  if (intercepted(SmtpStage::data)) return;
  state_ = State::data;
  searched_ = 0;
  say("354 go on");
}

// Only CR LF . CR LF ends a mail: anything looser would hide what a sender got wrong.
bool SmtpSession::take_data() {
  std::string& in = connection_.in();
  const bool empty = in.starts_with(".\r\n");
  const std::size_t end = empty ? 0 : in.find("\r\n.\r\n", searched_);
  if (end == std::string::npos) {
    searched_ = in.size() < 4 ? 0 : in.size() - 4;
    if (in.size() > max_body_bytes) connection_.end_now(Ending::close);
    return false;
  }
  const std::size_t length = empty ? 0 : end + 2;
  request_.body.assign(in, 0, length);
  in.erase(0, length + 3);
  request_.set(Field::message_id, message_id_of(request_.body));
  ++mails_;
  state_ = State::owed;
  Policy& policy = connection_.server().policy();
  const Behaviour* act = policy.at_smtp(SmtpStage::dot, request_);
  connection_.server().submit(connection_, static_cast<std::uint32_t>(mails_), request_,
                              policy.with_latency(act == nullptr ? plain_mail() : *act));
  return true;
}

void SmtpSession::perform(std::uint32_t stream, const Behaviour& act) {
  if (state_ != State::owed || stream != static_cast<std::uint32_t>(mails_)) return;
  if (act.kind != Kind::smtp_hang) connection_.settle();
  state_ = State::command;
  if (act.kind != Kind::smtp_log)
    act_now(act);
  else if (!act.text.empty())
    say(act.text);
  else
    say("250 2.0.0 Ok: queued as " + std::to_string(request_.sequence));
  if (state_ != State::command) return;
  begin_mail();
  on_input();
}

void SmtpSession::on_quit() {
  if (intercepted(SmtpStage::quit)) return;
  say("221 2.0.0 Bye");
  state_ = State::dead;
  connection_.end_after_sending(Ending::linger);
}

}  // namespace stub
