#include "backend/plan/banks.h"

#include <algorithm>
#include <array>
#include <vector>

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
  std::vector<std::int64_t> touched;
  for (std::size_t phase = 0; phase < static_cast<std::size_t>(phases); ++phase) {
    touched.clear();
    for (const std::int64_t address : addresses.subspan(phase * lanes, lanes)) {
      for (int i = 0; address >= 0 && i < words; ++i) touched.push_back(address / word_bytes + i);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::array<int, banks> count{};
    for (const std::int64_t word : touched) ++count[static_cast<std::size_t>(word % banks)];
    total += *std::max_element(count.begin(), count.end());
  }
  return total;
}

}  // namespace lay::plan
