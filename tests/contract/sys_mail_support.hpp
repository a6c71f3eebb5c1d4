#pragma once

// The real mail client against a real server: the vendor stub speaking SMTP.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/classify_mail.hpp"
#include "support/stub_process.hpp"
#include "sys/curl_mail.hpp"
#include "sys/epoll_loop.hpp"
#include "sys/signals.hpp"

namespace notify::test {

// A client with a loop of its own.
class MailUnderTest {
 public:
  explicit MailUnderTest(const MailSettings& settings = {}) {
    prepare_process();
    mail_ = CurlMail::create(loop_, settings).value();
  }

  std::vector<MailEvidence> call(const std::vector<MailRequest>& requests) {
    std::vector<MailEvidence> results(requests.size());
    std::size_t back = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      mail_->start(requests[i], [&, i](MailEvidence evidence) {
        results[i] = std::move(evidence);
        if (++back == requests.size()) loop_.stop();
      });
    }
    loop_.run();
    return results;
  }
  MailEvidence call(const MailRequest& request) { return call(std::vector{request}).at(0); }

  EpollLoop& loop() { return loop_; }
  CurlMail& mail() { return *mail_; }
  void drop_client() { mail_.reset(); }

 private:
  EpollLoop loop_{};
  std::unique_ptr<CurlMail> mail_{};
};

inline MailRequest mail_to(int port, const std::string& id = "m1@shop.test",
                           const std::string& recipient = "a@b.test") {
  MailRequest request;
  request.host = "127.0.0.1";
  request.port = port;
  request.tls = MailTls::kNone;
  request.helo = "client.test";
  request.sender = "shop@shop.test";
  request.recipient = recipient;
  request.message = "Message-ID: <" + id + ">\r\nSubject: x\r\n\r\nSGVsbG8=\r\n";
  request.timeout = Duration(20000);
  return request;
}

inline MailRequest short_lived(MailRequest request, Duration timeout = Duration(700)) {
  request.timeout = timeout;
  request.connect_timeout = timeout;
  return request;
}

inline MailRequest with_login(MailRequest request, std::vector<std::string> mechanisms = {"PLAIN", "LOGIN"}) {
  request.user = "shop";
  request.password = "pass_SECRET";
  request.mechanisms = std::move(mechanisms);
  return request;
}

// A stub that speaks SMTP, over TLS or with STARTTLS, and where its CA is.
struct TlsMailStub {
  explicit TlsMailStub(std::vector<std::string> options) : directory(make_directory()) {
    options.insert(options.begin(), {"--protocol", "smtp", "--self-signed", directory});
    stub = std::make_unique<StubProcess>(std::move(options));
  }
  TlsMailStub(const TlsMailStub&) = delete;
  TlsMailStub& operator=(const TlsMailStub&) = delete;
  ~TlsMailStub() {
    stub.reset();
    std::filesystem::remove_all(directory);
  }
  MailSettings settings() const { return {directory + "/ca.pem", 16}; }

  std::string directory;
  std::unique_ptr<StubProcess> stub{};

 private:
  static std::string make_directory() {
    std::string pattern = std::filesystem::temp_directory_path() / "stub-mail-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    return pattern;
  }
};

}  // namespace notify::test
