#include "vendor.hpp"

#include <stdexcept>

#include "text.hpp"

namespace stub {

VendorOptions::VendorOptions(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("--vendor: no value in " + word);
    values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string VendorOptions::get(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

std::int64_t VendorOptions::number(const std::string& key, std::int64_t otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : std::stoll(found->second);
}

std::string Vendor::header(const Request& request, std::string_view name) {
  for (const auto& [key, value] : request.all_headers)
    if (same_ignoring_case(key, name)) return value;
  return {};
}

const Behaviour& Vendor::reply(int status, std::string body, std::vector<std::pair<std::string, std::string>> headers) {
  Behaviour& answer = answers_.emplace_back();
  answer.label = "vendor";
  answer.status = status;
  answer.body = std::move(body);
  answer.headers = std::move(headers);
  return answer;
}

std::unique_ptr<Vendor> make_vendor(const std::string& text) {
  std::vector<std::string> words = split_words(text);
  if (words.empty()) throw std::invalid_argument("--vendor wants a name");
  const std::string name = words.front();
  words.erase(words.begin());
  const VendorOptions options(words);
  if (name == "apns") return make_apns(options);
  if (name == "fcm") return make_fcm(options);
  if (name == "ses") return make_ses(options);
  if (name == "webpush") return make_webpush(options);
  throw std::invalid_argument("--vendor: apns, fcm, ses or webpush, not " + name);
}

}  // namespace stub
