#include "cmd/errors.hpp"

#include <nlohmann/json.hpp>

#include "cmd/output.hpp"
#include "cmd/render.hpp"

namespace notify {

std::string error_text(const Error& error) {
  std::string text = "notifyctl: " + printable(error.message) + "\n";
  if (!error.hint.empty()) text += "hint: " + printable(error.hint) + "\n";
  return text;
}

std::string error_json(const Error& error) {
  nlohmann::ordered_json object{{"code", code_name(error.code)}, {"exit", exit_status(error.code)}};
  if (!error.field.empty()) object["field"] = error.field;
  object["message"] = error.message;
  object["hint"] = error.hint;
  for (const auto& [name, value] : error.details) object[name] = value;
  return to_text(nlohmann::ordered_json{{"error", std::move(object)}}) + "\n";
}

tl::unexpected<Error> refuse_option(std::string_view option, Error error) {
  error = with_context(std::move(error), option);
  error.code = Code::kUsage;
  error.field.clear();
  return fail(std::move(error));
}

std::string described(const Error& error) {
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

int report(Output& err, const Error& error, bool json) {
  if (!error.message.empty()) err.write(json ? error_json(error) : error_text(error));
  (void)err.flush();
  return exit_status(error.code);
}

}  // namespace notify
