#pragma once

// Mending what a message says before it is replayed: a JSON merge patch (RFC 7396) over the payload's members and the
// recipient (as "to").

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace notify {

// What a message says after the patch.
struct MendedContent {
  std::string payload{};  // canonical
  std::string recipient{};
  // The payload as it was when the message was accepted, with its recipient in a member "to" if that was changed.
  std::string original{};
  bool changed = false;
};

class PayloadPatch {
 public:
  // `patch`: the text of a JSON object, or empty. `sets`: "body=…", for subject, body, html, alt, template, to, vars.NAME
  // (texts) and data (JSON); an empty value takes the member away. Members that a payload does not have are errors.
  static Result<PayloadPatch> parse(std::string_view patch, std::span<const std::string> sets);

  bool empty() const noexcept { return members_.empty(); }
  std::string names() const;  // "body, to": for the history

  // The patched content, checked as if it were enqueued. `original` is empty if it was never mended before. Texts and
  // numbers of data that the patch does not name stay exactly as they were.
  Result<MendedContent> apply(std::string_view payload, std::string_view original, std::string_view recipient) const;

 private:
  Result<void> add(std::string_view name, std::string json);

  std::map<std::string, std::string> members_{};  // canonical JSON
};

// RFC 7396 over canonical texts: MergePatch(target, patch). `target` may be empty for "nothing".
Result<std::string> merge_json(std::string_view target, std::string_view patch);

}  // namespace notify
