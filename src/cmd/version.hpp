#pragma once

#include <string>

namespace notify {

class Context;

// --version: the program, its commit, the libraries inside it, its channels and transports.
int print_version(Context& context);

// How the program introduces itself to receivers: "notifyctl/0.1.0".
std::string user_agent();

}  // namespace notify
