// Apple's push service: HTTP/2, provider tokens, headers, sizes, dead devices.

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "jwt_check.hpp"
#include "text.hpp"
#include "vendor.hpp"

namespace stub {

namespace {

constexpr std::int64_t between_tokens = 20 * 60;  // seconds

bool only(std::string_view text, std::string_view alphabet) {
  return !text.empty() && text.find_first_not_of(alphabet) == std::string_view::npos;
}

class Apns final : public Vendor {
 public:
  explicit Apns(const VendorOptions& options)
      : tokens_(options.get("key")),
        key_id_(options.get("key-id")),
        team_(options.get("team")),
        topic_(options.get("topic")),
        life_(options.number("life", 3600)),
        uses_(options.number("uses", INT64_MAX)) {}

  void identify(Request& request) override {
    const std::string path(request.get(Field::path));
    if (path.starts_with("/3/device/")) request.set(Field::to, path.substr(10));
  }

  const Behaviour& answer(const Request& request) override {
    if (request.protocol != "h2") return refuse(400, "BadRequest");  // it speaks nothing else
    if (request.get(Field::method) != "POST") return refuse(405, "MethodNotAllowed");
    if (!request.get(Field::path).starts_with("/3/device/")) return refuse(404, "BadPath");
    if (const Behaviour* refused = check_token(request)) return *refused;
    if (const Behaviour* refused = check_headers(request)) return *refused;
    if (const Behaviour* refused = check_body(request)) return *refused;
    const std::string device(request.get(Field::to));
    if (!only(device, "0123456789abcdefABCDEF")) return refuse(400, "BadDeviceToken");
    if (device.starts_with("bad0")) return refuse(400, "BadDeviceToken");
    if (device.starts_with("dead")) return gone(0);
    if (device.starts_with("01d")) return gone(24 * 3600);
    return reply(200, "", {{"apns-id", header(request, "apns-id")}});
  }

 private:
  const Behaviour& refuse(int status, const std::string& reason) {
    return reply(status, R"({"reason":")" + reason + "\"}");
  }

  const Behaviour& gone(std::int64_t seconds_ago) {
    const std::int64_t since = (std::time(nullptr) - seconds_ago) * 1000;
    return reply(410, R"({"reason":"Unregistered","timestamp":)" + std::to_string(since) + "}");
  }

  static std::int64_t age(std::int64_t made) { return std::time(nullptr) - made; }

  const Behaviour* check_token(const Request& request) {
    const std::string value = header(request, "authorization");
    if (!value.starts_with("bearer ")) return &refuse(403, "MissingProviderToken");
    const std::string text = value.substr(7);
    if (text == expired_) return &refuse(403, "ExpiredProviderToken");
    if (text != known_) {  // checking a signature takes its time
      const auto token = tokens_.read(text);
      if (!token || token->header.value("kid", "") != key_id_ || token->claims.value("iss", "") != team_ ||
          !token->claims.contains("iat") || !token->claims["iat"].is_number_integer())
        return &refuse(403, "InvalidProviderToken");
      const std::int64_t made = token->claims["iat"];
      if (!known_.empty() && made - made_ < between_tokens) return &refuse(429, "TooManyProviderTokenUpdates");
      if (age(made) > life_) return &refuse(403, "ExpiredProviderToken");
      if (age(made) < -60) return &refuse(403, "InvalidProviderToken");
      known_ = text;
      made_ = made;
    }
    if (age(made_) > life_ || uses_-- == 0) {
      expired_ = std::exchange(known_, {});
      return &refuse(403, "ExpiredProviderToken");
    }
    return nullptr;
  }

  const Behaviour* check_headers(const Request& request) {
    constexpr std::array types{"alert",        "background", "location",     "voip",       "complication",
                               "fileprovider", "mdm",        "liveactivity", "pushtotalk", "widgets"};
    const std::string topic = header(request, "apns-topic");
    if (topic.empty()) return &refuse(400, "MissingTopic");
    if (topic != topic_) return &refuse(400, "TopicDisallowed");
    const std::string type = header(request, "apns-push-type");
    if (std::find(types.begin(), types.end(), type) == types.end()) return &refuse(400, "InvalidPushType");
    const std::string priority = header(request, "apns-priority");
    if (priority != "10" && priority != "5" && priority != "1") return &refuse(400, "BadPriority");
    if (type == "background" && priority != "5") return &refuse(400, "BadPriority");
    if (header(request, "apns-collapse-id").size() > 64) return &refuse(400, "BadCollapseId");
    const std::string expiration = header(request, "apns-expiration");
    if (!expiration.empty() && !only(expiration, "0123456789")) return &refuse(400, "BadExpirationDate");
    const std::string id = header(request, "apns-id");
    if (!id.empty() && (id.size() != 36 || !only(id, "0123456789abcdef-"))) return &refuse(400, "BadMessageId");
    return nullptr;
  }

  const Behaviour* check_body(const Request& request) {
    const std::size_t limit = header(request, "apns-push-type") == "voip" ? 5120 : 4096;
    if (request.body.size() > limit) return &refuse(413, "PayloadTooLarge");
    const auto payload = nlohmann::json::parse(request.body, nullptr, false);
    if (!payload.is_object() || !payload.contains("aps")) return &refuse(400, "PayloadEmpty");
    return nullptr;
  }

  JwtCheck tokens_;
  std::string key_id_, team_, topic_;
  std::int64_t life_;      // of a token, seconds
  std::int64_t uses_;      // of the first token; then it is expired, as if it were old
  std::string known_;      // the token in use
  std::string expired_;    // the one before it
  std::int64_t made_ = 0;  // its iat
};

}  // namespace

std::unique_ptr<Vendor> make_apns(const VendorOptions& options) { return std::make_unique<Apns>(options); }

}  // namespace stub
