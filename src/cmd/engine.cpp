#include "cmd/engine.hpp"

#include <unistd.h>

#include "core/recovery.hpp"

namespace notify {
namespace {

constexpr Duration kProgressEvery = 100ms;

Event::Level minimum_level(const Globals& globals) {
  if (globals.quiet) return Event::Level::kError;
  if (globals.verbose == 0) return Event::Level::kWarning;
  return globals.verbose == 1 ? Event::Level::kInfo : Event::Level::kDebug;
}

}  // namespace

LogEvents::LogEvents(const Log::Options& options, ProgressLine& progress, Clock& clock)
    : log_(options), progress_(progress), clock_(clock) {}

void LogEvents::emit(const Event& event) {
  log_.write(event);
  if (!progress_.active() || event.count == 0) return;
  const std::lock_guard lock(mutex_);
  done_ += event.count;
  const Duration now = clock_.monotonic();
  if (now - shown_at_ < kProgressEvery) return;
  shown_at_ = now;
  progress_.show(std::to_string(done_) + " messages");
}

Engine::Engine(Context& context) : context_(context), progress_(context.globals().quiet ? -1 : context.err().fd()) {}

Result<std::unique_ptr<Engine>> Engine::start(Context& context, std::string_view command, Duration commit_gap) {
  std::unique_ptr<Engine> engine(new Engine(context));
  engine->command_ = command;
  TRY(engine->loop_.ready());
  TRY_ASSIGN(engine->config_, context.config());
  TRY_ASSIGN(const Zone* zone, context.zone());
  engine->policies_ = std::make_unique<Policies>(*engine->config_, zone);

  Log::Options log;
  log.format = parse_log_format(context.globals().log_format).value_or(Log::Format::kText);
  log.minimum = minimum_level(context.globals());
  log.progress = &engine->progress_;
  engine->events_ = std::make_unique<LogEvents>(log, engine->progress_, context.clock());

  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  if (commit_gap > Duration{0}) open.commit_gap = commit_gap;
  TRY_ASSIGN(engine->store_, open_store(open));
  engine->locks_ = std::make_unique<ProcessLocks>(open.path);
  TRY_ASSIGN(engine->run_, begin_run(*engine->store_, *engine->locks_, context.clock(), command, getpid()));
  engine->transport_ = std::make_unique<EmbeddedTransport>(engine->store_->queue(), engine->run_);
  return engine;
}

Result<void> Engine::finish(bool ok, std::string_view summary) {
  progress_.clear();
  std::int64_t mark = 0;
  TRY(store_->write([&]() -> Result<void> {
    TRY(store_->runs().end(run_, ok, summary, context_.clock().now()));
    if (command_ != "work") return {};
    TRY_ASSIGN(mark, store_->runs().mark());
    return {};
  }));
  // What was called until now is younger than any backup that was made meanwhile.
  return mark > 0 ? store_->fence(mark) : Result<void>{};
}

Result<int> conclude(Context& context, const Result<void>& result, std::string_view json, std::string_view words) {
  if (context.json()) {
    context.out().line(json);
  } else if (context.out().is_terminal() && !context.globals().quiet && !words.empty()) {
    context.out().line(words);
  }
  if (!result) return fail(result.error());
  return 0;
}

}  // namespace notify
