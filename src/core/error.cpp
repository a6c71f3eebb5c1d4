#include "core/error.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace notify {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  int exit;
};

constexpr std::array kCodes{
    CodeRow{Code::kPartial, "partial", 1},
    CodeRow{Code::kConflict, "conflict", 4},
    CodeRow{Code::kUsage, "usage", 64},
    CodeRow{Code::kBadInput, "bad_input", 65},
    CodeRow{Code::kNotFound, "not_found", 65},
    CodeRow{Code::kUnavailable, "unavailable", 69},
    CodeRow{Code::kInternal, "internal", 70},
    CodeRow{Code::kCannotCreate, "cannot_create", 73},
    CodeRow{Code::kIo, "io", 74},
    CodeRow{Code::kDiskFull, "disk_full", 74},
    CodeRow{Code::kBusy, "busy", 75},
    CodeRow{Code::kTimeout, "timeout", 75},
    CodeRow{Code::kPermission, "permission", 77},
    CodeRow{Code::kConfig, "config", 78},
};

const CodeRow& row(Code code) noexcept {
  for (const CodeRow& r : kCodes)
    if (r.code == code) return r;
  return kCodes[6];
}

}  // namespace

std::string_view code_name(Code code) noexcept { return row(code).name; }
int exit_status(Code code) noexcept { return row(code).exit; }

std::string system_reason(int error_number) { return std::generic_category().message(error_number); }

Code system_code(int error_number, Code otherwise) noexcept {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermission;
    case ENOSPC:
    case EDQUOT: return Code::kDiskFull;
    default: return otherwise;
  }
}

Error with_context(Error error, std::string_view context) {
  error.message.insert(0, ": ");
  error.message.insert(0, context);
  return error;
}

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "notifyctl: internal error: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace notify
