#pragma once

// Errors are values. A function that can fail returns Result<T>; the error says what failed, why, and what
// the user can do. Exceptions of libraries are caught in the adapter that calls the library.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace notify {

// One code per kind of failure that a caller can act on differently. The exit status and the name shown in
// JSON come from one table (error.cpp), which docs/exit-codes.md repeats and a test compares.
enum class Code {
  kPartial,       // 1: done, but some items failed or were refused
  kConflict,      // 4: the same key exists with other content
  kUsage,         // 64
  kBadInput,      // 65
  kNotFound,      // 65: no such message, channel, file of ours
  kUnavailable,   // 69: vendor, broker or another service
  kInternal,      // 70
  kCannotCreate,  // 73
  kIo,            // 74
  kDiskFull,      // 74
  kBusy,          // 75: another process holds it; try again
  kTimeout,       // 75: the time given to wait is over
  kPermission,    // 77
  kConfig,        // 78
};

struct Error {
  Code code = Code::kInternal;
  std::string message;  // "what failed: why", without the program's name, one line, no secret
  std::string hint{};   // what to do; may be empty
  std::string field{};  // the input field concerned, for errors about input; may be empty
  std::vector<std::pair<std::string, std::string>> details{};  // more members of the JSON object, for programs
};

// Stable machine-readable name ("bad_input") and process exit status of a code.
std::string_view code_name(Code code) noexcept;
int exit_status(Code code) noexcept;

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint), {}, {}});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail_field(std::string field, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{Code::kBadInput, std::move(message), std::move(hint), std::move(field), {}});
}

// What an errno value means, as strerror(3) says it; thread-safe. And its code: kPermission, kDiskFull, or `otherwise`.
std::string system_reason(int error_number);
Code system_code(int error_number, Code otherwise) noexcept;

// Puts "context: " before the message of an error that is passed up.
Error with_context(Error error, std::string_view context);

}  // namespace notify

#define NOTIFY_CONCAT_INNER(a, b) a##b
#define NOTIFY_CONCAT(a, b) NOTIFY_CONCAT_INNER(a, b)

// TRY_ASSIGN(auto x, f());  declares x from the value of f(), or returns f()'s error. The names are made with
// __COUNTER__, since a lambda inside the expression may hold another TRY.
#define TRY_ASSIGN_INNER(tmp, decl, expr)                                     \
  auto tmp = (expr);                                                          \
  if (!tmp) return ::tl::unexpected<::notify::Error>(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define TRY_ASSIGN(decl, expr) TRY_ASSIGN_INNER(NOTIFY_CONCAT(try_result_, __COUNTER__), decl, expr)

// TRY(f());  returns f()'s error, if any.
#define TRY_INNER(tmp, expr)                                                                       \
  do {                                                                                             \
    if (auto tmp = (expr); !tmp) return ::tl::unexpected<::notify::Error>(std::move(tmp).error()); \
  } while (false)
#define TRY(expr) TRY_INNER(NOTIFY_CONCAT(try_result_, __COUNTER__), expr)

// ASSERT(condition): programmers' errors. Stays on in release builds: going on after a broken invariant
// could send a message twice.
namespace notify {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;
}
#define ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::notify::assertion_failed(#condition, __FILE__, __LINE__))

// Ends the process with a word on standard error and the status of kInternal, taking no memory. Whatever was under way
// is then as after a kill, which all of it is made for; an exception through a library's callbacks is not. For operator
// new, on whichever thread it fails, and for libraries that return nothing. Any thread.
namespace notify {
[[noreturn]] void out_of_memory() noexcept;
}

// UNREACHABLE("why"): an ASSERT that always fails, where no value can be returned.
#define UNREACHABLE(why) ::notify::assertion_failed(why, __FILE__, __LINE__)
