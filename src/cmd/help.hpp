#pragma once

// Help screens, made from the commands' pages and options.

#include <cstddef>
#include <string>

#include "cmd/command.hpp"

namespace notify {

class Output;

// Columns for help on that output: the terminal's, 80 at the most.
std::size_t help_width(const Output& out) noexcept;

// All commands by what they are for.
std::string overview(std::size_t width);
// One command: what it does, its options, examples and exit statuses.
std::string command_help(const Command& command, std::size_t width);

// "[--lease TIME]", "--channel NAME", "[ID…]"
std::string usage_of(const Option& option);

// A page's text without its marks.
std::string plain(std::string_view text);

// Paragraphs of a page's text: divided by blank lines.
std::vector<std::string_view> paragraphs(std::string_view text);

}  // namespace notify
