// From the commit of a message to the first byte of its request at the vendor. It inserts the message by SQL,
// as an application would, and is the vendor as well, so both instants come from one clock.
//
//   latency_probe --db FILE --samples N --gap-ms N     listens, prints its port, waits for a line on stdin,
//   then
//                                                      prints {"us":[…]}, one number a message

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "bench_support.hpp"

namespace {

int listen_on_loopback() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    bench::die("cannot listen");
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

// One request at a time on each connection; enough for messages that come one by one.
class Vendor {
 public:
  explicit Vendor(std::size_t samples) : arrived_(samples) {}

  void serve(int listener) {
    std::vector<Connection> connections;
    while (count_ < arrived_.size()) {
      std::vector<pollfd> fds{{listener, POLLIN, 0}};
      for (const Connection& connection : connections) fds.push_back({connection.fd, POLLIN, 0});
      if (poll(fds.data(), fds.size(), 200) <= 0) continue;
      const double now = bench::seconds();
      for (std::size_t i = connections.size(); i-- > 0;) {
        if (fds[i + 1].revents != 0 && !read_from(connections[i], now)) {
          close(connections[i].fd);
          connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      if (fds[0].revents != 0) connections.push_back({accept(listener, nullptr, nullptr), {}, 0});
    }
    for (const Connection& connection : connections) close(connection.fd);
  }

  // 0 until it is there.
  double arrived(std::size_t number) const { return arrived_[number].load(); }

 private:
  struct Connection {
    int fd = -1;
    std::string text{};
    double first_byte = 0;
  };

  bool read_from(Connection& connection, double now) {
    char buffer[16384];
    const ssize_t got = read(connection.fd, buffer, sizeof buffer);
    if (got <= 0) return false;
    if (connection.text.empty()) connection.first_byte = now;
    connection.text.append(buffer, static_cast<std::size_t>(got));
    const std::size_t head = connection.text.find("\r\n\r\n");
    const std::size_t length = connection.text.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) return true;
    if (connection.text.size() < head + 4 + std::stoul(connection.text.substr(length + 16))) return true;

    const std::size_t at = connection.text.find("probe-");
    if (at != std::string::npos) note(std::stoul(connection.text.substr(at + 6)), connection.first_byte);
    connection.text.clear();
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    return write(connection.fd, kAnswer.data(), kAnswer.size()) == static_cast<ssize_t>(kAnswer.size());
  }

  void note(std::size_t number, double instant) {
    if (number >= arrived_.size() || arrived_[number].exchange(instant) != 0) bench::die("a message came twice");
    ++count_;
  }

  std::vector<std::atomic<double>> arrived_;
  std::size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const auto samples = static_cast<std::size_t>(options.number("--samples"));
  const int gap = options.number("--gap-ms");
  const int listener = listen_on_loopback();
  std::string line;
  std::getline(std::cin, line);

  Vendor vendor(samples);
  std::thread serving([&] { vendor.serve(listener); });
  bench::Database db(options.text("--db"));
  bench::Statement insert(db,
                          "INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)"
                          " VALUES (?1, 'hook', ?1, '{\"subject\":\"Disk full\",\"body\":\"db1: 97 %\"}')");
  std::vector<double> committed(samples);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> pause(gap / 2, gap + gap / 2);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::string name = "probe-" + std::to_string(i);
    insert.bind(1, name).run();
    committed[i] = bench::seconds();
    const double give_up = committed[i] + 10;
    while (vendor.arrived(i) == 0) {
      if (bench::seconds() > give_up) bench::die(name + " did not arrive within ten seconds");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
  }
  serving.join();
  std::printf("{\"us\":[");
  for (std::size_t i = 0; i < samples; ++i)
    std::printf("%s%.0f", i == 0 ? "" : ",", (vendor.arrived(i) - committed[i]) * 1e6);
  std::printf("]}\n");
}
