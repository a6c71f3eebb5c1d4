#include "response.hpp"

#include <algorithm>
#include <ctime>

#include "text.hpp"

namespace stub {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void fill_template(std::string& body, const Request& request) {
  if (body.find("%{") == std::string::npos) return;
  replace_all(body, "%{id}", request.get(Field::message_id));
  replace_all(body, "%{to}", request.get(Field::to));
  replace_all(body, "%{seq}", std::to_string(request.sequence));
}

// date+30 and date-30 become HTTP dates around now; anything else goes out as it is, nonsense included.
std::string retry_after_value(const std::string& text) {
  if (!text.starts_with("date+") && !text.starts_with("date-")) return text;
  const auto offset = static_cast<std::time_t>(parse_number(std::string_view(text).substr(5)).value_or(0));
  return http_date(std::time(nullptr) + (text[4] == '+' ? offset : -offset));
}

bool has_header(const Response& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const auto& header) { return same_ignoring_case(header.first, name); });
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::string_view default_reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 207: return "Multi-Status";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

Response make_response(const Behaviour& act, const Request& request) {
  Response response{act.status, act.reason, act.headers, act.body};
  fill_template(response.body, request);
  if (!act.retry_after.empty()) response.headers.emplace_back("Retry-After", retry_after_value(act.retry_after));
  if (!has_header(response, "content-type") && response.body.starts_with('{')) {
    response.headers.emplace_back("Content-Type", "application/json");
  }
  return response;
}

void append_http1_head(std::string& out, const Response& response, std::size_t length, bool keep_alive) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(response.status));
  out += ' ';
  out += response.reason.empty() ? default_reason(response.status) : std::string_view(response.reason);
  out += "\r\n";
  for (const auto& [name, value] : response.headers) {
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
  }
  if (length == std::string::npos) {
    out += "Transfer-Encoding: chunked\r\n";
  } else if (may_have_body(response.status) && !has_header(response, "content-length")) {
    out += "Content-Length: ";
    append_number(out, length);
    out += "\r\n";
  }
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
}

void append_http1(std::string& out, const Response& response, Framing framing) {
  append_http1_head(out, response, response.body.size(), framing.keep_alive);
  if (!framing.head_only && may_have_body(response.status)) out += response.body;
}

void append_http1(std::string& out, const Behaviour& act, const Request& request, Framing framing) {
  const bool ordinary = framing.keep_alive && !framing.head_only;
  if (!ordinary || !act.retry_after.empty() || act.body.find("%{") != std::string::npos) {
    return append_http1(out, make_response(act, request), framing);
  }
  if (act.http1_bytes.empty()) append_http1(act.http1_bytes, make_response(act, request), framing);
  out += act.http1_bytes;
}

}  // namespace stub
