// The seeded simulator: relays, workers, reconcilers and operators over the real store (simulation.hpp).
//
//   SIM_SEEDS=N   how many seeds (default 60), from SIM_FIRST (default 1) on; a sixth as many that nobody has seen before
//   SIM_SEED=S    one seed only, as a failure prints it

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "sim/simulation.hpp"

namespace notify::sim {
namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void simulate(bool with_broker, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("SIM_SEED=" + std::to_string(seed));
    Simulation(seed, {.with_broker = with_broker}, [] { return ::testing::Test::HasFailure(); }).run();
    if (::testing::Test::HasFailure()) {
      std::fprintf(stderr, "replay with: SIM_SEED=%llu\n", static_cast<unsigned long long>(seed));
      return;
    }
  }
}

void simulate(bool with_broker) {
  const std::uint64_t one = number("SIM_SEED", 0);
  if (one != 0) return simulate(with_broker, one, 1);
  const std::uint64_t count = number("SIM_SEEDS", 60);
  simulate(with_broker, number("SIM_FIRST", 1), count);
  simulate(with_broker, std::random_device{}(), count / 6);
}

TEST(Simulator, NothingIsLostAndNothingIsSentTwice) { simulate(false); }
TEST(Simulator, NorThroughABrokerThatLosesConfirmsAndAcks) { simulate(true); }

}  // namespace
}  // namespace notify::sim
