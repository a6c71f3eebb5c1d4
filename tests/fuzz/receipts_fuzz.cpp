// Receipts from anywhere, in both formats: what is taken names a message and keeps its bounds, and nothing depends on
// where the input is cut.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/message.hpp"
#include "core/receipt_reader.hpp"
#include "core/safe_text.hpp"

namespace {

using namespace notify;

// All that was said about the input, in order.
std::string read(ReceiptFormat format, std::string_view input, std::size_t piece) {
  std::string said;
  ReceiptReader reader(
      format, nullptr,
      {[&](Receipt receipt) -> Result<void> {
         ASSERT(!receipt.message_id.empty() || !receipt.reference.empty());
         ASSERT(receipt.message_id.size() <= limits::kMessageId);
         ASSERT(receipt.reason.size() <= limits::kReason);
         ASSERT(valid_utf8(receipt.message_id) && valid_utf8(receipt.reference));
         ASSERT(valid_utf8(receipt.reason) && receipt.attempt >= 0);
         said += receipt.message_id + '|' + receipt.reference + '|' + receipt.reason + '\n';
         return {};
       },
       [&](std::int64_t line, const Error& error) { said += std::to_string(line) + ' ' + error.field + '\n'; }});
  Result<void> result;
  for (std::size_t at = 0; at < input.size() && result; at += piece) result = reader.feed(input.substr(at, piece));
  if (result) result = reader.finish();
  return said + (result ? "" : "refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // The first block decides about a wide encoding, so it is never shorter than that takes.
  for (const ReceiptFormat format : {ReceiptFormat::kJsonLines, ReceiptFormat::kCsv})
    ASSERT(read(format, input, 4) == read(format, input, size + 1));
  return 0;
}
