// Amazon SES, API version 2: SendEmail with its signature (Signature Version 4, checked from the documentation).

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "openssl_bytes.hpp"
#include "text.hpp"
#include "vendor.hpp"

namespace stub {

namespace {

using nlohmann::json;

constexpr std::string_view send_email = "/v2/email/outbound-emails";
constexpr std::string_view algorithm = "AWS4-HMAC-SHA256 ";
constexpr std::int64_t clock_skew = 5 * 60;  // seconds

std::string hex(std::string_view raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : raw) {
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::string out(32, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(text), text.size(),
       reinterpret_cast<unsigned char*>(out.data()), nullptr);
  return out;
}

std::string sha256(std::string_view text) {
  std::string out(32, '\0');
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(out.data()), nullptr, EVP_sha256(), nullptr);
  return out;
}

// The value of `name=` in "name=value, name=value".
std::string part_of(const std::string& header, const std::string& name) {
  const std::size_t at = header.find(name + "=");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 1;
  return header.substr(from, header.find(',', from) - from);
}

bool is_text_part(const json& part) {
  return part.is_object() && part.value("Charset", "") == "UTF-8" && !part.value("Data", "").empty();
}

bool only(const json& object, const std::set<std::string>& allowed) {
  for (const auto& [name, value] : object.items())
    if (!allowed.contains(name)) return false;
  return true;
}

class Ses final : public Vendor {
 public:
  explicit Ses(const VendorOptions& options)
      : key_id_(options.get("key-id")),
        secret_(options.get("secret")),
        region_(options.get("region")),
        from_(options.get("from")) {}

  void identify(Request& request) override {
    const json body = json::parse(request.body, nullptr, false);
    if (!body.is_object()) return;
    const json to = body.value("/Destination/ToAddresses/0"_json_pointer, json());
    if (to.is_string()) request.set(Field::to, to.get<std::string>());
    const json id = body.value("/EmailTags/0/Value"_json_pointer, json());
    if (id.is_string()) request.set(Field::message_id, id.get<std::string>());
  }

  const Behaviour& answer(const Request& request) override {
    if (request.get(Field::path) != send_email) return refuse(404, "UnknownOperationException", "no such operation");
    if (request.get(Field::method) != "POST") return refuse(405, "UnknownOperationException", "no such operation");
    if (const Behaviour* refused = check_signature(request)) return *refused;
    const json body = json::parse(request.body, nullptr, false);
    const std::string wrong = what_is_wrong(body);
    if (!wrong.empty()) return refuse(400, "BadRequestException", wrong);
    if (body.value("FromEmailAddress", "") != from_)
      return refuse(400, "MessageRejected", "Email address is not verified.");
    const std::string number = "0100-" + std::to_string(request.sequence);
    return reply(200, json{{"MessageId", number}}.dump(), {{"content-type", "application/json"}});
  }

 private:
  const Behaviour& refuse(int status, const std::string& type, const std::string& why) {
    return reply(status, json{{"message", why}}.dump(), {{"x-amzn-errortype", type + ":http://internal.amazon.com/"}});
  }

  const Behaviour* check_signature(const Request& request) {
    const std::string shown = header(request, "authorization");
    const std::string date = header(request, "x-amz-date");  // 20150830T123600Z
    if (!shown.starts_with(algorithm)) return &refuse(403, "MissingAuthenticationTokenException", "no signature");
    std::tm at{};
    if (date.size() != 16 || strptime(date.c_str(), "%Y%m%dT%H%M%SZ", &at) == nullptr ||
        std::abs(timegm(&at) - std::time(nullptr)) > clock_skew)
      return &refuse(403, "InvalidSignatureException", "Signature expired");
    const std::string valid_for = date.substr(0, 8) + "/" + region_ + "/ses/aws4_request";
    if (part_of(shown, "Credential") != key_id_ + "/" + valid_for)
      return &refuse(403, "UnrecognizedClientException", "The security token included in the request is invalid.");
    const std::string names = part_of(shown, "SignedHeaders");
    for (const char* needed : {"host", "x-amz-date"})
      if ((";" + names + ";").find(";" + std::string(needed) + ";") == std::string::npos)
        return &refuse(403, "InvalidSignatureException", std::string(needed) + " is not signed");

    std::string canonical = "POST\n" + std::string(send_email) + "\n\n";
    for (std::size_t from = 0; from <= names.size();) {
      const std::size_t end = std::min(names.find(';', from), names.size());
      const std::string name = names.substr(from, end - from);
      canonical += name + ":" + header(request, name) + "\n";
      from = end + 1;
    }
    canonical += "\n" + names + "\n" + hex(sha256(request.body));
    const std::string to_sign = "AWS4-HMAC-SHA256\n" + date + "\n" + valid_for + "\n" + hex(sha256(canonical));
    std::string key = "AWS4" + secret_;
    for (const std::string& step : {date.substr(0, 8), region_, std::string("ses"), std::string("aws4_request")})
      key = hmac(key, step);
    if (part_of(shown, "Signature") == hex(hmac(key, to_sign))) return nullptr;
    return &refuse(403, "InvalidSignatureException", "The request signature we calculated does not match.");
  }

  static std::string what_is_wrong(const json& body) {
    if (!body.is_object()) return "no JSON object";
    if (!only(body,
              {"FromEmailAddress", "Destination", "ReplyToAddresses", "Content", "EmailTags", "ConfigurationSetName"}))
      return "unknown member";
    const json to = body.value("/Destination/ToAddresses"_json_pointer, json());
    if (!to.is_array() || to.size() != 1 || !to[0].is_string() ||
        to[0].get<std::string>().find('@') == std::string::npos)
      return "Missing final '@domain'";
    const json simple = body.value("/Content/Simple"_json_pointer, json());
    if (!simple.is_object() || !only(simple, {"Subject", "Body", "Headers"})) return "Content";
    if (!is_text_part(simple.value("Subject", json()))) return "Subject";
    const json parts = simple.value("Body", json());
    if (!parts.is_object() || parts.empty() || !only(parts, {"Text", "Html"})) return "Body";
    for (const auto& [name, part] : parts.items())
      if (!is_text_part(part)) return "Body." + name;
    for (const json& tag : body.value("EmailTags", json::array())) {
      const std::string value = tag.value("Value", "");
      if (value.empty() || value.size() > 256 ||
          value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@") !=
              std::string::npos)
        return "EmailTags";
    }
    return {};
  }

  std::string key_id_, secret_, region_, from_;
};

}  // namespace

std::unique_ptr<Vendor> make_ses(const VendorOptions& options) { return std::make_unique<Ses>(options); }

}  // namespace stub
