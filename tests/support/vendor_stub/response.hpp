// Turns a behaviour into an answer, and an answer into HTTP/1.1 bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "behaviour.hpp"
#include "request.hpp"

namespace stub {

struct Response {
  int status = 200;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Fills %{id}, %{to} and %{seq} of the body and works out Retry-After.
Response make_response(const Behaviour& act, const Request& request);

std::string_view default_reason(int status);

struct Framing {
  bool keep_alive = true;
  bool head_only = false;  // HEAD
};

void append_http1(std::string& out, const Response& response, Framing framing);
void append_http1(std::string& out, const Behaviour& act, const Request& request, Framing framing);

// Status line and headers up to and with the blank line; without a length when `length` is npos (chunked).
void append_http1_head(std::string& out, const Response& response, std::size_t length, bool keep_alive);

}  // namespace stub
