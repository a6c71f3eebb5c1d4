// recipient import: reads a stream, hands it to core, reports what was refused.

#include <nlohmann/json.hpp>

#include "cmd/context.hpp"
#include "cmd/input.hpp"
#include "cmd/recipient.hpp"
#include "cmd/render.hpp"
#include "core/recipient_import.hpp"
#include "store/open.hpp"

namespace notify {
namespace {

using Json = nlohmann::ordered_json;

Result<void> read_all(Input& input, RecipientImport& import) {
  while (true) {
    TRY_ASSIGN(const std::string_view bytes, input.read());
    if (bytes.empty()) return import.finish();
    TRY(import.feed(bytes));
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
  TRY_ASSIGN(Input input, Input::open(file, context));
  OpenOptions options;
  TRY_ASSIGN(options.path, context.database());
  options.create = true;
  options.create_parent = context.database_is_default();
  TRY_ASSIGN(const std::unique_ptr<SqliteStore> store, open_store(options));

  RecipientImport import(*store, context.clock(), [&](std::int64_t line, const Error& error) {
    report_line(context, context.out(), input.name(), line, error);
  });
  if (auto read = read_all(input, import); !read) return fail(with_context(std::move(read).error(), input.name()));
  print_summary(import.summary(), context);
  if (import.summary().rejected == 0) return 0;
  const Error refused{Code::kPartial,
                      std::to_string(import.summary().rejected) + " of " + std::to_string(import.summary().lines) +
                          " lines were refused",
                      "mend them and run it again"};
  if (context.json()) return fail(refused);
  if (!context.globals().quiet) context.err().line("hint: " + refused.hint);
  return exit_status(refused.code);
}

}  // namespace notify
