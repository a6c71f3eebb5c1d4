#pragma once

// POSTs by curl multi as fast as it can: easy handles and connections are used again, nothing is looked at
// but the status. What the bare programs measure the product against.

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

#include "bench_support.hpp"

namespace bench {

class CurlLoop {
 public:
  CurlLoop(std::string url, int concurrency) : url_(std::move(url)), free_(static_cast<std::size_t>(concurrency)) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(concurrency));
    for (auto& transfer : free_) transfer = make_transfer();
  }
  ~CurlLoop() { curl_multi_cleanup(multi_); }
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  bool has_room() const { return !free_.empty(); }

  void start(int number) {
    std::unique_ptr<Transfer> transfer = std::move(free_.back());
    free_.pop_back();
    transfer->number = number;
    transfer->body = body(number);
    const std::string key = "Idempotency-Key: " + message_id(number);
    curl_slist_free_all(transfer->headers);
    transfer->headers = curl_slist_append(nullptr, "Content-Type: application/json");
    transfer->headers = curl_slist_append(transfer->headers, key.c_str());
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->body.c_str());
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(transfer->body.size()));
    curl_multi_add_handle(multi_, transfer.release()->easy);
  }

  // Works on what is out; appends the numbers of what came back.
  void perform(std::vector<int>& done) {
    int running = 0;
    curl_multi_perform(multi_, &running);
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      Transfer* transfer = nullptr;
      long status = 0;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result != CURLE_OK || status != 200)
        die("POST: " + std::string(curl_easy_strerror(message->data.result)) + ", " + std::to_string(status));
      curl_multi_remove_handle(multi_, transfer->easy);
      done.push_back(transfer->number);
      free_.emplace_back(transfer);
    }
  }

  // Until a socket is ready or wake() is called.
  void wait() { curl_multi_poll(multi_, nullptr, 0, 1000, nullptr); }
  // From another thread.
  void wake() { curl_multi_wakeup(multi_); }

 private:
  struct Transfer {
    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
      curl_easy_cleanup(easy);
      curl_slist_free_all(headers);
    }
    CURL* easy = curl_easy_init();
    curl_slist* headers = nullptr;
    std::string body{};
    int number = 0;
  };

  static std::size_t swallow(char*, std::size_t size, std::size_t count, void*) { return size * count; }

  // As long as what the product's webhook sends for the same message.
  static std::string body(int number) {
    return R"({"message_id":")" + message_id(number) + R"(","to":"device-)" + std::to_string(number) +
           R"(","kind":"BENCH","category":"transactional","subject":"Disk full","body":")" + std::string(400, 'x') +
           R"(","enqueued_at":"2026-01-01T00:00:00.000Z"})";
  }

  std::unique_ptr<Transfer> make_transfer() {
    auto transfer = std::make_unique<Transfer>();
    CURL* easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
    curl_easy_setopt(easy, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10'000L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &swallow);
    return transfer;
  }

  std::string url_;
  CURLM* multi_ = nullptr;
  std::vector<std::unique_ptr<Transfer>> free_;
};

}  // namespace bench
