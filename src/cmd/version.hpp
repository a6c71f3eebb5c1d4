#pragma once

namespace notify {

class Context;

// --version: the program, its commit, the libraries inside it, its channels and transports.
int print_version(Context& context);

}  // namespace notify
