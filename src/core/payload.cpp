#include "core/payload.hpp"

#include <array>
#include <cstddef>

#include "core/json_text.hpp"
#include "core/near_miss.hpp"
#include "core/safe_text.hpp"

namespace notify {
namespace {

struct TextMember {
  std::string_view name;
  std::string Payload::*text;
};

// The order is that of to_json; data stands before the last of them.
constexpr std::array kTextMembers{TextMember{"subject", &Payload::subject}, TextMember{"body", &Payload::body},
                                  TextMember{"html", &Payload::html}, TextMember{"alt", &Payload::alt},
                                  TextMember{"template", &Payload::template_name}};
constexpr std::array<std::string_view, 7> kPayloadMembers{"subject", "body", "html", "alt", "data", "template", "vars"};

tl::unexpected<Error> unknown_member(std::string_view name) {
  std::string shown = safe_text(name, 64);
  std::string message = "a payload has no member \"" + shown + "\"";
  return fail_field(std::move(shown), std::move(message), did_you_mean(name, kPayloadMembers));
}

Result<void> read_member(std::string_view name, JsonValue& value, Payload& payload) {
  for (const TextMember& member : kTextMembers) {
    if (member.name != name) continue;
    TRY_ASSIGN(const std::string_view text, value.string(name));
    if (text.find('\0') != std::string_view::npos) return fail_field(std::string(name), "holds a NUL character");
    payload.*member.text = text;
    return {};
  }
  if (name == "data") return value.canonical(name, payload.data);
  if (name != "vars") return unknown_member(name);

  std::vector<std::pair<std::string_view, std::string_view>> vars;
  TRY(value.flat_object(name, vars));
  for (const auto& [variable, text] : vars) {
    if (variable.find('\0') != std::string_view::npos || text.find('\0') != std::string_view::npos)
      return fail_field(std::string(name), "holds a NUL character");
    payload.vars.emplace_back(variable, text);
  }
  return {};
}

// Writes members of one object with commas between them.
class MemberWriter {
 public:
  explicit MemberWriter(std::string& out) : out_(out) { out_ += '{'; }
  void name(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    out_ += ':';
  }
  void text(std::string_view member, std::string_view value) {
    if (value.empty()) return;
    name(member);
    append_json_string(out_, value);
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace

Result<Payload> parse_payload(std::string_view json) {
  if (json.size() > limits::kPayload)
    return fail(Code::kBadInput, "the payload has " + std::to_string(json.size()) + " bytes, more than the " +
                                     std::to_string(limits::kPayload) + " allowed");
  Payload payload;
  unsigned seen = 0;
  JsonReader reader;
  TRY(reader.object(json, [&](std::string_view name, JsonValue& value) -> Result<void> {
    for (std::size_t i = 0; i < kPayloadMembers.size(); ++i) {
      if (kPayloadMembers[i] != name) continue;
      if ((seen & (1U << i)) != 0) return fail_field(std::string(name), "appears twice");
      seen |= 1U << i;
    }
    return read_member(name, value, payload);
  }));
  return payload;
}

void append_json(std::string& out, const Payload& payload) {
  MemberWriter writer(out);
  for (const TextMember& member : kTextMembers) {
    if (member.name == "template" && !payload.data.empty()) {
      writer.name("data");
      out += payload.data;
    }
    writer.text(member.name, payload.*member.text);
  }
  if (!payload.vars.empty()) {
    writer.name("vars");
    MemberWriter vars(out);
    for (const auto& [name, value] : payload.vars) {
      vars.name(name);
      append_json_string(out, value);
    }
    vars.end();
  }
  writer.end();
}

std::string to_json(const Payload& payload) {
  std::string out;
  append_json(out, payload);
  return out;
}

Result<std::string> canonical_json(std::string_view json) {
  std::string out;
  JsonReader reader;
  TRY(reader.value(json, 1, [&](JsonValue& value) { return value.canonical("data", out); }));
  return out;
}

}  // namespace notify
