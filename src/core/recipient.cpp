#include "core/recipient.hpp"

#include <algorithm>
#include <set>

#include "core/ascii.hpp"
#include "core/message.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

bool is_email(std::string_view address) noexcept {
  const std::size_t at = address.rfind('@');
  return at != std::string_view::npos && at > 0 && at + 1 < address.size() &&
         address.find_first_of("/: ") == std::string_view::npos;
}

// Digits with what people put between them. A leading '-' is no telephone number (chat rooms have such ids).
bool is_phone_number(std::string_view address) noexcept {
  constexpr int kFewest = 5;
  if (address.empty() || (address.front() != '+' && address.front() != '(' && !is_digit(address.front()))) return false;
  if (address.find_first_not_of("0123456789+-.() ") != std::string_view::npos) return false;
  if (address.rfind('+') != std::string_view::npos && address.rfind('+') != 0) return false;
  return std::count_if(address.begin(), address.end(), is_digit) >= kFewest;
}

std::string too_many(const char* what) {
  return "there are more than " + std::to_string(limits::kEndpoints) + " " + what;
}

bool is_locale(std::string_view text) noexcept {
  return text.size() <= limits::kLocale && std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
         });
}

Result<void> check_endpoints(const std::string& channel, const std::vector<std::string>& addresses) {
  if (!is_channel_name(channel))
    return fail_field("endpoints", "\"" + safe_text(channel, 64) + "\" is not a name for a channel");
  const std::string field = "endpoints." + channel;
  std::set<std::string> seen;
  for (const std::string& address : addresses) {
    if (address.empty()) return fail_field(field, "an address is empty");
    if (is_recipient_reference(address)) return fail_field(field, "an address must not begin with @");
    TRY(check_line(field, "the address", address, limits::kRecipient));
    if (!seen.insert(match_address(address)).second) return fail_field(field, "an address is there twice");
  }
  return {};
}

}  // namespace

bool is_recipient_reference(std::string_view recipient) noexcept { return recipient.starts_with('@'); }

Result<void> check_recipient_id(std::string_view id) {
  if (id.empty())
    return fail_field("id", "the recipient's id is empty",
                      "@42 is the recipient that notifyctl recipient set 42 makes");
  TRY(check_utf8("id", id));
  TRY(check_line("id", "the recipient's id", id, limits::kRecipientId));
  if (id.front() == '@') return fail_field("id", "a recipient's id does not begin with @", "leave out the @");
  if (id.find(' ') != std::string_view::npos)
    return fail_field("id", "a recipient's id has no spaces", "write it without them");
  return {};
}

std::string match_address(std::string_view address) {
  std::string out;
  out.reserve(address.size());
  if (is_email(address)) {
    for (const char c : address) out += lower(c);
  } else if (is_phone_number(address)) {
    for (const char c : address)
      if (is_digit(c) || c == '+') out += c;
  } else {
    out = address;
  }
  return out;
}

std::string match_pattern(std::string_view pattern, std::string_view address) {
  std::string out;
  if (is_email(address)) {
    for (const char c : pattern) out += lower(c);
    return out;
  }
  // A pattern that is no telephone number must not become "*" by losing everything else.
  const bool of_numbers = is_phone_number(address) && std::any_of(pattern.begin(), pattern.end(), is_digit) &&
                          pattern.find_first_not_of("0123456789+-.() *") == std::string_view::npos;
  if (!of_numbers || pattern.starts_with('-')) return std::string(pattern);
  for (const char c : pattern)
    if (is_digit(c) || c == '+' || c == '*') out += c;
  return out;
}

std::string consent_subject(std::string_view reference_or_address) {
  return is_recipient_reference(reference_or_address) ? std::string(reference_or_address)
                                                      : match_address(reference_or_address);
}

Result<void> check_recipient(const RecipientChange& change) {
  TRY(check_recipient_id(change.id));
  if (change.locale && !is_locale(*change.locale))
    return fail_field("locale", "\"" + safe_text(*change.locale, 64) + "\" is not a locale",
                      "write it like ko or en-GB");
  std::size_t endpoints = 0;
  for (const auto& [channel, addresses] : change.endpoints) {
    endpoints += addresses.size() + 1;
    if (endpoints > limits::kEndpoints) return fail_field("endpoints", too_many("addresses"));
    for (const std::string& address : addresses) TRY(check_utf8("endpoints", address));
    TRY(check_endpoints(channel, addresses));
  }
  if (!change.groups) return {};
  if (change.groups->size() > limits::kEndpoints) return fail_field("groups", too_many("groups"));
  for (const std::string& group : *change.groups) {
    if (group.empty()) return fail_field("groups", "a group's name is empty");
    TRY(check_utf8("groups", group));
    TRY(check_line("groups", "the group's name", group, limits::kGroup));
  }
  return {};
}

}  // namespace notify
