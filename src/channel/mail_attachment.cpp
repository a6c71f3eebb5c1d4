#include "channel/mail_attachment.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/ascii.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"

namespace notify {
namespace {

constexpr std::size_t kMaxAttachments = 50;
constexpr std::size_t kMaxFilename = 255;
constexpr std::size_t kMaxType = 127;  // RFC 6838 4.2, of each half

bool is_type_half(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxType && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$&-^_.+").find(c) != std::string_view::npos;
  });
}

bool is_content_type(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_type_half(text.substr(0, slash)) || !is_type_half(text.substr(slash + 1)))
    return false;
  // RFC 2046 5: these are only 7bit, 8bit or binary.
  const std::string kind = lowered(text.substr(0, slash));
  return kind != "multipart" && kind != "message";
}

bool is_filename(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxFilename && valid_utf8(name) && !find_control(name) &&
         name.find_first_of("/\\") == std::string_view::npos && name != "." && name != "..";
}

// RFC 4648 4, with padding: what can be broken into lines as it stands.
bool is_base64(std::string_view text) noexcept {
  if (text.size() % 4 != 0) return false;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
  });
}

tl::unexpected<Error> refuse(std::size_t index, const std::string& why, std::string hint = {}) {
  return fail_field("data", "data.attachments[" + std::to_string(index) + "]: " + why, std::move(hint));
}

Result<MailAttachment> read_attachment(const nlohmann::json& item, std::size_t index) {
  if (!item.is_object())
    return refuse(index, "is no object", "give {\"filename\", \"content_type\", \"content_base64\"}");
  MailAttachment attachment;
  attachment.content_type = "application/octet-stream";
  for (const auto& [name, value] : item.items()) {
    std::string* target = name == "filename"         ? &attachment.filename
                          : name == "content_type"   ? &attachment.content_type
                          : name == "content_base64" ? &attachment.base64
                                                     : nullptr;
    if (target == nullptr) return refuse(index, "unknown member " + safe_text(name, 64));
    if (!value.is_string()) return refuse(index, name + " is no string");
    *target = value.get<std::string>();
  }
  if (!is_filename(attachment.filename))
    return refuse(index, "filename is missing, longer than 255 bytes, or holds a slash or a control character");
  if (!is_content_type(attachment.content_type))
    return refuse(index, "content_type is not of the form type/subtype, or cannot be encoded (multipart, message)");
  if (!item.contains("content_base64")) return refuse(index, "content_base64 is missing");
  if (!is_base64(attachment.base64)) return refuse(index, "content_base64 is not base64", "base64 -w 0 FILE writes it");
  return attachment;
}

}  // namespace

Result<std::vector<MailAttachment>> read_attachments(std::string_view data) {
  std::vector<MailAttachment> attachments;
  if (data.find("\"attachments\"") == std::string_view::npos) return attachments;
  const nlohmann::json document = nlohmann::json::parse(data, nullptr, false);
  if (!document.is_object() || !document.contains("attachments")) return attachments;
  const nlohmann::json& list = document["attachments"];
  if (!list.is_array()) return fail_field("data", "data.attachments: is no list");
  if (list.size() > kMaxAttachments)
    return fail_field("data", "data.attachments: more than " + std::to_string(kMaxAttachments) + " of them");
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY_ASSIGN(MailAttachment attachment, read_attachment(list[i], i));
    attachments.push_back(std::move(attachment));
  }
  return attachments;
}

}  // namespace notify
