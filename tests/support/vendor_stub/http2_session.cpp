#include "http2_session.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "http1_parser.hpp"
#include "http2_callbacks.hpp"
#include "server.hpp"

namespace stub {

namespace {

constexpr std::size_t send_ahead = 256 * 1024;
constexpr std::uint32_t window = 1 << 20;

nghttp2_nv make_header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

Http2Session::Http2Session(Connection& connection) : connection_(connection), session_(Callbacks::new_session(*this)) {
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, connection.server().http2_streams()},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}}};
  nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, 16 * window);
  pump();
}

Http2Session::Stream* Http2Session::find(std::uint32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

Http2Session::Stream& Http2Session::open_stream(std::uint32_t id) {
  auto& stream = streams_[id] = std::make_unique<Stream>();
  stream->id = id;
  stream->request.protocol = "h2";
  stream->request.connection = connection_.number();
  return *stream;
}

void Http2Session::on_input() {
  std::string& in = connection_.in();
  const ssize_t used =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(in.data()), in.size());
  if (!connection_.open()) return;
  if (used < 0) return connection_.end_now(Ending::close);
  in.clear();
  pump();
}

void Http2Session::decided(std::uint32_t stream, const Behaviour& act) {
  if (act.kind == Kind::h2_goaway && act.last != LastStream::above) last_taken_ = stream;
}

void Http2Session::on_head(Stream& stream) {
  if (stream.id > last_taken_) stream.answered = true;  // neither processed nor logged, as the GOAWAY will say
  if (stream.answered) return;
  if (Server::is_control(connection_, stream.request.get(Field::path))) return;
  stream.request.number = ++requests_;
  if (const Behaviour* act = connection_.server().policy().at_head(stream.request)) act_early(stream, *act);
}

void Http2Session::act_early(Stream& stream, const Behaviour& act) {
  switch (act.kind) {
    case Kind::head_close: return connection_.end_after_sending(Ending::close);
    case Kind::head_rst: return connection_.end_after_sending(Ending::reset);
    case Kind::never_read: return connection_.stop_reading();
    case Kind::body_rst: stream.reset_after = act.after; return;
    default: stream.answered = true; return reply(stream, act);
  }
}

void Http2Session::on_body(Stream& stream, std::string_view bytes) {
  if (stream.answered) return;
  stream.request.body.append(bytes);
  if (stream.request.body.size() >= stream.reset_after) return connection_.end_after_sending(Ending::reset);
  if (stream.request.body.size() <= max_body_bytes) return;
  stream.answered = true;
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(stream.id), NGHTTP2_CANCEL);
}

void Http2Session::on_whole(Stream& stream) {
  if (stream.answered || stream.request.body.size() >= stream.reset_after) return;
  stream.answered = true;
  if (Server::is_control(connection_, stream.request.get(Field::path))) {
    stream.response = connection_.server().control(stream.request);
    return respond(stream);
  }
  stream.owed = true;
  ++owed_;
  connection_.server().submit(connection_, stream.id, stream.request);
}

void Http2Session::settle(Stream& stream) {
  if (!stream.owed) return;
  stream.owed = false;
  --owed_;
  connection_.settle();
}

void Http2Session::on_closed(std::uint32_t id) {
  if (Stream* stream = find(id)) settle(*stream);
  streams_.erase(id);
}

void Http2Session::perform(std::uint32_t id, const Behaviour& act) {
  Stream* stream = find(id);
  if (stream == nullptr || !stream->owed) return;
  if (act.kind == Kind::hang || act.kind == Kind::drip_head) return;
  settle(*stream);
  switch (act.kind) {
    case Kind::close: return connection_.end_after_sending(Ending::close);
    case Kind::rst: return connection_.end_after_sending(Ending::reset);
    case Kind::die: return connection_.server().die();
    case Kind::raw: connection_.write(act.bytes); return connection_.end_after_sending(Ending::close);
    case Kind::cut_body:
    case Kind::cut_body_rst: cut_body(*stream, act); break;
    case Kind::drip: drip(*stream, act); break;
    case Kind::endless: endless(*stream, act); break;
    case Kind::h2_error:
      nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id), act.h2_code);
      break;
    case Kind::h2_goaway: go_away(*stream, act); break;
    default: reply(*stream, act);
  }
  pump();
  end_if_idle();
}

void Http2Session::respond(Stream& stream) {
  const std::string status = std::to_string(stream.response.status);
  const std::string length = std::to_string(stream.response.body.size());
  for (auto& [name, value] : stream.response.headers) name = to_lower(name);
  std::vector<nghttp2_nv> headers{make_header(":status", status)};
  for (const auto& [name, value] : stream.response.headers) headers.push_back(make_header(name, value));
  if (!stream.keep_open && stream.endless_left == 0) headers.push_back(make_header("content-length", length));
  nghttp2_data_provider provider{};
  provider.source.ptr = &stream;
  provider.read_callback = &Callbacks::read_response;
  // Without a body the head ends the stream, as it does at Apple's. An empty frame after it would come too late: a client
  // that knows the length is done by then, and resets the stream.
  const bool body = !stream.response.body.empty() || stream.keep_open || stream.endless_left > 0;
  nghttp2_submit_response(session_.get(), static_cast<std::int32_t>(stream.id), headers.data(), headers.size(),
                          body ? &provider : nullptr);
}

ssize_t Http2Session::read_response(Stream& stream, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags) {
  if (stream.endless_left > 0) {
    const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(size, stream.endless_left));
    std::memset(buffer, 'x', take);
    if (stream.endless_left != UINT64_MAX) stream.endless_left -= take;
    if (stream.endless_left == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(take);
  }
  const std::size_t end = std::min(stream.response.body.size(), stream.allowed);
  const std::size_t take = std::min(size, end - std::min(end, stream.sent));
  if (take == 0 && stream.keep_open) return NGHTTP2_ERR_DEFERRED;
  std::memcpy(buffer, stream.response.body.data() + stream.sent, take);
  stream.sent += take;
  if (stream.sent == stream.response.body.size() && !stream.keep_open) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(take);
}

void Http2Session::reply(Stream& stream, const Behaviour& act) {
  stream.response = make_response(act, stream.request);
  respond(stream);
  if (act.then_close) {
    nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(stream.id), NGHTTP2_NO_ERROR,
                          nullptr, 0);
    leaving_ = true;
  }
  if (act.kind != Kind::idle_close && act.kind != Kind::idle_rst) return;
  const Nanos rest = std::max<Nanos>(act.interval, std::chrono::milliseconds(20));  // lets the answer arrive
  connection_.server().tick_later(connection_, stream.id, act, rest);
}

void Http2Session::cut_body(Stream& stream, const Behaviour& act) {
  stream.response = make_response(act, stream.request);
  stream.response.headers.emplace_back("content-length", std::to_string(stream.response.body.size()));
  stream.response.body.resize(std::min<std::size_t>(stream.response.body.size(), act.after == 0 ? 3 : act.after));
  stream.keep_open = true;
  respond(stream);
  connection_.server().tick_later(connection_, stream.id, act, std::chrono::milliseconds(50));
}

void Http2Session::drip(Stream& stream, const Behaviour& act) {
  stream.response = make_response(act, stream.request);
  stream.response.body.clear();
  stream.keep_open = true;
  respond(stream);
  connection_.server().tick_later(connection_, stream.id, act, act.interval);
}

void Http2Session::endless(Stream& stream, const Behaviour& act) {
  stream.response = make_response(act, stream.request);
  stream.endless_left = act.after == 0 ? UINT64_MAX : act.after;
  respond(stream);
}

void Http2Session::go_away(Stream& stream, const Behaviour& act) {
  const auto own = static_cast<std::int32_t>(stream.id);
  const std::int32_t last = act.last == LastStream::below   ? std::max(0, own - 2)
                            : act.last == LastStream::equal ? own
                                                            : INT32_MAX;
  // A server that goes gracefully gives notice, answers everything and lets the client close: closing first would cut off
  // what the client is just sending.
  const bool gracefully = act.answer && act.last == LastStream::above;
  if (gracefully)
    nghttp2_submit_shutdown_notice(session_.get());
  else
    nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last, act.h2_code, nullptr, 0);
  leaving_ = !gracefully;
  if (act.answer && act.last != LastStream::below) reply(stream, act);
}

void Http2Session::tick(std::uint32_t id, const Behaviour& act) {
  switch (act.kind) {
    case Kind::idle_close:
    case Kind::cut_body: return connection_.end_now(Ending::close);
    case Kind::idle_rst:
    case Kind::cut_body_rst: return connection_.end_now(Ending::reset);
    default: break;
  }
  Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->response.body += '.';
  nghttp2_session_resume_data(session_.get(), static_cast<std::int32_t>(id));
  pump();
  connection_.server().tick_later(connection_, id, act, act.interval);
}

void Http2Session::drained() { pump(); }

void Http2Session::end_if_idle() {
  const bool finished =
      nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0;
  if (connection_.open() && (finished || (leaving_ && owed_ == 0))) connection_.end_after_sending(Ending::close);
}

void Http2Session::pump() {
  if (pumping_) return;  // sending may close streams, which comes back here
  pumping_ = true;
  while (connection_.open() && connection_.unsent() < send_ahead) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
    if (size <= 0) break;
    connection_.write({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
  pumping_ = false;
  if (leaving_) return;
  if (nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0) end_if_idle();
}

}  // namespace stub
