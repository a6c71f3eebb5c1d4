#include "sys/curl_request_check.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "core/ascii.hpp"

namespace notify {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

Url parse_url(const std::string& text) {
  Url url(curl_url());
  if (url && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) url.reset();
  return url;
}

std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

bool control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string_view authority_of(std::string_view url) noexcept {
  const std::size_t start = url.find("://");
  if (start == std::string_view::npos) return {};
  url.remove_prefix(start + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

std::string why_header_refused(const std::string& name, const std::string& value) {
  constexpr std::array<std::string_view, 3> kComputed{"content-length", "transfer-encoding", "expect"};
  if (!is_token(name)) return "a header name is no is_token";
  if (std::any_of(value.begin(), value.end(), [](char c) { return control(c) && c != '\t'; }))
    return "the value of the header " + name + " holds a control character";
  if (std::any_of(kComputed.begin(), kComputed.end(), [&](auto own) { return same_ignoring_case(name, own); }))
    return "the header " + name + " is not the caller's to set";
  return {};
}

void replace_all(std::string& text, const std::string& what) {
  if (what.size() < 2) return;  // "/" is no secret
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 3))
    text.replace(at, what.size(), "***");
}

}  // namespace

std::string why_url_refused(const std::string& text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return control(c) || c == ' '; }))
    return "the URL holds a space or a control character";
  const Url url = parse_url(text);
  if (!url) return "the URL cannot be parsed";
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (text.find("://") == std::string::npos || (scheme != "http" && scheme != "https"))
    return "the URL's scheme is neither http nor https";
  const std::string_view authority = authority_of(text);
  if (std::count(authority.begin(), authority.end(), '@') > 1) return "the URL has more than one '@' before its host";
  const std::string host = part(url.get(), CURLUPART_HOST);
  if (authority.empty() || host.empty()) return "the URL has no host";
  if (std::any_of(host.begin(), host.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return "the URL's host name is not ASCII (write it in its xn-- form)";
  return {};
}

std::string why_head_refused(const HttpRequest& request) {
  if (!is_token(request.method)) return "the method is no is_token";
  for (const auto& [name, value] : request.headers)
    if (std::string why = why_header_refused(name, value); !why.empty()) return why;
  return {};
}

std::string without_url_parts(std::string text, const std::string& url) {
  replace_all(text, url);
  const Url parsed = parse_url(url);
  if (!parsed) return text;
  for (const CURLUPart which :
       {CURLUPART_PASSWORD, CURLUPART_USER, CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_PATH})
    replace_all(text, part(parsed.get(), which));
  return text;
}

}  // namespace notify
