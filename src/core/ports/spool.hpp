#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/instant.hpp"

namespace notify {

// Lists of recipients, kept beside the database until they are fanned out. A list is named by the SHA-256 of its bytes
// (in hex) and never changes.
class Spool {
 public:
  virtual ~Spool() = default;
  // Up to `max` bytes from `offset` on; fewer only at the end. kNotFound: there is no such list; kPermission: it is not ours to read.
  virtual Result<std::string> read(const std::string& name, std::int64_t offset, std::size_t max) = 0;
  // Whether the bytes are those that the name promises. kNotFound: there is no such list.
  virtual Result<bool> intact(const std::string& name) = 0;
  // Removes what is not in `needed` and older than `age`: a younger one may be about to be needed.
  virtual Result<void> sweep(const std::set<std::string>& needed, Duration age) = 0;
};

}  // namespace notify
