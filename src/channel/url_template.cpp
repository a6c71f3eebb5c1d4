#include "channel/url_template.hpp"

#include <nlohmann/json.hpp>

#include "core/safe_text.hpp"
#include "core/text_rules.hpp"
#include "core/url_text.hpp"

namespace notify {
namespace {

constexpr std::string_view kData = "data.";

bool is_known(std::string_view name) noexcept {
  if (name.starts_with(kData)) return is_variable_name(name.substr(kData.size()));
  return name == "id" || name == "to" || name == "kind" || name == "category";
}

Result<std::string> data_member(const std::string& data, const std::string& name) {
  const auto document = nlohmann::json::parse(data, nullptr, false);
  if (document.is_object() && document.contains(name)) {
    const auto& value = document[name];
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return value.dump();
  }
  return fail_field("data", "data." + name + ": list_unsubscribe needs it, and the message has no such text");
}

Result<std::string> value_of(std::string_view name, const Dispatch& dispatch) {
  if (name == "id") return dispatch.envelope.message_id;
  if (name == "to") return dispatch.address;
  if (name == "kind") return dispatch.envelope.kind;
  if (name == "category") return dispatch.envelope.category;
  return data_member(dispatch.content.data, std::string(name.substr(kData.size())));
}

// Calls for each stretch of text and for each placeholder's name, in order.
template <class Text, class Name>
Result<void> walk(std::string_view text, Text on_text, Name on_name) {
  while (!text.empty()) {
    const std::size_t open = text.find_first_of("{}");
    on_text(text.substr(0, open));
    if (open == std::string_view::npos) return {};
    const std::size_t close = text.find('}', open);
    const std::string_view name = close == std::string_view::npos ? "" : text.substr(open + 1, close - open - 1);
    if (text[open] != '{' || !is_known(name))
      return fail(Code::kConfig, "unknown placeholder {" + safe_text(name, 64) + "}",
                  "there are {id}, {to}, {kind}, {category} and {data.NAME}");
    TRY(on_name(name));
    text.remove_prefix(close + 1);
  }
  return {};
}

}  // namespace

Result<void> check_url_template(std::string_view text) {
  return walk(
      text, [](std::string_view) {}, [](std::string_view) -> Result<void> { return {}; });
}

Result<std::string> fill_url_template(std::string_view text, const Dispatch& dispatch) {
  std::string filled;
  TRY(walk(
      text, [&](std::string_view part) { filled += part; },
      [&](std::string_view name) -> Result<void> {
        TRY_ASSIGN(const std::string value, value_of(name, dispatch));
        filled += percent_encoded(value);
        return {};
      }));
  return filled;
}

}  // namespace notify
