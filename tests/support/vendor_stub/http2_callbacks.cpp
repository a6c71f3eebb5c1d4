#include "http2_callbacks.hpp"

#include "server.hpp"

namespace stub {

namespace {

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

bool is_request(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

std::uint32_t id_of(const nghttp2_frame& frame) { return static_cast<std::uint32_t>(frame.hd.stream_id); }

}  // namespace

nghttp2_session* Http2Session::Callbacks::new_session(Http2Session& owner) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, &owner);
  nghttp2_session_callbacks_del(callbacks);
  return session;
}

int Http2Session::Callbacks::on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (is_request(*frame)) static_cast<Http2Session*>(user)->open_stream(id_of(*frame));
  return 0;
}

int Http2Session::Callbacks::on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                                       std::uint8_t, void* user) {
  auto* session = static_cast<Http2Session*>(user);
  Stream* stream = session->find(id_of(*frame));
  if (stream == nullptr || !is_request(*frame)) return 0;
  const std::string_view key = view(name, name_size);
  const std::string_view text = view(value, value_size);
  if (key == ":method")
    stream->request.set(Field::method, text);
  else if (key == ":path")
    stream->request.set(Field::path, text);
  stream->request.add_header(key, text, session->connection_.server().keeps_all_headers());
  return 0;
}

int Http2Session::Callbacks::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  auto* session = static_cast<Http2Session*>(user);
  Stream* stream = session->find(id_of(*frame));
  if (stream == nullptr || !session->connection_.open()) return 0;
  if (is_request(*frame)) session->on_head(*stream);
  const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if (carries && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) session->on_whole(*stream);
  return 0;
}

int Http2Session::Callbacks::on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                                     std::size_t size, void* user) {
  auto* session = static_cast<Http2Session*>(user);
  if (Stream* stream = session->find(static_cast<std::uint32_t>(id))) session->on_body(*stream, view(data, size));
  return 0;
}

int Http2Session::Callbacks::on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
  static_cast<Http2Session*>(user)->on_closed(static_cast<std::uint32_t>(id));
  return 0;
}

ssize_t Http2Session::Callbacks::read_response(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                                               std::uint32_t* flags, nghttp2_data_source* source, void* user) {
  return static_cast<Http2Session*>(user)->read_response(*static_cast<Stream*>(source->ptr), buffer, size, flags);
}

}  // namespace stub
