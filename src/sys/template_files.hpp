#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/template.hpp"

namespace notify {

// Reads the templates of a directory: NAME.toml is the template NAME. The parts subject, body, html and alt
// at the top of a file are its wording for every channel and locale; each [[variant]] has a channel, a locale
// or both and parts of its own. Every file is checked; what is wrong with one, by file and line, is in `broken`. Fails
// only when the directory cannot be read.
Result<TemplateSet> load_templates(const std::string& directory);

// Only the template of that name, for a command that needs no other. None of that name: an empty set. Fails when it is
// broken.
Result<TemplateSet> load_template(const std::string& directory, std::string_view name);

}  // namespace notify
