#include "channel/dispatch_check.hpp"

#include <algorithm>

#include "core/message.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

bool is_id_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// One line of UTF-8 in which nothing would have to be escaped to be shown.
bool is_plain(std::string_view text) { return safe_text(text, text.size()) == text; }

}  // namespace

Result<void> check_dispatch(const Dispatch& dispatch) {
  const std::string& id = dispatch.envelope.message_id;
  if (id.empty() || id.size() > limits::kMessageId || !std::all_of(id.begin(), id.end(), is_id_char))
    return fail_field("message_id", "message id: not 1 to 100 letters, digits, '-' and '_'");
  if (dispatch.address.empty()) return fail_field("to", "recipient: empty");
  const Envelope& envelope = dispatch.envelope;
  const std::pair<const char*, const std::string&> texts[] = {{"to", dispatch.address},
                                                              {"kind", envelope.kind},
                                                              {"category", envelope.category},
                                                              {"correlation", envelope.correlation}};
  for (const auto& [field, text] : texts)
    if (!is_plain(text)) return fail_field(field, std::string(field) + ": holds control characters or is not UTF-8");
  return {};
}

}  // namespace notify
