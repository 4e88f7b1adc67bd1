#pragma once

// The facts about the sizes, and the procedure that decides obligations from them.
//
//     Facts facts;
//     Int M = facts.dim("M");                              // an integer >= 1
//     facts.assume(divides(M, 128));
//     facts.decide(divides(M, 64)).verdict                 proved
//     facts.decide(divides(M, 96))                         refuted, sizes M = 128 (the smallest
//     size that breaks it) GuardScope scope(facts); facts.require(divides(M, 96),
//     "divide_exactly");     neither always nor never: becomes a guard
//     scope.guards()[0].predicate.to_string()              "M % 96 == 0"
//
// Decisions are made in this order: (1) identity of normal forms; (2) divisibility, with d = m*q +
// r put in from the facts; (3) sign, with d = lower + d', bounds of atoms, and the known
// inequalities; (4) a search of the smallest sizes that the facts allow for a counterexample. They
// stop at a budget of steps, never at a clock, so that a verdict does not depend on the machine.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/support/verdict.h"

namespace lay {

struct Knowledge;  // knowledge.h

// A condition that must hold where the value that carries it is used: path => predicate.
struct Guard {
  // The undecided conditions under which it was raised.
  Predicate path;
  Predicate predicate;
  std::string origin;  // the operation that raised it
  // The smallest sizes that break it, where found.
  Sizes breaks;

  // "M % 96 == 0", or "N > 4 => M % 96 == 0" written in Lay as "not (N > 4) or M % 96 == 0".
  std::string to_string() const;
  friend bool operator==(const Guard& a, const Guard& b) {
    return a.path == b.path && a.predicate == b.predicate;
  }
};

class Facts {
 public:
  // A new size, an integer >= 1.
  Int dim(std::string_view name);
  // Bounds of a symbol that is not a size (an index: at least 0). Without a declaration a symbol is
  // >= 1 and unbounded.
  void declare(const Int& symbol, int64_t lower, std::optional<int64_t> upper = std::nullopt);

  // Adds a fact. One that contradicts what is known throws Refusal "contradiction".
  void assume(const Predicate& fact);
  // The same without a search for sizes for which it holds: false, and nothing assumed, where it is
  // proved that there are none.
  bool suppose(const Predicate& fact);
  const std::vector<Predicate>& assumptions() const { return assumptions_; }

  // Decides the predicate; a refutation holds its smallest `sizes`.
  Conclusion decide(const Predicate& predicate) const;
  // decide(...) == proved, without a search for a witness.
  bool proves(const Predicate& predicate) const;

  // An obligation. Proved: nothing happens. Can never hold: throws Refusal "refuted" with the
  // smallest sizes. Else: a guard, which the rest of the scope may rely on.
  void require(const Predicate& predicate, std::string_view origin);
  // The same without the exception: false if it can never hold.
  bool try_require(const Predicate& predicate, std::string_view origin);
  // Puts a guard that was raised elsewhere into the current scope.
  void raise(const Guard& guard);
  // Returns true if a guard that was raised elsewhere is refuted by what is known here: a value
  // that depends on it does not exist.
  bool rules_out(const Guard& guard) const;

  // The exact quotient a / b: requires b != 0 and a % b == 0.
  Int exact_div(const Int& a, const Int& b, std::string_view origin);

  // As in int.h, simplified by what is known: ceil_div(M,128) is M/128 where 128 divides M,
  // min(M,8) is 8 where M >= 8. A divisor that may be 0 is an obligation.
  Int floor_div(const Int& a, const Int& b);
  Int ceil_div(const Int& a, const Int& b);
  Int mod(const Int& a, const Int& b);
  Int min(const Int& a, const Int& b) const;
  Int max(const Int& a, const Int& b) const;
  // Returns true if the number of some size is known: after `assume M == 6`, 6 stands for M.
  bool knows_numbers() const;
  // Decides the divisions, minima and selections of an integer made before a fact was known by what
  // is known now, and puts in the numbers of known sizes. A part that cannot be written then stays.
  Int simplify(const Int& a) const;

  // The guards without those that the facts prove by now, and without doubles. For display: stored
  // values never change.
  std::vector<Guard> simplify(const std::vector<Guard>& guards) const;

  // The greatest literal that is known to divide the integer; 0 for 0. With M % 128 == 0, 64
  // divides M/2 + 192.
  int64_t divisor(const Int& a) const;

  // The bounds known of a literal or symbolic integer.
  std::optional<int64_t> lower(const Int& a) const;
  std::optional<int64_t> upper(const Int& a) const;

  // The conjunction of the path conditions in force.
  Predicate path() const;

 private:
  friend class Under;
  friend class WithoutPath;
  friend class GuardScope;
  friend struct Knowledge;

  const Knowledge& knowledge() const;
  // The facts in force, with the conditions of the path and the guards that count as facts.
  std::vector<Predicate> stated() const;
  // False if what is known then contradicts itself.
  bool keep(const Predicate& fact);

  std::map<DimId, std::pair<int64_t, std::optional<int64_t>>> bounds_;
  std::vector<Predicate> assumptions_;
  std::vector<Predicate> path_;
  struct Scope {
    std::vector<Guard> guards;
    bool attempt = false;
  };
  std::vector<Scope> scopes_ = {{}};
  mutable std::shared_ptr<const Knowledge> knowledge_;  // of all of the above; made when asked for
  // What was known under other conditions, by the facts then in force, which it holds: an `if` in a
  // list of many rows asks under the same conditions again and again. A copy begins without.
  struct Recent {
    Recent() = default;
    Recent(const Recent& /*other*/) {}
    Recent& operator=(const Recent& /*other*/) {
      known.clear();
      return *this;
    }
    ~Recent() = default;
    std::map<std::vector<const PredicateNode*>, std::shared_ptr<const Knowledge>> known;
  };
  mutable Recent recent_;
};

// A path condition while it lives:
//
//     Under then(facts, condition);
//     if (then.possible()) ...
class Under {
 public:
  Under(Facts& facts, const Predicate& condition);
  ~Under();
  Under(const Under&) = delete;
  Under& operator=(const Under&) = delete;
  // False if the facts refute the condition for all sizes.
  bool possible() const { return possible_; }

 private:
  Facts& facts_;
  size_t depth_;
  bool possible_;
};

// Sets the path conditions aside while it lives: an obligation then has to hold whatever the path.
class WithoutPath {
 public:
  explicit WithoutPath(Facts& facts);
  ~WithoutPath();
  WithoutPath(const WithoutPath&) = delete;
  WithoutPath& operator=(const WithoutPath&) = delete;

 private:
  Facts& facts_;
  std::vector<Predicate> path_;
};

// Collects the guards raised while it lives. They do not go to the scope outside unless `keep` is
// called: whoever opens the scope attaches them to the value that depends on them.
class GuardScope {
 public:
  explicit GuardScope(Facts& facts);
  // A scope inside one operation, which may rely on the guards raised in the scope outside, because
  // it will hand its own to it.
  static GuardScope attempt(Facts& facts) { return GuardScope(facts, true); }
  ~GuardScope();
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;

  const std::vector<Guard>& guards() const;
  // Hands the guards on to the scope outside.
  void keep();

 private:
  GuardScope(Facts& facts, bool attempt);
  Facts& facts_;
  size_t depth_;
};

}  // namespace lay
