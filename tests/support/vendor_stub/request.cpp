#include "request.hpp"

#include <algorithm>

#include "json_scan.hpp"
#include "text.hpp"

namespace stub {

namespace {

struct Named {
  std::string_view header;
  Field field;
};

// The second spelling of the idempotency key is that of a Korean gateway.
constexpr std::array<Named, 9> logged_headers{{{"idempotency-key", Field::idempotency_key},
                                               {"webhook-id", Field::webhook_id},
                                               {"webhook-timestamp", Field::webhook_timestamp},
                                               {"webhook-signature", Field::webhook_signature},
                                               {"content-type", Field::content_type},
                                               {"user-agent", Field::user_agent},
                                               {"authorization", Field::authorization},
                                               {"apns-id", Field::apns_id},
                                               {"x-nc-api-idempotency-key", Field::idempotency_key}}};

std::size_t index_of(Field field) { return static_cast<std::size_t>(field); }

// Twilio and its like send forms: To=%2B8210…&Body=…
std::string form_value(std::string_view body, std::string_view name) {
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('&', at), body.size());
    const std::string_view pair = body.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && same_ignoring_case(pair.substr(0, equals), name)) {
      return percent_decode(pair.substr(equals + 1), true);
    }
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string_view header_name(Field field) {
  for (const Named& named : logged_headers) {
    if (named.field == field) return named.header;
  }
  return {};
}

void Request::clear() {
  constexpr std::size_t keep = 1 << 20;
  text_.clear();
  slices_.fill({});
  body.clear();
  if (body.capacity() > keep) body.shrink_to_fit();
  all_headers.clear();
  recipients.clear();
}

void Request::set(Field field, std::string_view value) {
  slices_[index_of(field)] = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(value.size())};
  text_.append(value);
}

std::string_view Request::get(Field field) const {
  const Slice slice = slices_[index_of(field)];
  return std::string_view(text_).substr(slice.start, slice.length);
}

void Request::add_header(std::string_view name, std::string_view value, bool keep_all) {
  if (keep_all) all_headers.emplace_back(name, value);
  for (const Named& named : logged_headers) {
    if (named.header.size() == name.size() && same_ignoring_case(named.header, name)) set(named.field, value);
  }
}

void Request::identify() {
  // The curl tool calls everything a form, so the body has a say as well.
  const bool form = get(Field::content_type).starts_with("application/x-www-form-urlencoded") && !body.starts_with('{');
  const BodyFields fields = form ? BodyFields{} : scan_json(body);
  const std::string to = form ? form_value(body, "to") : fields.to;
  if (!to.empty()) set(Field::to, to);
  for (const Field field : {Field::webhook_id, Field::idempotency_key, Field::apns_id}) {
    if (get(field).empty()) continue;
    set(Field::message_id, std::string(get(field)));  // a copy: set() may move the buffer under the view
    return;
  }
  const std::string id = form ? form_value(body, "message_id") : fields.message_id;
  if (!id.empty()) set(Field::message_id, id);
}

}  // namespace stub
