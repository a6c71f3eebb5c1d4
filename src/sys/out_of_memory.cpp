// Declared in core/error.hpp; what it takes is the system's.

#include <unistd.h>

#include <string_view>

#include "core/error.hpp"

namespace notify {

void out_of_memory() noexcept {
  constexpr std::string_view kWords =
      "notifyctl: out of memory\n"
      "hint: give it more (ulimit -v, MemoryMax= of the service); what was acknowledged is safe\n";
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, kWords.data(), kWords.size());
  ::_exit(exit_status(Code::kInternal));
}

}  // namespace notify
