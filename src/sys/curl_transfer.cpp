#include "sys/curl_transfer.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/safe_text.hpp"
#include "sys/address_guard.hpp"
#include "sys/curl_request_check.hpp"
#include "sys/descriptors.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxResponseTotal = 1024 * 1024;  // of a body; then the transfer is cut off, its status kept
constexpr std::size_t kMaxHeaderBytes = 32 * 1024;      // kept; libcurl itself gives up at 300 KB
constexpr std::chrono::seconds kMaxHandleAge{60};
// HTTP/1.1: shorter than the idle time after which common servers hang up (5 s and more). A connection that the server is
// just closing is what makes an outcome unknown for no good reason.
constexpr long kMaxIdleSeconds = 3;
// HTTP/2 has no such doubt: a server that goes says with GOAWAY which streams it has not looked at. Apple wants connections to
// be kept, and a PING after an hour of silence, which libcurl's multi interface cannot send.
constexpr long kMaxIdleSecondsHttp2 = 3600;

// The number that follows `label` in a line of libcurl's; -1 when it is not there.
std::int64_t number_after(std::string_view text, std::string_view label) noexcept {
  const std::size_t at = text.find(label);
  std::int64_t number = -1;
  if (at == std::string_view::npos) return number;
  text.remove_prefix(at + label.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A path that has died in silence (a router that has forgotten the connection) is noticed while nothing depends on it, and
// routers that forget idle connections are kept from it. Dead after a minute.
void watch_over(int fd) {
  const auto set = [fd](int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string_view field_value(std::string_view text) noexcept {
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

}  // namespace

Transfer::Transfer(const HttpSettings& settings) : easy_(curl_easy_init()) {
  if (easy_ == nullptr) out_of_memory();
  set_constant_options(settings);
}

bool Transfer::outdated() const noexcept { return std::chrono::steady_clock::now() - made_ > kMaxHandleAge; }

void Transfer::set_constant_options(const HttpSettings& settings) {
  CURL* easy = easy_.get();
  proxied_ = !settings.proxy.empty();
  set_option(easy, CURLOPT_PRIVATE, this);
  set_option(easy, CURLOPT_ERRORBUFFER, error_text_);
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set_option(easy, CURLOPT_PROXY, settings.proxy.c_str());  // "" also keeps libcurl from reading the environment
  set_option(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set_option(easy, CURLOPT_USERAGENT, settings.user_agent.c_str());
  set_option(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set_option(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  set_option(easy, CURLOPT_CAINFO, settings.ca_file.empty() ? nullptr : settings.ca_file.c_str());
  set_option(easy, CURLOPT_CA_CACHE_TIMEOUT, kCaCacheSeconds);

  set_option(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_write);
  set_option(easy, CURLOPT_WRITEDATA, this);
  set_option(easy, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set_option(easy, CURLOPT_HEADERDATA, this);
  set_option(easy, CURLOPT_VERBOSE, 1L);
  set_option(easy, CURLOPT_DEBUGFUNCTION, &Transfer::on_debug);
  set_option(easy, CURLOPT_DEBUGDATA, this);
  set_option(easy, CURLOPT_PREREQFUNCTION, &Transfer::on_prereq);
  set_option(easy, CURLOPT_PREREQDATA, this);
  set_option(easy, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open_socket);
  set_option(easy, CURLOPT_OPENSOCKETDATA, this);
  set_option(easy, CURLOPT_CLOSESOCKETFUNCTION, &Transfer::on_close_socket);
}

void Transfer::prepare(TransferOwner& owner, HttpRequest request, Done done) {
  owner_ = &owner;
  request_ = std::move(request);
  done_ = std::move(done);
  response_bytes_ = 0;
  header_bytes_ = 0;
  refused_streams_ = 0;
  handshake_begun_ = false;
  socket_error_ = 0;
  connection_ = 0;
  evidence_ = HttpEvidence{};
  evidence_.body_length = static_cast<std::int64_t>(request_.body.size());
  error_text_[0] = '\0';

  CURL* easy = easy_.get();
  const bool k2 = request_.version == HttpRequest::Version::k2;
  const long own_connection = request_.once && request_.body.empty() ? 1L : 0L;
  // A connection outlives the handle that opened it, so this one is given the owner.
  set_option(easy, CURLOPT_CLOSESOCKETDATA, owner_);
  set_option(easy, CURLOPT_URL, request_.url.c_str());
  set_option(easy, CURLOPT_TIMEOUT_MS, whole_ms(request_.timeout));
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, whole_ms(request_.connect_timeout));
  set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(k2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set_option(easy, CURLOPT_PIPEWAIT, k2 ? 1L : 0L);
  set_option(easy, CURLOPT_MAXAGE_CONN, k2 ? kMaxIdleSecondsHttp2 : kMaxIdleSeconds);
  set_option(easy, CURLOPT_FRESH_CONNECT, own_connection);
  set_option(easy, CURLOPT_FORBID_REUSE, own_connection);
  set_body_options();
  set_headers();
}

void Transfer::set_body_options() {
  CURL* easy = easy_.get();
  const std::string& method = request_.method;
  const bool head = method == "HEAD";
  const bool post = method == "POST" || method == "PUT" || method == "PATCH" || !request_.body.empty();
  set_option(easy, CURLOPT_NOBODY, head ? 1L : 0L);
  if (post) {
    // Head and body leave in one packet this way. A body given by a callback that cannot be rewound would be one more
    // brake on repeats, but costs a second send and the peer a second wake-up: 60 % more CPU a request.
    set_option(easy, CURLOPT_POSTFIELDS, request_.body.c_str());
    set_option(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set_option(easy, CURLOPT_POST, 1L);
  } else if (!head) {
    set_option(easy, CURLOPT_HTTPGET, 1L);
  }
  const bool own_word = !head && method != (post ? "POST" : "GET");
  set_option(easy, CURLOPT_CUSTOMREQUEST, own_word ? method.c_str() : nullptr);
}

void Transfer::set_headers() {
  bool typed = request_.body.empty();
  header_text_.clear();
  std::vector<std::size_t> starts;
  starts.reserve(request_.headers.size() + 2);
  for (const auto& [name, value] : request_.headers) {
    starts.push_back(header_text_.size());
    header_text_ += name;
    // libcurl's spelling of a header without a value; "Name:" would take it out.
    header_text_ += value.empty() ? ";" : ": ";
    header_text_ += value;
    header_text_ += '\0';
    typed = typed || (name.size() == 12 && strcasecmp(name.c_str(), "content-type") == 0);
  }
  constexpr std::string_view kNoExpect("Expect:\0", 8);
  constexpr std::string_view kNoType("Content-Type:\0", 14);  // or libcurl claims that it is a form
  starts.push_back(header_text_.size());
  header_text_ += kNoExpect;
  if (!typed) {
    starts.push_back(header_text_.size());
    header_text_ += kNoType;
  }
  header_list_.resize(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    header_list_[i].data = header_text_.data() + starts[i];
    header_list_[i].next = i + 1 < starts.size() ? &header_list_[i + 1] : nullptr;
  }
  set_option(easy_.get(), CURLOPT_HTTPHEADER, header_list_.data());
}

HttpEvidence Transfer::take_evidence(CURLcode result) {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  HttpEvidence evidence = std::move(evidence_);
  evidence.curl_code = static_cast<int>(result);
  evidence.status = status >= 200 ? static_cast<int>(status) : 0;
  evidence.handed_over = time_of(CURLINFO_PRETRANSFER_TIME_T) > 0;
  evidence.refused_stream = refused_streams_ > 0 && refused_streams_ >= evidence.requests_begun;
  evidence.elapsed = std::chrono::duration_cast<Duration>(std::chrono::microseconds(time_of(CURLINFO_TOTAL_TIME_T)));
  evidence.body_truncated = evidence.body_truncated || (evidence.status != 0 && result != CURLE_OK);
  evidence.phase = phase_of(evidence, result);
  if (result != CURLE_OK && evidence.status == 0 && !evidence.handed_over) note_shortage(evidence);
  if (result != CURLE_OK && !evidence.shortage) {
    const char* text = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(result);
    evidence.curl_error = safe_text(without_url_parts(text, request_.url), kMaxErrorText);
  }
  return evidence;
}

// The resolver and the TLS library say nothing of why they could not open a socket or a file, so that is asked here.
void Transfer::note_shortage(HttpEvidence& evidence) const {
  const int why = socket_error_ != 0 ? socket_error_ : descriptor_shortage();
  if (!is_shortage(why)) return;
  evidence.shortage = true;
  evidence.curl_error = system_reason(why) + " on this machine: " + kMoreDescriptors;
}

void Transfer::note_goaway(const Goaway& frame) noexcept {
  evidence_.goaway_last_stream = frame.last_stream;
  evidence_.goaway_error = frame.error;
}

std::int64_t Transfer::time_of(CURLINFO info) const {
  curl_off_t us = 0;
  curl_easy_getinfo(easy_.get(), info, &us);
  return us;
}

const char* Transfer::phase_of(const HttpEvidence& evidence, CURLcode result) const {
  if (evidence.status != 0 && result == CURLE_OK) return "done";
  if (evidence.status != 0 || evidence.body_bytes_out >= evidence.body_length) {
    if (evidence.handed_over) return "response";
  }
  if (evidence.handed_over || evidence.requests_begun > 0) return "request";
  if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY) return "resolve";
  if (time_of(CURLINFO_NAMELOOKUP_TIME_T) == 0) return "resolve";
  return handshake_begun_ ? "tls" : "connect";  // libcurl's own time of the connect comes after the handshake
}

// --- callbacks

std::size_t Transfer::on_write(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t bytes = size * count;
  std::string& body = transfer.evidence_.body;
  const std::size_t room = transfer.request_.max_response - std::min(body.size(), transfer.request_.max_response);
  body.append(data, std::min(bytes, room));
  if (bytes > room) transfer.evidence_.body_truncated = true;
  transfer.response_bytes_ += bytes;
  return transfer.response_bytes_ > kMaxResponseTotal ? 0 : bytes;
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  static_cast<Transfer*>(self)->on_header_line({data, size * count});
  return size * count;
}

void Transfer::on_header_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // the head of another response: what came before was an interim one
    evidence_.headers.clear();
    header_bytes_ = 0;
    return;
  }
  const std::size_t colon = line.find(':');
  header_bytes_ += line.size();
  if (colon == std::string_view::npos || header_bytes_ > kMaxHeaderBytes) return;
  std::string name(field_value(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  evidence_.headers.emplace_back(std::move(name), field_value(line.substr(colon + 1)));
}

int Transfer::on_debug(CURL*, curl_infotype type, char* data, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view text(data, size);
  switch (type) {
    case CURLINFO_TEXT: transfer.on_text(text); break;
    case CURLINFO_DATA_OUT: transfer.evidence_.body_bytes_out += static_cast<std::int64_t>(size); break;
    case CURLINFO_HEADER_OUT: transfer.on_head_out(text); break;
    default: break;
  }
  return 0;
}

// Bytes of a request's head have left; a head that did not fit comes in several pieces.
void Transfer::on_head_out(std::string_view text) {
  const std::string& method = request_.method;
  if (text.starts_with("CONNECT ") && method != "CONNECT") return;  // to a proxy
  const bool first_piece = text.starts_with(method) && text.size() > method.size() && text[method.size()] == ' ';
  if (first_piece || evidence_.requests_begun == 0) ++evidence_.requests_begun;
}

// libcurl repeats a request by itself when a reused connection dies before an answer, when a stream is refused or
// HTTP/2 is: always by going through its whole state machine again, on a new connection or another reused one. Both
// ways are closed here, before a byte of a second attempt.
bool Transfer::stops_repeat() {
  // The first attempt may not have got as far as its first byte; then there is nothing to repeat yet.
  if (!request_.once || evidence_.requests_begun == 0) return false;
  evidence_.silent_retry = true;
  return true;
}

// libcurl 7.88's wording (its misspelling included, and the right spelling of later versions).
void Transfer::on_text(std::string_view text) {
  if (text.starts_with("ALPN: offers")) {
    handshake_begun_ = true;
  } else if (text.starts_with("Using Stream ID: ")) {
    evidence_.stream_id = number_after(text, "Using Stream ID: ");
  } else if (text.starts_with("Connection died, retrying") || text.starts_with("Downgrades to HTTP/1.1")) {
    evidence_.silent_retry = true;
  } else if (text.starts_with("MAX_CONCURRENT_STREAMS reached, skip (")) {
    owner_->connection_full(number_after(text, "skip ("));
  } else if (text.starts_with("REFUSED_STREAM")) {
    ++refused_streams_;
  } else if (text.starts_with("recveived GOAWAY") || text.starts_with("received GOAWAY")) {
    owner_->goaway(connection_, {number_after(text, "error="), number_after(text, "last_stream=")});
  }
}

// Called each time that libcurl is about to send the request, on a new connection or a reused one.
int Transfer::on_prereq(void* self, char* peer_ip, char* own_ip, int peer_port, int own_port) {
  auto& transfer = *static_cast<Transfer*>(self);
  const HttpRequest& request = transfer.request_;
  if (transfer.stops_repeat()) return CURL_PREREQFUNC_ABORT;
  // The guard at connect time does not see reused connections.
  if (!request.allow_private && is_private_address(std::string(peer_ip))) {
    transfer.evidence_.address_blocked = true;
    return CURL_PREREQFUNC_ABORT;
  }
  if (request.version == HttpRequest::Version::k2) {
    const std::string ends =
        std::string(peer_ip) + ' ' + std::to_string(peer_port) + ' ' + own_ip + ' ' + std::to_string(own_port);
    transfer.connection_ = std::hash<std::string>{}(ends) | 1U;
    transfer.note_goaway({});  // what came before was about another connection
    transfer.owner_->connection_stands();
  }
  return CURL_PREREQFUNC_OK;
}

curl_socket_t Transfer::on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.stops_repeat()) return CURL_SOCKET_BAD;
  if (!transfer.request_.allow_private && is_private_address(&address->addr)) {
    transfer.evidence_.address_blocked = true;
    return CURL_SOCKET_BAD;
  }
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
  if (fd < 0) {
    transfer.socket_error_ = errno;
    return fd;
  }
  if (transfer.request_.version == HttpRequest::Version::k2) watch_over(fd);
  transfer.owner_->socket_opened(fd);
  return fd;
}

int Transfer::on_close_socket(void* owner, curl_socket_t fd) {
  static_cast<TransferOwner*>(owner)->socket_closing(fd);
  return ::close(fd);
}

}  // namespace notify
