#include "sys/curl_http.hpp"

#include <algorithm>
#include <utility>

#include "sys/curl_http2.hpp"
#include "sys/curl_library.hpp"
#include "sys/curl_multi.hpp"
#include "sys/curl_request_check.hpp"
#include "sys/epoll_loop.hpp"

namespace notify {
namespace {

// "https://host:port" of an URL.
std::string_view origin_of(std::string_view url) noexcept {
  const std::size_t host = std::min(url.find("://"), url.size() - 3) + 3;
  return url.substr(0, url.find_first_of("/?#", host));
}

}  // namespace

Result<std::unique_ptr<CurlHttp>> CurlHttp::create(EpollLoop& loop, const HttpSettings& settings) {
  TRY(initialise_libcurl());
  return std::unique_ptr<CurlHttp>(new CurlHttp(loop, settings));
}

CurlHttp::CurlHttp(EpollLoop& loop, HttpSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      http1_(std::make_unique<CurlMulti>(loop_, idle_, settings_.max_connections, settings_)) {}

CurlHttp::~CurlHttp() { *alive_ = false; }

void CurlHttp::start(HttpRequest request, std::function<void(HttpEvidence)> done) {
  if (std::string why = why_refused(request); !why.empty()) return refuse(std::move(why), false, std::move(done));
  if (!settings_.proxy.empty() && !request.allow_private)
    return refuse("behind a proxy the address cannot be checked", true, std::move(done));
  if (request.version != HttpRequest::Version::k2) return http1_->start(std::move(request), std::move(done));
  Http2Pool& pool = pool_of(request);
  pool.start(std::move(request), std::move(done));
}

std::string CurlHttp::why_refused(const HttpRequest& request) {
  // Most channels have one URL, and parsing it costs more than all the rest here.
  if (request.url.empty() || request.url != good_url_) {
    if (std::string why = why_url_refused(request.url); !why.empty()) return why;
    good_url_ = request.url;
  }
  return why_head_refused(request);
}

void CurlHttp::refuse(std::string why, bool address, std::function<void(HttpEvidence)> done) {
  HttpEvidence evidence;
  evidence.refused_locally = !address;
  evidence.address_blocked = address;
  evidence.curl_error = std::move(why);
  evidence.phase = "resolve";
  loop_.post([alive = alive_, evidence = std::move(evidence), done = std::move(done)]() mutable {
    if (*alive) done(std::move(evidence));
  });
}

Http2Pool& CurlHttp::pool_of(const HttpRequest& request) {
  std::string name = request.pool;
  name.append(1, ' ').append(origin_of(request.url));
  std::unique_ptr<Http2Pool>& pool = pools_[std::move(name)];
  if (pool != nullptr) return *pool;
  pool = std::make_unique<Http2Pool>(loop_, idle_, settings_, connections_);
  Http2Pool& made = *pool;
  drop_unused_pool();
  return made;
}

// Recipients may name thousands of servers, and each pool keeps a connection.
void CurlHttp::drop_unused_pool() {
  if (pools_.size() <= static_cast<std::size_t>(std::max(1, settings_.max_connections))) return;
  auto oldest = pools_.end();
  for (auto pool = pools_.begin(); pool != pools_.end(); ++pool) {
    const bool used = pool->second->last_used() != std::chrono::steady_clock::time_point{};
    if (!used || !pool->second->unused()) continue;
    if (oldest == pools_.end() || pool->second->last_used() < oldest->second->last_used()) oldest = pool;
  }
  if (oldest != pools_.end()) pools_.erase(oldest);
}

void CurlHttp::leave(const HttpEvidence& evidence) {
  for (const auto& [name, pool] : pools_) pool->leave(evidence.connections);
}

}  // namespace notify
