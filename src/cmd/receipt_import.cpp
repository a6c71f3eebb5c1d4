#include "cmd/receipt_import.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "cmd/render.hpp"
#include "sys/files.hpp"

namespace notify {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
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

Result<std::size_t> read_block(int fd, std::string& block) {
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail(file_error("cannot read the receipts", errno));
  }
}

Result<void> read_all(int fd, ReceiptReader& reader, Groups& groups) {
  std::string block(kBlock, '\0');
  while (true) {
    TRY_ASSIGN(const std::size_t got, read_block(fd, block));
    if (got == 0) return reader.finish();
    TRY(reader.feed(std::string_view(block).substr(0, got)));
    TRY(groups.flush());  // the next read may wait for long
  }
}

}  // namespace

Result<void> import_receipts(const ReceiptImport& import, Reconciler& reconciler, Context& context) {
  const bool standard_input = import.file == "-";
  const std::string source = standard_input ? "standard input" : import.file;
  Fd file;
  if (!standard_input) {
    file = Fd(::open(import.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail(file_error("cannot read " + source, errno));
  }
  TRY_ASSIGN(const Zone* zone, context.zone());

  Groups groups(reconciler, import.channel);
  ReceiptReader reader(import.format, zone,
                       {[&](Receipt receipt) { return groups.add(std::move(receipt)); },
                        [&](std::int64_t line, const Error& error) {
                          ++reconciler.summary().rejected;
                          std::string text = source + ":" + std::to_string(line) + ": ";
                          if (!error.field.empty()) text += error.field + ": ";
                          text += error.message;
                          if (!error.hint.empty()) text += " (" + error.hint + ")";
                          context.err().line(printable(text));
                        }});
  const Result<void> read = read_all(standard_input ? context.input() : file.get(), reader, groups);
  TRY(groups.flush());
  if (!read) return fail(with_context(read.error(), source));
  return {};
}

}  // namespace notify
