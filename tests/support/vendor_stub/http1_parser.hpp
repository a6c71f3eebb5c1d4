// HTTP/1.1 request heads and chunked bodies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "request.hpp"

namespace stub {

constexpr std::size_t max_head_bytes = 64 * 1024;
constexpr std::uint64_t max_body_bytes = 64ULL * 1024 * 1024;

struct Http1Head {
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

enum class HeadResult { incomplete, complete, too_large, malformed };

// On `complete`, fills request and head and says how many bytes the head took.
HeadResult parse_http1_head(std::string_view bytes, bool keep_all, Request& request, Http1Head& head,
                            std::size_t& used);

class ChunkDecoder {
 public:
  enum class Result { more, done, malformed };

  // Moves decoded bytes from the front of `in` to `body`.
  Result decode(std::string& in, std::string& body);

 private:
  Result take_size_line(std::string& in);
  std::uint64_t left_ = 0;  // of the current chunk, with its CR LF
  bool in_chunk_ = false;
  bool in_trailer_ = false;
};

}  // namespace stub
