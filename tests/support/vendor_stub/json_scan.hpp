// Picks two fields out of a JSON body without building anything.
#pragma once

#include <string>
#include <string_view>

namespace stub {

struct BodyFields {
  std::string to;
  std::string message_id;
};

// The shallowest "to" and "message_id" win; values may be strings or numbers. Broken JSON gives what was
// found before the break: vendors are to be lenient here, the log keeps the body anyway.
BodyFields scan_json(std::string_view body);

}  // namespace stub
