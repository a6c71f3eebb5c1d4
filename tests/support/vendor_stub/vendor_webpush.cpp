// A browser's push service and the browser behind it: the headers of RFC 8030, the VAPID token of RFC 8292, and the
// content that only the subscription's owner can read (RFC 8291, aes128gcm of RFC 8188).

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>

#include <array>
#include <ctime>
#include <map>
#include <stdexcept>

#include "jwt_check.hpp"
#include "openssl_bytes.hpp"
#include "text.hpp"
#include "vendor.hpp"

namespace stub {

namespace {

constexpr std::size_t salt_size = 16;
constexpr std::size_t point_size = 65;  // an uncompressed point of P-256
constexpr std::size_t tag_size = 16;    // of AES-GCM
constexpr std::size_t max_body = 4096;
constexpr std::int64_t day = 24 * 3600;
constexpr std::int64_t max_ttl = 28 * day;

std::string hkdf(std::string_view salt, std::string_view secret, std::string_view info, std::size_t size) {
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr);
  std::string out(size, '\0');
  const bool good = EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1 &&
                    EVP_PKEY_CTX_set1_hkdf_salt(context, bytes(salt), static_cast<int>(salt.size())) == 1 &&
                    EVP_PKEY_CTX_set1_hkdf_key(context, bytes(secret), static_cast<int>(secret.size())) == 1 &&
                    EVP_PKEY_CTX_add1_hkdf_info(context, bytes(info), static_cast<int>(info.size())) == 1 &&
                    EVP_PKEY_derive(context, bytes(out), &size) == 1;
  EVP_PKEY_CTX_free(context);
  return good ? out : std::string();
}

// The browser's half of a subscription.
class UserAgent {
 public:
  UserAgent(const std::string& pem_file, const std::string& auth) {
    BIO* file = BIO_new_file(pem_file.c_str(), "r");
    if (file == nullptr) throw std::invalid_argument("--vendor: cannot read " + pem_file);
    key_.reset(PEM_read_bio_PrivateKey(file, nullptr, nullptr, nullptr), [](EVP_PKEY* key) { EVP_PKEY_free(key); });
    BIO_free(file);
    auth_ = base64url_decode(auth).value_or("");
    if (key_ == nullptr || auth_.size() != 16) throw std::invalid_argument("--vendor: webpush wants key= and auth=");
    unsigned char* point = nullptr;
    const std::size_t size = EVP_PKEY_get1_encoded_public_key(key_.get(), &point);
    point_.assign(reinterpret_cast<char*>(point), size);
    OPENSSL_free(point);
  }

  // The text of one record, without its delimiter and padding; nothing when it was not made for this subscription.
  std::optional<std::string> read(std::string_view body) const {
    if (body.size() < salt_size + 5 + point_size + tag_size + 1) return std::nullopt;
    const std::string_view salt = body.substr(0, salt_size);
    if (static_cast<unsigned char>(body[salt_size + 4]) != point_size) return std::nullopt;
    const std::string_view sender = body.substr(salt_size + 5, point_size);
    const std::string_view record = body.substr(salt_size + 5 + point_size);
    const std::string shared = agree(sender);
    if (shared.empty()) return std::nullopt;
    const std::string info = std::string("WebPush: info") + '\0' + point_ + std::string(sender);
    const std::string input = hkdf(auth_, shared, info, 32);
    const std::string key = hkdf(salt, input, std::string("Content-Encoding: aes128gcm") + '\0', 16);
    const std::string nonce = hkdf(salt, input, std::string("Content-Encoding: nonce") + '\0', 12);
    std::optional<std::string> text = decrypt(key, nonce, record);
    if (!text) return std::nullopt;
    const std::size_t end = text->find_last_not_of('\0');
    if (end == std::string::npos || (*text)[end] != '\2') return std::nullopt;  // the last record's delimiter
    text->resize(end);
    return text;
  }

 private:
  std::string agree(std::string_view sender) const {
    EVP_PKEY* theirs = EVP_PKEY_new();
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new(key_.get(), nullptr);
    std::string shared(32, '\0');
    std::size_t size = shared.size();
    const bool good = EVP_PKEY_copy_parameters(theirs, key_.get()) == 1 &&
                      EVP_PKEY_set1_encoded_public_key(theirs, bytes(sender), sender.size()) == 1 &&
                      EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, theirs) == 1 &&
                      EVP_PKEY_derive(context, bytes(shared), &size) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(theirs);
    return good ? shared : std::string();
  }

  static std::optional<std::string> decrypt(const std::string& key, const std::string& nonce, std::string_view record) {
    const std::size_t size = record.size() - tag_size;
    std::string text(size, '\0');
    std::string tag(record.substr(size));
    int length = 0;
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    const bool good = EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nullptr, bytes(std::string_view(key)),
                                         bytes(std::string_view(nonce))) == 1 &&
                      EVP_DecryptUpdate(context, bytes(text), &length, bytes(record), static_cast<int>(size)) == 1 &&
                      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_size), tag.data()) == 1 &&
                      EVP_DecryptFinal_ex(context, bytes(text) + length, &length) == 1;
    EVP_CIPHER_CTX_free(context);
    return good ? std::optional(std::move(text)) : std::nullopt;
  }

  std::shared_ptr<EVP_PKEY> key_;
  std::string auth_, point_;
};

class WebPush final : public Vendor {
 public:
  explicit WebPush(const VendorOptions& options) : browser_(options.get("key"), options.get("auth")) {}

  void identify(Request& request) override {
    const std::string path(request.get(Field::path));
    if (path.starts_with("/push/")) request.set(Field::to, path.substr(6));
    const auto text = browser_.read(request.body);
    const auto content = nlohmann::json::parse(text.value_or(""), nullptr, false);
    if (content.is_object() && content.contains("message_id"))
      request.set(Field::message_id, content["message_id"].get<std::string>());
  }

  const Behaviour& answer(const Request& request) override {
    if (!request.get(Field::path).starts_with("/push/")) return reply(404, "no such subscription");
    if (request.get(Field::method) != "POST") return reply(405, "POST");
    if (const Behaviour* refused = check_vapid(request)) return *refused;
    const auto ttl = parse_number(header(request, "ttl"));
    if (!ttl || *ttl > static_cast<std::uint64_t>(max_ttl)) return reply(400, "TTL");
    if (header(request, "content-encoding") != "aes128gcm") return reply(415, "Content-Encoding");
    const std::string urgency = header(request, "urgency");
    if (!urgency.empty() && urgency != "very-low" && urgency != "low" && urgency != "normal" && urgency != "high")
      return reply(400, "Urgency");
    const std::string topic = header(request, "topic");
    if (topic.size() > 32 || (!topic.empty() && !base64url_decode(topic))) return reply(400, "Topic");
    if (request.body.size() > max_body) return reply(413, "too large");
    if (request.get(Field::to).starts_with("gone")) return reply(410, "unsubscribed");
    if (!browser_.read(request.body)) return reply(400, "not for this subscription");
    return reply(201, "", {{"location", "/message/" + std::to_string(request.sequence)}});
  }

 private:
  const Behaviour* check_vapid(const Request& request) {
    const std::string shown = header(request, "authorization");  // vapid t=…, k=…
    const std::size_t k = shown.find(", k=");
    if (!shown.starts_with("vapid t=") || k == std::string::npos) return &reply(401, "no VAPID");
    const std::string token_text = shown.substr(8, k - 8);
    const auto key = base64url_decode(shown.substr(k + 4));
    if (!key || key->size() != point_size) return &reply(403, "no key");
    const auto token = JwtCheck::of_point(*key).read(token_text);
    if (!token) return &reply(403, "the token's signature does not fit the key");
    std::string host = header(request, ":authority");
    if (host.empty()) host = header(request, "host");
    if (token->claims.value("aud", "") != "https://" + host) return &reply(403, "aud");
    const std::int64_t left = token->claims.value("exp", std::int64_t{0}) - std::time(nullptr);
    if (left <= 0 || left > day) return &reply(403, "exp");
    const std::string whom = token->claims.value("sub", "");
    if (!whom.starts_with("mailto:") && !whom.starts_with("https:")) return &reply(403, "sub");
    return nullptr;
  }

  UserAgent browser_;
};

}  // namespace

std::unique_ptr<Vendor> make_webpush(const VendorOptions& options) { return std::make_unique<WebPush>(options); }

}  // namespace stub
