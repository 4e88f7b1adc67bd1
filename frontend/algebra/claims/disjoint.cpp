#include <algorithm>
#include <unordered_map>
#include <utility>

#include "frontend/algebra/claims/axes.h"
#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/layouts/unit_check.h"

namespace lay {
namespace {

Conclusion both_give(const AnyLayout& a, const AnyLayout& b, int64_t i, int64_t j, bool shifted) {
  Failure f;
  f.index = i;
  f.coordinate = coordinate_text(a, i);
  f.other = j;
  f.other_coordinate = coordinate_text(b, j);
  f.value = value_text(a, i);
  f.sentence = place_text(a, i) + ", the first gives " + f.value + ", as " +
               (shifted ? "offset + " : "") + "the second gives " + place_text(b, j);
  return {Verdict::refuted, std::move(f)};
}

// a(i) == offset + b(j) as one equation for each axis of either.
// Sums over bounded digits: a's modes with their strides, b's with the opposite sign, and
//
//     sum of digits*strides == offset_b - offset_a        for each axis
//
// has a solution exactly where the layouts share a value.
class Meeting {
 public:
  Meeting(const Known& a, const Known& b) {
    for (const Known* known : {&a, &b}) {
      for (const auto& path : known->paths) {
        if (std::find(paths_.begin(), paths_.end(), path) == paths_.end()) paths_.push_back(path);
      }
    }
    for (const auto& path : paths_) targets_.push_back(offset(b, path) - offset(a, path));
    add(a, 1);
    add(b, -1);
  }

  Tri find() { return solvable(terms_, targets_, steps_); }

  // Digit by digit from the top, those of a first. Nothing when the steps end.
  std::optional<std::pair<int64_t, int64_t>> smallest(const Known& a, const Known& b) {
    const auto i = narrow(a, 0);
    const auto j = i ? narrow(b, a.modes.size()) : std::nullopt;
    if (!j) return std::nullopt;
    return std::pair(*i, *j);
  }

 private:
  static Wide offset(const Known& known, const std::vector<int>& path) {
    const auto axis = known.axis_of(path);
    return axis ? known.offsets[*axis] : Wide{0};
  }
  void add(const Known& known, int64_t sign) {
    for (const KnownMode& mode : known.modes) {
      const auto axis =
          std::find(paths_.begin(), paths_.end(), known.paths[mode.axis]) - paths_.begin();
      terms_.push_back({mode.stride * sign, 0, mode.extent - 1, static_cast<size_t>(axis)});
    }
  }
  // The least digit, from the top mode down, for which a solution is left: the smallest index of
  // one layout that takes part in a meeting.
  std::optional<int64_t> narrow(const Known& known, size_t begin) {
    int64_t index = 0;
    for (size_t k = known.modes.size(); k-- > 0;) {
      Bounded& term = terms_[begin + k];
      const auto digit = least_holding(term.high, [&](int64_t n) {
        const int64_t high = std::exchange(term.high, n);
        const Tri answer = find();
        term.high = high;
        return answer;
      });
      if (!digit) return std::nullopt;
      term.low = term.high = *digit;
      index += *digit * known.modes[k].radix;
    }
    return index;
  }

  std::vector<std::vector<int>> paths_;
  std::vector<Wide> targets_;
  std::vector<Bounded> terms_;
  int steps_ = kKnownSteps;
};

// Walks through both layouts, where they are small: the last resort, for compositions that are no
// layout under at most one swizzle.
Conclusion by_values(const AnyLayout& a, const AnyLayout& b, int64_t offset, int64_t most) {
  const auto of_a = walked(a, most), of_b = walked(b, most);
  if (!of_a || !of_b) return {};
  std::unordered_map<int64_t, int64_t> first;
  for (size_t j = 0; j < of_b->size(); ++j) {
    // The first j of a value is kept, so that the pair that is reported is the smallest.
    first.try_emplace(checked_add(offset, (*of_b)[j]), static_cast<int64_t>(j));
  }
  for (size_t i = 0; i < of_a->size(); ++i) {
    const auto at = first.find((*of_a)[i]);
    if (at != first.end()) return both_give(a, b, static_cast<int64_t>(i), at->second, offset != 0);
  }
  return {Verdict::proved, {}};
}

// Layouts that can be compared inside: plain ones, or under one swizzle and without an offset
// between them.
// A swizzle is a bijection: S(x) == S(y) where x == y. With an offset outside of it, S(x) == d +
// S(y), nothing follows for x and y.
bool alike(const KnownStripped& a, const KnownStripped& b, const Tuple& offset) {
  if (!a.swizzle && !b.swizzle) return true;
  return a.swizzle && b.swizzle && *a.swizzle == *b.swizzle && offset.is_literal(0);
}

// Sums over both layouts stay in range.
bool moderate(const Known& known) {
  // Both layouts together then stay far below 2^126, up to which `solvable` may add.
  constexpr Wide most = Wide{1} << 100;
  for (size_t axis = 0; axis < known.paths.size(); ++axis) {
    const auto terms = known.terms(axis);
    if (greatest_sum(terms) > most || least_sum(terms) < -most) return false;
  }
  return true;
}

Conclusion decide(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>& numbers,
                  int64_t most) {
  const AnyLayout &a = layouts[0], &b = layouts[1];
  const Tuple& offset = numbers[0];
  auto parts_a = known_stripped(a), parts_b = known_stripped(b);
  if (parts_a && parts_b && alike(*parts_a, *parts_b, offset) && moderate(parts_a->known) &&
      moderate(parts_b->known)) {
    // The offset as the constant layout 1:0 shifted by it, which says along which axes it moves b.
    const auto shift = known_layout(Layout(1, 0), offset);
    Known shifted = parts_b->known;
    for (size_t k = 0; shift && k < shift->paths.size(); ++k) {
      if (shift->offsets[k] == 0) continue;
      const auto axis = shifted.axis_of(shift->paths[k]);
      if (!axis) shifted.paths.push_back(shift->paths[k]);
      if (!axis) shifted.offsets.push_back(0);
      shifted.offsets[axis ? *axis : shifted.paths.size() - 1] += shift->offsets[k];
    }
    Meeting meeting(parts_a->known, shifted);
    const Tri answer = shift ? meeting.find() : Tri::unknown;
    if (answer == Tri::no) return {Verdict::proved, {}};
    if (answer == Tri::yes) {
      if (const auto pair = meeting.smallest(parts_a->known, shifted)) {
        return both_give(a, b, pair->first, pair->second, !offset.is_literal(0));
      }
    }
  }
  if (!offset.is_int()) return {};
  return by_values(a, b, offset.value().value(), most);
}

// Modulo a stride m, modes that step by multiples of it stand still. The rest of a runs from 0 to
// A, the rest of b from the offset d to d + B: they never meet if A < d and d + B < m.
bool apart_modulo(Facts& facts, const Stripped& a, const Stripped& b, const Int& offset,
                  const Int& m) {
  if (!facts.proves(less_equal(1, m))) return false;
  const auto left = [&](const Layout& layout) {
    Int reach = 0;
    for (const SymbolicAxis& axis : axes_of(layout)) {
      for (const SymbolicMode& mode : axis.modes) {
        if (facts.proves(divides(mode.stride, m))) continue;
        reach += (mode.extent - 1) * facts.max(mode.stride, -mode.stride);
      }
    }
    return reach;
  };
  // The bounds 0 .. A and d .. d + B hold only where no mode that is left steps back.
  const auto forwards = [&](const Layout& layout) {
    for (const SymbolicAxis& axis : axes_of(layout)) {
      for (const SymbolicMode& mode : axis.modes) {
        if (!facts.proves(less_equal(0, mode.stride)) && !facts.proves(divides(mode.stride, m)))
          return false;
      }
    }
    return true;
  };
  if (!forwards(a.layout) || !forwards(b.layout)) return false;
  const Int reach_a = left(a.layout), reach_b = left(b.layout);
  Int d = offset;
  // Multiples of m do not matter for the offset either.
  if (!facts.proves(less(d, m))) d = facts.mod(d, m);
  return facts.proves(less(reach_a, d)) && facts.proves(less(d + reach_b, m));
}

// One lies behind the other, or they are apart modulo one of their strides.
bool proved_apart(Facts& facts, const Stripped& a, const Stripped& b, const Int& offset) {
  const auto reach = [&](const Stripped& x) {
    Reach all{0, 0};
    // Layouts of integers have one axis at most.
    for (const SymbolicAxis& axis : axes_of(x.layout)) all = reach_of(facts, axis);
    return all;
  };
  const Reach of_a = reach(a), of_b = reach(b);
  if (facts.proves(less(of_a.high, offset + of_b.low)) ||
      facts.proves(less(offset + of_b.high, of_a.low)))
    return true;
  // Tiles of one tensor: columns j and j + 8 of (M,N):(N,1) are apart modulo N. Each stride of
  // either is tried as the modulus, and either layout as the lower one.
  for (const Stripped* x : {&a, &b}) {
    for (const SymbolicAxis& axis : axes_of(x->layout)) {
      for (const SymbolicMode& mode : axis.modes) {
        if (apart_modulo(facts, a, b, offset, mode.stride) ||
            apart_modulo(facts, b, a, -offset, mode.stride)) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

Conclusion disjoint(Facts& facts, const AnyLayout& a, const AnyLayout& b, const Tuple& offset) {
  common_codomain(codomain_of(a), codomain_of(b));
  Claim claim{{a, b}, {offset}, std::nullopt, {}, decide};
  const auto parts_a = stripped(a), parts_b = stripped(b);
  const bool plain = parts_a && parts_b && !parts_a->swizzle && !parts_b->swizzle;
  if (plain && !parts_a->layout.has_basis() && !parts_b->layout.has_basis() && offset.is_int() &&
      parts_a->offset.is_int() && parts_b->offset.is_int()) {
    const Int between = offset.value() + parts_b->offset.value() - parts_a->offset.value();
    // At offset 0 both layouts have the value 0, so the claim is false for all sizes.
    if (between.is(0)) claim.needed = {Predicate(false)};
    GuardScope tried(facts);
    if (proved_apart(facts, *parts_a, *parts_b, between)) claim.enough = std::vector<Predicate>{};
  }
  return judge(facts, claim);
}

}  // namespace lay
