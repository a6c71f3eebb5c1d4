// TLS, HTTP/2 (table 1.5), the address guard and what must not leak, with the real client and real peers.

#include <map>
#include <set>

#include "contract/sys_http_support.hpp"

namespace notify::test {
namespace {

HttpRequest h2(HttpRequest request) {
  request.version = HttpRequest::Version::k2;
  return request;
}

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

// --- HTTP/2

struct StreamRow {
  const char* mode;
  const char* outcome;
  int status;
  int logged;  // of the message, whether the peer then refused it or not
};

std::ostream& operator<<(std::ostream& out, const StreamRow& row) { return out << row.mode; }

class StreamTable : public testing::TestWithParam<StreamRow> {};

TEST_P(StreamTable, F29_JudgedByWhatWasSeen) {
  const StreamRow& row = GetParam();
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  const HttpEvidence evidence = client.call(with_id(h2(short_lived(post(tls.url(row.mode)), Duration(1500))), "m"));
  EXPECT_EQ(judged(evidence), row.outcome) << evidence.curl_code << ' ' << evidence.curl_error << " stream "
                                           << evidence.stream_id << " last " << evidence.goaway_last_stream;
  EXPECT_EQ(evidence.status, row.status);
  EXPECT_EQ(requests_with_id(*tls.stub, "m"), row.logged);
}

INSTANTIATE_TEST_SUITE_P(Measured, StreamTable,
                         testing::Values(StreamRow{"ok", "sent", 200, 1},                   //
                                         StreamRow{"h2-refused", "not-sent", 0, 1},         //
                                         StreamRow{"h2-error", "unknown", 0, 1},            //
                                         StreamRow{"h2-cancel", "unknown", 0, 1},           //
                                         StreamRow{"h2-no-error", "unknown", 0, 1},         //
                                         StreamRow{"h2-downgrade", "unknown", 0, 1},        //
                                         StreamRow{"h2-goaway:1:below", "not-sent", 0, 1},  //
                                         StreamRow{"h2-goaway:1:equal", "unknown", 0, 1},   //
                                         StreamRow{"h2-goaway:1:above", "unknown", 0, 1},   //
                                         StreamRow{"h2-calm", "not-sent", 0, 1},            //
                                         StreamRow{"close", "unknown", 0, 1},               //
                                         StreamRow{"rst", "unknown", 0, 1},                 //
                                         StreamRow{"hang", "unknown", 0, 1}));

TEST(SysHttp2, F29_GoawayEqualWithAnAnswerIsByStatus) {
  const TlsStub tls({"--mode", "h2-goaway:1:equal answer=1", "--no-path-modes"});
  HttpUnderTest client(tls.settings());
  EXPECT_EQ(judged(client.call(h2(post(tls.url("x"))))), "sent");
}

TEST(SysHttp2, F29_EnhanceYourCalmHalts) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  const HttpEvidence evidence = client.call(h2(post(tls.url("h2-calm"))));
  EXPECT_EQ(evidence.goaway_error, 0xb);
  EXPECT_TRUE(classify_http(evidence, {}, {}).halt_channel);
}

TEST(SysHttp2, F02_ReusedConnectionDies) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url("rst2"))), "m-1"))), "sent");
  const HttpEvidence second = client.call(with_id(h2(post(tls.url("rst2"))), "m-2"));
  EXPECT_EQ(judged(second), "unknown") << second.curl_code << ' ' << second.curl_error;
  EXPECT_EQ(requests_with_id(*tls.stub, "m-2"), 1);
}

// A GOAWAY is read by one transfer and holds for all on its connection.
TEST(SysHttp2, F29_GoawayReachesEveryStreamOfTheConnection) {
  const TlsStub tls({"--mode", "h2-goaway:4:below", "--no-path-modes", "--latency", "0"});
  HttpUnderTest client(tls.settings());
  ASSERT_EQ(judged(client.call(h2(post(tls.url("warm-up"))))), "sent");
  std::map<std::string, int> outcomes;
  int ended = 0;
  for (int i = 0; i < 3; ++i)
    client.http().start(with_id(h2(short_lived(post(tls.url("x")), Duration(2000))), "m-" + std::to_string(i)),
                        [&](HttpEvidence evidence) {
                          ++outcomes[judged(evidence)];
                          if (++ended == 3) client.loop().stop();
                        });
  client.loop().run();
  EXPECT_EQ(outcomes["not-sent"], 1);  // the fourth stream; the two before it were answered
  EXPECT_EQ(outcomes["sent"], 2);
  for (int i = 0; i < 3; ++i) EXPECT_LE(requests_with_id(*tls.stub, "m-" + std::to_string(i)), 1);
}

std::set<int> connections(const StubProcess& stub) {
  std::set<int> seen;
  for (const auto& line : stub.log()) seen.insert(line["conn"].get<int>());
  return seen;
}

std::vector<int> connections_in_order(const StubProcess& stub) {
  std::vector<int> used;
  for (const auto& line : stub.log()) used.push_back(line["conn"].get<int>());
  return used;
}

// What libcurl does by itself, and what is relied on: no request is begun on a connection after its GOAWAY, while those
// that are out on it are answered.
TEST(SysHttp2, F29_AfterAGoawayTheNextRequestTakesAnotherConnection) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  ASSERT_EQ(judged(client.call(h2(post(tls.url("warm-up"))))), "sent");
  std::map<std::string, std::string> outcomes;
  const auto start = [&](const std::string& name, const std::string& path) {
    client.http().start(h2(short_lived(post(tls.url(path)), Duration(10'000))),
                        [&, name](const HttpEvidence& evidence) {
                          outcomes[name] = judged(evidence);
                          if (outcomes.size() == 3) client.loop().stop();
                        });
  };
  start("out before it", "slow:1");
  client.loop().after(Duration(200), [&] { start("never answered", "h2-goaway:3:above"); });
  client.loop().after(Duration(400), [&] { start("after it", "x"); });
  client.loop().run();
  EXPECT_EQ(outcomes["out before it"], "sent");
  EXPECT_EQ(outcomes["never answered"], "unknown");
  EXPECT_EQ(outcomes["after it"], "sent");
  EXPECT_EQ(connections(*tls.stub).size(), 2U);
}

TEST(SysHttp2, ConnectionsThatAreLeftTakeNoNewRequest) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  ASSERT_EQ(judged(client.call(h2(post(tls.url("warm-up"))))), "sent");
  std::vector<int> answered;
  const auto start = [&](const std::string& path, const std::function<void(const HttpEvidence&)>& then) {
    client.http().start(h2(short_lived(post(tls.url(path)), Duration(10'000))),
                        [&, then](const HttpEvidence& evidence) {
                          answered.push_back(evidence.status);
                          then(evidence);
                          if (answered.size() == 4) client.loop().stop();
                        });
  };
  start("slow:1", [&](const HttpEvidence& late) { client.http().leave(late); });  // changes nothing any more
  start("x", [&](const HttpEvidence& first) {
    client.http().leave(first);
    start("x", [&, left = first.connections](const HttpEvidence& second) {
      EXPECT_NE(left, second.connections);
      client.loop().after(Duration(1500), [&] { start("x", [](const HttpEvidence&) {}); });
    });
  });
  client.loop().run();
  EXPECT_EQ(answered, (std::vector{200, 200, 200, 200})) << "what was in flight, too";
  EXPECT_EQ(connections_in_order(*tls.stub), (std::vector{1, 1, 1, 2, 2}));
}

int connection_of(const StubProcess& stub, const std::string& id) {
  for (const auto& line : stub.log())
    if (line.value("id", "") == id) return line["conn"].get<int>();
  return 0;
}

// An idle connection of HTTP/1.1 is given up before its server closes it, which would make outcomes unknown. HTTP/2 says what
// was not looked at, so its connections are kept.
TEST(SysHttp2, AnIdleConnectionIsKept) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  for (const char* time : {"before", "after"}) {
    EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url())), std::string(time) + "-2"))), "sent");
    EXPECT_EQ(judged(client.call(with_id(post(tls.url()), std::string(time) + "-1"))), "sent");
    client.loop().after(Duration(4500), [&] { client.loop().stop(); });
    if (std::string(time) == "before") client.loop().run();
  }
  EXPECT_EQ(connection_of(*tls.stub, "after-2"), connection_of(*tls.stub, "before-2"));
  EXPECT_NE(connection_of(*tls.stub, "after-1"), connection_of(*tls.stub, "before-1"));
}

TEST(SysHttp2, AConnectionThatWasClosedWhileIdleIsNotUsed) {
  for (const char* mode : {"idle-close", "idle-rst", "code:200?close=yes"}) {
    const TlsStub tls;
    HttpUnderTest client(tls.settings());
    EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url(mode))), "m-1"))), "sent") << mode;
    client.loop().after(Duration(500), [&] { client.loop().stop(); });
    client.loop().run();
    const HttpEvidence second = client.call(with_id(h2(post(tls.url())), "m-2"));
    EXPECT_EQ(judged(second), "sent") << mode << " " << judged_reason(second) << " " << second.curl_code << " "
                                      << second.curl_error << " last " << second.goaway_last_stream << " out "
                                      << second.body_bytes_out << " of " << second.body_length;
    EXPECT_FALSE(second.silent_retry) << mode;
    EXPECT_EQ(requests_with_id(*tls.stub, "m-2"), 1) << mode;
    EXPECT_NE(connection_of(*tls.stub, "m-2"), connection_of(*tls.stub, "m-1")) << mode;
  }
}

// libcurl would go on with a connection whose path is dead: each request on it would end as unknown.
TEST(SysHttp2, AfterARequestWithoutAnAnswerTheNextTakesAnotherConnection) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url())), "m-1"))), "sent");
  EXPECT_EQ(judged(client.call(with_id(h2(short_lived(post(tls.url("hang")))), "m-2"))), "unknown");
  EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url())), "m-3"))), "sent");
  EXPECT_EQ(connection_of(*tls.stub, "m-2"), connection_of(*tls.stub, "m-1"));
  EXPECT_NE(connection_of(*tls.stub, "m-3"), connection_of(*tls.stub, "m-1"));
}

TEST(SysHttp2, PoolsShareNoConnection) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  for (const char* pool : {"a", "b", "a", "b", ""}) {
    HttpRequest request = h2(post(tls.url()));
    request.pool = pool;
    EXPECT_EQ(judged(client.call(request)), "sent");
  }
  EXPECT_EQ(connections_in_order(*tls.stub), (std::vector{1, 2, 1, 2, 3}));
}

// libcurl resets each stream that has ended, and this server (nghttp2) closes a connection after a thousand resets.
TEST(SysHttp2, AConnectionIsLeftBeforeItsServerTiresOfResets) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  int sent = 0;
  constexpr int kRequests = 1300;
  for (int i = 0; i < kRequests; ++i) sent += judged(client.call(h2(post(tls.url())))) == "sent" ? 1 : 0;
  EXPECT_EQ(sent, kRequests);
  EXPECT_EQ(connections(*tls.stub).size(), 2U);
}

TEST(SysHttp2, ManyStreamsOnOneConnection) {
  const TlsStub tls({"--latency", "5ms"});
  HttpUnderTest client(tls.settings());
  int sent = 0;
  int ended = 0;
  for (int i = 0; i < 50; ++i)
    client.http().start(h2(post(tls.url())), [&](HttpEvidence evidence) {
      if (judged(evidence) == "sent") ++sent;
      if (++ended == 50) client.loop().stop();
    });
  client.loop().run();
  EXPECT_EQ(sent, 50);
  for (const auto& line : tls.stub->log()) {
    EXPECT_EQ(line["proto"], "h2");
    EXPECT_EQ(line["conn"], tls.stub->log().front()["conn"]);
  }
}

// All at once, on a client that has no connection yet: how many were sent.
int sent_at_once(HttpUnderTest& client, const TlsStub& tls, int requests) {
  int sent = 0;
  int ended = 0;
  for (int i = 0; i < requests; ++i)
    client.http().start(h2(post(tls.url())), [&](const HttpEvidence& evidence) {
      if (judged(evidence) == "sent") ++sent;
      if (++ended == requests) client.loop().stop();
    });
  client.loop().run();
  return sent;
}

// More in flight than a connection takes: the others wait for a stream, they do not open a connection each.
TEST(SysHttp2, MoreRequestsThanStreamsTakeFewConnections) {
  const TlsStub tls({"--latency", "5ms", "--h2-streams", "20"});
  HttpUnderTest client(tls.settings());  // 64 in flight at the most, as far as it knows
  EXPECT_EQ(sent_at_once(client, tls, 150), 150);
  EXPECT_LE(connections(*tls.stub).size(), 2U);
}

// Apple's servers begin with one stream. What is sent above that is refused, which libcurl does not tell apart from a lost
// connection: each would be an ERROR.
TEST(SysHttp2, ANewConnectionTakesOneRequestUntilItHasAnswered) {
  const TlsStub tls({"--latency", "2ms", "--h2-streams", "1"});
  HttpUnderTest client(tls.settings());
  EXPECT_EQ(sent_at_once(client, tls, 60), 60);
  EXPECT_EQ(tls.stub->log().size(), 60U);
}

TEST(SysHttp2, WhatGetsNoConnectionInTimeIsNotSent) {
  const TlsStub tls({"--mode", "hang", "--no-path-modes"});
  HttpUnderTest client(tls.settings());
  std::map<std::string, int> outcomes;
  int ended = 0;
  for (int i = 0; i < 5; ++i)
    client.http().start(h2(short_lived(post(tls.url()))), [&](const HttpEvidence& evidence) {
      ++outcomes[judged(evidence)];
      if (++ended == 5) client.loop().stop();
    });
  client.loop().run();
  EXPECT_EQ(outcomes["unknown"], 1);
  EXPECT_EQ(outcomes["not-sent"], 4);
  EXPECT_EQ(tls.stub->log().size(), 1U);
}

TEST(SysHttp2, ServersThatAreNotCalledAnyMoreKeepNoConnection) {
  const TlsStub tls;
  HttpSettings settings = tls.settings();
  settings.max_connections = 2;
  HttpUnderTest client(settings);
  for (const char* pool : {"a", "b", "c", "b", "a"}) {
    HttpRequest request = h2(post(tls.url()));
    request.pool = pool;
    EXPECT_EQ(judged(client.call(request)), "sent");
  }
  EXPECT_EQ(connections_in_order(*tls.stub), (std::vector{1, 2, 3, 2, 4}));
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
