#include "core/look_ups.hpp"

namespace notify {
namespace {

constexpr int kQuestionsAtOnce = 16;

}  // namespace

LookUps::LookUps(Reconciler& reconciler, std::vector<WorkLane> lanes, std::function<void(Result<void>)> finished)
    : reconciler_(reconciler), lanes_(std::move(lanes)), finished_(std::move(finished)) {}

void LookUps::start() {
  result_ = collect();
  ask_more();
}

Result<void> LookUps::collect() {
  Store& store = reconciler_.ports().store;
  for (const WorkLane& lane : lanes_) {
    if (lane.driver == nullptr || lane.driver->look_up() == nullptr) continue;
    TRY_ASSIGN(std::vector<InboxRow> rows, reconciler_.to_look_up(*lane.config));
    for (InboxRow& row : rows) {
      TRY_ASSIGN(const std::optional<Envelope> envelope, store.outbox().envelope(row.outbox_id));
      std::string address = !row.address.empty() ? row.address : envelope ? envelope->recipient : std::string();
      LookUpQuestion text{row.message_id, row.reference, std::move(address), row.claimed_at};
      questions_.push_back({&lane, std::move(row), std::move(text)});
    }
  }
  return {};
}

void LookUps::ask_more() {
  while (result_ && out_ < kQuestionsAtOnce && !questions_.empty()) {
    Question question = std::move(questions_.front());
    questions_.pop_front();
    ++out_;
    LookUpQuestion text = question.text;
    LookUp& look_up = *question.lane->driver->look_up();
    look_up.look_up(std::move(text),
                    [this, question = std::move(question)](LookUpAnswer answer) { answered(question, answer); });
  }
  if (out_ > 0 || ended_) return;
  ended_ = true;
  finished_(result_);
}

void LookUps::answered(const Question& question, const LookUpAnswer& answer) {
  --out_;
  if (result_) result_ = reconciler_.answered(question.row, *question.lane->config, answer);
  ask_more();
}

}  // namespace notify
