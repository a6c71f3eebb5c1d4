// A vendor's own rules, enforced: what is wrong with a request is refused as the vendor would refuse it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "behaviour.hpp"
#include "request.hpp"

namespace stub {

// key=value words of --vendor, after the name.
class VendorOptions {
 public:
  explicit VendorOptions(const std::vector<std::string>& words);
  // The value; `otherwise` when it is not given.
  std::string get(const std::string& key, const std::string& otherwise = {}) const;
  std::int64_t number(const std::string& key, std::int64_t otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

class Vendor {
 public:
  virtual ~Vendor() = default;

  // Fills in whom the request is for and by what it is told from others. Needs all headers.
  virtual void identify(Request& request) = 0;
  // What the vendor answers.
  virtual const Behaviour& answer(const Request& request) = 0;

 protected:
  static std::string header(const Request& request, std::string_view name);
  const Behaviour& reply(int status, std::string body, std::vector<std::pair<std::string, std::string>> headers = {});

 private:
  std::deque<Behaviour> answers_;  // referred to until they are sent
};

// "apns key=FILE key-id=… team=… topic=…" and the like: see README.md. Throws std::invalid_argument.
std::unique_ptr<Vendor> make_vendor(const std::string& text);

std::unique_ptr<Vendor> make_apns(const VendorOptions& options);
std::unique_ptr<Vendor> make_fcm(const VendorOptions& options);
std::unique_ptr<Vendor> make_ses(const VendorOptions& options);
std::unique_ptr<Vendor> make_webpush(const VendorOptions& options);

}  // namespace stub
