// How many POSTs a second this machine can make at all: curl multi, no database.
//
//   bare_curl --url URL --messages N --concurrency N        prints {"messages":N,"seconds":S}

#include <vector>

#include "bench_support.hpp"
#include "curl_loop.hpp"

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const int messages = options.number("--messages");
  bench::CurlLoop loop(options.text("--url"), options.number("--concurrency"));
  std::vector<int> done;
  done.reserve(static_cast<std::size_t>(messages));
  int started = 0;
  const double start = bench::seconds();
  while (static_cast<int>(done.size()) < messages) {
    while (started < messages && loop.has_room()) loop.start(++started);
    const std::size_t before = done.size();
    loop.perform(done);
    if (done.size() == before) loop.wait();
  }
  std::printf("{\"messages\":%d,\"seconds\":%.4f}\n", messages, bench::seconds() - start);
}
