#include "backend/interpret/banks.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lay::interpret {
namespace {

constexpr int kBanks = 32;
constexpr int kWord = 4;

// Of lanes that are served together: the most different words that one bank has to give.
int together(const std::int64_t* address, int bytes, Mask mask) {
  std::array<std::vector<std::int64_t>, kBanks> words;
  for_each_lane(mask, [&](int lane) {
    const std::int64_t first = address[lane] / kWord, last = (address[lane] + bytes - 1) / kWord;
    for (std::int64_t word = first; word <= last; ++word) words[word % kBanks].push_back(word);
  });
  int most = 0;
  for (auto& bank : words) {
    std::sort(bank.begin(), bank.end());
    most = std::max(most, static_cast<int>(std::unique(bank.begin(), bank.end()) - bank.begin()));
  }
  return most;
}

}  // namespace

Wavefronts wavefronts(const std::int64_t* address, int bytes, Mask mask) {
  const int parts = std::max(1, bytes / kWord);
  const int lanes = kLanes / parts;
  Wavefronts sum{0, 0};
  for (int part = 0; part < parts; ++part) {
    const Mask all = lanes == kLanes ? ~Mask{0} : (Mask{1} << lanes) - 1;
    const Mask served = mask & all << (part * lanes);
    if (served == 0) continue;
    sum.taken += together(address, bytes, served);
    sum.least += 1;
  }
  return sum;
}

}  // namespace lay::interpret
