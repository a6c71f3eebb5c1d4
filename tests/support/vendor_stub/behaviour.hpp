// What the stub does to a connection or a request, and when.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text.hpp"

namespace stub {

enum class Kind : std::uint8_t {
  // as soon as the connection is accepted
  accept_close,
  accept_rst,
  accept_hang,
  // as soon as the first bytes are there, in TLS those of the ClientHello
  first_rst,
  first_close,
  unread_close,
  // as soon as the request head is read
  head_close,
  head_rst,
  never_read,
  body_rst,
  early,
  // when the whole request is read and logged
  reply,
  hang,
  close,
  rst,
  die,
  raw,
  cut_body,
  cut_body_rst,
  drip,
  drip_head,
  endless,
  idle_close,
  idle_rst,
  h2_error,
  h2_goaway,
  // SMTP, at the command named by `at`
  smtp_log,
  smtp_reply,
  smtp_hang,
  smtp_close,
  smtp_rst
};

enum class Stage : std::uint8_t { connect, head, whole, smtp };
enum class SmtpStage : std::uint8_t { banner, ehlo, starttls, auth, mail, rcpt, data, dot, quit };
enum class LastStream : std::uint8_t { below, equal, above };

// What a gate keeps counts for: everything together, each recipient, each message id.
enum class Per : std::uint8_t { all, to, id };

// Whether the sender may think the request was processed; decides what counts as a duplicate.
enum class Outcome : std::uint8_t { taken, refused, silent };

struct Behaviour {
  Kind kind = Kind::reply;
  std::string label = "ok";  // as written, for the log
  int status = 200;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body = R"({"ok":true})";
  std::string retry_after;  // a literal, or date+N / date-N for an HTTP date
  std::string bytes;        // raw: sent as they are
  std::string text;         // SMTP reply line
  Nanos wait{0};            // before the answer
  Nanos interval = std::chrono::seconds(5);
  std::uint64_t after = 0;  // body bytes before an RST, endless: size in bytes (0 = for ever)
  bool then_close = false;
  std::uint32_t h2_code = 0;
  LastStream last = LastStream::below;
  bool answer = false;  // GOAWAY: answer the open stream all the same
  SmtpStage at = SmtpStage::dot;
  mutable std::string http1_bytes;  // the whole answer, where it is the same for every request

  Stage stage() const;
  Outcome outcome() const;
  bool is_plain_success() const { return kind == Kind::reply && status >= 200 && status < 300; }
};

// Which requests a rule is about. Empty patterns match everything; patterns may hold '*'.
struct Match {
  std::string to, path, method, id, body_has;
  std::uint64_t connection = 0;
};

// How often: of the requests that match, which ones are hit.
struct Gate {
  std::uint64_t skip = 0;
  std::uint64_t times = UINT64_MAX;
  std::uint64_t every = 1;
  std::uint64_t from = 1;  // from this request of the connection on
  double chance = 1;
  Per per = Per::all;
};

struct Count {
  std::uint64_t seen = 0;
  std::uint64_t hits = 0;
};

struct Rule {
  Match match;
  Gate gate;
  Behaviour act;
  std::unordered_map<std::string, Count> counts;
};

// Parses words such as: H-SLOW 3 | slow:3 | code:503 retry-after=1 times=2 | to=+8210* status=503 times=2.
// Throws std::invalid_argument naming what is wrong. `default_body` is what a 200 says when no body is given.
Rule parse_rule(const std::vector<std::string>& words, const std::string& default_body);

// True if `text` (slow, slow:3, h-rst …) starts with the name of a mode.
bool is_mode_name(std::string_view text);

}  // namespace stub
