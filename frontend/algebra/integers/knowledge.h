#pragma once

// Inside the algebra: the facts in the form in which the decision procedure uses them. Dims that a
// fact determines are replaced (M % 128 == 0: M = 128*M'; M == N: M = N), every other fact about
// them is rewritten accordingly.

#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/integers/samples.h"

namespace lay {

struct Knowledge {
  struct Bounds {
    int64_t lower = 1;
    std::optional<int64_t> upper;
  };

  // By expressions in dims that are not replaced.
  std::map<DimId, Int> replaced;
  std::map<DimId, Bounds> bounds;  // of dims not replaced; {1, none} if not listed
  std::vector<Int> nonnegative;    // f >= 0
  // F % m == 0.
  std::vector<std::pair<Int, Int>> divisible;
  // The rest, known as they stand.
  std::vector<Predicate> other;
  // Every fact as it was said.
  std::vector<Predicate> stated;
  bool contradiction = false;

  explicit Knowledge(const Facts& facts);
  // The same and one fact more.
  Knowledge with(const Predicate& fact) const;

  Bounds bounds_of(DimId id) const;
  // The results found from the facts so far; none of them is a fact of its own.
  struct Memory;
  Memory& memory() const;

  // The integer in terms of dims that are not replaced. Refusal "inexact" or "overflow" where the
  // facts contradict it.
  Int normal(const Int& a) const { return replaced.empty() ? a : a.substitute(replaced); }
  Predicate normal(const Predicate& p) const {
    return replaced.empty() ? p : p.substitute(replaced);
  }

 private:
  void learn_pending();
  void learn(const Predicate& fact);
  void learn_equal(const Int& difference);
  void learn_divides(const Int& a, const Int& by);
  void learn_nonnegative(const Int& a);
  void learn_not_equal(const Int& difference);
  void replace(DimId id, const Int& by);
  void settle(DimId id);
  std::vector<Predicate> pending_;
  // Made when asked for.
  mutable std::shared_ptr<Memory> memory_;
};

struct Knowledge::Memory {
  explicit Memory(Samples s) : samples(std::move(s)) {}
  Samples samples;
  // For integers, the depth of the search to which they were proved to be at least 0, and from
  // which on they were not. For conditions, true if they were proved. Results that a budget cut
  // short are left out. The values hold their keys.
  struct Sign {
    Int integer;
    int proved_to = -1;
    int failed_from = INT_MAX;
  };
  std::unordered_map<const Polynomial*, Sign> signs;
  std::unordered_map<const PredicateNode*, std::pair<Predicate, bool>> decided;
  // What `Facts::simplify` makes of an atom: nothing where it stays and its parts are looked at.
  std::unordered_map<const Atom*, std::optional<Int>> simplified;
};

// Adds the conditions that `p` is a conjunction of.
void split_conjunction(const Predicate& p, std::vector<Predicate>& parts);

// Proves without a search: identity, divisibility, sign. `steps` is the budget, used up as it goes.
bool prove(const Knowledge& known, const Predicate& predicate, int& steps);
bool prove_nonnegative(const Knowledge& known, const Int& a, int& steps);
// A bound that holds for all allowed sizes, where one is found.
std::optional<int64_t> lower_bound(const Knowledge& known, const Int& a);

// The result of a search for sizes: the smallest that the facts allow and at which the claim fails.
// `exhausted`: the facts allow finitely many sizes, all were tried, and none fails. `finite`: the
// facts bound every size.
struct Search {
  std::optional<Sizes> witness;
  bool exhausted = false;
  bool finite = false;
  Binding at;  // the witness by dims
};
// A test of a claim at some sizes; nothing if the claim has no value there, or none that is found
// quickly.
using SizeTest = std::function<std::optional<bool>(const Binding&)>;
Search search_counterexample(const Knowledge& known, const std::map<DimId, std::string>& dims,
                             const SizeTest& claim);
// `share`: of what a search may take, where many are made.
Search search_counterexample(const Knowledge& known, const Predicate& predicate, double share = 1);

}  // namespace lay
