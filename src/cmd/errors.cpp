#include "cmd/errors.hpp"

#include <nlohmann/json.hpp>

#include "cmd/output.hpp"
#include "cmd/render.hpp"

namespace notify {
namespace {

// What to do where nobody knew better.
std::string_view usual_hint(Code code) noexcept {
  switch (code) {
    case Code::kPartial: return "notifyctl show ID tells where a message is";
    case Code::kConflict: return "another message needs another key";
    case Code::kUsage: return "notifyctl help COMMAND shows the options and examples";
    case Code::kBadInput: return "mend what is named and run it again";
    case Code::kNotFound: return "is the name right? notifyctl list shows what is there";
    case Code::kUnavailable: return "try again later; notifyctl status tells how things stand";
    case Code::kInternal: return "please report it, with this line and the output of notifyctl --version";
    case Code::kCannotCreate: return "the directory must exist, and this user must be able to write it";
    case Code::kIo: return "look at the disk and the file that is named, then run it again";
    case Code::kDiskFull: return "make room and run it again";
    case Code::kBusy:
    case Code::kTimeout: return "try again";
    case Code::kPermission: return "run it as the user to whom the file belongs";
    case Code::kConfig: return "notifyctl check examines the configuration and the set-up";
  }
  return {};
}

}  // namespace

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

int report(Output& err, Error error, bool json) {
  if (error.hint.empty()) error.hint = usual_hint(error.code);
  if (!error.message.empty()) err.write(json ? error_json(error) : error_text(error));
  (void)err.flush();
  return exit_status(error.code);
}

}  // namespace notify
