#include "sys/curl_mail_session.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/ascii.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/safe_text.hpp"
#include "sys/descriptors.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxReplyText = 2048;        // kept of a reply
constexpr std::chrono::minutes kMaxSessionAge{5};  // then the name servers are read anew, and the login is renewed
// Well under the minutes after which servers hang up: a connection that is just being closed costs the message a try.
constexpr long kMaxMailIdleSeconds = 20;

std::string_view without_line_end(std::string_view line) noexcept {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// RFC 3463: "5.1.1" at the beginning of a reply's text; its length, 0 when there is none.
std::size_t enhanced_length(std::string_view text) noexcept {
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == start || at - start > 3) return 0;
    if (part < 2 && (at >= text.size() || text[at++] != '.')) return 0;
  }
  const bool ends = at == text.size() || text[at] == ' ';
  return ends && text[1] == '.' && (text[0] == '2' || text[0] == '4' || text[0] == '5') ? at : 0;
}

std::string host_of(const MailRequest& request) {
  const bool v6 = request.host.find(':') != std::string::npos;
  return v6 ? "[" + request.host + "]" : request.host;
}

std::string url_of(const MailRequest& request) {
  const char* scheme = request.tls == MailTls::kImplicit ? "smtps://" : "smtp://";
  return scheme + host_of(request) + ":" + std::to_string(request.port) + "/" + request.helo;
}

}  // namespace

MailEvidence MailSession::perform(const MailRequest& request) {
  const auto begun = std::chrono::steady_clock::now();
  // libcurl 7.88 would take a kept connection in the clear for a message that wants STARTTLS.
  if (easy_ == nullptr || begun - made_ > kMaxSessionAge || request.tls != tls_) {
    close();
    tls_ = request.tls;
    easy_.reset(curl_easy_init());
    if (easy_ == nullptr) out_of_memory();
    made_ = begun;
    set_constant_options();
  }
  prepare(request);
  const CURLcode result = curl_easy_perform(easy_.get());
  MailEvidence evidence = take_evidence(result);
  evidence.elapsed = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
  request_ = nullptr;
  return evidence;
}

void MailSession::set_constant_options() {
  CURL* easy = easy_.get();
  set_option(easy, CURLOPT_ERRORBUFFER, error_text_);
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set_option(easy, CURLOPT_PROXY, "");  // also keeps libcurl from reading the environment
  set_option(easy, CURLOPT_UPLOAD, 1L);
  set_option(easy, CURLOPT_SASL_IR, 1L);
  set_option(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set_option(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  set_option(easy, CURLOPT_CAINFO, ca_file_.empty() ? nullptr : ca_file_.c_str());
  set_option(easy, CURLOPT_CA_CACHE_TIMEOUT, kCaCacheSeconds);
  set_option(easy, CURLOPT_MAXAGE_CONN, kMaxMailIdleSeconds);
  set_option(easy, CURLOPT_MAXCONNECTS, 4L);
  set_option(easy, CURLOPT_TCP_NODELAY, 1L);

  set_option(easy, CURLOPT_READFUNCTION, &MailSession::on_read);
  set_option(easy, CURLOPT_READDATA, this);
  set_option(easy, CURLOPT_HEADERFUNCTION, &MailSession::on_header);
  set_option(easy, CURLOPT_HEADERDATA, this);
  set_option(easy, CURLOPT_VERBOSE, 1L);
  set_option(easy, CURLOPT_DEBUGFUNCTION, &MailSession::on_debug);
  set_option(easy, CURLOPT_DEBUGDATA, this);
  set_option(easy, CURLOPT_PREREQFUNCTION, &MailSession::on_prereq);
  set_option(easy, CURLOPT_PREREQDATA, this);
  set_option(easy, CURLOPT_NOPROGRESS, 0L);
  set_option(easy, CURLOPT_XFERINFOFUNCTION, &MailSession::on_progress);
  set_option(easy, CURLOPT_XFERINFODATA, this);
  set_option(easy, CURLOPT_OPENSOCKETFUNCTION, &MailSession::on_open_socket);
  set_option(easy, CURLOPT_OPENSOCKETDATA, this);
  set_option(easy, CURLOPT_CLOSESOCKETFUNCTION, &MailSession::on_close_socket);
  set_option(easy, CURLOPT_CLOSESOCKETDATA, this);
}

void MailSession::prepare(const MailRequest& request) {
  request_ = &request;
  read_ = 0;
  read_to_end_ = opened_ = logged_in_ = offers_utf8_ = leaving_ = challenged_ = false;
  socket_error_ = 0;
  evidence_ = MailEvidence{};
  error_text_[0] = '\0';

  CURL* easy = easy_.get();
  url_ = url_of(request);
  set_option(easy, CURLOPT_URL, url_.c_str());
  // All: without TLS not a word. libcurl's "try" would send the password in the clear when somebody in between takes
  // STARTTLS out of the server's list.
  set_option(easy, CURLOPT_USE_SSL,
             static_cast<long>(request.tls == MailTls::kNone ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  set_login(request);
  set_option(easy, CURLOPT_MAIL_FROM, request.sender.c_str());
  recipients_.reset(curl_slist_append(nullptr, request.recipient.c_str()));
  if (recipients_ == nullptr) out_of_memory();
  set_option(easy, CURLOPT_MAIL_RCPT, recipients_.get());
  set_option(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.message.size()));  // SIZE=
  set_option(easy, CURLOPT_TIMEOUT_MS, whole_ms(request.timeout));
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, whole_ms(request.connect_timeout));
  // Its default of two minutes would be another limit besides ours.
  set_option(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, whole_ms(request.timeout) / 1000 + 1);
  // The offer of SMTPUTF8 is in the reply to EHLO, which a kept connection has had long ago.
  set_option(easy, CURLOPT_FRESH_CONNECT, request.needs_utf8 ? 1L : 0L);
}

void MailSession::set_login(const MailRequest& request) {
  CURL* easy = easy_.get();
  login_options_.clear();
  for (const std::string& mechanism : request.mechanisms)
    login_options_ += (login_options_.empty() ? "AUTH=" : ";AUTH=") + mechanism;
  const auto or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  set_option(easy, CURLOPT_USERNAME, or_null(request.user));
  set_option(easy, CURLOPT_PASSWORD, or_null(request.password));
  set_option(easy, CURLOPT_XOAUTH2_BEARER, or_null(request.token));
  set_option(easy, CURLOPT_LOGIN_OPTIONS, or_null(login_options_));
}

MailEvidence MailSession::take_evidence(CURLcode result) {
  curl_off_t resolved_us = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_NAMELOOKUP_TIME_T, &resolved_us);
  MailEvidence evidence = std::move(evidence_);
  evidence.curl_code = static_cast<int>(result);
  evidence.reused = !opened_ && evidence.stage >= MailStage::kSender;
  evidence.resolved =
      opened_ || evidence.stage != MailStage::kConnect || (resolved_us > 0 && result != CURLE_COULDNT_RESOLVE_HOST);
  // libcurl does not ask for the end when it has written as many bytes as were announced: then only the count tells.
  evidence.body_complete = read_to_end_ || evidence.bytes_out >= static_cast<std::int64_t>(request_->message.size());
  const std::lock_guard lock(mutex_);
  evidence.timed_out = result == CURLE_OPERATION_TIMEDOUT || cut_;
  if (result != CURLE_OK && evidence.stage == MailStage::kConnect) {
    const int why = socket_error_ != 0 ? socket_error_ : descriptor_shortage();
    evidence.shortage = is_shortage(why);
    if (evidence.shortage) evidence.curl_error = system_reason(why) + " on this machine: " + kMoreDescriptors;
  }
  if (result != CURLE_OK && !evidence.shortage) {
    const char* text = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(result);
    evidence.curl_error = safe_text(text, kMaxErrorText);
  }
  return evidence;
}

void MailSession::shut_down(int how) {
  const std::lock_guard lock(mutex_);
  for (const int fd : sockets_) ::shutdown(fd, how);
}

void MailSession::close() {
  // Nothing more is read, so that libcurl finds the end instead of waiting for the answer to its QUIT.
  shut_down(SHUT_RD);
  easy_.reset();
}

void MailSession::cut() {
  const std::lock_guard lock(mutex_);
  cut_ = true;
  for (const int fd : sockets_) ::shutdown(fd, SHUT_RDWR);
}

void MailSession::renew() {
  const std::lock_guard lock(mutex_);
  cut_ = false;
}

// --- callbacks

std::size_t MailSession::on_read(char* buffer, std::size_t size, std::size_t count, void* self) {
  auto& session = *static_cast<MailSession*>(self);
  const std::string& message = session.request_->message;
  const std::size_t length = std::min(size * count, message.size() - session.read_);
  std::memcpy(buffer, message.data() + session.read_, length);
  session.read_ += length;
  if (length == 0) session.read_to_end_ = true;
  return length;
}

std::size_t MailSession::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  static_cast<MailSession*>(self)->on_reply_line(without_line_end({data, size * count}));
  return size * count;
}

int MailSession::on_debug(CURL*, curl_infotype type, char* data, std::size_t size, void* self) {
  auto& session = *static_cast<MailSession*>(self);
  if (session.request_ == nullptr) return 0;  // the QUIT of close()
  switch (type) {
    case CURLINFO_HEADER_OUT: session.on_command({data, size}); break;
    case CURLINFO_DATA_OUT: session.evidence_.bytes_out += static_cast<std::int64_t>(size); break;
    case CURLINFO_TEXT: session.on_text({data, size}); break;
    default: break;
  }
  return 0;
}

void MailSession::on_command(std::string_view line) {
  if (challenged_) {  // part of a login, and secret
    challenged_ = false;
    return;
  }
  leaving_ = line.starts_with("QUIT");
  if (leaving_) return;
  if (line.starts_with("EHLO ") || line.starts_with("HELO ")) {
    evidence_.stage = MailStage::kHello;
    offers_utf8_ = false;  // what was offered before TLS does not count (RFC 3207 4.2)
  } else if (line.starts_with("STARTTLS")) {
    evidence_.stage = MailStage::kStartTls;
  } else if (line.starts_with("AUTH ")) {
    evidence_.stage = MailStage::kLogin;
  } else if (line.starts_with("MAIL FROM:")) {
    evidence_.stage = MailStage::kSender;
  } else if (line.starts_with("RCPT TO:")) {
    evidence_.stage = MailStage::kRecipient;
  } else if (line.starts_with("DATA")) {
    evidence_.stage = MailStage::kData;
  } else {
    return;
  }
  evidence_.reply = 0;
  evidence_.reply_text.clear();
  evidence_.enhanced.clear();
}

// "250-text" and more lines, "250 text" the last one (RFC 5321 4.2.1). A reply counts when it is complete.
void MailSession::on_reply_line(std::string_view line) {
  if (request_ == nullptr || leaving_) return;
  if (line.size() < 3 || !is_digit(line[0]) || !is_digit(line[1]) || !is_digit(line[2])) return;
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  const bool last = line.size() == 3 || line[3] == ' ';
  std::string_view text = line.substr(std::min<std::size_t>(4, line.size()));
  if (evidence_.stage == MailStage::kHello && text.starts_with("SMTPUTF8")) offers_utf8_ = true;
  if (evidence_.stage == MailStage::kConnect) evidence_.stage = MailStage::kGreeting;
  if (const std::size_t length = enhanced_length(text); length > 0) {
    evidence_.enhanced = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  if (evidence_.reply != 0) evidence_.reply_text.clear();  // of the reply before
  evidence_.reply = 0;
  std::string& kept = evidence_.reply_text;
  if (kept.size() < kMaxReplyText) kept.append(kept.empty() ? "" : " ").append(text.substr(0, kMaxReplyText));
  if (last) note_reply(code);
}

void MailSession::note_reply(int code) {
  challenged_ = evidence_.stage == MailStage::kLogin && code == 334;
  if (evidence_.stage == MailStage::kLogin && code == 235) logged_in_ = true;
  if (evidence_.stage == MailStage::kData && code == 354) {
    evidence_.stage = MailStage::kBody;
    evidence_.reply_text.clear();
    evidence_.enhanced.clear();
    return;
  }
  evidence_.reply = code;
}

void MailSession::on_text(std::string_view text) {
  if (text.starts_with("ALPN: offers") || text.find("TLS handshake") != std::string_view::npos ||
      text.starts_with("TLSv1."))
    evidence_.handshake = true;
}

// Called when the connection stands, TLS and login included, right before MAIL. libcurl goes on without a login when the
// server offers none, and sends addresses that are not ASCII to servers that never heard of them.
int MailSession::on_prereq(void* self, char*, char*, int, int) {
  auto& session = *static_cast<MailSession*>(self);
  const MailRequest& request = *session.request_;
  if (!session.opened_) return CURL_PREREQFUNC_OK;  // kept: it was looked at when it was opened
  if (!request.user.empty() && !session.logged_in_) {
    session.evidence_.login_missing = true;
    return CURL_PREREQFUNC_ABORT;
  }
  if (request.needs_utf8 && !session.offers_utf8_) {
    session.evidence_.utf8_missing = true;
    return CURL_PREREQFUNC_ABORT;
  }
  return CURL_PREREQFUNC_OK;
}

// Called every second or more often, also while a name is being resolved, where there is no socket to shut down.
int MailSession::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& session = *static_cast<MailSession*>(self);
  const std::lock_guard lock(session.mutex_);
  return session.cut_ ? 1 : 0;
}

curl_socket_t MailSession::on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& session = *static_cast<MailSession*>(self);
  const std::lock_guard lock(session.mutex_);
  if (session.cut_) return CURL_SOCKET_BAD;
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
  if (fd < 0) {
    session.socket_error_ = errno;
    return CURL_SOCKET_BAD;
  }
  session.opened_ = true;
  session.leaving_ = false;
  session.sockets_.push_back(fd);
  return fd;
}

int MailSession::on_close_socket(void* self, curl_socket_t fd) {
  auto& session = *static_cast<MailSession*>(self);
  const std::lock_guard lock(session.mutex_);  // cut() must not meet a number that is somebody else's already
  std::erase(session.sockets_, fd);
  return ::close(fd);
}

}  // namespace notify
