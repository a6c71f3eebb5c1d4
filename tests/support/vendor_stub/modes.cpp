#include "modes.hpp"

#include <stdexcept>
#include <unordered_map>

namespace stub {

namespace {

std::vector<Mode> make_modes() {
  return {
      {"accept-close", Kind::accept_close, "", {}, "closes at once, nothing read (by path: after the head)"},
      {"accept-rst", Kind::accept_rst, "", {}, "the same with RST (by path: after the head)"},
      {"accept-hang", Kind::accept_hang, "", {}, "accepts and is silent for ever; in TLS a hung handshake"},
      {"tls-hang", Kind::accept_hang, "", {}, "accept-hang by its TLS name"},
      {"first-rst", Kind::first_rst, "", {}, "RST after the client's first bytes"},
      {"first-close", Kind::first_close, "", {}, "reads the first bytes, closes"},
      {"unread-close", Kind::unread_close, "", {}, "closes on the first bytes without reading them"},
      {"tls-rst", Kind::first_rst, "", {}, "first-rst by its TLS name: RST after the ClientHello"},
      {"tls-close", Kind::first_close, "", {}, "first-close by its TLS name"},
      {"head-close", Kind::head_close, "", {}, "closes after the head, body unread"},
      {"head-rst", Kind::head_rst, "", {}, "RST after the head, body unread"},
      {"never-read", Kind::never_read, "", {}, "reads the head, then never again"},
      {"body-rst", Kind::body_rst, "after=100000", {"after"}, "RST when AFTER body bytes are read"},
      {"early", Kind::early, "status=413", {"status"}, "answers before the body is read, then drains"},
      {"ok", Kind::reply, "", {}, "200"},
      {"slow", Kind::reply, "wait=1", {"wait"}, "200 after WAIT"},
      {"code", Kind::reply, "", {"status", "retry-after"}, "any status"},
      {"retry-after", Kind::reply, "status=429", {"retry-after"}, "429 with Retry-After: VALUE or date+N, date-N"},
      {"redirect", Kind::reply, "status=302", {"status"}, "3xx; give location=URL"},
      {"hang", Kind::hang, "", {}, "never answers"},
      {"close", Kind::close, "", {}, "closes without an answer"},
      {"close2", Kind::close, "from=2", {"from"}, "the same from the connection's 2nd request on"},
      {"rst", Kind::rst, "", {}, "RST without an answer"},
      {"rst2", Kind::rst, "from=2", {"from"}, "the same from the connection's 2nd request on"},
      {"hang2", Kind::hang, "from=2", {"from"}, "never answers, from the connection's 2nd request on"},
      {"die", Kind::die, "", {}, "the whole stub exits without an answer"},
      {"die2", Kind::die, "from=2", {"from"}, "the same from the connection's 2nd request on"},
      {"half-status", Kind::raw, "bytes='HTTP/1.1 20'", {}, "sends 'HTTP/1.1 20' and closes"},
      {"cut-head", Kind::raw, "bytes=\"HTTP/1.1 200 OK\\r\\nContent-Le\"", {}, "cut inside a header name, closes"},
      {"not-http", Kind::raw, "bytes=\"SSH-2.0-OpenSSH_9.2\\r\\n\"", {}, "bytes of another protocol, closes"},
      {"raw", Kind::raw, "", {}, "bytes= as given, then closes"},
      {"cut-body", Kind::cut_body, "body=0123456789", {"status"}, "headers for 10 bytes of body, closes after 3"},
      {"cut-body-rst", Kind::cut_body_rst, "body=0123456789", {"status"}, "the same with RST"},
      {"drip", Kind::drip, "", {"interval"}, "200, then one body byte every INTERVAL for ever"},
      {"drip-head", Kind::drip_head, "", {"interval"}, "one byte of the status line every INTERVAL"},
      {"endless", Kind::endless, "", {"size"}, "200 with a body of SIZE bytes; without SIZE it never ends"},
      {"idle-close", Kind::idle_close, "interval=0", {"interval"}, "200 keep-alive, then closes the idle connection"},
      {"idle-rst", Kind::idle_rst, "interval=0", {"interval"}, "the same with RST"},
      {"h2-error", Kind::h2_error, "code=INTERNAL_ERROR", {"code"}, "RST_STREAM with this code"},
      {"h2-refused", Kind::h2_error, "code=REFUSED_STREAM", {"times"}, "RST_STREAM REFUSED_STREAM"},
      {"h2-cancel", Kind::h2_error, "code=CANCEL", {}, "RST_STREAM CANCEL"},
      {"h2-no-error", Kind::h2_error, "code=NO_ERROR", {}, "RST_STREAM NO_ERROR before any header"},
      {"h2-downgrade", Kind::h2_error, "code=HTTP_1_1_REQUIRED", {}, "RST_STREAM HTTP_1_1_REQUIRED"},
      {"h2-goaway", Kind::h2_goaway, "", {"from", "last"}, "GOAWAY at request FROM, last= below, equal or above"},
      {"h2-calm", Kind::h2_goaway, "code=ENHANCE_YOUR_CALM", {}, "GOAWAY ENHANCE_YOUR_CALM at the first request"},
      {"smtp-log", Kind::smtp_log, "", {}, "takes the mail"},
      {"smtp-dothang", Kind::smtp_hang, "at=dot", {}, "logs after the final dot, never answers it"},
      {"smtp-rcpt", Kind::smtp_reply, "at=rcpt to=bad@* text='550 5.1.1 no such user'", {}, "550 for bad@, else 250"},
      {"smtp-reply", Kind::smtp_reply, "text='451 4.3.0 try later'", {"at"}, "answers text= at this command"},
      {"smtp-hang", Kind::smtp_hang, "", {"at"}, "silent from this command on"},
      {"smtp-close", Kind::smtp_close, "", {"at"}, "closes at this command"},
      {"smtp-rst", Kind::smtp_rst, "", {"at"}, "RST at this command"},
  };
}

using Index = std::unordered_map<std::string, const Mode*>;

Index make_index() {
  Index index;
  for (const Mode& mode : all_modes()) {
    index.emplace(std::string(mode.name), &mode);
    if (mode.name.starts_with("smtp-"))
      index.emplace("s-" + std::string(mode.name.substr(5)), &mode);
    else
      index.emplace("h-" + std::string(mode.name), &mode);
  }
  return index;
}

}  // namespace

const std::vector<Mode>& all_modes() {
  static const std::vector<Mode> modes = make_modes();
  return modes;
}

const Mode* find_mode(std::string_view name) {
  static const Index index = make_index();
  if (name.empty() || name.size() > 20) return nullptr;
  const auto found = index.find(to_lower(name));
  return found == index.end() ? nullptr : found->second;
}

std::string sample_body(std::string_view name) {
  if (name == "euc-kr")
    return "{\"error\":\"\xbf\xc0\xb7\xf9\xb0\xa1 \xb9\xdf\xbb\xfd\xc7\xdf\xbd\xc0\xb4\xcf\xb4\xd9\"}";
  if (name == "bad-utf8") return "{\"error\":\"\xff \xc3 \xed\xa0\x80 \xf0\x9f\x98 \xc0\xaf\"}";
  if (name == "cut-utf8") return "{\"error\":\"\xec\x98\xa4\xeb\xa5\x98\xea\xb0";
  if (name == "html") return "<!doctype html><title>Sign in</title><form action=/login>";
  if (name == "cut-json") return "{\"ok\":true,\"id\":\"abc";
  if (name == "not-ok") return "{\"ok\":false,\"error\":\"invalid_auth\"}";
  throw std::invalid_argument("unknown sample " + std::string(name));
}

}  // namespace stub
