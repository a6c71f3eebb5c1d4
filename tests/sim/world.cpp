#include "sim/world.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "core/enqueue.hpp"
#include "store/sqlite/database.hpp"

namespace notify::sim {
namespace {

// On a memory file system it is fast; what is tested here is order, and the disk is simulated.
std::string make_directory() {
  const char* base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
  std::string path = std::string(base) + "/notifyctl-sim-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
  return path;
}

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

}  // namespace

void KillSwitch::reach(CrashPoint point) {
  if (at_ == point) throw Killed{point};
  if (any_ > 0 && --any_ == 0) throw Killed{point};
}

int Vendor::received(const std::string& message_id) const {
  const auto found = log_.find(message_id);
  return found == log_.end() ? 0 : found->second;
}

int Vendor::most() const {
  int most = 0;
  for (const auto& [id, count] : log_) most = std::max(most, count);
  return most;
}

void NullChannel::ADD_FAILURE_UNREACHABLE() { ADD_FAILURE() << "the simulated driver was asked to send"; }

Result<std::string> MemorySpool::read(const std::string& name, std::int64_t offset, std::size_t max) {
  return lists_.at(name).substr(static_cast<std::size_t>(offset), std::min(max, kMost));
}

Result<bool> MemorySpool::intact(const std::string& name) { return lists_.contains(name); }

Result<void> MemorySpool::sweep(const std::set<std::string>& needed, Duration) {
  std::erase_if(lists_, [&](const auto& list) { return !needed.contains(list.first); });
  return {};
}

// --- Process ------------------------------------------------------------------------------------------------

Process::Process(World& world, Kind kind) : world_(world), kind_(kind), store_(world.open()) {
  const char* const command = kind == Kind::kRelay ? "relay" : kind == Kind::kWorker ? "work" : "reconcile";
  run_ = must(begin_run(*store_, world.lives, world.clock, command, 1));
  if (world.broker) {
    transport_ = std::make_unique<BrokerTransport>(*world.broker, run_, world.clock);
  } else {
    transport_ = std::make_unique<EmbeddedTransport>(store_->queue(), run_);
  }
  static const Policies& policies = *new Policies(*new Config(), nullptr);
  if (kind == Kind::kRelay) {
    relay_ = std::make_unique<Relay>(
        RelayPorts{*store_, *transport_, world.lives, world.clock, world.random, kill_switch_, world.events, policies},
        world.config.relay, run_);
    fan_out_ = std::make_unique<FanOut>(*store_, world.spool, world.clock, kill_switch_, world.events);
    return;
  }
  if (kind == Kind::kReconciler) {
    reconciler_ = std::make_unique<Reconciler>(ReconcilePorts{*store_, *store_, *transport_, world.lives, world.clock,
                                                              world.random, kill_switch_, world.events},
                                               world.config, run_);
    return;
  }
  std::vector<WorkLane> lanes;
  for (const ChannelConfig& channel : world.config.channels)
    lanes.push_back({&channel, world.broken.contains(channel.name) ? nullptr : &world.driver, {}});
  must(note_closed_lanes(*store_, world.clock, lanes));
  worker_ = std::make_unique<Worker>(
      WorkPorts{*store_, *transport_, world.clock, world.random, kill_switch_, world.events, policies, world.templates},
      world.config, lanes, true, world.config.work.concurrency, run_);
}

Process::~Process() = default;

Result<int> Process::relay_step() {
  TRY(relay_->recover());
  TRY_ASSIGN(const int recipients, fan_out_->step());
  TRY_ASSIGN(const int rows, relay_->step(INT32_MAX));
  TRY(fan_out_->tidy());
  return recipients + rows;
}

Result<bool> Process::reconcile_step() {
  switch (step_++) {
    case 0: TRY(reconciler_->recover()); return true;
    case 1: TRY(reconciler_->apply_waiting()); return true;
    case 2: TRY(reconciler_->verify(true)); return true;
    case 3: TRY(reconciler_->republish(true)); return true;
    default: TRY(reconciler_->watch()); return false;
  }
}

Result<Turn> Process::worker_turn() {
  TRY(recover_workers(*store_, *transport_, world_.lives, world_.clock, world_.config, run_));
  TRY_ASSIGN(Turn turn, worker_->turn(std::exchange(back, {})));
  std::move(turn.calls.begin(), turn.calls.end(), std::back_inserter(calls));
  return turn;
}

// --- World --------------------------------------------------------------------------------------------------

World::World(std::uint64_t seed)
    : random(seed), directory_(make_directory()), path_(directory_ + "/notify.db"), luck_(seed) {
  config.channels.reserve(8);  // processes keep pointers into it
  config.environment = "production";
  add_channel("sms");
  OpenOptions options;
  options.path = path_;
  options.create = true;
  observer_ = must(open_store(options));
}

void World::execute(const std::string& sql) { must(observer_->database().execute(sql)); }

World::~World() {
  processes_.clear();
  observer_.reset();
  std::filesystem::remove_all(directory_);
}

std::unique_ptr<SqliteStore> World::open() {
  OpenOptions options;
  options.path = path_;
  std::unique_ptr<SqliteStore> store = must(open_store(options));
  if (lazy_sync) must(store->database().execute("PRAGMA synchronous=NORMAL"));
  return store;
}

ChannelConfig& World::add_channel(const std::string& name) {
  ChannelConfig channel;
  channel.name = name;
  channel.driver = FileDriverConfig{"/dev/null"};
  config.channels.push_back(channel);
  return config.channels.back();
}

std::string World::enqueue(const std::string& key, const std::string& channel, int priority) {
  NewMessage message;
  message.dedup_key = key;
  message.channel = channel;
  message.recipient = "+821000000000";
  message.payload = R"({"body":"hello"})";
  message.fingerprint = std::string(32, 'f');
  message.priority = priority;
  std::string id;
  must(observer_->write([&]() -> Result<void> {
    TRY_ASSIGN(const InsertResult inserted, observer_->outbox().insert(message, clock.now()));
    id = inserted.message_id;
    return {};
  }));
  return id;
}

std::int64_t World::broadcast(const std::string& key, const std::vector<std::string>& recipients,
                              const std::string& channel, CrashPoints& crash_points) {
  NewBroadcast request;
  request.key = key;
  request.list = std::string(64 - key.size(), '0') + key;  // as long as a SHA-256 in hex
  std::string list;
  for (const std::string& recipient : recipients) list += recipient + "\n";
  request.list_bytes = static_cast<std::int64_t>(list.size());
  request.recipients = static_cast<std::int64_t>(recipients.size());
  request.message.channel = channel;
  request.message.payload = R"({"body":"hello, all"})";
  sign_broadcast(request, key);
  spool.keep(request.list, std::move(list));
  return must(accept_broadcast(*open(), clock, crash_points, request)).broadcast.id;
}

Process& World::start(Process::Kind kind) {
  processes_.push_back(std::make_unique<Process>(*this, kind));
  return *processes_.back();
}

void World::kill(Process& process) {
  lives.die(process.run());
  if (broker) broker->connection_lost(process.run());
  std::erase_if(processes_, [&](const auto& p) { return p.get() == &process; });
}

void World::lose_power() {
  disk.cut();
  while (!processes_.empty()) kill(*processes_.front());
  observer_.reset();
  disk.restore(luck_);
  observer_ = open();
}

void World::relay_all() {
  Process& relay = start(Process::Kind::kRelay);
  while (must(relay.relay_step()) > 0) {
  }
  kill(relay);
}

void World::work_all(const std::function<Outcome(const Call&)>& outcome) {
  Process& worker = start(Process::Kind::kWorker);
  for (bool busy = true; busy;) {
    const Turn turn = must(worker.worker_turn());
    while (!worker.calls.empty()) {
      Call call = std::move(worker.calls.front());
      worker.calls.pop_front();
      Outcome result = outcome(call);
      if (result.cls != OutcomeClass::kNotSent) vendor.receive(call.delivery.message_id);
      worker.back.push_back({std::move(call), std::move(result)});
    }
    busy = turn.again || !turn.idle || !worker.back.empty();
  }
  kill(worker);
}

ReconcileSummary World::reconcile(const std::vector<Receipt>& receipts) {
  Process& process = start(Process::Kind::kReconciler);
  if (!receipts.empty()) must(process.reconciler().take(receipts));
  while (must(process.reconcile_step())) {
  }
  const ReconcileSummary summary = process.reconciler().summary();
  kill(process);
  return summary;
}

void World::replay(const std::string& message_id) {
  SqliteStore& store = *observer_;
  must(store.write([&]() -> Result<void> {
    TRY_ASSIGN(const std::optional<InboxRow> row, store.inbox().find(message_id));
    if (row) TRY(store.inbox().forget(message_id, row->token, row->state, clock.now()));
    TRY(store.parked().remove(message_id));
    TRY(store.queue().remove_any(message_id));
    TRY(store.upkeep().correct_counter("outbox.PUBLISHED", -1));
    TRY(store.history().event(message_id, "replayed", {}, "test", clock.now()));
    TRY_ASSIGN(const std::optional<std::int64_t> id, store.outbox().find(message_id));
    const std::string now = std::to_string(clock.now().ms);
    return store.database().execute("UPDATE notification_outbox SET status = 'PENDING', due_at = " + now +
                                    ", ready_at = " + now + " WHERE id = " + std::to_string(*id));
  }));
}

std::vector<Alert> World::open_alerts() { return must(observer_->alerts().open_alerts()); }

std::optional<InboxState> World::inbox(const std::string& message_id) {
  const auto row = must(observer_->inbox().find(message_id));
  if (!row) return std::nullopt;
  return row->state;
}

OutboxState World::outbox(const std::string& message_id) {
  const auto id = must(observer_->outbox().find(message_id));
  return must(observer_->outbox().state(id.value())).value();
}

StatusReport World::status() { return must(observer_->status(clock.now())); }

void World::check_accounts() {
  const StatusReport report = status();
  EXPECT_TRUE(report.identity.holds) << "enqueued " << report.identity.enqueued << ", in outbox "
                                     << report.identity.in_outbox << ", unaccounted " << report.identity.unaccounted;
  const auto drift = must(observer_->verify_counters());
  EXPECT_TRUE(drift.empty());
}

Outcome sent() {
  Outcome outcome;
  outcome.cls = OutcomeClass::kSent;
  outcome.reason = "http-200";
  outcome.status = 200;
  return outcome;
}

Outcome refused() {
  Outcome outcome = sent();
  outcome.cls = OutcomeClass::kPermanent;
  outcome.reason = "http-400";
  outcome.status = 400;
  return outcome;
}

Outcome not_sent(const std::string& reason) {
  Outcome outcome;
  outcome.cls = OutcomeClass::kNotSent;
  outcome.reason = reason;
  return outcome;
}

Outcome unknown() {
  Outcome outcome;
  outcome.cls = OutcomeClass::kUnknown;
  outcome.reason = "timeout";
  return outcome;
}

}  // namespace notify::sim
