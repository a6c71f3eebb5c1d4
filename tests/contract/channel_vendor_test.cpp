// The vendors that have a driver of their own, over TLS, as receivers of the contract tests.

#include <fstream>

#include "channel/vendor_common.hpp"
#include "contract/channel_sites.hpp"
#include "core/keys.hpp"
#include "core/uuid.hpp"
#include "support/channel_support.hpp"
#include "support/real_channel.hpp"
#include "support/stub_process.hpp"
#include "support/test_keys.hpp"

namespace notify::test {
namespace {

using nlohmann::json;

// Stubs with one CA: one that takes what is right, and one that refuses everything, when it is asked for.
class VendorSite : public Site {
 public:
  DriverConfig accepting() override { return at(vendor_->port()); }
  DriverConfig unreachable() override { return at(1); }
  DriverConfig refusing() override {
    refuser_ =
        start({"--rule", std::string(refused_path()) + " code:400 body=\"refused: %{to}: Your order 42 is paid.\""});
    return at(refuser_->port());
  }
  std::vector<json> received() override {
    std::vector<json> documents;
    for (const json& request : vendor_->log())
      if (request.at("path") != "/token") documents.push_back(document(request));
    return documents;
  }
  std::string ca_file() const override { return directory_.path / "ca" / "ca.pem"; }

 protected:
  // Of a class that has to be made completely before it can say what its vendor wants.
  void start_vendor() { vendor_ = start({}); }
  std::string key_file(std::string_view pem) {
    const std::filesystem::path file = directory_.path / "key.pem";
    std::ofstream(file) << pem;
    return file;
  }
  static std::string url(int port) { return "https://127.0.0.1:" + std::to_string(port); }
  virtual std::string vendor() = 0;  // the stub's --vendor
  virtual std::string_view refused_path() const { return "path=/*"; }
  virtual DriverConfig at(int port) = 0;
  virtual json document(const json& request) const = 0;

 private:
  std::unique_ptr<StubProcess> start(const std::vector<std::string>& rules) {
    std::vector<std::string> options{"--tls", "--self-signed", directory_.path / "ca", "--vendor", vendor()};
    options.insert(options.end(), rules.begin(), rules.end());
    return std::make_unique<StubProcess>(options);
  }

  Directory directory_{};
  std::unique_ptr<StubProcess> vendor_{};
  std::unique_ptr<StubProcess> refuser_{};
};

json body_of(const json& request) { return json::parse(request.at("body").get<std::string>()); }

class ApnsSite final : public VendorSite {
 public:
  ApnsSite() { start_vendor(); }
  std::string address() const override { return "821000000042" + std::string(52, '0'); }
  std::string mark_of(const std::string& message_id) const override { return uuid_of(message_id); }
  std::size_t largest_body() const override { return 4000; }

 private:
  std::string vendor() override {
    return "apns key=" + key_file(kEcKey) + " key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop";
  }
  DriverConfig at(int port) override {
    ApnsDriverConfig driver;
    driver.key = secret_from_file(kEcKey);
    driver.key_id = "ABC123DEFG";
    driver.team_id = "DEF123GHIJ";
    driver.topic = "com.example.shop";
    driver.url = url(port);
    return driver;
  }
  json document(const json& request) const override {
    json data = body_of(request);
    const json alert = data["aps"]["alert"];
    data.erase("aps");
    return {{"message_id", request.at("id")}, {"to", request.at("to")}, {"body", alert["body"]}, {"data", data}};
  }
};

class FcmSite final : public VendorSite {
 public:
  FcmSite() { start_vendor(); }
  std::string address() const override { return "0aaa:821000000042"; }
  std::string mark_of(const std::string& message_id) const override { return message_mark(message_id); }
  std::size_t largest_body() const override { return 4000; }
  bool carries_data() const override { return false; }  // as strings only

 private:
  std::string vendor() override { return "fcm key=" + key_file(kRsaKey) + " email=push@shop.test project=shop"; }
  std::string_view refused_path() const override { return "path=/v1/*"; }
  DriverConfig at(int port) override {
    FcmDriverConfig driver;
    driver.service_account = secret_from_file(json{
        {"project_id", "shop"},
        {"private_key_id", "k1"},
        {"private_key", kRsaKey},
        {"client_email", "push@shop.test"},
        {"token_uri", url(port) + "/token"}}.dump());
    driver.url = url(port);
    return driver;
  }
  json document(const json& request) const override {
    const json message = body_of(request)["message"];
    return {{"message_id", request.at("id")}, {"to", request.at("to")}, {"body", message["notification"]["body"]}};
  }
};

class SesSite final : public VendorSite {
 public:
  SesSite() { start_vendor(); }
  std::string address() const override { return "kim821000000042@example.com"; }
  bool carries_data() const override { return false; }

 private:
  std::string vendor() override {
    return "ses key-id=AKIAEXAMPLE secret=right-secret region=ap-northeast-2 from=shop@example.com";
  }
  DriverConfig at(int port) override {
    SesDriverConfig driver;
    driver.region = "ap-northeast-2";
    driver.access_key_id = "AKIAEXAMPLE";
    driver.secret_access_key = secret_from_file("right-secret");
    driver.from = "shop@example.com";
    driver.url = url(port);
    return driver;
  }
  json document(const json& request) const override {
    const json text = body_of(request)["Content"]["Simple"]["Body"]["Text"];
    return {{"message_id", request.at("id")}, {"to", request.at("to")}, {"body", text["Data"]}};
  }
};

// The recipient is the subscription, and says where the push service is.
class WebPushSite final : public VendorSite {
 public:
  WebPushSite() { start_vendor(); }
  std::string address() const override {
    const PrivateKey browser = PrivateKey::from_pem(kEcKey).value();
    return json{{"endpoint", url(port_) + "/push/821000000042"},
                {"keys", {{"p256dh", to_base64url(browser.public_point())}, {"auth", kAuth}}}}
        .dump();
  }
  bool carries_data() const override { return false; }
  bool carries_body() const override { return false; }  // only the browser can read it
  bool is_the_lane() const override { return false; }
  std::size_t largest_body() const override { return 3500; }

 private:
  static constexpr const char* kAuth = "MDEyMzQ1Njc4OWFiY2RlZg";

  std::string vendor() override { return "webpush key=" + key_file(kEcKey) + " auth=" + kAuth; }
  DriverConfig at(int port) override {
    port_ = port;
    WebPushDriverConfig driver;
    driver.key = secret_from_file(to_base64url(std::string(32, '\1')));
    driver.subject = "mailto:push@example.com";
    driver.allow_private = true;
    return driver;
  }
  json document(const json& request) const override {
    return {{"message_id", request.at("id")}, {"to", request.at("to") == "821000000042" ? address() : ""}};
  }

  int port_ = 1;
};

}  // namespace

std::unique_ptr<Site> make_apns_site() { return std::make_unique<ApnsSite>(); }
std::unique_ptr<Site> make_fcm_site() { return std::make_unique<FcmSite>(); }
std::unique_ptr<Site> make_ses_site() { return std::make_unique<SesSite>(); }
std::unique_ptr<Site> make_webpush_site() { return std::make_unique<WebPushSite>(); }

// --- what only one of them can be asked

TEST(ChannelApnsLive, AfterAShutdownTheNextPushHasAnotherConnection) {
  const Directory directory;
  std::ofstream(directory.path / "key.pem") << kEcKey;
  const StubProcess stub({"--tls", "--self-signed", directory.path / "ca", "--vendor",
                          "apns key=" + std::string(directory.path / "key.pem") +
                              " key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop",
                          "--rule", R"(skip=1 times=1 code:503 body='{"reason":"Shutdown"}')"});
  ApnsDriverConfig driver;
  driver.key = secret_from_file(kEcKey);
  driver.key_id = "ABC123DEFG";
  driver.team_id = "DEF123GHIJ";
  driver.topic = "com.example.shop";
  driver.url = "https://127.0.0.1:" + std::to_string(stub.port());
  RealChannels channels(directory.path / "ca" / "ca.pem");
  const auto channel = channels.make(make_config(driver));
  std::vector<std::string> reasons;
  for (const char* id : {"m-1", "m-2", "m-3"})
    reasons.push_back(channels.send(*channel, make_dispatch(id, "0aaa")).reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"http-200", "Shutdown", "http-200"}));
  std::vector<int> used;
  for (const json& request : stub.log()) used.push_back(request.at("conn"));
  EXPECT_EQ(used, (std::vector{1, 1, 2}));
}

}  // namespace notify::test
