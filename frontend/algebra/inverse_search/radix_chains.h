#pragma once

// which boundaries a layout may have that takes given values.

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "frontend/algebra/inverse_search/upper_table.h"
#include "frontend/algebra/support/digest.h"

namespace lay {

// A layout R of extents n0, n1, ..., the last one open, gives at v a sum of e_k*floor(v/P_k) with
// P_k = n0*...*n(k-1): any integers e_k are strides of R in other words. So R(v_i) == due_i for all
// i is a question about a chain of boundaries P_0 = 1, P_1, P_2, ..., each a multiple of the one
// before, and linear equations for the e_k. The search takes the boundaries from the lowest up and
// leaves out no chain that is not served by another:
//
//   * Only those by primes matter, for a boundary more is a number more to choose.
//   * Values with one part above a boundary differ by what the boundaries below it give: equations
//   in integers for those alone,
//     so that a chain is left as soon as they have no solution, whatever would follow.
//   * Neighbours that one mode cannot give (`obstruction`) have a boundary between the next two, or
//   a higher one there:
//     each higher boundary is a multiple of the next, so the next is one as well at a number
//     between them. So the next prime divides a number between two of a few neighbours.
//   * Two next extents n that give all floor(v/(P*n)) alike serve alike, whatever follows. If there
//   is a composite one
//     among them, a chain through its parts does what they do; so above 3 a prime counts only where
//     it stands alone.
//   * Below a divisor of all values the digits are 0 and the order of the primes makes no
//   difference.
//   * Of a value with several indices all are carried along that go with what is decided so far.
//   Decided is only what
//     two values in one part above a boundary differ by, where the equations leave it open.
//   * What fails above a boundary fails again where other boundaries and strides lead to the same
//   rest.
//
// So an end without an answer that is not one of steps or of 64 bits says that there is none. For
// few values the chains of one prime each, 2, 4, 8, ..., are nearly always enough and are tried
// first.
class RadixChains {
 public:
  // `whole`: what is expected above the boundary 1. `common` divides all values; `likely` are
  // boundaries to try first.
  RadixChains(UpperTable whole, int64_t common, std::vector<int64_t> likely);

  // Calls `serves` with the extents of each chain whose equations hold, and what was decided of
  // values with several indices, until it says true. Counts the steps down. exhausted: no chain is
  // left. ended: the steps were used up before, or numbers do not fit 64 bits.
  enum class End : uint8_t { served, exhausted, ended };
  using Serves = std::function<bool(const std::vector<int64_t>& extents,
                                    const std::vector<Difference>& decided)>;
  //
  // `start`: what served last, to go on with where the same is asked again of more values.
  struct Start {
    size_t plan = 0;
    int64_t steps = 0;
  };
  End run(const Serves& serves, int64_t& steps, Start& start);

 private:
  // Which extents are tried at a boundary.
  enum class Extents : uint8_t { one_prime, likely, primes };

  struct SearchPlan {
    Extents extents;
    int64_t prime;
    size_t most_boundaries;
    // A difference that may be so few numbers is decided before the next boundary.
    size_t few;
    bool is_done = false;
  };

  End run_plain(int64_t& steps);
  End run_in_turn(int64_t& steps, Start& start);
  bool attempt(const SearchPlan& plan, int64_t steps);
  bool descend(UpperTable rest, int64_t product);
  std::vector<int64_t> next_likely(const UpperTable& rest, int64_t product) const;
  bool go_on(const UpperTable& rest, int64_t extent, int64_t product);
  bool is_dominated(const UpperTable& rest, int64_t extent, int64_t product);

  UpperTable whole_;
  int64_t common_;
  std::vector<int64_t> likely_;
  SearchPlan plan_{};
  // Rests above which nothing serves.
  std::set<Digest> failed_;
  std::vector<int64_t> extents_;
  const Serves* serves_ = nullptr;
  int64_t steps_ = 0;
  bool ended_ = false;
};

}  // namespace lay
