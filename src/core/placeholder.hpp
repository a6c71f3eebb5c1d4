#pragma once

// How templates and recipes mark the places that are filled in: {{name}}, {{name:-default}}, {{{{ for two braces.

#include <string_view>

namespace notify::marks {

inline constexpr std::string_view kOpen = "{{";
inline constexpr std::string_view kClose = "}}";
inline constexpr std::string_view kLiteralOpen = "{{{{";
inline constexpr std::string_view kDefault = ":-";

}  // namespace notify::marks
