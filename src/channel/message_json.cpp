#include "channel/message_json.hpp"

#include <string_view>

#include "core/payload.hpp"
#include "core/safe_text.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, valid_utf8(value) ? value : std::string_view(safe_text(value, value.size() * 6)));
  }
  void text_if_any(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void raw(std::string_view name, std::string_view json) {
    begin(name);
    out_ += json;
  }
  void end() { out_ += '}'; }

 private:
  void begin(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_.append(1, '"').append(name).append("\":");
  }

  std::string& out_;
};

}  // namespace

std::string message_json(const Dispatch& dispatch) {
  const Envelope& envelope = dispatch.envelope;
  const Payload& content = dispatch.content;
  std::string json;
  json.reserve(256 + dispatch.address.size() + content.subject.size() + content.body.size() + content.html.size() +
               content.alt.size() + content.data.size());
  ObjectWriter object(json);
  object.text("message_id", envelope.message_id);
  object.text("to", dispatch.address);
  object.text("kind", envelope.kind);
  object.text("category", envelope.category);
  object.text("subject", content.subject);
  object.text("body", content.body);
  object.text_if_any("html", content.html);
  object.text_if_any("alt", content.alt);
  object.raw("data", content.data.empty() ? std::string_view("null") : content.data);
  object.text_if_any("correlation", envelope.correlation);
  object.text("enqueued_at", format_time(envelope.enqueued_at));
  object.end();
  return json;
}

}  // namespace notify
