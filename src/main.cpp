#include "cmd/cli.hpp"

int main(int argc, char** argv) { return notify::run(argc, argv); }
