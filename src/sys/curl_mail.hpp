#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"
#include "core/ports/mail.hpp"

namespace notify {

class EpollLoop;

struct MailSettings {
  std::string ca_file{};     // CA certificates (ca_bundle.hpp); empty: every TLS handshake fails
  int max_connections = 64;  // transactions at one time; more wait for their turn, within their time-out
};

// MailClient on libcurl, with a thread for each transaction that is under way.
//
// Threads, because libcurl waits for the reply to the final dot, and for the one to QUIT, without going back to its
// caller (7.88.1: smtp_done() and smtp_disconnect() run smtp_block_statemach()). On the loop's thread one slow mail server
// would hold up every other call of the process, and sixteen mails to a server that takes 200 ms would take 3 s. The
// threads are made as they are needed, take the message that was idle last first, keep their connection for the next one,
// and say QUIT after a few seconds without work.
//
// What libcurl waits for without a limit of its own ends by the loop's clock: at a request's time-out and a bit, its
// connection is shut down, and the evidence says how far it had got.
//
// Destroying the object drops the requests in flight without calling their `done` and waits for their threads, which end
// at once because their connections are shut down.
class CurlMail final : public MailClient {
 public:
  static Result<std::unique_ptr<CurlMail>> create(EpollLoop& loop, const MailSettings& settings);
  ~CurlMail() override;

  void start(MailRequest request, std::function<void(MailEvidence)> done) override;

 private:
  struct Impl;
  explicit CurlMail(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify
