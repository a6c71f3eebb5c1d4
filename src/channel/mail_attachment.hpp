#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace notify {

// A file that goes with a message.
struct MailAttachment {
  std::string filename{};
  std::string content_type{};  // "type/subtype", without parameters
  std::string base64{};        // its bytes, without line ends
};

// The member "attachments" of a message's data: a list of {"filename", "content_type", "content_base64"}; content_type
// may be left out ("application/octet-stream"). Empty when there is none. Errors (kBadInput, field "data") say which
// one is wrong and in what: names with a slash, a control character or more than 255 bytes, types that are none
// (and multipart/ and message/, which may not be encoded), text that is not base64, unknown members.
Result<std::vector<MailAttachment>> read_attachments(std::string_view data);

}  // namespace notify
