#include <algorithm>
#include <unordered_map>
#include <utility>

#include "frontend/algebra/claims/axes.h"
#include "frontend/algebra/claims/collision.h"
#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// --- known numbers -------------------------------------------------------------------------------

// Walks through the values with a table of where each came first.
Conclusion by_values(const AnyLayout& a, int64_t most_values) {
  const auto values = walked(a, most_values);
  if (!values) return {};
  std::unordered_map<int64_t, int64_t> first;
  for (size_t i = 0; i < values->size(); ++i) {
    const auto [at, fresh] = first.try_emplace((*values)[i], static_cast<int64_t>(i));
    if (!fresh) return repeated_at(a, static_cast<int64_t>(i), at->second);
  }
  return {Verdict::proved, {}};
}

Conclusion decide(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>&,
                  int64_t most_values) {
  const AnyLayout& a = layouts[0];
  if (const auto parts = known_stripped(a)) {
    IndexPair pair;
    // A swizzle around the layout is a bijection and changes nothing here: `parts` is the layout
    // inside.
    const Tri answer = collision(parts->known, pair);
    if (answer == Tri::no) return {Verdict::proved, {}};
    if (answer == Tri::yes) return repeated_at(a, pair.second, pair.first);
  }
  return by_values(a, most_values);
}

// --- symbols -------------------------------------------------------------------------------------

// Values so far lie in 0 .. reach. Copies of them at distance d are apart if d > reach: the
// sufficient condition for one mode above others, as in (4,8):(1,4).
Predicate steps_over(const Int& reach, const SymbolicMode& mode) {
  return less_equal(reach + 1, mode.stride);
}

// The modes with known numbers in one block, if they give no value twice, below the others.
// (2,3,M):(3,2,8): the modes 2:3 and 3:2 interleave, so no order of single steps proves them apart,
// but their numbers decide it. Together they reach 7, and M:8 steps over that.
std::optional<std::vector<Predicate>> above_known(const Facts& facts,
                                                  const std::vector<SymbolicMode>& modes) {
  std::vector<SymbolicMode> rest;
  std::vector<KnownMode> block;
  Int reach = 0;
  for (const SymbolicMode& mode : modes) {
    if (mode.extent.is_literal() && mode.stride.is_literal()) {
      block.push_back({mode.extent.value(), mode.stride.value(), 0, 1});
      reach += (mode.extent - 1) * mode.stride;
    } else {
      rest.push_back(mode);
    }
  }
  IndexPair pair;
  // A block of one mode is what `fewest_open` tries by itself.
  if (block.size() < 2 || collision(block, pair) != Tri::no) return std::nullopt;
  return fewest_open(facts, rest, reach, steps_over);
}

// The greatest g that may divide both strides, of which one is known: x*d == y*e takes x to a
// multiple of e/g and y to one of d/g, beyond the one extent or the other.
// (2,M):(M,2): x*2 == y*M with g = 1 (M odd) needs x a multiple of M, beyond its extent, or 0.
int64_t common_divisor(const Facts& facts, int64_t d, const Int& e) {
  // From the greatest: a g that the facts rule out is no common divisor at any size.
  for (int64_t g = d; g > 1; --g) {
    if (d % g == 0 && !facts.proves(negate(divides(e, g)))) return g;
  }
  return 1;
}

// Two modes that interleave, as in (2,M):(M,2) with an odd M, in one block below the others.
std::optional<std::vector<Predicate>> above_interleaved(const Facts& facts,
                                                        const std::vector<SymbolicMode>& modes) {
  // Strides of interleaved modes are vector widths or tile extents; divisors of larger ones would
  // be asked for long.
  constexpr int64_t kGreatest = 64;
  std::optional<std::vector<Predicate>> best;
  for (const SymbolicMode& x : modes) {
    if (!x.stride.is_literal() || x.stride.value() < 2 || x.stride.value() > kGreatest) continue;
    for (const SymbolicMode& y : modes) {
      if (y.stride.is_literal()) continue;
      const int64_t g = common_divisor(facts, x.stride.value(), y.stride);
      const Predicate apart =
          either(less_equal(x.extent * g, y.stride), less_equal(y.extent * g, x.stride));
      // Proved, not left open: a guard of this form would tell a user nothing.
      if (!facts.proves(apart)) continue;
      std::vector<SymbolicMode> rest;
      for (const SymbolicMode& mode : modes) {
        if (&mode != &x && &mode != &y) rest.push_back(mode);
      }
      auto open = fewest_open(facts, rest, (x.extent - 1) * x.stride + (y.extent - 1) * y.stride,
                              steps_over);
      if (open && (!best || open->size() < best->size())) best = std::move(open);
    }
  }
  return best;
}

// Axes are independent: two coordinates with one value agree along each. So conditions are added up
// axis by axis, each by the rule that leaves fewest open.
std::optional<std::vector<Predicate>> enough(Facts& facts, const Layout& a) {
  std::vector<Predicate> all;
  for (const auto& [path, modes] : axes_without_signs(facts, a)) {
    auto of_axis = fewest_open(facts, modes, 0, steps_over);
    if (!of_axis) of_axis = above_known(facts, modes);
    if (!of_axis || !of_axis->empty()) {
      auto interleaved = above_interleaved(facts, modes);
      if (interleaved && (!of_axis || interleaved->size() < of_axis->size()))
        of_axis = std::move(interleaved);
    }
    if (!of_axis) return std::nullopt;
    all.insert(all.end(), of_axis->begin(), of_axis->end());
  }
  return all;
}

// A mode that does not move has one place; two modes of which one steps by a multiple of the other
// must not reach it.
std::vector<Predicate> needed(Facts& facts, const Layout& a) {
  std::vector<Predicate> all;
  for (const auto& [path, modes] : axes_without_signs(facts, a)) {
    for (size_t i = 0; i < modes.size(); ++i) {
      all.push_back(either(equal(modes[i].extent, 1), not_equal(modes[i].stride, 0)));
      for (size_t j = 0; j < modes.size(); ++j) {
        // i steps by d, and j by e = times*d: i reaches j's first step after `times` of its own, so
        // it needs an extent of at most `times`.
        const Int &d = modes[i].stride, &e = modes[j].stride;
        if (i == j || d.is(0) || (d.is_literal() && e.is_literal() && e.value() % d.value() != 0))
          continue;
        const Int times = e == d ? Int(1) : floor_div(e, d);
        // floor_div alone may be inexact: only where it divides is the condition needed.
        if (times * d == e)
          all.push_back(either(equal(modes[j].extent, 1), less_equal(modes[i].extent, times)));
      }
    }
  }
  return all;
}

}  // namespace

std::vector<Predicate> injective_where(Facts& facts, const Layout& a) {
  auto conditions = enough(facts, a);
  return conditions ? *conditions : std::vector<Predicate>{Predicate(false)};
}

Conclusion injective(Facts& facts, const AnyLayout& a) {
  Claim claim{{a}, {}, std::nullopt, {}, decide};
  if (const auto parts = stripped(a); parts && !parts->layout.is_known()) {
    claim.enough = enough(facts, parts->layout);
    claim.needed = needed(facts, parts->layout);
  }
  return judge(facts, claim);
}

}  // namespace lay
