#include "cmd/receipt_import.hpp"

#include <vector>

#include "cmd/input.hpp"

namespace notify {
namespace {

constexpr std::size_t kGroup = 500;

// Receipts that have been read and not yet taken.
class Groups {
 public:
  Groups(Reconciler& reconciler, std::string channel) : reconciler_(reconciler), channel_(std::move(channel)) {}

  Result<void> add(Receipt receipt) {
    if (receipt.channel.empty()) receipt.channel = channel_;
    receipts_.push_back(std::move(receipt));
    return receipts_.size() < kGroup ? Result<void>() : flush();
  }

  Result<void> flush() {
    if (receipts_.empty()) return {};
    TRY(reconciler_.take(receipts_));
    receipts_.clear();
    return {};
  }

 private:
  Reconciler& reconciler_;
  std::string channel_;
  std::vector<Receipt> receipts_{};
};

Result<void> read_all(Input& input, ReceiptReader& reader, Groups& groups) {
  while (true) {
    TRY_ASSIGN(const std::string_view bytes, input.read());
    if (bytes.empty()) return reader.finish();
    TRY(reader.feed(bytes));
    TRY(groups.flush());  // the next read may wait for long
  }
}

}  // namespace

Result<void> import_receipts(const ReceiptImport& import, Reconciler& reconciler, Context& context) {
  TRY_ASSIGN(Input input, Input::open(import.file, context));
  TRY_ASSIGN(const Zone* zone, context.zone());

  Groups groups(reconciler, import.channel);
  ReceiptReader reader(import.format, zone,
                       {[&](Receipt receipt) { return groups.add(std::move(receipt)); },
                        [&](std::int64_t line, const Error& error) {
                          ++reconciler.summary().rejected;
                          report_line(context, context.err(), input.name(), line, error);
                        }});
  const Result<void> read = read_all(input, reader, groups);
  TRY(groups.flush());
  if (!read) return fail(with_context(read.error(), input.name()));
  return {};
}

}  // namespace notify
