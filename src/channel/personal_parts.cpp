#include "channel/personal_parts.hpp"

#include <utility>

#include "core/payload.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

void add(std::vector<std::string>& parts, const std::string& text) {
  if (text.empty()) return;
  parts.push_back(text);
  if (!valid_utf8(text)) return;
  std::string escaped;
  append_json_string(escaped, text);
  escaped = escaped.substr(1, escaped.size() - 2);
  if (escaped != text) parts.push_back(std::move(escaped));
}

}  // namespace

std::vector<std::string> personal_parts(const Dispatch& dispatch) {
  std::vector<std::string> parts;
  const Payload& content = dispatch.content;
  for (const std::string* text : {&dispatch.address, &dispatch.envelope.recipient, &content.subject, &content.body,
                                  &content.html, &content.alt, &content.data})
    add(parts, *text);
  return parts;
}

}  // namespace notify
