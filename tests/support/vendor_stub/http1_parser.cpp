#include "http1_parser.hpp"

#include <algorithm>
#include <charconv>

#include "text.hpp"

namespace stub {

namespace {

std::string_view trim(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

bool parse_request_line(std::string_view line, Request& request, Http1Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return false;
  std::string_view target = line.substr(first + 1, last - first - 1);
  // The absolute form, as sent to a proxy: keep the path only.
  if (const std::size_t scheme = target.find("://"); !target.starts_with('/') && scheme != std::string_view::npos) {
    const std::size_t slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  request.set(Field::method, line.substr(0, first));
  request.set(Field::path, target);
  head.keep_alive = !line.ends_with("HTTP/1.0");
  return true;
}

// Only the headers that frame the message; their lengths tell them apart cheaply.
bool apply_framing(std::string_view name, std::string_view value, Http1Head& head) {
  switch (name.size()) {
    case 14:
      if (!same_ignoring_case(name, "content-length")) return true;
      if (const auto length = parse_number(value))
        head.content_length = *length;
      else
        return false;
      return true;
    case 17:
      if (same_ignoring_case(name, "transfer-encoding")) head.chunked = same_ignoring_case(value, "chunked");
      return true;
    case 10:
      if (!same_ignoring_case(name, "connection")) return true;
      if (same_ignoring_case(value, "close")) head.keep_alive = false;
      if (same_ignoring_case(value, "keep-alive")) head.keep_alive = true;
      return true;
    case 6:
      if (same_ignoring_case(name, "expect")) head.expects_continue = same_ignoring_case(value, "100-continue");
      return true;
    default: return true;
  }
}

}  // namespace

HeadResult parse_http1_head(std::string_view bytes, bool keep_all, Request& request, Http1Head& head,
                            std::size_t& used) {
  const std::size_t end = bytes.substr(0, max_head_bytes).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return bytes.size() >= max_head_bytes ? HeadResult::too_large : HeadResult::incomplete;
  }
  used = end + 4;
  head = {};
  std::size_t at = bytes.find("\r\n");
  if (!parse_request_line(bytes.substr(0, at), request, head)) return HeadResult::malformed;
  while (at < end) {
    at += 2;
    const std::size_t line_end = bytes.find("\r\n", at);
    const std::string_view line = bytes.substr(at, line_end - at);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return HeadResult::malformed;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (!apply_framing(name, value, head)) return HeadResult::malformed;
    request.add_header(name, value, keep_all);
    at = line_end;
  }
  return HeadResult::complete;
}

ChunkDecoder::Result ChunkDecoder::take_size_line(std::string& in) {
  const std::size_t end = in.find("\r\n");
  if (end == std::string::npos) return in.size() > 1024 ? Result::malformed : Result::more;
  if (in_trailer_) {
    in.erase(0, end + 2);
    return end == 0 ? Result::done : take_size_line(in);
  }
  std::uint64_t size = 0;
  const auto parsed = std::from_chars(in.data(), in.data() + end, size, 16);
  if (parsed.ec != std::errc{} || size > max_body_bytes) return Result::malformed;
  in.erase(0, end + 2);
  if (size == 0) {
    in_trailer_ = true;
    return take_size_line(in);
  }
  left_ = size + 2;
  in_chunk_ = true;
  return Result::more;
}

ChunkDecoder::Result ChunkDecoder::decode(std::string& in, std::string& body) {
  for (;;) {
    if (!in_chunk_) {
      const Result result = take_size_line(in);
      if (result != Result::more || !in_chunk_) return result;
    }
    const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size()));
    const std::size_t payload = left_ > 2 ? static_cast<std::size_t>(std::min<std::uint64_t>(left_ - 2, take)) : 0;
    body.append(in, 0, payload);
    in.erase(0, take);
    left_ -= take;
    if (body.size() > max_body_bytes) return Result::malformed;
    if (left_ > 0) return Result::more;
    in_chunk_ = false;
  }
}

}  // namespace stub
