#include "core/rate_text.hpp"

#include <charconv>

#include "core/duration.hpp"

namespace notify {

Result<Rate> parse_rate(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::kBadInput, "\"" + std::string(text) + "\" is not a rate",
                "write how many in which time: 50/s, 100/m, 20/10s, 3/1d");
  };
  int count = 0;
  const char* end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{} || count < 1 || count > 1'000'000 || slash == end || *slash != '/') return bad();
  std::string per(slash + 1, end);
  if (!per.empty() && (per.front() < '0' || per.front() > '9')) per.insert(0, "1");
  const auto duration = parse_duration(per);
  if (!duration || *duration < 1ms) return bad();
  return Rate{count, *duration};
}

std::string format_rate(const Rate& rate) {
  std::string per = format_duration(rate.per);
  if (per.size() == 2 && per.front() == '1') per.erase(0, 1);
  return std::to_string(rate.count) + "/" + per;
}

}  // namespace notify
