#include "frontend/algebra/memory/banks.h"

#include <algorithm>
#include <bit>

namespace lay {
namespace {

void keep_distinct(std::vector<int64_t>& units) {
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
}

// The units of `unit` bytes that the accesses touch, each once.
// Sectors, words or bytes: a wide access may touch several, and neighbours share one.
void touched(std::span<const int64_t> addresses, int bytes, int unit, std::vector<int64_t>& units) {
  units.clear();
  for (const int64_t address : addresses) {
    if (address < 0) continue;
    for (int64_t u = address / unit, last = (address + bytes - 1) / unit; u <= last; ++u)
      units.push_back(u);
  }
  keep_distinct(units);
}

}  // namespace

// 32 lanes * 16 bytes are 512, four times what 32 banks of 4 bytes give at once: four phases of 8
// lanes. Up to 4 bytes a lane there is one phase.
int SharedMemory::phases(int bytes) const {
  return std::max(1, bytes * lanes / (banks * bank_bytes));
}

namespace {

// x / n and x % n for x >= 0, without a division where n is a power of two, as the numbers of
// memories are.
class Divisor {
 public:
  explicit Divisor(int64_t n) : n_(n) {
    if (std::has_single_bit(static_cast<uint64_t>(n)))
      shift_ = std::countr_zero(static_cast<uint64_t>(n));
  }
  int64_t quotient(int64_t x) const { return shift_ >= 0 ? x >> shift_ : x / n_; }
  int64_t rest(int64_t x) const { return shift_ >= 0 ? x & (n_ - 1) : x % n_; }

 private:
  int64_t n_;
  int shift_ = -1;
};

// The vectors that a count needs for a while. A search counts millions of accesses, so that each
// thread keeps its own.
// Allocating for each phase would take longer than counting it.
struct Scratch {
  std::vector<int64_t> first, more;
  std::vector<int> of_bank;
};

// Counts the different words that a phase wants from each bank. Mostly that is one, which is kept
// apart.
class BankCount {
 public:
  explicit BankCount(const SharedMemory& memory)
      : word_(memory.bank_bytes),
        banks_(memory.banks),
        first_(scratch().first),
        more_(scratch().more) {
    first_.resize(static_cast<size_t>(memory.banks));
  }

  // Lanes that read one word share it (a broadcast); different words of one bank take turns. So a
  // phase takes as many wavefronts as the bank with the most different words.
  int most(std::span<const int64_t> addresses, int bytes) {
    std::fill(first_.begin(), first_.end(), -1);
    more_.clear();
    bool any = false;
    for (const int64_t address : addresses) {
      // A lane that is switched off.
      if (address < 0) continue;
      any = true;
      for (int64_t word = word_.quotient(address), last = word_.quotient(address + bytes - 1);
           word <= last; ++word) {
        int64_t& first = first_[bank(word)];
        if (first < 0) {
          first = word;
        } else if (first != word) {
          more_.push_back(word);
        }
      }
    }
    return any ? 1 + most_beyond_first() : 0;
  }

 private:
  size_t bank(int64_t word) const { return static_cast<size_t>(banks_.rest(word)); }

  // The first word of each bank was counted by `first_`; only words that met another one are
  // sorted.
  int most_beyond_first() {
    if (more_.empty()) return 0;
    keep_distinct(more_);
    std::vector<int>& of_bank = scratch().of_bank;
    of_bank.assign(first_.size(), 0);
    for (const int64_t word : more_) ++of_bank[bank(word)];
    return *std::max_element(of_bank.begin(), of_bank.end());
  }

  static Scratch& scratch() {
    static thread_local Scratch kept;
    return kept;
  }

  Divisor word_, banks_;
  std::vector<int64_t>& first_;  // by bank; -1 for none
  std::vector<int64_t>& more_;   // words that are not their bank's first
};

// f(wavefronts) of one phase after the other.
template <class F>
void each_phase(std::span<const int64_t> addresses, int bytes, const SharedMemory& memory,
                const F& f) {
  const size_t phases = static_cast<size_t>(memory.phases(bytes));
  // Phases are groups of neighbouring lanes: with 16-byte accesses lanes 0 .. 7, 8 .. 15, ...
  const size_t lanes = std::max<size_t>(1, static_cast<size_t>(memory.lanes) / phases);
  BankCount count(memory);
  for (size_t begin = 0; begin < addresses.size(); begin += lanes) {
    f(count.most(addresses.subspan(begin, std::min(lanes, addresses.size() - begin)), bytes));
  }
}

}  // namespace

std::vector<int> phase_wavefronts(std::span<const int64_t> addresses, int bytes,
                                  const SharedMemory& memory) {
  std::vector<int> taken;
  each_phase(addresses, bytes, memory, [&](int one) { taken.push_back(one); });
  return taken;
}

Wavefronts wavefronts(std::span<const int64_t> addresses, int bytes, const SharedMemory& memory) {
  Wavefronts sum;
  each_phase(addresses, bytes, memory, [&](int taken) {
    sum.taken += taken;
    sum.least += taken > 0;
    sum.worst = std::max(sum.worst, taken);
  });
  return sum;
}

// `least`: the distinct bytes, packed into whole sectors.
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
