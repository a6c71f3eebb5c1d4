#pragma once

// How many descriptors this process may have, and what it means when there are none left.

#include <cstdint>

namespace notify {

// Raises the soft limit on descriptors as far as `calls` calls at a time need it, at the most to the hard one, and no
// further: programs that are started inherit it, and some go through all numbers that they might have. Returns the
// limit that now holds.
std::int64_t raise_descriptor_limit(int calls) noexcept;

// How many of `wanted` calls at a time fit under a limit; at least 1.
int calls_within(std::int64_t limit, int wanted) noexcept;

// 0, or the errno that opening the descriptors of one more call would meet now. For libraries that report any failure
// of theirs as the peer's.
int descriptor_shortage() noexcept;

}  // namespace notify
