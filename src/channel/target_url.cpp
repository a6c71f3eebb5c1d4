#include "channel/target_url.hpp"

#include <algorithm>
#include <optional>

#include "core/ascii.hpp"
#include "core/message.hpp"

namespace notify {
namespace {

// Shorter segments are ordinary words ("v1", "hooks"): taking them out of a text would only garble it.
constexpr std::size_t kTellingLength = 6;

struct Split {
  std::string_view scheme{};
  std::string_view authority{};
  std::string_view rest{};  // from the path on
};

std::optional<Split> split(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t start = colon + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
  return Split{url.substr(0, colon), url.substr(start, end - start), url.substr(end)};
}

bool is_one_of_ours(std::string_view scheme) {
  std::string name(scheme);
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return name == "http" || name == "https";
}

bool is_name_char(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_'; }

// A percent sign would let a host be written in two ways, and an interface name ("%25eth0") only makes sense
// for link-local addresses, which are refused in any case.
bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    if (host.size() < 4 || !host.ends_with(']')) return false;
    host = host.substr(1, host.size() - 2);
    return std::all_of(host.begin(), host.end(), [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
  }
  return !host.empty() && !host.starts_with('.') && host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(), [](char c) { return is_name_char(c) || c == '.'; });
}

bool is_port(std::string_view digits) {
  if (digits.empty() || digits.size() > 5 || !std::all_of(digits.begin(), digits.end(), is_digit)) return false;
  const int port = std::stoi(std::string(digits));
  return port >= 1 && port <= 65535;
}

// "host", "host:port", "[v6]:port" → the two parts; the port with its colon.
std::pair<std::string_view, std::string_view> host_and_port(std::string_view authority) {
  const std::size_t after_address = authority.starts_with('[') ? authority.find(']') : 0;
  if (after_address == std::string_view::npos) return {authority, {}};
  const std::size_t colon = std::min(authority.find(':', after_address), authority.size());
  return {authority.substr(0, colon), authority.substr(colon)};
}

void add_segments(std::string_view text, std::string_view separators, std::vector<std::string>& parts) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end >= kTellingLength) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

Result<void> check_target_url(std::string_view url) {
  if (url.size() > limits::kRecipient) return fail_field("to", "URL: longer than 2048 bytes");
  for (const char c : url)
    if (c < '!' || c > '~' || c == '\\' || c == '"' || c == '<' || c == '>')
      return fail_field("to", "URL: holds a character that a URL cannot hold",
                        "write it percent-encoded (%20 for a space)");
  const std::optional<Split> parts = split(url);
  if (!parts || !is_one_of_ours(parts->scheme)) return fail_field("to", "URL: does not begin with http:// or https://");
  if (parts->authority.find('@') != std::string_view::npos)
    return fail_field("to", "URL: holds a user name or password before the host",
                      "give credentials in [channels.NAME.headers]");
  const auto [host, port] = host_and_port(parts->authority);
  if (!is_host(host))
    return fail_field("to", "URL: has no valid host", "write names outside ASCII in punycode (xn--…)");
  if (!port.empty() && !is_port(port.substr(1))) return fail_field("to", "URL: has no valid port");
  return {};
}

std::string target_host(std::string_view url) {
  const std::optional<Split> parts = split(url);
  return parts ? std::string(host_and_port(parts->authority).first) : std::string();
}

std::vector<std::string> telling_parts(std::string_view url) {
  std::vector<std::string> found{std::string(url)};
  const std::optional<Split> parts = split(url);
  if (!parts) return found;
  if (parts->rest.size() >= kTellingLength) found.emplace_back(parts->rest);
  const std::size_t query = std::min(parts->rest.find('?'), parts->rest.size());
  add_segments(parts->rest.substr(0, query), "/", found);
  if (query < parts->rest.size()) add_segments(parts->rest.substr(query + 1), "&=#", found);
  return found;
}

}  // namespace notify
