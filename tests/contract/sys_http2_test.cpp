// HTTP/2 (table 1.5) with the real client and a real peer: what becomes of a stream, which connection a request takes.

#include <map>
#include <set>

#include "contract/sys_http_support.hpp"

namespace notify::test {
namespace {

HttpRequest h2(HttpRequest request) {
  request.version = HttpRequest::Version::k2;
  return request;
}

// --- what becomes of a stream

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

// --- which connection a request takes

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
// was not looked at, so its connections are kept; where it was asked for and HTTP/1.1 came of it, they are not.
TEST(SysHttp2, AnIdleConnectionIsKept) {
  const TlsStub tls;
  const StubProcess old({"--tls", "--self-signed", tls.directory, "--no-h2"});
  const std::string old_url = "https://127.0.0.1:" + std::to_string(old.port()) + "/ok";
  HttpUnderTest client(tls.settings());
  for (const std::string time : {"before", "after"}) {
    EXPECT_EQ(judged(client.call(with_id(h2(post(tls.url())), time + "-2"))), "sent");
    EXPECT_EQ(judged(client.call(with_id(post(tls.url()), time + "-1"))), "sent");
    EXPECT_EQ(judged(client.call(with_id(h2(post(old_url)), time + "-old"))), "sent");
    if (time == "after") break;
    client.loop().after(Duration(4500), [&] { client.loop().stop(); });
    client.loop().run();
  }
  EXPECT_EQ(connection_of(*tls.stub, "after-2"), connection_of(*tls.stub, "before-2"));
  EXPECT_NE(connection_of(*tls.stub, "after-1"), connection_of(*tls.stub, "before-1"));
  EXPECT_NE(connection_of(old, "after-old"), connection_of(old, "before-old"));
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

// The first answer may be long in coming; by then the server's word is long there.
TEST(SysHttp2, OneThatIsAnsweredSlowlyDoesNotHoldUpTheOthers) {
  const TlsStub tls;
  HttpUnderTest client(tls.settings());
  std::vector<std::string> order;
  for (const char* path : {"slow:5", "x", "x"})
    client.http().start(h2(short_lived(post(tls.url(path)), Duration(20'000))),
                        [&, path](const HttpEvidence& evidence) {
                          EXPECT_EQ(judged(evidence), "sent");
                          order.emplace_back(path);
                          if (order.size() == 3) client.loop().stop();
                        });
  client.loop().run();
  EXPECT_EQ(order, (std::vector<std::string>{"x", "x", "slow:5"}));
  EXPECT_EQ(connections(*tls.stub).size(), 1U);
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

}  // namespace
}  // namespace notify::test
