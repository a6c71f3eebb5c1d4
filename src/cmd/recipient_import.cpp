// recipient import: reads a stream, hands it to core, reports what was refused.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/recipient.hpp"
#include "cmd/render.hpp"
#include "core/recipient_import.hpp"
#include "store/open.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBlock = 256 * 1024;

void report(Context& context, const std::string& source, std::int64_t line, const Error& error) {
  if (context.json()) {
    Json detail{{"code", code_name(error.code)}, {"field", error.field}, {"message", error.message}};
    return context.out().line(to_text(Json{{"line", line}, {"error", std::move(detail)}}));
  }
  std::string place = source + ":" + std::to_string(line) + ": ";
  if (!error.field.empty()) place += error.field + ": ";
  context.err().line(place + printable(error.message));
}

Result<void> read_all(int fd, RecipientImport& import) {
  std::string block(kBlock, '\0');
  while (true) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_error("cannot read the input", errno));
    if (got == 0) return import.finish();
    TRY(import.feed(std::string_view(block.data(), static_cast<std::size_t>(got))));
  }
}

void print_summary(const RecipientImportSummary& summary, Context& context) {
  if (context.json()) {
    return context.out().line(to_text(
        Json{{"summary", {{"lines", summary.lines}, {"imported", summary.imported}, {"rejected", summary.rejected}}}}));
  }
  const bool wanted = summary.rejected > 0 || context.globals().verbose > 0 || context.err().is_terminal();
  if (!wanted || context.globals().quiet) return;
  context.err().line("notifyctl: " + std::to_string(summary.lines) + " lines: " + std::to_string(summary.imported) +
                     " imported, " + std::to_string(summary.rejected) + " refused");
}

}  // namespace

Result<int> import_recipients(const std::string& file, Context& context) {
  Fd opened;
  if (file != "-") {
    opened = Fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return fail(file_error("cannot read " + file, errno));
  }
  OpenOptions options;
  TRY_ASSIGN(options.path, context.database());
  options.create = true;
  options.create_parent = context.database_is_default();
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(options));

  const std::string source = file == "-" ? "standard input" : file;
  RecipientImport import(*store, context.clock(),
                         [&](std::int64_t line, const Error& error) { report(context, source, line, error); });
  if (auto read = read_all(file == "-" ? context.input() : opened.get(), import); !read)
    return fail(with_context(std::move(read).error(), source));
  print_summary(import.summary(), context);
  return import.summary().rejected > 0 ? exit_status(Code::kPartial) : 0;
}

}  // namespace notify
