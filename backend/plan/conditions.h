// The conditions of a variant, as far as they are open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

// The conditions, part by part, that the facts do not prove; nothing if one of them never holds.
std::optional<std::vector<Predicate>> open_conditions(const Facts& facts,
                                                      const std::vector<Predicate>& when);

// Returns true if these conditions cannot all hold beside the facts, as far as that is decided:
// leading dimensions M and M + 5 are never both multiples of 4.
bool contradicts(Facts facts, const std::vector<Predicate>& when);

// Returns the same by the whole procedure, which looks at sizes where there are few: those of N*N
// <= 256 and 8192 <= N. Lowering under such conditions may ask it too, and refuse them.
bool never_holds(Facts facts, const std::vector<Predicate>& when);

// Adds a condition of a schedule to the facts. Throws Refusal "contradiction" for one that provably
// never holds. A proof alone is asked for, since a search for sizes takes too long for every
// schedule: a variant that no size meets and no proof excludes is planned, and never taken.
void assume_of_schedule(Facts& facts, const Predicate& condition);

// Returns the conditions without those that the others imply, the last ones first: K % 8 == 0
// beside K % 64 == 0.
std::vector<Predicate> without_implied(const Facts& facts, std::vector<Predicate> when);

// Returns the conditions, part by part, in the form in which a script that has them in a `when` is
// read, so that a printed plan pastes back to the same text; without divisors that others imply,
// which are decided quickly. Returns nothing for conditions that exclude each other.
std::optional<std::vector<Predicate>> as_read_back(const Facts& facts,
                                                   const std::vector<Predicate>& when);

// The conditions behind `when`, which read back as they are: "M <= 16 and (N < 8 or 64 <= K)".
std::string conditions_text(const std::vector<Predicate>& when);

// Returns true if two variants are right for the same sizes and pointers, so that the later one of
// a plan's two is never taken, but in a portfolio.
bool same_conditions(const Variant& a, const Variant& b);

// Follows a plan that grows: which variants a launch may still reach.
class Reach {
 public:
  // Returns true if the launcher may take a variant of this cost, or of none, that stands behind
  // these: none of them takes all sizes and pointers, or one does and stands in the same portfolio.
  // Behind a variant that it never takes it takes none.
  bool admits(const std::vector<Variant>& variants, const std::optional<Cost>& cost);

 private:
  bool is_closed_ = false;
};

// Returns true if every launch finds a variant among these.
bool takes_all(const std::vector<Variant>& variants);

}  // namespace lay::plan
