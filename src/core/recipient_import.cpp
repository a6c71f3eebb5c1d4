#include "core/recipient_import.hpp"

#include <set>

#include "core/safe_text.hpp"

namespace notify {
namespace {

constexpr std::size_t kGroupRows = 300;

Result<void> read_texts(JsonValue& value, const std::string& field, std::vector<std::string>& out) {
  return value.elements(field, [&](JsonValue& element) -> Result<void> {
    TRY_ASSIGN(const std::string_view text, element.string(field));
    out.emplace_back(text);
    return {};
  });
}

// An address, or a list of them.
Result<void> read_endpoints(JsonValue& value, RecipientChange& change) {
  return value.members("endpoints", [&](std::string_view channel, JsonValue& addresses) -> Result<void> {
    const auto [place, is_new] = change.endpoints.try_emplace(std::string(channel));
    if (!is_new) return fail_field("endpoints", "the channel " + safe_text(channel, 64) + " is there twice");
    const std::string field = "endpoints." + safe_text(channel, 64);
    TRY_ASSIGN(const JsonValue::Kind kind, addresses.kind());
    if (kind == JsonValue::Kind::kArray) return read_texts(addresses, field, place->second);
    TRY_ASSIGN(const std::string_view address, addresses.string(field));
    place->second.emplace_back(address);
    return {};
  });
}

std::size_t rows_of(const RecipientChange& change) {
  std::size_t rows = 1 + (change.groups ? change.groups->size() : 0);
  for (const auto& [channel, addresses] : change.endpoints) rows += 1 + addresses.size();
  return rows;
}

}  // namespace

Result<RecipientChange> read_recipient_line(JsonReader& reader, std::string_view line) {
  RecipientChange change;
  std::set<std::string, std::less<>> seen;
  TRY(reader.object(line, [&](std::string_view name, JsonValue& value) -> Result<void> {
    const std::string field = safe_text(name, 64);
    if (!seen.emplace(name).second) return fail_field(field, "the member is there twice");
    if (name == "id") {
      TRY_ASSIGN(change.id, value.string("id"));
      return {};
    }
    if (name == "locale") {
      TRY_ASSIGN(change.locale, value.string("locale"));
      return {};
    }
    if (name == "endpoints") return read_endpoints(value, change);
    if (name == "groups") return read_texts(value, "groups", change.groups.emplace());
    return fail_field(field, "there is no such member", "a line has id, locale, endpoints and groups");
  }));
  if (!seen.contains("id")) return fail_field("id", "a recipient's id is needed");
  TRY(check_recipient(change));
  return change;
}

RecipientImport::RecipientImport(Store& store, Clock& clock, Rejected rejected)
    : store_(store), clock_(clock), rejected_(std::move(rejected)) {}

Result<void> RecipientImport::feed(std::string_view bytes) {
  splitter_.push(bytes);
  return take_lines();
}

Result<void> RecipientImport::finish() {
  splitter_.finish();
  TRY(take_lines());
  return commit();
}

Result<void> RecipientImport::take_lines() {
  for (InputLine line; splitter_.next(line);) {
    ++summary_.lines;
    Result<RecipientChange> change =
        line.too_long ? fail(Code::kBadInput, "the line is longer than " + std::to_string(kLongestLine) + " bytes")
                      : read_recipient_line(reader_, line.text);
    if (!change) {
      ++summary_.rejected;
      rejected_(line.number, change.error());
      continue;
    }
    rows_ += rows_of(*change);
    group_.push_back(std::move(*change));
    if (rows_ >= kGroupRows) TRY(commit());
  }
  return {};
}

Result<void> RecipientImport::commit() {
  if (group_.empty()) return {};
  TRY(store_.write([&]() -> Result<void> {
    const Instant now = clock_.now();
    for (const RecipientChange& change : group_) TRY(store_.recipients().set(change, now));
    return {};
  }));
  summary_.imported += static_cast<std::int64_t>(group_.size());
  group_.clear();
  rows_ = 0;
  return {};
}

}  // namespace notify
