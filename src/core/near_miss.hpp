#pragma once

#include <string>
#include <string_view>

namespace notify {

// Finds the word that was probably meant. Letters swapped, missing, added or changed count one each, case
// counts nothing; a candidate is near when at most a third of the word differs.
class NearMiss {
 public:
  explicit NearMiss(std::string_view word) : word_(word) {}
  void consider(std::string_view candidate);
  // The nearest candidate, or empty.
  const std::string& best() const { return best_; }

 private:
  std::string_view word_;
  std::string best_{};
  std::size_t distance_ = static_cast<std::size_t>(-1);
};

// Edit distance with transpositions (each substring edited once), by bytes, ASCII case ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

// `did you mean "x"?`, or empty when nothing is near. For Error.hint.
template <class Range>
std::string did_you_mean(std::string_view word, const Range& candidates) {
  NearMiss near(word);
  for (const auto& candidate : candidates) near.consider(candidate);
  return near.best().empty() ? std::string() : "did you mean \"" + near.best() + "\"?";
}

}  // namespace notify
