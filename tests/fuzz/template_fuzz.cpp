// Templates and values from anywhere: what the configuration's check accepts renders, and no value can add a
// line to a subject or markup to the html part. Input: template, NUL, value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/template.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace notify;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = input.find('\0');
  const std::string source(input.substr(0, end));
  const std::string value(end == std::string_view::npos ? "" : input.substr(end + 1));

  TemplateVariant variant;
  variant.body = source;
  variant.html = "{{v}}";
  TemplateSet set;
  set.templates["t"] = {variant};
  const bool accepted = check_template("t", set.templates["t"]).has_value();
  const Payload payload{.template_name = "t", .vars = {{"v", value}}};
  const auto rendered = render(set, payload, "mail", "en");
  if (!accepted) {
    ASSERT(!rendered || source.empty());
    return 0;
  }
  if (!rendered) {
    const std::string& why = rendered.error().message;
    ASSERT(why.find("is missing") != std::string::npos || why.find("has more than") != std::string::npos);
    return 0;
  }
  ASSERT(rendered->html.find_first_of("<>\"'") == std::string::npos);
  if (source == "{{v}}") ASSERT(rendered->body == value);
  if (source.find("{{") == std::string::npos) ASSERT(rendered->body == source);

  set.templates["t"].front().subject = "{{v}}";
  if (const auto with_subject = render(set, payload, "mail", "en"))
    ASSERT(with_subject->subject.find_first_of("\r\n") == std::string::npos);
  return 0;
}
