#pragma once

#include <array>
#include <cstdint>

namespace notify {

// One bit a character of the basic plane: whether EUC-KR holds it in two bytes. ASCII is not in the table.
extern const std::array<std::uint64_t, 1024> kKsX1001;

}  // namespace notify
