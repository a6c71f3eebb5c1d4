#pragma once

// Asks vendors about ERROR messages, several at a time, on the event loop.

#include <deque>
#include <functional>
#include <vector>

#include "core/lane_book.hpp"
#include "core/reconcile.hpp"

namespace notify {

class LookUps {
 public:
  // `finished` is called once, from the loop or from start(). The error is the store's: a vendor that does not answer is
  // no error. All references outlive this.
  LookUps(Reconciler& reconciler, std::vector<WorkLane> lanes, std::function<void(Result<void>)> finished);

  void start();

 private:
  struct Question {
    const WorkLane* lane = nullptr;
    InboxRow row{};
    LookUpQuestion text{};
  };

  Result<void> collect();
  void ask_more();
  void answered(const Question& question, const LookUpAnswer& answer);

  Reconciler& reconciler_;
  std::vector<WorkLane> lanes_;
  std::function<void(Result<void>)> finished_;
  std::deque<Question> questions_{};
  int out_ = 0;
  bool ended_ = false;
  Result<void> result_{};
};

}  // namespace notify
