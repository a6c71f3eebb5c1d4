// TLS, the address guard and what must not leak, with the real client and real peers.

#include "contract/sys_http_support.hpp"

namespace notify::test {
namespace {

// --- TLS

TEST(SysHttpTls, VerifiedPeerIsServed) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  const HttpEvidence evidence = client.call(post(tls.url()));
  EXPECT_EQ(judged(evidence), "sent") << evidence.curl_error;
  EXPECT_EQ(tls.stub->log().at(0)["proto"], "h1");
}

TEST(SysHttpTls, F35_BrokenCertificatesHaltTheChannel) {
  for (const char* kind : {"wrong-host", "expired", "future", "unknown-ca"}) {
    const TlsStub tls({"--cert-kind", kind});
    HttpUnderTest client(tls.settings());
    const HttpEvidence evidence = client.call(post(tls.url()));
    const Outcome outcome = classify_http(evidence, {}, {});
    EXPECT_STREQ(outcome_name(outcome.cls), "not-sent") << kind << ' ' << evidence.curl_code;
    EXPECT_TRUE(outcome.halt_channel) << kind;
    EXPECT_EQ(outcome.reason, "tls-failed");
    EXPECT_EQ(evidence.phase, "tls");
    EXPECT_TRUE(tls.stub->log().empty()) << kind;
  }
}

TEST(SysHttpTls, F35_NoBundleFailsClosed) {
  const TlsStub tls;
  for (const std::string& file : {std::string(), std::string("/nonexistent/ca.pem")}) {
    HttpSettings settings;
    settings.ca_file = file;
    HttpUnderTest client(settings);
    const Outcome outcome = classify_http(client.call(post(tls.url())), {}, {});
    EXPECT_STREQ(outcome_name(outcome.cls), "not-sent") << file;
    EXPECT_TRUE(outcome.halt_channel) << file << ' ' << outcome.detail;
  }
  EXPECT_TRUE(tls.stub->log().empty());
}

TEST(SysHttpTls, TroubleInTheHandshakeIsNotSent) {
  for (const char* mode : {"tls-hang", "tls-rst", "tls-close", "accept-close", "accept-rst"}) {
    const TlsStub tls({"--mode", mode});
    HttpUnderTest client(tls.settings());
    const HttpEvidence evidence = client.call(short_lived(post(tls.url())));
    EXPECT_EQ(judged(evidence), "not-sent") << mode << ' ' << evidence.curl_code << ' ' << evidence.curl_error;
    EXPECT_TRUE(classify_http(evidence, {}, {}).connect_refused) << mode;
  }
}

TEST(SysHttpTls, F02_ReusedConnectionDies) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  EXPECT_EQ(judged(client.call(with_id(post(tls.url("rst2")), "m-1"))), "sent");
  const HttpEvidence second = client.call(with_id(post(tls.url("rst2")), "m-2"));
  EXPECT_EQ(judged(second), "unknown") << second.curl_code << ' ' << second.curl_error;
  EXPECT_EQ(requests_with_id(*tls.stub, "m-2"), 1);
}

// --- F33: the webhook that turns inwards

TEST(SysHttpGuard, F33_PrivateAddressesAreRefusedAtConnect) {
  const StubProcess stub;
  HttpUnderTest client;
  const std::string port = ":" + std::to_string(stub.port());
  for (const std::string& host :
       {std::string("127.0.0.1"), std::string("[::ffff:127.0.0.1]"), std::string("[::ffff:7f00:1]"),
        std::string("[::]"), std::string("[::1]"), std::string("0.0.0.0"), std::string("2130706433"),
        std::string("0x7f.1"), std::string("127.1"), std::string("[64:ff9b::a9fe:a9fe]"),
        std::string("[64:ff9b::7f00:1]"), std::string("[2002:7f00:1::]"), std::string("[fe80::1%25lo]"),
        std::string("169.254.169.254"), std::string("10.0.0.1"), std::string("localhost"),
        std::string("user@127.0.0.1")}) {
    HttpRequest request = short_lived(post("http://" + host + port + "/ok"));
    request.allow_private = false;
    const HttpEvidence evidence = client.call(request);
    EXPECT_TRUE(evidence.address_blocked || evidence.refused_locally) << host << ' ' << evidence.curl_error;
    EXPECT_EQ(judged(evidence), "permanent") << host;
  }
  EXPECT_TRUE(stub.log().empty());
}

TEST(SysHttpGuard, F33_OnlyHttpAndOneHost) {
  HttpUnderTest client;
  for (const char* url :
       {"file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "dict://127.0.0.1/", "127.0.0.1/ok", "",
        "http://", "http:///path", "https://user@good.test@127.0.0.1/", "http://a b/", "http://a\r\nb/",
        "http://127.0.0.1/a\nb", "http://127.0.0.1/ x", "http://h\xC3\xB6st.test/", "http://127.0.0.1:99999/"}) {
    const HttpEvidence evidence = client.call(post(url));
    EXPECT_TRUE(evidence.refused_locally) << url;
    EXPECT_EQ(judged_reason(evidence), "bad-request") << url;
  }
}

// The guard at connect time does not see a connection that is used again.
TEST(SysHttpGuard, F33_ReusedConnectionsAreChecked) {
  const StubProcess stub;
  HttpUnderTest client;
  EXPECT_EQ(judged(client.call(with_id(post(stub.url()), "m-1"))), "sent");
  HttpRequest request = with_id(post(stub.url()), "m-2");
  request.allow_private = false;
  const HttpEvidence evidence = client.call(request);
  EXPECT_EQ(judged(evidence), "permanent");
  EXPECT_TRUE(evidence.address_blocked);
  EXPECT_EQ(requests_with_id(stub, "m-2"), 0);
}

TEST(SysHttpGuard, F33_BehindAProxyTheGuardFailsClosed) {
  const StubProcess proxy({"--mode", "ok", "--no-path-modes"});
  HttpSettings settings;
  settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  HttpUnderTest client(settings);
  HttpRequest request = post("http://192.0.2.1/");
  request.allow_private = false;
  EXPECT_EQ(judged_reason(client.call(request)), "address-blocked");
  EXPECT_TRUE(proxy.log().empty());
  request.allow_private = true;
  EXPECT_EQ(judged(client.call(request)), "sent");
}

TEST(SysHttpGuard, ProxyVariablesOfTheEnvironmentAreIgnored) {
  const StubProcess stub;
  const StubProcess proxy({"--mode", "ok", "--no-path-modes"});
  ::setenv("http_proxy", ("http://127.0.0.1:" + std::to_string(proxy.port())).c_str(), 1);
  HttpUnderTest client;
  EXPECT_EQ(judged(client.call(post(stub.url()))), "sent");
  ::unsetenv("http_proxy");
  EXPECT_EQ(stub.log().size(), 1U);
  EXPECT_TRUE(proxy.log().empty());
}

// --- F46, F57

TEST(SysHttpText, F46_LineEndsInHeadersAreRefused) {
  const StubProcess stub;
  HttpUnderTest client;
  for (const char* value : {"x\r\nBcc: e@evil.test", "x\n", "x\r", "\x01", "\x7f"}) {
    HttpRequest request = post(stub.url());
    request.headers.emplace_back("X-Name", value);
    EXPECT_TRUE(client.call(request).refused_locally) << value;
  }
  for (const char* name : {"", "X Y", "X:", "X\r\nY", "Content-Length", "transfer-encoding", "Expect"}) {
    HttpRequest request = post(stub.url());
    request.headers.emplace_back(name, "1");
    EXPECT_TRUE(client.call(request).refused_locally) << name;
  }
  HttpRequest method = post(stub.url());
  method.method = "GET / HTTP/1.1\r\nX: y\r\n\r\nGET";
  EXPECT_TRUE(client.call(method).refused_locally);
  EXPECT_TRUE(stub.log().empty());
}

TEST(SysHttpText, F57_ErrorsNeverHoldTheSecretPartsOfAUrl) {
  const TlsStub tls({"--cert-kind", "expired"});
  HttpUnderTest client(tls.settings());
  const StubProcess plain;
  const std::string port = std::to_string(closed_port());
  const std::string secret = "SECRETPART";
  const std::vector<std::string> urls{
      "http://user:SECRETPART@127.0.0.1:" + port + "/T/SECRETPART?k=SECRETPART#SECRETPART",
      "http://" + std::string(70, 'a') + ".test/SECRETPART",
      "https://user:SECRETPART@127.0.0.1:" + std::to_string(tls.stub->port()) + "/SECRETPART",
      "http://127.0.0.1:" + std::to_string(plain.port()) + "/hang?SECRETPART",
      "http://127.0.0.1:" + std::to_string(plain.port()) + "/not-http?SECRETPART",
      "http://a:SECRETPART@b@127.0.0.1/",
      "http://[SECRETPART/",
      "SECRETPART://x/",
      "http://x:SECRETPART/",
  };
  for (const std::string& url : urls) {
    const HttpEvidence evidence = client.call(short_lived(post(url)));
    EXPECT_FALSE(evidence.curl_error.empty()) << url;
    EXPECT_EQ(evidence.curl_error.find(secret), std::string::npos) << evidence.curl_error;
  }
}

}  // namespace
}  // namespace notify::test
