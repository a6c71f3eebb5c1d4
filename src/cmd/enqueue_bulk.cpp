// enqueue --jsonl: reads a stream, hands it to core, reports line by line.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/enqueue.hpp"
#include "cmd/input.hpp"
#include "cmd/render.hpp"
#include "core/bulk_enqueue.hpp"
#include "core/crypto.hpp"
#include "core/payload.hpp"
#include "core/safe_text.hpp"
#include "store/open.hpp"
#include "sys/files.hpp"
#include "sys/terminal.hpp"

namespace notify {
namespace {

constexpr std::size_t kFileBlock = 256 * 1024;
constexpr Duration kQuiet = 50ms;     // input that pauses for so long: commit what has come
constexpr Duration kLongest = 250ms;  // and no line of a trickle waits longer than this
constexpr Duration kCountsEvery = 100ms;

Error system_error(const std::string& what, Code code = Code::kIo) {
  Error error = file_error(what, errno);
  if (code != Code::kIo) error.code = code;
  return error;
}

// The lines that were refused, as they came, so that they can be mended and given again.
class Rejects {
 public:
  static Result<Rejects> open(const std::optional<std::string>& path, int input) {
    if (!path) return Rejects(Fd());
    Fd fd(::open(path->c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) {
      Error error = system_error("cannot create " + *path, Code::kCannotCreate);
      error.hint = "the directory must exist, and this user must be able to write it";
      return fail(std::move(error));
    }
    struct stat in {};
    struct stat out {};
    if (fstat(input, &in) == 0 && fstat(fd.get(), &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      return fail(Code::kUsage, "--rejects: " + *path + " is the input itself", "name another file");
    if (ftruncate(fd.get(), 0) != 0 && errno != EINVAL) return fail(system_error("cannot empty " + *path));
    return Rejects(std::move(fd));
  }

  void add(std::string_view line) {
    if (!fd_ || failed_) return;
    buffer_ += line;
    buffer_ += '\n';
    if (buffer_.size() >= kFileBlock) (void)flush();
  }

  Result<void> flush() {
    if (!fd_) return {};
    if (!failed_ && !write_all(fd_.get(), buffer_)) failed_ = true;
    buffer_.clear();
    if (failed_) return fail(system_error("cannot write the refused lines"));
    return {};
  }

 private:
  explicit Rejects(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  std::string buffer_{};
  bool failed_ = false;
};

// Prints what became of each line: JSON on standard output, or complaints on standard error.
class Reporter final : public LineSink {
 public:
  Reporter(Context& context, Rejects& rejects, std::string source)
      : context_(context), rejects_(rejects), source_(std::move(source)) {}

  void inserted(std::int64_t line, std::string_view key, const InsertResult& result, std::string_view text) override {
    if (result.kind == InsertResult::Kind::kConflict) {
      return rejected(line, key_conflict(key, result), text);
    }
    if (!context_.json()) return;
    // Written by hand: a million of these are printed in one run.
    line_ = "{\"line\":" + std::to_string(line) + ",\"message_id\":";
    append_json_string(line_, result.message_id);
    line_ += ",\"outbox_id\":" + std::to_string(result.outbox_id) + ",\"key\":";
    if (key.empty())
      line_ += "null";
    else
      append_json_string(line_, key);
    line_ += ",\"status\":\"";
    line_ += name(result.state);
    line_ += result.kind == InsertResult::Kind::kCreated ? "\",\"created\":true}" : "\",\"created\":false}";
    context_.out().line(line_);
  }

  void rejected(std::int64_t line, const Error& error, std::string_view text) override {
    rejects_.add(text);
    if (progress != nullptr) progress->clear();
    report_line(context_, context_.out(), source_, line, error);
  }

  ProgressLine* progress = nullptr;

 private:
  Context& context_;
  Rejects& rejects_;
  std::string source_;
  std::string line_{};
};

class Progress {
 public:
  Progress(Context& context, int input) : context_(context), line_(visible(context) ? context.err().fd() : -1) {
    struct stat info {};
    if (fstat(input, &info) == 0 && S_ISREG(info.st_mode)) size_ = info.st_size;
  }

  ProgressLine& line() noexcept { return line_; }

  void update(std::int64_t bytes, std::int64_t lines) {
    if (!line_.active()) return;
    const Duration now = context_.clock().monotonic();
    if (now - shown_at_ < kCountsEvery) return;
    shown_at_ = now;
    std::string text = std::to_string(lines) + " lines";
    if (size_ > 0) text = bar(bytes) + " " + text;
    line_.show(text);
  }

 private:
  static bool visible(const Context& context) {
    return !context.globals().quiet && !(context.json() && is_terminal(1));
  }
  std::string bar(std::int64_t bytes) const {
    const auto percent = std::min<std::int64_t>(100, bytes * 100 / size_);
    const auto full = static_cast<std::size_t>(percent / 5);
    return "[" + std::string(full, '#') + std::string(20 - full, '.') + "] " + std::to_string(percent) + " %";
  }

  Context& context_;
  ProgressLine line_;
  std::int64_t size_ = 0;
  Duration shown_at_{0};
};

// A copy of the input without a name, beside the database: that directory can be written, and is as private.
class InputCopy final : public RewindableInput {
 public:
  static Result<std::unique_ptr<InputCopy>> copy(Input& input, const std::string& directory) {
    TRY_ASSIGN(Fd file, make(directory));
    while (true) {
      TRY_ASSIGN(const std::string_view bytes, input.read());
      if (bytes.empty()) break;
      if (!write_all(file.get(), bytes)) return fail(system_error("cannot keep the input in " + directory));
    }
    return std::unique_ptr<InputCopy>(new InputCopy(std::move(file)));
  }

  Result<void> rewind() override {
    if (lseek(file_.get(), 0, SEEK_SET) < 0) return fail(system_error("cannot read the input again"));
    return {};
  }

  Result<std::string_view> read() override {
    const ssize_t got = ::read(file_.get(), block_.data(), block_.size());
    if (got < 0) return fail(system_error("cannot read the input again"));
    return std::string_view(block_.data(), static_cast<std::size_t>(got));
  }

 private:
  explicit InputCopy(Fd file) : file_(std::move(file)), block_(kFileBlock, '\0') {}

  static Result<Fd> make(const std::string& directory) {
    Fd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file) return file;
    std::string name = directory + "/notifyctl-XXXXXX";
    file = Fd(mkostemp(name.data(), O_CLOEXEC));
    if (!file) return fail(system_error("cannot create a file in " + directory, Code::kCannotCreate));
    (void)unlink(name.c_str());
    return file;
  }

  Fd file_;
  std::string block_;
};

Result<void> take_stream(Input& input, BulkEnqueue& bulk, Progress& progress, Context& context) {
  std::int64_t bytes_read = 0;
  Duration flushed_at = context.clock().monotonic();
  while (true) {
    const bool silent = input.pauses(kQuiet);
    if (silent || context.clock().monotonic() - flushed_at > kLongest) {
      TRY(bulk.flush());
      (void)context.out().flush();
      (void)context.err().flush();
      if (silent) (void)input.pauses(Duration(-1));
      flushed_at = context.clock().monotonic();
    }
    TRY_ASSIGN(const std::string_view bytes, input.read());
    if (bytes.empty()) break;
    TRY(bulk.feed(bytes));
    bytes_read += static_cast<std::int64_t>(bytes.size());
    progress.update(bytes_read, bulk.summary().lines);
  }
  return bulk.finish();
}

// The run ended early: what was taken before stays, and that is said.
Error ended_early(Error error, const BulkSummary& summary, const std::string& source) {
  const std::int64_t taken = summary.created + summary.existing;
  error = with_context(std::move(error), source);
  if (summary.lines == 0) return error;
  const std::string before = "of the " + std::to_string(summary.lines) + " lines up to there " + std::to_string(taken) +
                             " are taken (" + std::to_string(summary.created) + " now, " +
                             std::to_string(summary.existing) +
                             " before); run the same input again: lines with a key are not added twice";
  error.hint += (error.hint.empty() ? "" : ". ") + before;
  return error;
}

// `ended_early`: then the counts are what somebody has to know.
void print_summary(const BulkSummary& summary, bool ended_early, bool atomic, Context& context) {
  if (context.json()) {
    return context.out().line(to_text({{"summary",
                                        {{"lines", summary.lines},
                                         {"created", summary.created},
                                         {"existing", summary.existing},
                                         {"conflict", summary.conflict},
                                         {"rejected", summary.rejected}}}}));
  }
  const bool refused = summary.conflict + summary.rejected > 0;
  const bool wanted = refused || ended_early || context.globals().verbose > 0 || context.err().is_terminal();
  if (!wanted || context.globals().quiet) return;
  std::string text = std::to_string(summary.lines) + " lines: " + std::to_string(summary.created) + " created, " +
                     std::to_string(summary.existing) + " existed already";
  if (refused)
    text += ", " + std::to_string(summary.conflict) + " with a key of other content, " +
            std::to_string(summary.rejected) + " refused";
  if (refused && atomic) text += "; with --atomic nothing was taken";
  context.err().line("notifyctl: " + text);
}

// Some lines were refused, each with its reason.
Error lines_refused(const BulkSummary& summary, bool atomic) {
  const std::int64_t refused = summary.conflict + summary.rejected;
  return {Code::kPartial,
          std::to_string(refused) + " of " + std::to_string(summary.lines) + " lines were refused" +
              (atomic ? "; with --atomic nothing was taken" : ""),
          atomic ? "mend them and run it again"
                 : "mend them and run it again: lines with a key are not added twice; --rejects keeps them aside"};
}

Result<void> check_bulk_options(const EnqueueOptions& options) {
  const bool has_message = options.channel || options.to || options.key || options.kind || options.category ||
                           options.subject || options.body || options.body_file || options.html_file || options.alt ||
                           options.data || options.template_name || !options.vars.empty() || options.not_before ||
                           options.expires || options.priority || options.correlation;
  if (has_message)
    return fail(Code::kUsage, "with --jsonl the message's fields belong into the lines",
                "leave out --channel, --to and the others");
  if (options.now || options.wait)
    return fail(Code::kUsage, "--now and --wait are for a single message", "leave them out: notifyctl relay hands on");
  return {};
}

}  // namespace

Result<int> run_bulk(const EnqueueOptions& options, Context& context) {
  TRY(check_bulk_options(options));
  TRY_ASSIGN(Input input, Input::open(*options.jsonl, context));
  TRY_ASSIGN(Rejects rejects, Rejects::open(options.rejects, input.fd()));

  EnqueueContext surroundings;
  TRY_ASSIGN(surroundings.zone, context.zone());
  TRY_ASSIGN(surroundings.templates, context.templates());
  TRY_ASSIGN(const Config* const config, context.config());
  surroundings.default_locale = config->templates.default_locale;
  surroundings.limits = config->channels;

  OpenOptions open;
  TRY_ASSIGN(open.path, context.database());
  open.create = true;
  open.create_parent = context.database_is_default();
  open.trusted_inserts = true;
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(open));

  Reporter reporter(context, rejects, input.name());
  Progress progress(context, input.fd());
  reporter.progress = &progress.line();
  BulkSummary summary;
  Result<void> taken;
  if (options.atomic) {
    TRY_ASSIGN(const std::unique_ptr<InputCopy> spool,
               InputCopy::copy(input, std::filesystem::path(open.path).parent_path().string()));
    surroundings.now = context.clock().now();
    Result<BulkSummary> all =
        enqueue_atomic(*store, context.clock(), context.crash_points(), surroundings, *spool, reporter);
    if (!all) return fail(with_context(std::move(all).error(), input.name()));
    summary = *all;
  } else {
    BulkEnqueue bulk(*store, context.clock(), context.crash_points(), surroundings, reporter);
    taken = take_stream(input, bulk, progress, context);
    summary = bulk.summary();
  }
  progress.line().clear();
  (void)context.err().flush();
  const Result<void> kept = rejects.flush();
  print_summary(summary, !taken.has_value(), options.atomic, context);
  if (!taken) return fail(ended_early(std::move(taken).error(), summary, input.name()));
  TRY(kept);
  if (summary.conflict + summary.rejected == 0) return 0;
  const Error refused = lines_refused(summary, options.atomic);
  if (context.json()) return fail(refused);
  if (!context.globals().quiet) context.err().line("hint: " + refused.hint);
  return exit_status(refused.code);
}

}  // namespace notify
