#include "backend/plan/banks.h"

#include <algorithm>
#include <set>

namespace lay::plan {

namespace {
constexpr int banks = 32, word_bytes = 4;
}

int least_wavefronts(int bytes) {
  return std::max(1, bytes / word_bytes);
}

int wavefronts(std::span<const std::int64_t> addresses, int bytes) {
  const int phases = least_wavefronts(bytes), words = std::max(1, bytes / word_bytes);
  const auto lanes = addresses.size() / static_cast<std::size_t>(phases);
  int total = 0;
  for (int phase = 0; phase < phases; ++phase) {
    std::array<std::set<std::int64_t>, banks> touched;
    for (std::size_t lane = phase * lanes; lane < (phase + 1) * lanes; ++lane) {
      if (addresses[lane] < 0) continue;
      for (int i = 0; i < words; ++i) {
        const std::int64_t word = addresses[lane] / word_bytes + i;
        touched[static_cast<std::size_t>(word % banks)].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& bank : touched) most = std::max(most, bank.size());
    total += static_cast<int>(most);
  }
  return total;
}

}  // namespace lay::plan
