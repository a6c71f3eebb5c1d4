// HTTP/2 by nghttp2. Streams are independent: each is logged when its request is whole.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "connection.hpp"
#include "request.hpp"
#include "response.hpp"

namespace stub {

class Http2Session : public Session {
 public:
  explicit Http2Session(Connection& connection);

  void on_input() override;
  void decided(std::uint32_t stream, const Behaviour& act) override;
  void perform(std::uint32_t stream, const Behaviour& act) override;
  void tick(std::uint32_t stream, const Behaviour& act) override;
  void drained() override;

 private:
  struct Stream {
    Request request;
    Response response;
    std::uint32_t id = 0;
    std::uint64_t reset_after = UINT64_MAX;
    std::size_t sent = 0;
    std::size_t allowed = SIZE_MAX;  // bytes that may go out so far; more with each drip
    std::uint64_t endless_left = 0;
    bool keep_open = false;  // never ends the stream, whatever was sent
    bool answered = false;   // nothing more is read or owed
    bool owed = false;
  };
  struct Callbacks;
  friend struct Callbacks;
  struct SessionDeleter {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  Stream* find(std::uint32_t id);
  Stream& open_stream(std::uint32_t id);
  void on_head(Stream& stream);
  void act_early(Stream& stream, const Behaviour& act);
  void on_body(Stream& stream, std::string_view bytes);
  void on_whole(Stream& stream);
  void on_closed(std::uint32_t id);
  void respond(Stream& stream);
  void reply(Stream& stream, const Behaviour& act);
  void cut_body(Stream& stream, const Behaviour& act);
  void drip(Stream& stream, const Behaviour& act);
  void endless(Stream& stream, const Behaviour& act);
  void go_away(Stream& stream, const Behaviour& act);
  void settle(Stream& stream);
  void end_if_idle();
  void pump();
  ssize_t read_response(Stream& stream, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags);

  Connection& connection_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Stream>> streams_;
  std::uint32_t last_taken_ = UINT32_MAX;  // streams above it are disowned by a GOAWAY, decided or sent
  std::uint64_t requests_ = 0;
  std::uint64_t owed_ = 0;
  bool leaving_ = false;  // close once nothing is owed
  bool pumping_ = false;
};

}  // namespace stub
