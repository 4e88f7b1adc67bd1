// The two scales on which the algebra answers, and a verdict with its evidence.
//
//   facts.decide(divides(M, 96))            refuted, sizes M = 128
//   injective(facts, (4,8):(8,1))           proved
//   injective(facts, (4,8):(1,1))           refuted, failure: at 4, coordinate (0,1), as at 1
//   solvable({4*x, 10*y}, 3, steps)         no
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lay {

// The outcome of a claim about sizes. Undecided: neither a proof nor a counterexample was found
// within the budget of steps.
enum class Verdict : uint8_t { proved, refuted, undecided };

// The answer to one question. Unknown: the budget of steps ended first, or some points of a range
// say yes and others no.
enum class Tri : uint8_t { yes, no, unknown };

constexpr Tri opposite(Tri answer) {
  return answer == Tri::unknown ? answer : answer == Tri::yes ? Tri::no : Tri::yes;
}

// Sizes of a counterexample, in the order in which the dims were made.
using Sizes = std::vector<std::pair<std::string, int64_t>>;

// Where a claim about layouts fails, in numbers. Which fields are set depends on the claim.
struct Failure {
  // The coordinate at which it fails, as a 1-D index and in full.
  std::optional<int64_t> index;
  std::string coordinate;
  // A second coordinate, of the same layout or of the other operand: where the value was before.
  std::optional<int64_t> other;
  std::string other_coordinate;
  // The value at the coordinate, and the value that the claim expects.
  std::string value, expected;
  // All of it as a sentence.
  std::string sentence;
};

// A verdict and its evidence.
//
//   proved     the claim holds for all sizes that the facts allow
//   refuted    it fails at `sizes`, the smallest by sum, then lexicographically (the smallest found
//              by doubling, where the budget ended before; none for known operands), as `failure`
//              says; with `never` the facts allow no sizes at which it holds
//   undecided  the conditions of `assume`, taken together, decide it
struct Conclusion {
  Verdict verdict = Verdict::undecided;
  Failure failure{};
  Sizes sizes{};
  bool never = false;
  std::vector<std::string> assume{};
};

}  // namespace lay
