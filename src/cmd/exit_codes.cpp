#include "cmd/exit_codes.hpp"

#include <array>

namespace notify {
namespace {

constexpr auto kCodes = std::to_array<ExitCode>({
    {0, "", "Done, or nothing was due, or a service was stopped in an orderly way"},
    {1, "partial", "Done, but some items failed or were refused"},
    {4, "conflict", "The key exists with other content; nothing was changed"},
    {64, "usage", "The command line is wrong"},
    {65, "bad_input not_found", "The input is wrong, or what it names does not exist"},
    {69, "unavailable", "A vendor, a broker or another service is not available"},
    {70, "internal", "A fault in the program itself, or no memory or threads are left"},
    {73, "cannot_create", "A file cannot be created"},
    {74, "io disk_full", "Input or output failed, or the disk is full"},
    {75, "busy timeout", "Try again later: another process holds it, or the time given to wait is over"},
    {77, "permission", "Not permitted: a file belongs to somebody else, or a secret is readable by others"},
    {78, "config", "The configuration or the set-up is wrong"},
    {130, "", "Interrupted by SIGINT"},
    {143, "", "Ended by SIGTERM"},
});

}  // namespace

std::span<const ExitCode> exit_codes() noexcept { return kCodes; }

}  // namespace notify
