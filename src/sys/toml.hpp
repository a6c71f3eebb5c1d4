#pragma once

// toml++ without its assertions: some of them stand before the check that reports what they assert, so that a header like
// "[.a]" or "[#" would end the program instead of being told with its line (3.3.0, parse_key()).

#ifdef TOML_ASSERT
#error "include sys/toml.hpp instead of toml++"
#endif
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
