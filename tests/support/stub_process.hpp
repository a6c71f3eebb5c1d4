#pragma once

// A vendor_stub of one's own (support/vendor_stub/README.md): started with the test, ended with it.

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace notify::test {

class StubProcess {
 public:
  // Starts the program that the environment variable VENDOR_STUB names, on a free port of 127.0.0.1. Throws
  // when it does not come up.
  explicit StubProcess(std::vector<std::string> options = {});
  ~StubProcess();
  StubProcess(const StubProcess&) = delete;
  StubProcess& operator=(const StubProcess&) = delete;

  int port() const { return port_; }
  // "http://127.0.0.1:PORT/" and the path, which may name a mode: "code:503", "rst2".
  std::string url(const std::string& path = "ok") const;
  // Every request that the stub has read completely, in order.
  std::vector<nlohmann::json> log() const;

 private:
  std::string directory_{};
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace notify::test
