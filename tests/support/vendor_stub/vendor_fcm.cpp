// Firebase Cloud Messaging: the token endpoint and messages:send of HTTP v1.

#include <ctime>
#include <map>

#include "jwt_check.hpp"
#include "text.hpp"
#include "vendor.hpp"

namespace stub {

namespace {

using nlohmann::json;

constexpr std::string_view kScope = "https://www.googleapis.com/auth/firebase.messaging";
constexpr std::string_view grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";

json message_of(const Request& request) {
  const json body = json::parse(request.body, nullptr, false);
  return body.is_object() && body.contains("message") ? body["message"] : json();
}

std::string text_of(const json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "";
}

bool all_strings(const json& data) {
  for (const auto& [name, value] : data.items())
    if (!value.is_string() || name == "from" || name == "message_type" || name.starts_with("google") ||
        name.starts_with("gcm"))
      return false;
  return true;
}

class Fcm final : public Vendor {
 public:
  explicit Fcm(const VendorOptions& options)
      : assertions_(options.get("key")),
        email_(options.get("email")),
        path_("/v1/projects/" + options.get("project") + "/messages:send"),
        life_(options.number("life", 3600)),
        uses_(options.number("uses", INT64_MAX)) {}

  void identify(Request& request) override {
    if (request.get(Field::path) == "/token") return;
    const json message = message_of(request);
    if (const std::string token = text_of(message, "token"); !token.empty()) request.set(Field::to, token);
    // The sender's mark of the message.
    if (!message.is_object() || !message.contains("android") || !message["android"].contains("notification")) return;
    if (const std::string tag = text_of(message["android"]["notification"], "tag"); !tag.empty())
      request.set(Field::message_id, tag);
  }

  const Behaviour& answer(const Request& request) override {
    if (request.get(Field::method) != "POST") return refuse(405, "METHOD_NOT_ALLOWED", "");
    if (request.get(Field::path) == "/token") return give_token(request);
    if (request.get(Field::path) != path_) return reply(404, "<html>404</html>");
    if (const Behaviour* refused = check_token(request)) return *refused;
    return send(request);
  }

 private:
  const Behaviour& refuse(int status, const std::string& word, const std::string& code) {
    json details = json::array();
    if (!code.empty())
      details.push_back({{"@type", "type.googleapis.com/google.firebase.fcm.v1.FcmError"}, {"errorCode", code}});
    return reply(status,
                 json{{"error", {{"code", status}, {"message", word}, {"status", word}, {"details", details}}}}.dump());
  }

  const Behaviour& refuse_assertion(const std::string& why) {
    return reply(400, json{{"error", "invalid_grant"}, {"error_description", why}}.dump());
  }

  const Behaviour& give_token(const Request& request) {
    if (!request.body.starts_with(grant)) return refuse_assertion("no jwt-bearer grant");
    const auto token = assertions_.read(std::string_view(request.body).substr(grant.size()));
    if (!token) return refuse_assertion("Invalid JWT Signature.");
    const json& claims = token->claims;
    if (claims.value("iss", "") != email_) return refuse_assertion("Invalid issuer");
    if (claims.value("scope", "") != kScope) return refuse_assertion("Invalid scope");
    if (!claims.value("aud", "").ends_with("/token")) return refuse_assertion("Invalid audience");
    const std::int64_t made = claims.value("iat", std::int64_t{0});
    const std::int64_t ends = claims.value("exp", std::int64_t{0});
    const std::int64_t now = std::time(nullptr);
    if (ends - made > 3600 || ends <= now || made > now + 300)
      return refuse_assertion("Invalid JWT: unreasonable lifetime");
    const std::string given = "ya29." + std::to_string(++given_);
    left_[given] = {uses_, now + life_};
    return reply(200, json{{"access_token", given}, {"expires_in", life_}, {"token_type", "Bearer"}}.dump());
  }

  const Behaviour* check_token(const Request& request) {
    const std::string value = header(request, "authorization");
    const auto found = value.starts_with("Bearer ") ? left_.find(value.substr(7)) : left_.end();
    if (found == left_.end() || found->second.uses == 0 || found->second.ends <= std::time(nullptr))
      return &refuse(401, "UNAUTHENTICATED", "");
    --found->second.uses;
    return nullptr;
  }

  const Behaviour& send(const Request& request) {
    const json message = message_of(request);
    if (!message.is_object()) return refuse(400, "INVALID_ARGUMENT", "");
    int targets = 0;
    for (const char* target : {"token", "fid", "topic", "condition"}) targets += message.contains(target) ? 1 : 0;
    if (targets != 1) return refuse(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT");
    if (message.contains("data") && (!message["data"].is_object() || !all_strings(message["data"])))
      return refuse(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT");
    std::size_t size = 0;
    for (const char* part : {"notification", "data"})
      if (message.contains(part)) size += message[part].dump().size();
    if (size > 4096) return refuse(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT");
    const std::string token = text_of(message, "token");
    if (token.starts_with("dead")) return refuse(404, "NOT_FOUND", "UNREGISTERED");
    if (token.starts_with("alien")) return refuse(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH");
    return reply(200, json{{"name", "projects/p/messages/" + std::to_string(request.sequence)}}.dump());
  }

  struct Given {
    std::int64_t uses = 0;
    std::int64_t ends = 0;
  };
  JwtCheck assertions_;
  std::string email_, path_;
  std::int64_t life_;  // of an access token, seconds
  std::int64_t uses_;  // how many messages it is good for
  std::int64_t given_ = 0;
  std::map<std::string, Given> left_;
};

}  // namespace

std::unique_ptr<Vendor> make_fcm(const VendorOptions& options) { return std::make_unique<Fcm>(options); }

}  // namespace stub
