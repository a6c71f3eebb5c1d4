#include "core/payload_patch.hpp"

#include <algorithm>
#include <array>

#include "core/json_text.hpp"
#include "core/json_write.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/payload.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

using Members = std::map<std::string, std::string>;

constexpr std::string_view kTo = "to";
constexpr std::string_view kVars = "vars.";
constexpr std::array<std::string_view, 8> kPatchable{"subject", "body", "html", "alt", "data", "template", "vars", kTo};

// The members of an object, each in canonical form.
Result<Members> members_of(std::string_view json) {
  Members members;
  JsonReader reader;
  TRY(reader.object(json, [&](std::string_view view, JsonValue& value) -> Result<void> {
    std::string name(view);
    std::string text;
    TRY(value.canonical(name, text));
    if (!members.emplace(name, std::move(text)).second) return fail_field(name, "appears twice");
    return {};
  }));
  return members;
}

std::string to_text(const Members& members) {
  std::string out = "{";
  for (const auto& [name, json] : members) {
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ':';
    out += json;
  }
  return out + "}";
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

Result<std::string> text_of(std::string_view field, std::string_view json) {
  std::string text;
  JsonReader reader;
  TRY(reader.value(json, 0, [&](JsonValue& value) -> Result<void> {
    TRY_ASSIGN(const std::string_view view, value.string(field));
    text = view;
    return {};
  }));
  return text;
}

// As enqueue would check it.
Result<void> check_content(const Payload& payload) {
  TRY(check_subject(payload.subject));
  const bool has_parts =
      !payload.subject.empty() || !payload.body.empty() || !payload.html.empty() || !payload.alt.empty();
  if (!payload.template_name.empty()) {
    if (has_parts) return fail_field("template", "a message has either a template or parts of its own, not both");
    return {};
  }
  if (!payload.vars.empty()) return fail_field("vars", "variables need a template");
  if (payload.subject.empty() && payload.body.empty() && payload.html.empty() && payload.data.empty())
    return fail_field("body", "the message would say nothing");
  return {};
}

// Two patches one after the other as one: removals stay in it.
Result<std::string> after(std::string_view first, std::string_view second) {
  Members members;
  if (first.starts_with('{')) {
    TRY_ASSIGN(members, members_of(first));
  }
  TRY_ASSIGN(const Members changes, members_of(second));
  for (const auto& [name, json] : changes) members[name] = json;
  return to_text(members);
}

}  // namespace

Result<std::string> merge_json(std::string_view target, std::string_view patch) {
  if (!patch.starts_with('{')) return std::string(patch);
  Members merged;
  if (target.starts_with('{')) {
    TRY_ASSIGN(merged, members_of(target));
  }
  TRY_ASSIGN(const Members changes, members_of(patch));
  for (const auto& [name, change] : changes) {
    if (change == "null") {
      merged.erase(name);
      continue;
    }
    TRY_ASSIGN(merged[name], merge_json(merged[name], change));
  }
  return to_text(merged);
}

Result<PayloadPatch> PayloadPatch::parse(std::string_view patch, std::span<const std::string> sets) {
  PayloadPatch result;
  if (!patch.empty()) {
    auto members = members_of(patch);
    if (!members) return fail(with_context(std::move(members).error(), "--patch"));
    for (auto& [name, json] : *members) TRY(result.add(name, std::move(json)));
  }
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kUsage, "--set " + safe_text(set, 64) + ": a member and a value are needed",
                  "as: --set body=Hello");
    const std::string name = set.substr(0, equals);
    const std::string_view value = std::string_view(set).substr(equals + 1);
    TRY(check_utf8(name, value));
    if (name.starts_with(kVars)) {
      const std::string variable = name.substr(kVars.size());
      if (!is_variable_name(variable))
        return fail_field(name, "\"" + safe_text(variable, 64) + "\" is not a name for a variable");
      const std::string change = to_text({{variable, value.empty() ? "null" : json_string(value)}});
      TRY_ASSIGN(result.members_["vars"], after(result.members_["vars"], change));
    } else if (name == "data" && !value.empty()) {
      TRY_ASSIGN(std::string data, canonical_json(value));
      TRY(result.add(name, std::move(data)));
    } else {
      TRY(result.add(name, value.empty() ? "null" : json_string(value)));
    }
  }
  return result;
}

Result<void> PayloadPatch::add(std::string_view name, std::string json) {
  if (std::find(kPatchable.begin(), kPatchable.end(), name) == kPatchable.end())
    return fail_field(safe_text(name, 64), "a message has no member \"" + safe_text(name, 64) + "\" to be mended",
                      did_you_mean(name, kPatchable));
  if (name == kTo && json == "null") return fail_field("to", "a recipient is needed");
  members_[std::string(name)] = std::move(json);
  return {};
}

std::string PayloadPatch::names() const {
  std::string text;
  for (const auto& [name, json] : members_) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<MendedContent> PayloadPatch::apply(std::string_view payload, std::string_view original,
                                          std::string_view recipient) const {
  MendedContent mended;
  mended.recipient = recipient;
  TRY_ASSIGN(Members merged, members_of(payload));
  for (const auto& [name, change] : members_) {
    if (name == kTo) {
      TRY_ASSIGN(mended.recipient, text_of(kTo, change));
      TRY(check_line(kTo, "the recipient", mended.recipient, limits::kRecipient));
      if (mended.recipient.empty()) return fail_field("to", "a recipient is needed");
    } else if (change == "null") {
      merged.erase(name);
    } else {
      TRY_ASSIGN(merged[name], merge_json(merged[name], change));
    }
  }
  TRY_ASSIGN(const Payload content, parse_payload(to_text(merged)));
  TRY(check_content(content));
  mended.payload = to_json(content);
  if (mended.payload.size() > limits::kPayload) return fail_field("body", "the message would be too long");

  // A payload that cannot be read, and was not canonical, is kept as it stood.
  mended.original = original.empty() ? payload : original;
  if (mended.recipient != recipient) {
    TRY_ASSIGN(Members first, members_of(mended.original));
    first.emplace(kTo, json_string(recipient));  // the first one stays
    mended.original = to_text(first);
  }
  mended.changed = mended.recipient != recipient || mended.payload != payload;
  return mended;
}

}  // namespace notify
