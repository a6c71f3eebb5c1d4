#pragma once

#include <string_view>

namespace notify::embedded {

// A text file compiled into the program by notify_embed (cmake/embed.cmake).
struct File {
  std::string_view name;  // relative to the directory given to notify_embed
  std::string_view text;
};

}  // namespace notify::embedded
