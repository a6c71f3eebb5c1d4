#include "http1_session.hpp"

#include "server.hpp"

namespace stub {

namespace {

constexpr std::size_t stream_block = 64 * 1024;

// drip-head never gets to the blank line: after the status line comes a header without an end.
char drip_head_byte(std::size_t position) {
  constexpr std::string_view start = "HTTP/1.1 200 OK\r\nX-Drip: ";
  return position < start.size() ? start[position] : '.';
}

}  // namespace

void Http1Session::on_input() {
  if (state_ == State::dead || state_ == State::streaming) return connection_.in().clear();
  while (connection_.open()) {
    if (state_ == State::head && !take_head()) return;
    if (state_ != State::body || !take_body()) return;
    finish_request();
    if (state_ != State::head) return;
  }
}

bool Http1Session::take_head() {
  if (connection_.in().empty()) return false;
  std::size_t used = 0;
  request_.clear();
  const HeadResult result =
      parse_http1_head(connection_.in(), connection_.server().keeps_all_headers(), request_, head_, used);
  if (result == HeadResult::incomplete) return false;
  if (result != HeadResult::complete) {
    refuse(result == HeadResult::too_large ? 431 : 400);
    return false;
  }
  connection_.in().erase(0, used);
  request_.connection = connection_.number();
  if (Server::is_control(connection_, request_.get(Field::path))) {
    begin_body(nullptr);
    return true;
  }
  request_.number = ++requests_;
  const Behaviour* early = connection_.server().policy().at_head(request_);
  if (early == nullptr && head_.content_length > max_body_bytes) {
    refuse(413);
    return false;
  }
  begin_body(early);
  return state_ == State::body;
}

void Http1Session::begin_body(const Behaviour* early) {
  state_ = State::body;
  chunks_ = {};
  reset_after_ = UINT64_MAX;
  if (early != nullptr) act_early(*early);
  if (state_ != State::body || !head_.expects_continue || !connection_.in().empty()) return;
  if (connection_.server().sends_continue()) connection_.write("HTTP/1.1 100 Continue\r\n\r\n");
}

void Http1Session::act_early(const Behaviour& act) {
  if (act.kind == Kind::body_rst) {
    reset_after_ = act.after;
    return;
  }
  state_ = State::dead;
  switch (act.kind) {
    case Kind::head_close: return connection_.end_now(Ending::close);
    case Kind::head_rst: return connection_.end_now(Ending::reset);
    case Kind::never_read: return connection_.stop_reading();
    default:
      append_http1(connection_.out(), make_response(act, request_), {.keep_alive = false});
      connection_.end_after_sending(Ending::linger);
  }
}

bool Http1Session::take_body() {
  bool whole = false;
  if (head_.chunked) {
    const auto result = chunks_.decode(connection_.in(), request_.body);
    if (result == ChunkDecoder::Result::malformed) refuse(400);
    whole = result == ChunkDecoder::Result::done;
  } else {
    whole = take_plain_body();
  }
  if (request_.body.size() >= reset_after_) {
    state_ = State::dead;
    connection_.end_now(Ending::reset);
    return false;
  }
  return whole;
}

bool Http1Session::take_plain_body() {
  const std::size_t length = head_.content_length;
  std::string& in = connection_.in();
  const std::size_t take = std::min(length - request_.body.size(), in.size());
  if (length > stream_block && length <= max_body_bytes) request_.body.reserve(length);
  request_.body.append(in, 0, take);
  in.erase(0, take);
  return request_.body.size() == length;
}

void Http1Session::finish_request() {
  if (Server::is_control(connection_, request_.get(Field::path))) return answer_control();
  state_ = State::owed;
  connection_.server().submit(connection_, static_cast<std::uint32_t>(requests_), request_);
}

void Http1Session::answer_control() {
  append_http1(connection_.out(), connection_.server().control(request_), {.keep_alive = head_.keep_alive});
  state_ = State::head;
  if (!head_.keep_alive) connection_.end_after_sending(Ending::linger);
}

void Http1Session::refuse(int status) {
  state_ = State::dead;
  Response response;
  response.status = status;
  append_http1(connection_.out(), response, {.keep_alive = false});
  connection_.end_after_sending(Ending::linger);
}

void Http1Session::perform(std::uint32_t stream, const Behaviour& act) {
  if (state_ != State::owed || stream != static_cast<std::uint32_t>(requests_)) return;
  if (act.kind != Kind::hang) connection_.settle();
  state_ = State::dead;
  switch (act.kind) {
    case Kind::hang: return;
    case Kind::close: return connection_.end_after_sending(Ending::close);
    case Kind::rst: return connection_.end_after_sending(Ending::reset);
    case Kind::die: return connection_.server().die();
    case Kind::raw: connection_.write(act.bytes); return connection_.end_after_sending(Ending::close);
    case Kind::cut_body: return cut_body(act, Ending::close);
    case Kind::cut_body_rst: return cut_body(act, Ending::reset);
    case Kind::drip:
    case Kind::drip_head:
    case Kind::endless: return begin_stream(act);
    case Kind::idle_close:
    case Kind::idle_rst: return end_idle(act);
    default: return reply(act);
  }
}

void Http1Session::reply(const Behaviour& act) {
  const bool close_after = !head_.keep_alive || act.then_close;
  const bool head_only = request_.get(Field::method) == "HEAD";
  append_http1(connection_.out(), act, request_, {.keep_alive = !close_after, .head_only = head_only});
  next_request(close_after);
}

void Http1Session::next_request(bool close_after) {
  if (close_after) return connection_.end_after_sending(Ending::linger);
  state_ = State::head;
  if (!connection_.in().empty()) on_input();
}

void Http1Session::cut_body(const Behaviour& act, Ending ending) {
  Response response = make_response(act, request_);
  append_http1_head(connection_.out(), response, response.body.size(), true);
  connection_.write(std::string_view(response.body).substr(0, act.after == 0 ? 3 : act.after));
  // The part sent must arrive, so the RST has to wait for it.
  if (ending == Ending::close) return connection_.end_after_sending(Ending::close);
  connection_.server().tick_later(connection_, static_cast<std::uint32_t>(requests_), act,
                                  std::chrono::milliseconds(50));
}

void Http1Session::begin_stream(const Behaviour& act) {
  state_ = State::streaming;
  endless_ = act.kind == Kind::endless;
  stream_left_ = act.after == 0 ? UINT64_MAX : act.after;
  dripped_ = 0;
  if (act.kind != Kind::drip_head) {
    const std::size_t length = act.after == 0 || act.kind == Kind::drip ? std::string::npos : act.after;
    append_http1_head(connection_.out(), make_response(act, request_), length, true);
  }
  if (!endless_) {
    connection_.server().tick_later(connection_, static_cast<std::uint32_t>(requests_), act, act.interval);
  }
}

void Http1Session::drained() {
  if (state_ != State::streaming || !endless_) return;
  static const std::string block(stream_block, 'x');
  if (stream_left_ == UINT64_MAX) {
    connection_.write("10000\r\n");
    connection_.write(block);
    connection_.write("\r\n");
    return;
  }
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(stream_left_, block.size()));
  stream_left_ -= size;
  connection_.write(std::string_view(block).substr(0, size));
  if (stream_left_ == 0) next_request(false);
}

void Http1Session::end_idle(const Behaviour& act) {
  reply(act);
  const Ending ending = act.kind == Kind::idle_rst ? Ending::reset : Ending::close;
  if (act.interval.count() == 0 && ending == Ending::close) return connection_.end_after_sending(ending);
  const Nanos rest = std::max<Nanos>(act.interval, std::chrono::milliseconds(20));  // lets the answer arrive
  connection_.server().tick_later(connection_, static_cast<std::uint32_t>(requests_), act, rest);
}

void Http1Session::tick(std::uint32_t stream, const Behaviour& act) {
  if (stream != static_cast<std::uint32_t>(requests_)) return;
  switch (act.kind) {
    case Kind::drip: connection_.write("1\r\n.\r\n"); break;
    case Kind::drip_head: connection_.write(std::string(1, drip_head_byte(dripped_++))); break;
    case Kind::cut_body_rst: return connection_.end_now(Ending::reset);
    case Kind::idle_rst: return connection_.end_now(Ending::reset);
    case Kind::idle_close:
      if (state_ == State::head && connection_.in().empty()) connection_.end_now(Ending::close);
      return;
    default: return;
  }
  connection_.server().tick_later(connection_, stream, act, act.interval);
}

}  // namespace stub
