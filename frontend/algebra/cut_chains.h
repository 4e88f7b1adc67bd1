#pragma once

// Inside the algebra: which cuts a layout may have that takes given values.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace lay {

// A layout R of extents n0, n1, ..., the last one open, gives at v a sum of e_k*floor(v/P_k) with P_k = n0*...*n(k-1):
// any integers e_k are strides of R in other words. So R(v_i) == due_i for all i is a question about a chain of cuts
// P_0 = 1, P_1, P_2, ..., each a multiple of the one before, and linear equations for the e_k. Of the chains
//
//   * only those by primes matter, for a cut more is a number more to choose;
//   * two next extents n that give all floor(v/(P*n)) alike serve alike, whatever follows. If there is a composite one
//     among them, a chain through its parts does what they do; so above 3 a prime counts only where it stands alone;
//   * values with one part above a cut differ by what the cuts below it give: an equation in those alone, so that most
//     chains are ruled out long before they are complete. They are looked at modulo 2, a bit for each number, and what
//     is left modulo a great prime; neither rules out a chain that has a solution in integers.
//
// For few values the chains of one prime each, 2, 4, 8, ..., are nearly always enough and are tried first.
class CutChains {
 public:
  // `values` and `open` are positive. Those of `values` ascend and have equations; for those of `open` nothing is due
  // that could be said in one, but R matters there too.
  CutChains(std::vector<int64_t> values, const std::vector<int64_t>& due, std::vector<int64_t> open);

  // Calls `serves` with the extents of each chain whose equations hold modulo both primes, until it says true.
  // exhausted: no chain is left. ended: the steps were used up before.
  enum class End : uint8_t { served, exhausted, ended };
  using Serves = std::function<bool(const std::vector<int64_t>& extents)>;
  End run(const Serves& serves, int64_t steps);

 private:
  static constexpr uint64_t kModulus = (uint64_t{1} << 31) - 1;
  static constexpr size_t kMostCuts = 63;

  // An equation for e_0, e_1, ...; solved for the one of `pivot`, whose factor is 1.
  struct Equation {
    std::vector<uint64_t> factors;
    uint64_t due = 0;
    size_t pivot = 0;
  };
  // Modulo 2: bit k is the factor of e_k, the last one what is due. Solved for the lowest factor that is set.
  struct Parity {
    uint64_t bits;
    uint64_t pivot;
  };
  static constexpr uint64_t kDue = uint64_t{1} << 63;
  // Values with the same part above the last cut go together, the first of them for all.
  struct Level {
    std::vector<size_t> firsts;
    std::vector<int64_t> parts;  // of the firsts
    std::vector<int64_t> open;   // the parts of the other values
    int64_t largest() const;
  };

  // All extents that leave the parts at the last level as one of them does.
  struct Alike {
    int64_t first = 2, last = INT64_MAX;
  };
  Alike alike(int64_t n);
  bool is_dominated(int64_t extent, int64_t product);

  bool try_one_prime(int64_t prime);
  bool descend(int64_t product);
  bool go_on(int64_t extent, int64_t product);
  bool ends_here();
  bool merge(int64_t extent, Level& above);
  bool require(size_t first, size_t second);
  bool require_parity(size_t first, size_t second);

  std::vector<int64_t> values_;  // 0 and those given
  std::vector<uint64_t> due_;    // modulo the prime
  std::vector<bool> parity_of_due_;
  std::vector<int64_t> open_;
  int64_t common_ = 0;  // what divides all
  std::vector<Level> levels_;
  std::vector<std::vector<uint64_t>> floors_;  // for each cut, of the firsts there, modulo the prime
  std::vector<Equation> equations_;
  std::vector<std::vector<uint64_t>> bits_;  // for each cut, of the firsts there: those of it and of the cuts below
  std::vector<Parity> parities_;
  std::vector<std::pair<size_t, size_t>> merged_;  // by the last call of merge
  std::vector<int64_t> extents_;
  const Serves* serves_ = nullptr;
  int64_t steps_ = 0;
};

}  // namespace lay
