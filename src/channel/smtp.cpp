#include "channel/smtp.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "channel/dispatch_check.hpp"
#include "channel/mail_message.hpp"
#include "channel/personal_parts.hpp"
#include "channel/smtp_settings.hpp"
#include "channel/url_template.hpp"
#include "core/classify_mail.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxHeaderUrl = 990;  // with its angle brackets in a line of 998

// The access token of the channel. They live for an hour or so, and somebody else renews the file: it is looked at again
// while the worker runs. Loop thread only.
class TokenSource {
 public:
  TokenSource(SecretSetting setting, ReadSecret read) : setting_(std::move(setting)), read_(std::move(read)) {}

  const std::string& current(Duration now) {
    constexpr Duration kFresh{30'000};
    const bool changes = setting_.source == SecretSetting::Source::kFile && read_ != nullptr;
    if (changes && (stale_ || now - read_at_ >= kFresh)) {
      read_at_ = now;
      stale_ = false;
      // A file that is just being replaced is no reason to stop: the token at hand may still do.
      if (Result<Secret> fresh = read_(setting_); fresh && !fresh->empty()) setting_.value = std::move(*fresh);
    }
    return setting_.value.reveal();
  }
  // The server did not take it: look at the file before the next call.
  void refused() noexcept { stale_ = true; }

 private:
  SecretSetting setting_;
  ReadSecret read_;
  Duration read_at_{0};
  bool stale_ = true;
};

// What a server says about a message may repeat parts of it.
void take_out_what_is_private(const Dispatch& dispatch, const SmtpSettings& settings, const std::string& token,
                              Outcome& outcome) {
  std::vector<std::string> parts = personal_parts(dispatch);
  parts.insert(parts.end(), settings.secrets.begin(), settings.secrets.end());
  if (!token.empty()) parts.push_back(token);
  outcome.detail = outcome.cls == OutcomeClass::kSent ? "" : safe_text_without(outcome.detail, parts, limits::kDetail);
  outcome.reference = safe_text_without(outcome.reference, parts, limits::kReason);
}

bool refused_login(const Outcome& outcome) { return outcome.phase == "auth" && outcome.status >= 500; }

void append_section(std::string& text, const std::string& title, const std::string& content) {
  if (!content.empty()) text.append("[").append(title).append("]\n").append(content).append("\n");
}

class SmtpChannel final : public Channel {
 public:
  SmtpChannel(std::shared_ptr<const SmtpSettings> settings, std::shared_ptr<TokenSource> token, MailClient& mail,
              const ChannelPorts& ports)
      : settings_(std::move(settings)), token_(std::move(token)), mail_(mail), loop_(ports.loop), clock_(ports.clock) {}

  Result<void> check(const Dispatch& dispatch) const override {
    TRY(compose(dispatch));
    return {};
  }

  std::string preview(const Dispatch& dispatch) const override {
    const Result<MailRequest> request = compose(dispatch);
    if (!request) return {};
    std::string text = "server: " + request->host + ":" + std::to_string(request->port) + "\n";
    if (!request->user.empty()) text += "login: " + request->user + " " + Secret::masked() + "\n";
    text += "MAIL FROM:<" + request->sender + ">\nRCPT TO:<" + request->recipient + ">\n\n";
    const std::string header = request->message.substr(0, request->message.find("\r\n\r\n"));
    for (const char c : header)
      if (c != '\r') text += c;
    text += "\n\n";
    append_section(text, "text/plain", dispatch.content.body);
    append_section(text, "text/html", dispatch.content.html);
    const auto attachments = read_attachments(dispatch.content.data);
    for (const MailAttachment& file : attachments.value_or(std::vector<MailAttachment>{}))
      text += "[" + file.content_type + ": " + file.filename + ", " + std::to_string(file.base64.size() / 4 * 3) +
              " bytes]\n";
    return text;
  }

  void send(Dispatch dispatch, Done done) override {
    Result<MailRequest> request = compose(dispatch);
    if (!request) return refuse(request.error(), std::move(done));
    request->token = token_->current(clock_.monotonic());
    // Captures no `this`: the channel may be gone before the call is.
    std::string shown = request->token;
    mail_.start(std::move(*request), [done = std::move(done), dispatch = std::move(dispatch), settings = settings_,
                                      token = token_, shown = std::move(shown)](const MailEvidence& evidence) {
      Outcome outcome = classify_mail(evidence);
      if (refused_login(outcome)) token->refused();
      take_out_what_is_private(dispatch, *settings, shown, outcome);
      done(std::move(outcome));
    });
  }

 private:
  // Only when a message is sent that check() did not see.
  void refuse(const Error& error, Done done) {
    Outcome outcome;
    outcome.cls = OutcomeClass::kPermanent;
    outcome.reason = "bad-message";
    outcome.detail = safe_text(error.message, limits::kDetail);
    loop_.post([done = std::move(done), outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
  }

  // The transaction of one message, without its token. All that can be wrong with a message shows here.
  Result<MailRequest> compose(const Dispatch& dispatch) const {
    TRY(check_dispatch(dispatch));
    TRY(check_subject(dispatch.content.subject));
    MailContent content;
    TRY_ASSIGN(content.to, parse_mail_address(dispatch.address));
    TRY_ASSIGN(content.attachments, read_attachments(dispatch.content.data));
    TRY_ASSIGN(content.unsubscribe_url, unsubscribe_url(dispatch));
    TRY_ASSIGN(const MailAddress sender, parse_mail_address(return_path_of(*settings_, dispatch.envelope.message_id)));
    MailRequest request = settings_->request;
    request.sender = sender.spec();
    request.recipient = content.to.spec();
    const MailStyle& style = settings_->style;
    request.needs_utf8 = !content.to.is_ascii() || !sender.is_ascii() || !style.from.is_ascii() ||
                         (style.reply_to && !style.reply_to->is_ascii());
    request.message = make_mail(dispatch, style, content, clock_.now());
    if (request.message.size() > settings_->max_message_bytes)
      return fail_field("body", "the mail has " + std::to_string(request.message.size()) +
                                    " bytes, more than max_message_bytes (" +
                                    std::to_string(settings_->max_message_bytes) + ")");
    return request;
  }

  // Only advertising is something to be unsubscribed from.
  Result<std::string> unsubscribe_url(const Dispatch& dispatch) const {
    if (settings_->list_unsubscribe.empty() || dispatch.envelope.category != kAdvertising) return std::string();
    TRY_ASSIGN(std::string url, fill_url_template(settings_->list_unsubscribe, dispatch));
    if (url.size() > kMaxHeaderUrl) return fail_field("data", "list_unsubscribe: the URL becomes longer than a header");
    return url;
  }

  std::shared_ptr<const SmtpSettings> settings_;
  std::shared_ptr<TokenSource> token_;
  MailClient& mail_;
  Loop& loop_;
  Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Channel>> make_smtp_channel(const ChannelConfig& config, const ChannelPorts& ports) {
  TRY_ASSIGN(std::shared_ptr<const SmtpSettings> settings, make_smtp_settings(config));
  TRY_ASSIGN(MailClient * mail, ports.mail());
  auto token = std::make_shared<TokenSource>(std::get<SmtpDriverConfig>(config.driver).token, ports.read_secret);
  return std::make_unique<SmtpChannel>(std::move(settings), std::move(token), *mail, ports);
}

}  // namespace notify
