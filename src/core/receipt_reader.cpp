#include "core/receipt_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "core/csv.hpp"
#include "core/json_text.hpp"
#include "core/jsonl.hpp"
#include "core/message.hpp"
#include "core/near_miss.hpp"
#include "core/safe_text.hpp"
#include "core/text_rules.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kReference = 512;
constexpr int kMostAttempts = 1'000'000;

// In the order of kFields.
enum Field : std::size_t { kMessageId, kReferenceField, kChannel, kOutcome, kStatus, kAt, kReason, kAttempt };
constexpr std::array<std::string_view, 8> kFields{"message_id", "reference", "channel", "outcome",
                                                  "status",     "at",        "reason",  "attempt"};

// One line; what is not there, or empty, is nullopt.
using Values = std::array<std::optional<std::string>, kFields.size()>;

std::optional<std::size_t> field_of(std::string_view name) {
  const auto found = std::find(kFields.begin(), kFields.end(), name);
  if (found == kFields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kFields.begin());
}

tl::unexpected<Error> unknown_field(std::string_view name) {
  const std::string shown = safe_text(name, 64);
  return tl::unexpected<Error>(
      Error{Code::kBadInput, "a receipt has no field \"" + shown + "\"", did_you_mean(name, kFields), shown});
}

// An identifier: some bytes of visible text.
Result<void> check_identifier(const Values& values, Field field, std::size_t longest) {
  const std::string& text = *values[field];
  const std::string name(kFields[field]);
  if (text.size() > longest) return fail_field(name, "has more than " + std::to_string(longest) + " bytes");
  if (!valid_utf8(text)) return fail_field(name, "is not UTF-8");
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  if (control) return fail_field(name, "holds control characters");
  return {};
}

Result<ReceiptVerdict> verdict_of(const Values& values) {
  if (values[kOutcome] && values[kStatus]) return fail_field("status", "says the same as outcome: give one of them");
  const Field field = values[kStatus] ? kStatus : kOutcome;
  if (!values[field]) return fail_field("outcome", "is missing");
  const std::string& word = *values[field];
  if (word == "accepted" || word == "delivered") return ReceiptVerdict::kAccepted;
  if (word == "refused" || word == "failed" || word == "undelivered") return ReceiptVerdict::kRefused;
  return fail_field(
      std::string(kFields[field]),
      "must be accepted or delivered, or refused, failed or undelivered; it is \"" + safe_text(word, 32) + "\"");
}

Result<int> attempt_of(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > kMostAttempts)
    return fail_field("attempt", "must be a number from 1 to " + std::to_string(kMostAttempts));
  return number;
}

// Only instants: "2h" or "today" would mean something else with each import.
Result<Instant> instant_of(const std::string& text, const Zone* zone) {
  const bool absolute = text.starts_with('@') || (text.size() > 4 && text[4] == '-');
  if (!absolute) return fail_field("at", "must be an RFC 3339 time or @seconds");
  Result<Instant> at = parse_time(text, {Instant{}, zone});
  if (!at) return fail_field("at", at.error().message, at.error().hint);
  return at;
}

Result<Receipt> to_receipt(const Values& values, const Zone* zone) {
  Receipt receipt;
  if (!values[kMessageId] && !values[kReferenceField])
    return fail_field("message_id", "is missing; a receipt names its message by message_id or reference");
  if (values[kMessageId]) {
    TRY(check_identifier(values, kMessageId, limits::kMessageId));
    receipt.message_id = *values[kMessageId];
  }
  if (values[kReferenceField]) {
    TRY(check_identifier(values, kReferenceField, kReference));
    receipt.reference = *values[kReferenceField];
  }
  if (values[kChannel]) {
    TRY(check_identifier(values, kChannel, limits::kChannel));
    receipt.channel = *values[kChannel];
  }
  TRY_ASSIGN(receipt.verdict, verdict_of(values));
  if (values[kAt]) {
    TRY_ASSIGN(receipt.at, instant_of(*values[kAt], zone));
  }
  if (values[kAttempt]) {
    TRY_ASSIGN(receipt.attempt, attempt_of(*values[kAttempt]));
  }
  if (values[kReason]) receipt.reason = safe_text(*values[kReason], limits::kReason);
  return receipt;
}

}  // namespace

struct ReceiptReader::Impl {
  Impl(ReceiptFormat given_format, const Zone* given_zone, Sink given_sink)
      : format(given_format), zone(given_zone), sink(std::move(given_sink)) {}

  ReceiptFormat format;
  const Zone* zone;
  Sink sink;
  LineSplitter lines{kLongestReceipt};
  CsvSplitter records{kLongestReceipt};
  JsonReader json{};
  std::vector<std::size_t> columns{};  // CSV: the field of each column; empty before the header
  bool begun = false;
  std::int64_t good = 0;
  std::int64_t bad = 0;

  Result<void> begin(std::string_view bytes);
  Result<void> drain();
  Result<void> line(const Result<Values>& values, std::int64_t number);
  Result<Values> json_line(const InputLine& line);
  Result<void> header(const CsvRecord& record);
  Result<Values> csv_record(const CsvRecord& record) const;
};

// A wide encoding would make every line bad.
Result<void> ReceiptReader::Impl::begin(std::string_view bytes) {
  if (begun || bytes.empty()) return {};
  begun = true;
  if (const std::string_view wide = wide_encoding(bytes); !wide.empty())
    return fail(Code::kBadInput, "the receipts are written in " + std::string(wide) + ", not in UTF-8");
  return {};
}

Result<void> ReceiptReader::Impl::drain() {
  if (format == ReceiptFormat::kJsonLines) {
    for (InputLine text; lines.next(text);) TRY(line(json_line(text), text.number));
    return {};
  }
  for (CsvRecord record; records.next(record);) {
    if (columns.empty()) {
      TRY(header(record));
    } else {
      TRY(line(csv_record(record), record.line));
    }
  }
  return {};
}

Result<void> ReceiptReader::Impl::line(const Result<Values>& values, std::int64_t number) {
  Result<Receipt> receipt = values ? to_receipt(*values, zone) : fail(values.error());
  if (!receipt) {
    ++bad;
    sink.bad(number, receipt.error());
    return {};
  }
  ++good;
  return sink.receipt(std::move(*receipt));
}

Result<Values> ReceiptReader::Impl::json_line(const InputLine& line) {
  if (line.too_long)
    return fail(Code::kBadInput, "the line is longer than " + std::to_string(kLongestReceipt) + " bytes");
  Values values;
  TRY(json.object(line.text, [&](std::string_view name, JsonValue& value) -> Result<void> {
    const std::optional<std::size_t> field = field_of(name);
    if (!field) return unknown_field(name);
    const std::string known(kFields[*field]);
    if (values[*field]) return fail_field(known, "the member appears twice");
    // Vendors' ids and numbers of attempts may be written as numbers.
    if (*field == kReferenceField || *field == kAttempt) {
      TRY_ASSIGN(const JsonValue::Kind kind, value.kind());
      if (kind == JsonValue::Kind::kNumber) {
        TRY_ASSIGN(values[*field], value.scalar(known));
        return {};
      }
      if (kind != JsonValue::Kind::kString) return fail_field(known, "must be a string or a number");
    }
    TRY_ASSIGN(const std::string_view text, value.string(known));
    values[*field] = std::string(text);
    return {};
  }));
  for (std::optional<std::string>& value : values)
    if (value && value->empty()) value.reset();
  return values;
}

// Without a header that says which column is what, nothing in the file can be read.
Result<void> ReceiptReader::Impl::header(const CsvRecord& record) {
  if (!record.problem.empty()) return fail(Code::kBadInput, "the CSV header cannot be read: " + record.problem);
  std::array<bool, kFields.size()> seen{};
  for (const std::string& name : record.fields) {
    const std::optional<std::size_t> field = field_of(name);
    if (!field) {
      Error error = unknown_field(name).value();
      error.message = "the CSV header names an unknown column: " + error.message;
      if (error.hint.empty()) error.hint = "columns: message_id, reference, channel, outcome, at, reason, attempt";
      return fail(std::move(error));
    }
    if (std::exchange(seen[*field], true))
      return fail(Code::kBadInput, "the CSV header names the column \"" + name + "\" twice");
    columns.push_back(*field);
  }
  if ((!seen[kMessageId] && !seen[kReferenceField]) || seen[kOutcome] == seen[kStatus]) {
    return fail(Code::kBadInput, "the CSV header needs message_id or reference, and one of outcome and status",
                "the first line names the columns: message_id,outcome,at,reason");
  }
  return {};
}

Result<Values> ReceiptReader::Impl::csv_record(const CsvRecord& record) const {
  if (!record.problem.empty()) return fail(Code::kBadInput, record.problem);
  if (record.fields.size() != columns.size()) {
    return fail(Code::kBadInput, "has " + std::to_string(record.fields.size()) + " fields where the header has " +
                                     std::to_string(columns.size()));
  }
  Values values;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!record.fields[i].empty()) values[columns[i]] = record.fields[i];
  return values;
}

ReceiptReader::ReceiptReader(ReceiptFormat format, const Zone* zone, Sink sink)
    : impl_(std::make_unique<Impl>(format, zone, std::move(sink))) {}
ReceiptReader::~ReceiptReader() = default;

Result<void> ReceiptReader::feed(std::string_view bytes) {
  TRY(impl_->begin(bytes));
  impl_->lines.push(bytes);
  impl_->records.push(bytes);
  return impl_->drain();
}

Result<void> ReceiptReader::finish() {
  impl_->lines.finish();
  impl_->records.finish();
  TRY(impl_->drain());
  if (good() == 0 && bad() > 0)
    return fail(Code::kBadInput, "not one line of the input is a receipt in this format",
                "is --format right? jsonl: one JSON object a line; csv: with a header");
  return {};
}

std::int64_t ReceiptReader::good() const noexcept { return impl_->good; }
std::int64_t ReceiptReader::bad() const noexcept { return impl_->bad; }

}  // namespace notify
