#pragma once

// Several messages in one request, for http.cpp.

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "channel/http_vendor.hpp"
#include "core/recipe_batch.hpp"

namespace notify {

// Gathers what is sent in one turn of the loop, and makes one request of up to `batch` messages; none waits longer than
// that. Never sends anything again. Loop thread only, but for check(). Owned by shared pointer: what was gathered goes out
// even when the channel is gone.
class HttpBatches : public std::enable_shared_from_this<HttpBatches> {
 public:
  // The vendor's recipe has a batch.
  explicit HttpBatches(std::shared_ptr<HttpVendor> vendor) : vendor_(std::move(vendor)) {}

  // Channel::check() of what a request of several needs of this message.
  Result<void> check(const Dispatch& dispatch, const std::string& token) const;

  // Channel::send(). A message that was tried before goes alone: the request that it shared may have failed because of it.
  void send(Dispatch dispatch, Channel::Done done);

 private:
  struct Member {
    Dispatch dispatch;
    RecipeBatchPart part;
    Channel::Done done;
  };
  struct Group {
    std::vector<Member> members{};
    std::set<std::vector<std::string>> keys{};
    std::size_t bytes = 0;
  };

  void flush();
  void start(Group group);
  static void call(const std::shared_ptr<HttpVendor>& vendor, const std::shared_ptr<std::vector<Member>>& members,
                   const std::optional<Credential>& token, Duration waited);

  static void settle(HttpVendor& vendor, std::vector<Member>& members, const std::optional<Credential>& token,
                     std::vector<std::string> secrets, const HttpEvidence& evidence);

  std::shared_ptr<HttpVendor> vendor_;
  std::map<std::vector<std::string>, Group> groups_{};  // by what messages of a request agree in
  bool flush_posted_ = false;
};

}  // namespace notify
