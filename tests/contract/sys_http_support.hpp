#pragma once

// The real HTTP client against the real vendor stub.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/classify.hpp"
#include "support/stub_process.hpp"
#include "sys/curl_http.hpp"
#include "sys/epoll_loop.hpp"
#include "sys/signals.hpp"

namespace notify::test {

// A client with a loop of its own. Calls are made one after the other unless a test starts them itself.
class HttpUnderTest {
 public:
  explicit HttpUnderTest(const HttpSettings& settings = {}) {
    prepare_process();
    http_ = CurlHttp::create(loop_, settings).value();
  }

  HttpEvidence call(HttpRequest request) {
    HttpEvidence result;
    http_->start(std::move(request), [&](HttpEvidence evidence) {
      result = std::move(evidence);
      loop_.stop();
    });
    loop_.run();
    return result;
  }

  EpollLoop& loop() { return loop_; }
  CurlHttp& http() { return *http_; }
  void drop_client() { http_.reset(); }

 private:
  EpollLoop loop_{};
  std::unique_ptr<CurlHttp> http_{};
};

inline HttpRequest post(std::string url, std::string body = R"({"to":"a"})") {
  HttpRequest request;
  request.url = std::move(url);
  request.body = std::move(body);
  request.headers = {{"Content-Type", "application/json"}};
  request.allow_private = true;
  return request;
}

inline HttpRequest with_id(HttpRequest request, const std::string& id) {
  request.headers.emplace_back("Idempotency-Key", id);
  return request;
}

inline HttpRequest short_lived(HttpRequest request, Duration timeout = Duration(400)) {
  request.timeout = timeout;
  request.connect_timeout = timeout;
  return request;
}

inline std::string judged(const HttpEvidence& evidence) {
  return outcome_name(classify_http(evidence, {}, Instant{0}).cls);
}

inline std::string judged_reason(const HttpEvidence& evidence) {
  return classify_http(evidence, {}, Instant{0}).reason;
}

inline std::ptrdiff_t requests_with_id(const StubProcess& stub, const std::string& id) {
  const auto log = stub.log();
  return std::count_if(log.begin(), log.end(), [&](const auto& line) { return line.value("id", "") == id; });
}

// A TLS stub and where its CA is.
struct TlsStub {
  explicit TlsStub(std::vector<std::string> options = {}) : directory(make_directory()) {
    options.insert(options.begin(), {"--tls", "--self-signed", directory});
    stub = std::make_unique<StubProcess>(std::move(options));
  }
  TlsStub(const TlsStub&) = delete;
  TlsStub& operator=(const TlsStub&) = delete;
  ~TlsStub() {
    stub.reset();
    std::filesystem::remove_all(directory);
  }

  std::string url(const std::string& path = "ok") const {
    return "https://127.0.0.1:" + std::to_string(stub->port()) + "/" + path;
  }
  HttpSettings settings() const {
    HttpSettings settings;
    settings.ca_file = directory + "/ca.pem";
    return settings;
  }

  std::string directory;
  std::unique_ptr<StubProcess> stub{};

 private:
  static std::string make_directory() {
    std::string pattern = std::filesystem::temp_directory_path() / "stub-tls-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    return pattern;
  }
};

// A port of 127.0.0.1 on which nobody listens.
int closed_port();

}  // namespace notify::test
