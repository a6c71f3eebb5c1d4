#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports/mail.hpp"
#include "sys/curl_library.hpp"

namespace notify {

// One mail after the other over kept connections, blocking: libcurl's easy interface with the evidence collected through
// its callbacks. For one thread; only cut() may be called from others.
class MailSession {
 public:
  explicit MailSession(std::string ca_file) : ca_file_(std::move(ca_file)) {}
  ~MailSession() { close(); }
  MailSession(const MailSession&) = delete;
  MailSession& operator=(const MailSession&) = delete;

  MailEvidence perform(const MailRequest& request);

  // Says QUIT on the kept connections and closes them, without waiting for an answer.
  void close();

  // Shuts down every open connection, so that whatever waits for one ends at once. Until renew(), new ones are not opened.
  void cut();
  void renew();

 private:
  void prepare(const MailRequest& request);
  void set_constant_options();
  void set_login(const MailRequest& request);
  MailEvidence take_evidence(CURLcode result);
  void shut_down(int how);

  static std::size_t on_read(char* buffer, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static int on_debug(CURL* easy, curl_infotype type, char* data, std::size_t size, void* self);
  static int on_prereq(void* self, char*, char*, int, int);
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_close_socket(void* self, curl_socket_t fd);

  void on_command(std::string_view line);
  void on_reply_line(std::string_view line);
  void on_text(std::string_view text);
  void note_reply(int code);

  std::string ca_file_;
  std::unique_ptr<CURL, FreeEasy> easy_{};
  std::unique_ptr<curl_slist, FreeList> recipients_{};
  std::chrono::steady_clock::time_point made_{};
  MailTls tls_ = MailTls::kStartTls;  // of the kept connections
  std::string url_{};
  std::string login_options_{};

  // Of the transaction under way.
  const MailRequest* request_ = nullptr;
  std::size_t read_ = 0;      // how much of the message libcurl has taken
  bool read_to_end_ = false;  // it was told that there is no more
  int socket_error_ = 0;      // errno of our own socket(), when that failed
  bool opened_ = false;       // a connection was opened for this message
  bool logged_in_ = false;    // on that connection
  bool offers_utf8_ = false;  // its last EHLO
  bool leaving_ = false;      // QUIT was said: what follows is not about our message
  bool challenged_ = false;   // 334: the next line out is an answer, no command
  MailEvidence evidence_{};
  char error_text_[CURL_ERROR_SIZE] = {};

  std::mutex mutex_{};          // guards the rest, which cut() uses
  std::vector<int> sockets_{};  // open ones
  bool cut_ = false;
};

}  // namespace notify
