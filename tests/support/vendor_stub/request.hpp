// One request as the stub saw it, whatever protocol carried it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stub {

enum class Field : std::uint8_t {
  method,
  path,
  idempotency_key,
  webhook_id,
  webhook_timestamp,
  webhook_signature,
  content_type,
  user_agent,
  authorization,
  apns_id,
  to,
  message_id,
  count
};

// The name a logged header has in the log; empty for the fields that are not headers.
std::string_view header_name(Field field);

// Values live in one buffer that keeps its capacity, so a keep-alive connection stops allocating.
class Request {
 public:
  void clear();
  void set(Field field, std::string_view value);
  std::string_view get(Field field) const;

  // Keeps the value if the header is one of those logged; everything is kept when `keep_all`.
  void add_header(std::string_view name, std::string_view value, bool keep_all);

  // Fills in message_id and to from headers and body.
  void identify();

  std::string body;
  std::vector<std::pair<std::string, std::string>> all_headers;
  std::vector<std::string> recipients;  // SMTP only
  std::string_view protocol = "h1";
  std::uint64_t connection = 0;
  std::uint64_t number = 0;  // on its connection, from 1
  std::uint64_t sequence = 0;

 private:
  struct Slice {
    std::uint32_t start = 0;
    std::uint32_t length = 0;
  };
  std::string text_;
  std::array<Slice, static_cast<std::size_t>(Field::count)> slices_{};
};

}  // namespace stub
