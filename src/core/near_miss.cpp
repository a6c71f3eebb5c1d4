#include "core/near_miss.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/ascii.hpp"

namespace notify {
namespace {

// Words longer than this are nobody's typing mistake; the bound keeps the square cost small.
constexpr std::size_t kLongestWord = 100;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: two ago (for transpositions), the last one, the one being filled.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = j;

  for (std::size_t i = 1; i <= a.size(); ++i) {
    const auto& before_last = rows[0];
    const auto& last = rows[1];
    auto& current = rows[2];
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  return rows[1][b.size()];
}

void NearMiss::consider(std::string_view candidate) {
  if (word_.empty() || word_.size() > kLongestWord || candidate.size() > kLongestWord) return;
  const std::size_t distance = edit_distance(word_, candidate);
  const std::size_t near = std::max(word_.size(), candidate.size()) / 3;
  if (distance > near || distance >= distance_) return;
  distance_ = distance;
  best_ = candidate;
}

}  // namespace notify
