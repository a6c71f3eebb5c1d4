#include "cmd/starter_config.hpp"

namespace notify {

std::string starter_config(std::string_view zone) {
  std::string text =
      "# Configuration of notifyctl. Every key is described in notifyctl.toml(5); `notifyctl check` examines "
      "this "
      "file.\n"
      "\n"
      "# Anything but \"production\" writes only to the recipients in [guard] allow.\n"
      "environment = \"development\"\n"
      "\n"
      "# For quiet hours and for times without a zone.\n";
  text += zone.empty() ? "# timezone = \"Asia/Seoul\"\n" : "timezone = \"" + std::string(zone) + "\"\n";
  return text +
         "\n"
         "[guard]\n"
         "allow = []                        # \"+8210000*\", \"*@example.com\"\n"
         "\n"
         "# A channel is a name that messages carry (--channel) and a driver that delivers them.\n"
         "#\n"
         "# [channels.log]\n"
         "# driver = \"file\"                  # one JSON line a message, for trying out\n"
         "# path = \"messages.jsonl\"          # beside this file\n"
         "#\n"
         "# [channels.ops]\n"
         "# driver = \"webhook\"               # POST of JSON, signed when there is a secret\n"
         "# url = { file = \"ops-url.secret\" } # mode 0600; or { env = \"OPS_URL\" }, or the URL itself\n"
         "# secret = { file = \"ops-key.secret\" }\n"
         "# rate = \"5/s\"                     # shared by all processes\n"
         "#\n"
         "# [channels.sms]\n"
         "# driver = \"exec\"                  # a program with the message as JSON on its standard input\n"
         "# command = [\"/usr/local/bin/send-sms\"]\n"
         "# timeout = \"20s\"\n"
         "\n"
         "# Advertising waits for the morning. Needs timezone.\n"
         "#\n"
         "# [quiet_hours.advertising]\n"
         "# relay  = { from = \"20:40\", until = \"08:00\" }\n"
         "# worker = { from = \"20:50\", until = \"08:00\" }\n"
         "\n"
         "# [alerts]\n"
         "# exec = [\"/usr/local/bin/page\"]   # run by notifyctl reconcile; gets alerts as JSON lines\n"
         "\n"
         "# [templates]\n"
         "# directory = \"templates\"          # NAME.toml is the template NAME\n";
}

}  // namespace notify
