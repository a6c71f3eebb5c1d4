// The measured table of what libcurl does over HTTP/1.1, row by row, with the real client and a real peer; and what
// must never happen: one request leaving twice.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <ostream>

#include "contract/sys_http_support.hpp"

namespace notify::test {

int closed_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0) throw std::runtime_error("no port");
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(fd);
  return ntohs(address.sin_port);
}

namespace {

constexpr std::size_t kMiB = 1024 * 1024;

struct HttpRow {
  const char* mode;
  std::size_t body;
  const char* outcome;
  int status;
  int logged;  // requests that the peer has read completely
};

std::ostream& operator<<(std::ostream& out, const HttpRow& row) { return out << row.mode; }

class HttpTable : public testing::TestWithParam<HttpRow> {};

TEST_P(HttpTable, JudgedByWhatWasSeen) {
  const HttpRow& row = GetParam();
  const StubProcess stub;
  HttpUnderTest client;
  const HttpEvidence evidence =
      client.call(short_lived(post(stub.url(row.mode), std::string(row.body, 'x')), Duration(800)));
  EXPECT_EQ(judged(evidence), row.outcome) << evidence.curl_code << ' ' << evidence.curl_error;
  EXPECT_EQ(evidence.status, row.status);
  EXPECT_EQ(stub.log().size(), static_cast<std::size_t>(row.logged));
  EXPECT_FALSE(evidence.silent_retry);
}

INSTANTIATE_TEST_SUITE_P(Measured, HttpTable,
                         testing::Values(HttpRow{"ok", 100, "sent", 200, 1},                  //
                                         HttpRow{"code:202", 100, "sent", 202, 1},            //
                                         HttpRow{"code:503", 100, "unknown", 503, 1},         //
                                         HttpRow{"code:429", 100, "not-sent", 429, 1},        //
                                         HttpRow{"redirect:302", 100, "permanent", 302, 1},   //
                                         HttpRow{"head-rst", 100, "unknown", 0, 0},           //
                                         HttpRow{"head-close", 100, "unknown", 0, 0},         //
                                         HttpRow{"close", 100, "unknown", 0, 1},              //
                                         HttpRow{"rst", 100, "unknown", 0, 1},                //
                                         HttpRow{"hang", 100, "unknown", 0, 1},               //
                                         HttpRow{"half-status", 100, "unknown", 0, 1},        //
                                         HttpRow{"cut-head", 100, "sent", 200, 1},            //
                                         HttpRow{"cut-body", 100, "sent", 200, 1},            //
                                         HttpRow{"cut-body-rst", 100, "sent", 200, 1},        //
                                         HttpRow{"not-http", 100, "unknown", 0, 1},           //
                                         HttpRow{"drip", 100, "sent", 200, 1},                //
                                         HttpRow{"drip-head", 100, "unknown", 0, 1},          //
                                         HttpRow{"never-read", 20 * kMiB, "not-sent", 0, 0},  //
                                         HttpRow{"body-rst", 5 * kMiB, "not-sent", 0, 0},     //
                                         HttpRow{"early:413", 5 * kMiB, "permanent", 413, 0}));

TEST(SysHttp, F03_ConnectRefusedIsNotSent) {
  HttpUnderTest client;
  const HttpEvidence evidence = client.call(post("http://127.0.0.1:" + std::to_string(closed_port()) + "/"));
  EXPECT_EQ(judged(evidence), "not-sent");
  EXPECT_EQ(judged_reason(evidence), "connect-failed");
  EXPECT_EQ(evidence.curl_code, 7);
  EXPECT_EQ(evidence.phase, "connect");
  EXPECT_TRUE(classify_http(evidence, {}, {}).connect_refused);
}

TEST(SysHttp, F03_NameNotResolvedIsNotSent) {
  HttpUnderTest client;
  // A label of more than 63 characters is no name, so that no name server is asked.
  const HttpEvidence evidence = client.call(post("http://" + std::string(70, 'a') + ".test/"));
  EXPECT_EQ(judged(evidence), "not-sent");
  EXPECT_EQ(judged_reason(evidence), "resolve-failed");
  EXPECT_EQ(evidence.phase, "resolve");
}

TEST(SysHttp, F36_HostsFileIsHonoured) {
  const StubProcess stub;
  HttpUnderTest client;
  const HttpEvidence evidence = client.call(post("http://localhost:" + std::to_string(stub.port()) + "/ok"));
  EXPECT_EQ(judged(evidence), "sent") << evidence.curl_error;
}

TEST(SysHttp, ProxyThatRefusesTheTunnelIsNotSent) {
  const StubProcess proxy({"--mode", "code:407", "--no-path-modes"});
  HttpSettings settings;
  settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  HttpUnderTest client(settings);
  const HttpEvidence evidence = client.call(post("https://vendor.test/"));
  EXPECT_EQ(judged(evidence), "not-sent") << evidence.curl_code << ' ' << evidence.curl_error;
  EXPECT_EQ(evidence.requests_begun, 0);
  EXPECT_EQ(evidence.status, 0);
}

// --- F02: libcurl sends a request again by itself when a reused connection dies

class Repeat : public testing::TestWithParam<const char*> {};

TEST_P(Repeat, F02_OneRequestPerMessageAndUnknown) {
  const StubProcess stub;
  HttpUnderTest client;
  const std::string url = stub.url(GetParam());
  const HttpEvidence first = client.call(with_id(post(url), "m-1"));
  const HttpEvidence second = client.call(with_id(post(url), "m-2"));
  EXPECT_EQ(judged(first), "sent");
  EXPECT_EQ(judged(second), "unknown") << second.curl_code << ' ' << second.curl_error;
  EXPECT_EQ(second.requests_begun, 1);
  EXPECT_TRUE(second.silent_retry);
  EXPECT_EQ(requests_with_id(stub, "m-1"), 1);
  EXPECT_EQ(requests_with_id(stub, "m-2"), 1);
}

INSTANTIATE_TEST_SUITE_P(ReusedConnectionDies, Repeat, testing::Values("rst2", "close2"));

// Two connections are idle; when the first dies, the second would be there for a repeat without opening any.
TEST(SysHttp, F02_AnotherIdleConnectionIsNotUsedForARepeat) {
  const StubProcess stub({"--latency", "20ms"});
  HttpUnderTest client;
  int ended = 0;
  for (const char* id : {"warm-1", "warm-2"})
    client.http().start(with_id(post(stub.url("rst2")), id), [&](HttpEvidence evidence) {
      EXPECT_EQ(judged(evidence), "sent");
      if (++ended == 2) client.loop().stop();
    });
  client.loop().run();
  const HttpEvidence evidence = client.call(with_id(post(stub.url("rst2")), "m-1"));
  EXPECT_EQ(judged(evidence), "unknown") << evidence.curl_code << ' ' << evidence.curl_error;
  EXPECT_TRUE(evidence.silent_retry);
  EXPECT_EQ(requests_with_id(stub, "m-1"), 1);
  const auto log = stub.log();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_NE(log[0]["conn"], log[1]["conn"]);  // or the test shows nothing
}

TEST(SysHttp, F02_LargeBodiesLeaveOnce) {
  const StubProcess stub({"--no-body"});
  HttpUnderTest client;
  for (const std::size_t size : {70'000U, 3'000'000U}) {
    const std::string id = std::to_string(size);
    EXPECT_EQ(judged(client.call(with_id(post(stub.url("rst2")), "warm-" + id))), "sent");
    const HttpEvidence evidence = client.call(with_id(post(stub.url("rst2"), std::string(size, 'x')), id));
    EXPECT_EQ(judged(evidence), "unknown") << evidence.curl_code << ' ' << evidence.curl_error;
    EXPECT_EQ(requests_with_id(stub, id), 1);
  }
}

// The same peer and a client that does not ask for `once`: what the two tests above would be if nothing stopped it.
TEST(SysHttp, F02_WithoutOnceTheLibraryRepeats) {
  const StubProcess stub;
  HttpUnderTest client;
  HttpRequest first = with_id(post(stub.url("rst2")), "m-1");
  HttpRequest second = with_id(post(stub.url("rst2")), "m-2");
  first.once = second.once = false;
  client.call(first);
  const HttpEvidence evidence = client.call(second);
  EXPECT_EQ(evidence.status, 200);
  EXPECT_EQ(evidence.requests_begun, 2);
  EXPECT_TRUE(classify_http(evidence, {}, {}).duplicate_risk);
  EXPECT_EQ(requests_with_id(stub, "m-2"), 2);
}

// Trap 2: the peer reads the request and dies with its listener; the repeat's "connection refused" proves nothing.
TEST(SysHttp, F02_PeerThatDiesAfterReadingIsUnknown) {
  const StubProcess stub;
  HttpUnderTest client;
  client.call(with_id(post(stub.url("die2")), "m-1"));
  const HttpEvidence evidence = client.call(with_id(post(stub.url("die2")), "m-2"));
  EXPECT_EQ(judged(evidence), "unknown") << evidence.curl_code << ' ' << evidence.curl_error;
  EXPECT_EQ(requests_with_id(stub, "m-2"), 1);
}

TEST(SysHttp, F02_RequestsWithoutABodyHaveTheirOwnConnection) {
  const StubProcess stub;
  HttpUnderTest client;
  for (const char* method : {"POST", "GET", "DELETE", "PUT"}) {
    HttpRequest request = post(stub.url("ok"), "");
    request.method = method;
    EXPECT_EQ(judged(client.call(request)), "sent") << method;
  }
  std::map<int, int> requests;
  for (const auto& line : stub.log()) {
    EXPECT_EQ(++requests[line["conn"].get<int>()], 1);
    EXPECT_EQ(line["length"], 0);
  }
  EXPECT_EQ(requests.size(), 4U);
}

TEST(SysHttp, BodiesShareAConnection) {
  const StubProcess stub;
  HttpUnderTest client;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(judged(client.call(post(stub.url("ok")))), "sent");
  for (const auto& line : stub.log()) EXPECT_EQ(line["conn"], stub.log().front()["conn"]);
}

// The peer hangs up an idle connection; the next request must not be lost in it.
TEST(SysHttp, F29_IdleConnectionDroppedByThePeer) {
  const StubProcess stub;
  HttpUnderTest client;
  EXPECT_EQ(judged(client.call(with_id(post(stub.url("idle-close")), "m-1"))), "sent");
  ::usleep(50'000);  // the peer closes; without this the test is still right, but may not meet a closed connection
  const HttpEvidence evidence = client.call(with_id(post(stub.url("ok")), "m-2"));
  EXPECT_EQ(judged(evidence), "sent") << evidence.curl_code << ' ' << evidence.curl_error;
  EXPECT_EQ(requests_with_id(stub, "m-2"), 1);
}

TEST(SysHttp, F10_OneConnectionLostConcernsOneMessage) {
  const StubProcess stub({"--mode", "rst2:5", "--no-path-modes"});
  HttpUnderTest client;
  std::string outcomes;
  for (int i = 0; i < 10; ++i) {
    const HttpEvidence evidence = client.call(with_id(post(stub.url("x")), "m-" + std::to_string(i)));
    outcomes += judged(evidence).front();
  }
  EXPECT_EQ(outcomes, "ssssussssu");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(requests_with_id(stub, "m-" + std::to_string(i)), 1);
}

// --- what is asked for and what comes back

TEST(SysHttp, RequestArrivesAsGiven) {
  const StubProcess stub({"--all-headers"});
  HttpUnderTest client;
  HttpRequest request = post(stub.url("ok?x=1"), std::string("a\0b\r\n", 5));
  request.method = "PATCH";
  request.headers = {{"X-Empty", ""}, {"X-One", "1 \xED\x95\x9C"}};
  EXPECT_EQ(judged(client.call(request)), "sent");
  const auto log = stub.log();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0]["method"], "PATCH");
  EXPECT_EQ(log[0]["path"], "/ok?x=1");
  EXPECT_EQ(log[0]["body"], std::string("a\0b\r\n", 5));
  std::map<std::string, std::string> headers;
  for (const auto& pair : log[0]["all_headers"]) headers[pair[0]] = pair[1];
  EXPECT_EQ(headers["X-Empty"], "");
  EXPECT_TRUE(headers.contains("X-Empty"));
  EXPECT_EQ(headers["X-One"], "1 \xED\x95\x9C");
  EXPECT_EQ(headers["Content-Length"], "5");
  EXPECT_FALSE(headers.contains("Expect"));
  EXPECT_FALSE(headers.contains("Content-Type"));
  EXPECT_EQ(headers["User-Agent"], "notifyctl");
}

TEST(SysHttp, LargeBodiesGoWithoutExpect) {
  const StubProcess stub({"--all-headers", "--no-body"});
  HttpUnderTest client;
  HttpRequest request = post(stub.url("ok"), std::string(3 * kMiB, 'y'));
  EXPECT_EQ(judged(client.call(request)), "sent");
  const auto log = stub.log();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0]["length"], 3 * kMiB);
  for (const auto& pair : log[0]["all_headers"]) EXPECT_NE(pair[0], "Expect");
}

TEST(SysHttp, ResponseHeadersAreLowerCaseAndOfTheLastAnswer) {
  const StubProcess stub;
  HttpUnderTest client;
  const HttpEvidence evidence = client.call(post(stub.url("retry-after:17")));
  EXPECT_EQ(header_value(evidence, "retry-after"), "17");
  EXPECT_EQ(evidence.phase, "done");
  EXPECT_EQ(evidence.body_bytes_out, evidence.body_length);
}

TEST(SysHttp, ResponsesAreCappedAndTheirStatusKept) {
  const StubProcess stub;
  HttpUnderTest client;
  HttpRequest request = post(stub.url("endless:10000"));
  request.max_response = 1000;
  const HttpEvidence cut = client.call(request);
  EXPECT_EQ(cut.curl_code, 0);
  EXPECT_EQ(cut.body.size(), 1000U);
  EXPECT_TRUE(cut.body_truncated);
  const HttpEvidence endless = client.call(post(stub.url("endless")));
  EXPECT_EQ(judged(endless), "sent");
  EXPECT_EQ(endless.status, 200);
  EXPECT_TRUE(endless.body_truncated);
  EXPECT_EQ(endless.body.size(), HttpRequest{}.max_response);
}

TEST(SysHttp, RedirectsAreNotFollowed) {
  const StubProcess target;
  for (const int status : {301, 302, 303, 307, 308}) {
    const StubProcess stub(
        {"--mode", "redirect:" + std::to_string(status) + " location=" + target.url("ok"), "--no-path-modes"});
    HttpUnderTest client;
    const HttpEvidence evidence = client.call(post(stub.url("x")));
    EXPECT_EQ(evidence.status, status);
    EXPECT_TRUE(classify_http(evidence, {}, {}).halt_channel);
  }
  EXPECT_TRUE(target.log().empty());
}

TEST(SysHttp, ManyInFlightOnFewConnections) {
  const StubProcess stub({"--latency", "2ms"});
  HttpSettings settings;
  settings.max_connections = 16;
  HttpUnderTest client(settings);
  constexpr int kTotal = 400;
  int started = 0;
  int sent = 0;
  int ended = 0;
  std::function<void()> next = [&] {
    client.http().start(with_id(post(stub.url("ok")), "m-" + std::to_string(++started)), [&](HttpEvidence evidence) {
      if (judged(evidence) == "sent") ++sent;
      if (++ended == kTotal) client.loop().stop();
      if (started < kTotal) next();
    });
  };
  for (int i = 0; i < 16; ++i) next();
  client.loop().run();
  EXPECT_EQ(sent, kTotal);
  std::map<std::string, int> seen;
  std::map<int, int> connections;
  for (const auto& line : stub.log()) {
    ++seen[line["id"]];
    ++connections[line["conn"].get<int>()];
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kTotal));
  EXPECT_LE(connections.size(), 16U);
}

TEST(SysHttp, DoneNeverComesFromInsideStart) {
  HttpUnderTest client;
  bool inside = true;
  int calls = 0;
  HttpRequest bad = post("not a url");
  client.http().start(bad, [&](HttpEvidence) {
    EXPECT_FALSE(inside);
    ++calls;
    client.loop().stop();
  });
  inside = false;
  client.loop().run();
  EXPECT_EQ(calls, 1);
}

TEST(SysHttp, DestroyedWithRequestsInFlight) {
  const StubProcess stub;
  HttpUnderTest client;
  int calls = 0;
  for (int i = 0; i < 5; ++i) client.http().start(post(stub.url("hang")), [&](HttpEvidence) { ++calls; });
  client.http().start(post("not a url"), [&](HttpEvidence) { ++calls; });
  client.loop().after(Duration(50), [&] {
    client.drop_client();
    client.loop().after(Duration(20), [&] { client.loop().stop(); });
  });
  client.loop().run();
  EXPECT_LE(calls, 1);  // the impossible one has come before
}

}  // namespace
}  // namespace notify::test
