// HTTP/1.1 on one connection. Requests are answered in order: the next is not looked at before that.
#pragma once

#include "connection.hpp"
#include "http1_parser.hpp"
#include "request.hpp"
#include "response.hpp"

namespace stub {

class Http1Session : public Session {
 public:
  explicit Http1Session(Connection& connection) : connection_(connection) {}

  void on_input() override;
  void perform(std::uint32_t stream, const Behaviour& act) override;
  void tick(std::uint32_t stream, const Behaviour& act) override;
  void drained() override;
  bool wants_to_finish() const override { return state_ == State::owed || connection_.unsent() > 0; }

 private:
  enum class State : std::uint8_t { head, body, owed, streaming, dead };

  bool take_head();
  bool take_body();
  bool take_plain_body();
  void begin_body(const Behaviour* early);
  void act_early(const Behaviour& act);
  void finish_request();
  void answer_control();
  void reply(const Behaviour& act);
  void next_request(bool close_after);
  void refuse(int status);
  void cut_body(const Behaviour& act, Ending ending);
  void begin_stream(const Behaviour& act);
  void end_idle(const Behaviour& act);

  Connection& connection_;
  Request request_;
  Http1Head head_;
  ChunkDecoder chunks_;
  State state_ = State::head;
  std::uint64_t requests_ = 0;
  std::uint64_t reset_after_ = UINT64_MAX;  // body bytes
  std::uint64_t stream_left_ = 0;
  std::size_t dripped_ = 0;
  bool endless_ = false;
};

}  // namespace stub
