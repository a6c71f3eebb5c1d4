#include "cmd/version.hpp"

#include <nlohmann/json.hpp>

#include "channel/registry.hpp"
#include "cmd/context.hpp"
#include "cmd/render.hpp"
#include "notify_version.hpp"
#include "store/open.hpp"
#include "sys/library_versions.hpp"

namespace notify {
namespace {

std::string commit() {
  std::string text(version::kCommit.empty() ? "unknown" : version::kCommit);
  return version::kDirty ? text + "-dirty" : text;
}

std::vector<std::pair<std::string, std::string>> libraries() {
  auto list = linked_libraries();
  list.insert(list.begin(), {"SQLite", sqlite_library_version()});
  for (const auto& [name, number] : version::kLibraries) list.emplace_back(name, number);
  return list;
}

}  // namespace

std::string user_agent() { return "notifyctl/" + std::string(version::kVersion); }

int print_version(Context& context) {
  // Transports are part of the composition in this version; the list grows with the first broker.
  const std::vector<std::string> transports{"embedded"};
  Output& out = context.out();
  if (context.json()) {
    nlohmann::ordered_json json{{"version", version::kVersion}, {"commit", commit()}, {"compiler", version::kCompiler}};
    for (const auto& [name, number] : libraries()) json["libraries"][name] = number;
    for (const Driver& driver : drivers()) json["channels"].push_back(driver.name);
    json["transports"] = transports;
    out.line(to_text(json));
    return 0;
  }
  std::string list;
  for (const auto& [name, number] : libraries()) {
    if (!list.empty()) list += ", ";
    list += name;
    list += " " + number;
  }
  std::string channels;
  for (const Driver& driver : drivers()) channels += (channels.empty() ? "" : ", ") + std::string(driver.name);
  out.line("notifyctl " + std::string(version::kVersion) + " (" + commit() + ")");
  out.line("libraries: " + list);
  out.line("channels: " + channels);
  out.line("transports: " + transports.front());
  return 0;
}

}  // namespace notify
