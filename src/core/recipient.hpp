#pragma once

// Recipients that are known by an id of their own: how they and addresses are written and compared.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace notify {

namespace limits {
inline constexpr std::size_t kRecipientId = 128;
inline constexpr std::size_t kLocale = 64;
inline constexpr std::size_t kGroup = 64;
inline constexpr std::size_t kEndpoints = 100;  // of one recipient, and so many groups
}  // namespace limits

// "@42" is the recipient 42, whose endpoint is looked up when the message is sent. Everything else is an address.
bool is_recipient_reference(std::string_view recipient) noexcept;

// One line of 1 to 128 bytes without white space and not beginning with '@'. The error's field is "id".
Result<void> check_recipient_id(std::string_view id);

// The form in which addresses are compared: e-mail addresses in lower case, telephone numbers as digits with their
// leading '+' ("+82 (10) 1234-5678" → "+821012345678"), everything else as it is.
std::string match_address(std::string_view address);

// A pattern with '*' in the form in which it is compared with match_address(address).
std::string match_pattern(std::string_view pattern, std::string_view address);

// Whom an opt-out is about: "@ID" as it is, or an address in the form above.
std::string consent_subject(std::string_view reference_or_address);

// A recipient as `recipient set` and `recipient import` write it. What is not there stays as it is; a list that is there
// replaces the one before, endpoints channel by channel.
struct RecipientChange {
  std::string id{};
  std::optional<std::string> locale{};
  std::map<std::string, std::vector<std::string>> endpoints{};  // by channel, the one to be used first is first
  std::optional<std::vector<std::string>> groups{};
  bool enable = false;  // endpoints and addresses named here that are disabled are so no longer
};

// Everything that can be wrong with one. Error.field: "id", "locale", "endpoints.sms", "groups".
Result<void> check_recipient(const RecipientChange& change);

}  // namespace notify
