// How many JSON lines a second become messages: reading, checking, building the payload, fingerprint. One
// core, no database; the insert should be what an import waits for.

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "core/jsonl.hpp"

namespace {

using namespace notify;

constexpr int kLines = 20'000;
constexpr std::size_t kChunk = 64 * 1024;

// Lines of about 700 bytes, as a batch job writes them: every member that a mail usually has, text with
// escapes and characters beyond ASCII.
std::string make_lines() {
  std::string lines;
  for (int i = 0; i < kLines; ++i) {
    const std::string number = std::to_string(i);
    lines += R"x({"channel":"mail","to":"student)x" + number + R"x(@example.com","key":"GRADE_LOCK_IN:2026-11:)x" +
             number +
             R"x(","kind":"GRADE_LOCK_IN","category":"transactional","subject":"Your grades are final (성적 확정)",)x"
             R"x("body":"Dear student,\n\nthe grades of this term were locked today and can be read on the portal.\n)x"
             R"x(성적이 확정되었습니다. 학사 포털에서 확인하실 수 있습니다.\n\nQuestions about a single grade are )x"
             R"x(answered by the department. Please bring your \"student card\" along.\n\nThe registry",)x"
             R"x("data":{"term":"2026-2","student":)x" +
             number +
             R"x(,"courses":["CS101","MA201"],"portal":"https://portal.example.com/grades"},"priority":5,)x"
             R"x("correlation":"job-2026-11-29-)x" +
             number + "\"}\n";
  }
  return lines;
}

template <class EachLine>
void run(benchmark::State& state, EachLine&& each_line) {
  static const std::string lines = make_lines();
  for (auto _ : state) {
    LineSplitter splitter;
    for (std::size_t at = 0; at < lines.size(); at += kChunk) {
      splitter.push(std::string_view(lines).substr(at, kChunk));
      for (InputLine line; splitter.next(line);)
        if (!each_line(line.text)) return state.SkipWithError("a line was refused");
    }
  }
  state.SetItemsProcessed(state.iterations() * kLines);  // "items_per_second" are lines
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
}

void split(benchmark::State& state) {
  run(state, [](std::string_view line) { return !line.empty(); });
}

void split_and_read(benchmark::State& state) {
  LineReader reader;
  EnqueueFields fields;
  run(state, [&](std::string_view line) { return reader.read(line, fields).has_value(); });
}

void split_read_and_make(benchmark::State& state) {
  LineReader reader;
  EnqueueFields fields;
  NewMessage message;
  const EnqueueContext context{.now = Instant{1'796'000'000'000}};
  run(state,
      [&](std::string_view line) { return reader.read(line, fields) && make_message(message, fields, context); });
}

BENCHMARK(split)->Unit(benchmark::kMillisecond);
BENCHMARK(split_and_read)->Unit(benchmark::kMillisecond);
BENCHMARK(split_read_and_make)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
