#include "frontend/algebra/banks.h"

#include <algorithm>

namespace lay {
namespace {

void keep_distinct(std::vector<int64_t>& units) {
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
}

// The units of so many bytes that the accesses touch, each once.
void touched(std::span<const int64_t> addresses, int bytes, int unit, std::vector<int64_t>& units) {
  units.clear();
  for (const int64_t address : addresses) {
    if (address < 0) continue;
    for (int64_t u = address / unit, last = (address + bytes - 1) / unit; u <= last; ++u) units.push_back(u);
  }
  keep_distinct(units);
}

}  // namespace

int SharedMemory::phases(int bytes) const {
  return std::max(1, bytes * lanes / (banks * bank_bytes));
}

std::vector<int> phase_wavefronts(std::span<const int64_t> addresses, int bytes, const SharedMemory& memory) {
  const size_t phases = static_cast<size_t>(memory.phases(bytes));
  const size_t lanes = std::max<size_t>(1, static_cast<size_t>(memory.lanes) / phases);
  std::vector<int> taken;
  std::vector<int64_t> words;
  std::vector<int> of_bank(static_cast<size_t>(memory.banks));
  for (size_t begin = 0; begin < addresses.size(); begin += lanes) {
    touched(addresses.subspan(begin, std::min(lanes, addresses.size() - begin)), bytes, memory.bank_bytes, words);
    std::fill(of_bank.begin(), of_bank.end(), 0);
    for (const int64_t word : words) ++of_bank[static_cast<size_t>(word % memory.banks)];
    taken.push_back(*std::max_element(of_bank.begin(), of_bank.end()));
  }
  return taken;
}

Wavefronts wavefronts(std::span<const int64_t> addresses, int bytes, const SharedMemory& memory) {
  Wavefronts sum;
  for (const int taken : phase_wavefronts(addresses, bytes, memory)) {
    sum.taken += taken;
    sum.least += taken > 0;
    sum.worst = std::max(sum.worst, taken);
  }
  return sum;
}

Sectors sectors(std::span<const int64_t> addresses, int bytes, const GlobalMemory& memory) {
  std::vector<int64_t> units;
  Sectors sum;
  touched(addresses, bytes, memory.sector_bytes, units);
  sum.taken = static_cast<int>(units.size());
  touched(addresses, bytes, 1, units);
  sum.bytes = static_cast<int>(units.size());
  sum.least = (sum.bytes + memory.sector_bytes - 1) / memory.sector_bytes;
  return sum;
}

}  // namespace lay
