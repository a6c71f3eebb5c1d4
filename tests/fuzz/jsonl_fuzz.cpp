// Lines of JSON from anywhere: never a crash, the same lines however the input comes in pieces, what is taken
// can be read back, and what counts as JSON agrees with another parser.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/jsonl.hpp"
#include "core/payload.hpp"

namespace {

using namespace notify;

void check_json(std::string_view text) {
  const auto ours = canonical_json(text);
  const bool theirs = nlohmann::json::accept(text);
  if (ours) {
    ASSERT(canonical_json(*ours).value() == *ours);
    // The other parser refuses numbers that no double holds, and nothing else.
    ASSERT(theirs || text.find_first_of("eE") != std::string_view::npos || text.size() > 300);
  } else if (theirs && !text.starts_with("\xef\xbb\xbf") && text.find('\0') == std::string_view::npos) {
    // (The other parser skips a byte order mark and takes NUL for the end.)
    const std::string& why = ours.error().message;
    ASSERT(why.find("twice") != std::string::npos || why.find("nested deeper") != std::string::npos);
  }
}

void check_line(LineReader& reader, std::string_view line) {
  static NewMessage message;
  static EnqueueFields fields;
  if (!reader.read(line, fields) || !make_message(message, fields, {.now = Instant{1'796'000'000'000}})) return;
  ASSERT(message.payload.size() <= limits::kPayload);
  const auto payload = parse_payload(message.payload);
  ASSERT(payload.has_value());
  ASSERT(to_json(*payload) == message.payload);
}

std::vector<std::string> split(std::string_view input, std::size_t chunk) {
  std::vector<std::string> lines;
  LineSplitter splitter(64);
  const auto take = [&] {
    for (InputLine line; splitter.next(line);) lines.emplace_back(line.text).push_back(line.too_long ? '+' : ' ');
  };
  for (std::size_t at = 0; at < input.size(); at += chunk) {
    splitter.push(input.substr(at, chunk));
    take();
  }
  splitter.finish();
  take();
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  check_json(input);
  (void)parse_payload(input);
  (void)wide_encoding(input);
  ASSERT(split(input, data[0] % 16U + 1) == split(input, input.size() + 1));

  static LineReader reader;
  LineSplitter splitter;
  splitter.push(input);
  splitter.finish();
  for (InputLine line; splitter.next(line);) check_line(reader, line.text);
  return 0;
}
