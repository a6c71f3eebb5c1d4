// What nghttp2 calls back, handed on to the session.
#pragma once

#include "http2_session.hpp"

namespace stub {

struct Http2Session::Callbacks {
  static nghttp2_session* new_session(Http2Session& session);
  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t flags, void* user);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_data(nghttp2_session*, std::uint8_t flags, std::int32_t id, const std::uint8_t* data, std::size_t size,
                     void* user);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user);
  static ssize_t read_response(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                               std::uint32_t* flags, nghttp2_data_source* source, void* user);
};

}  // namespace stub
