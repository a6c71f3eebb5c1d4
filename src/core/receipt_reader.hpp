#pragma once

// Reads delivery receipts: JSON lines, or CSV with a header. Strict about each line; good ones are taken, bad ones
// reported with their place.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ports/receipt_table.hpp"
#include "core/ports/zone.hpp"

namespace notify {

enum class ReceiptFormat { kJsonLines, kCsv };

inline constexpr std::size_t kLongestReceipt = 64 * 1024;  // bytes of a line or record

// Give it bytes as they come, finish() at their end. The fields are message_id, reference, channel, outcome (or status:
// accepted, delivered; refused, failed, undelivered), at (RFC 3339 with a zone, or @seconds), reason, attempt.
class ReceiptReader {
 public:
  struct Sink {
    std::function<Result<void>(Receipt)> receipt;
    std::function<void(std::int64_t line, const Error& error)> bad;
  };

  // `zone` is for times that are written without one; may be null.
  ReceiptReader(ReceiptFormat format, const Zone* zone, Sink sink);
  ~ReceiptReader();
  ReceiptReader(const ReceiptReader&) = delete;
  ReceiptReader& operator=(const ReceiptReader&) = delete;

  // Fail with what the sink failed with, or with kBadInput when this is not that format at all.
  Result<void> feed(std::string_view bytes);
  Result<void> finish();

  std::int64_t good() const noexcept;
  std::int64_t bad() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify
