#include <algorithm>

#include "frontend/algebra/inverse_search/inverse_search.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/repair.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

// Returns true unless a mode covers a number beyond 64 bits.
// Then no stride can continue it.
bool fits(const Mode& mode) {
  int64_t covered;
  const Int& stride = mode.stride.value();
  return !mode.extent.is_literal() || !stride.is_literal() ||
         !__builtin_mul_overflow(mode.extent.value(), stride.value(), &covered);
}

// Follows the strides 1, s0, s0*s1, ... through the modes. `decide`: a stride that may or may not
// be the next one is taken not to be, and that is guarded.
//     (4,8):(8,1)     stride 1: mode 1, whose index step is 4; stride 8: mode 0, index step 1
//                     right inverse (8,4):(4,1)
//
// R(v) is the index of the value v for every v below the first gap.
Layout follow_strides(Facts& facts, const Layout& a, bool decide) {
  const Layout merged = coalesce(facts, a);
  const std::vector<Mode> modes = flat_modes(merged);
  // A step of mode i is place[i] in the 1-D index.
  std::vector<Int> place{1};  // the product of the extents before each mode
  for (const Mode& mode : modes) place.push_back(place.back() * mode.extent);
  std::vector<Mode> result;
  std::vector<size_t> rest;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i].stride.is_int() && !modes[i].stride.is_literal(0) && !modes[i].extent.is(1))
      rest.push_back(i);
  }
  Int next = 1;
  const auto find_next = [&] {
    // The next stride must be `next` exactly, or values begin to be missing.
    const auto steps_on = [&](size_t i) { return steps_into(facts, 1, modes[i].stride, next); };
    const auto known = std::find_if(rest.begin(), rest.end(), steps_on);
    // Inside other operations a shorter inverse is as good, and no guard is raised for it.
    if (!decide) return known;
    if (known != rest.end()) {
      // The first of several modes that step on is taken: an earlier one must not step on, unless
      // this one is a single step.
      for (auto before = rest.begin(); before != known; ++before) {
        facts.try_require(either(not_equal(modes[*before].stride.value(), next),
                                 less_equal(modes[*known].extent, 1)),
                          "right_inverse");
      }
      return known;
    }
    return std::find_if(rest.begin(), rest.end(), [&](size_t i) {
      return !facts.try_require(not_equal(modes[i].stride.value(), next), "right_inverse");
    });
  };
  const auto whole = [&] {
    Layout inverse = coalesce(facts, from_modes(result, {}));
    inverse.units = {a.units.codomain, a.units.domain};
    return inverse;
  };
  std::optional<size_t> last;
  for (auto found = find_next(); found != rest.end(); found = find_next()) {
    const size_t i = *found;
    // Nor would the mode found if the one after the last may be its continuation: one whole run is
    // taken first.
    if (decide && last && i != *last + 1 &&
        std::find(rest.begin(), rest.end(), *last + 1) != rest.end()) {
      facts.try_require(not_equal(modes[*last + 1].stride.value(), next), "right_inverse");
    }
    // A mode that may be the continuation of the one before it would not be found.
    if (decide && i > 0 && last != i - 1 && modes[i - 1].stride.is_int() && fits(modes[i - 1])) {
      facts.try_require(not_equal(modes[i - 1].extent * modes[i - 1].stride.value(), next),
                        "right_inverse");
    }
    last = i;
    result.push_back({modes[i].extent, place[i]});
    trace::report([&] { return trace::Follow{next, modes[i], place[i]}; });
    rest.erase(found);
    if (!fits(modes[i])) return whole();  // no stride is there
    next = modes[i].stride.value() * modes[i].extent;
  }
  trace::report([&] { return trace::Follow{next, std::nullopt, 0}; });
  return whole();
}

}  // namespace

Layout right_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("right_inverse", a);
  return operation.gives(follow_strides(facts, a, true));
}

Layout known_right_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("right_inverse", a);
  return operation.gives(follow_strides(facts, a, false));
}

namespace {

Refusal refuse_left_inverse(const Layout& a, const Int& covered, const Int& stride,
                            bool divides_it) {
  Refusal r = refusal("left-inverse",
                      "left_inverse of " + a.to_string() + ": the stride " + stride.to_string() +
                          (divides_it ? " is no multiple of the stride below it, "
                                      : " is within what the modes below it cover, ") +
                          covered.to_string());
  r.operands = {a.to_string()};
  return r;
}

// CuTe's form: strides in ascending order that divide one another, each beyond what the modes below
// it cover.
struct ByRule {
  std::optional<Layout> inverse;
  std::optional<Refusal> refusal;  // where a condition never holds; an inverse is then a guess
};

//     (4,8):(1,16)    strides 1 and 16: digits of v are v % 16 and v // 16
//                     left inverse (16,8):(1,4), of which 4 .. 15 are never asked for
ByRule invert_by_rule(Facts& facts, const Layout& a, const Layout& merged) {
  const std::vector<Mode> modes = flat_modes(merged);
  std::vector<Int> before{1};
  for (const Mode& mode : modes) before.push_back(before.back() * mode.extent);
  std::vector<Mode> result{
      {1, 0}};               // extents filled in one step later: the step to the next stride
  Int last = 1, extent = 1;  // of the mode below
  ByRule by_rule;
  size_t largest = modes.size();
  bool guessed = false;  // from a stride on that is no multiple of the one below it
  for (const size_t i : by_stride(facts, modes)) {
    const Int& stride = modes[i].stride.value();
    if (stride.is(0)) continue;
    // v % stride is a digit of its own only where the stride is a multiple of the one below it.
    if (!facts.try_require(divides(stride, last), "left_inverse")) {
      if (!by_rule.refusal) by_rule.refusal = refuse_left_inverse(a, last, stride, true);
      if (!merged.is_known()) return by_rule;
      guessed = true;
    }
    // The modes below must not reach this stride, or two indices would have one value.
    if (!by_rule.refusal && !facts.try_require(less_equal(last * extent, stride), "left_inverse")) {
      by_rule.refusal = refuse_left_inverse(a, last * extent, stride, false);
    }
    if (!guessed) trace::report([&] { return trace::Undo{modes[i], last, before[i]}; });
    result.back().extent =
        by_rule.refusal ? max(floor_div(stride, last), 1) : divided(stride, last);
    result.push_back({1, before[i]});
    last = stride;
    extent = modes[i].extent;
    largest = i;
  }
  result.back().extent = largest < modes.size() ? modes[largest].extent : size(merged);
  by_rule.inverse = coalesce(facts, from_modes(result, {}));
  return by_rule;
}

// Which way the literal strides go.
struct Signs {
  bool up = false, down = false;
};

// A symbolic stride counts as one that steps up.
Signs signs_of(const Layout& a) {
  Signs signs;
  for (const Mode& mode : flat_modes(a)) {
    const Int& stride = mode.stride.value();
    signs.up |= !stride.is_literal() || stride.value() > 0;
    signs.down |= stride.is_literal() && stride.value() < 0;
  }
  return signs;
}

Layout mirrored(const Layout& a) {
  const auto negated = [](const Tuple& stride) { return Tuple(-stride.value()); };
  return Layout(a.shape, transform(a.stride, negated), a.units, a.names);
}

Layout magnitudes(const Layout& a) {
  return Layout(a.shape, transform(a.stride, [](const Tuple& stride) {
                  return Tuple(max(stride.value(), -stride.value()));
                }));
}

// Strides apart, where that gives the layout an inverse.
// `spread` moves strides apart until nothing overlaps; it is offered only if that has an inverse.
void repair(const Layout& a, Refusal& r) {
  const auto apart = spread(a);
  const auto table = apart ? ValueTable::of(*apart) : std::nullopt;
  if (!table) return;
  const trace::Quiet trial;
  Facts facts;
  const Signs signs = signs_of(*apart);
  const bool works =
      signs.up && signs.down
          ? search_left_inverse(*table, Effort::trial).found.has_value()
          : !invert_by_rule(facts, *apart, coalesce(facts, magnitudes(*apart))).refusal;
  if (works) r.works.push_back("the layout as " + apart->to_string());
}

Layout invert(Facts& facts, const Layout& a, Effort effort);

// A refusal with symbols searches at small sizes. kTrial: what one size costs besides its elements;
// kMostInTrials: what all sizes together may cost.
constexpr int64_t kTrial = 32, kMostInTrials = 1 << 13;

// Where the rule gives no more than a guess. A trial refuses only what has no inverse; what it
// leaves open gives 1:0.
Layout search(Facts& facts, const Layout& a, const std::optional<Layout>& guess, Refusal r,
              Effort effort) {
  const auto table = ValueTable::of(a);
  // The rule's conditions are sufficient, not necessary: its result may be right all the same.
  if (table && guess && is_left_inverse(*table, *guess)) return *guess;
  const InverseSearch search = table ? search_left_inverse(*table, effort) : InverseSearch();
  if (search.found) {
    trace::report([&] { return trace::Searched{*search.found}; });
    return coalesce(facts, *search.found);
  }
  if (effort == Effort::trial && !search.exhausted) return {};
  r.message += search.exhausted ? "; no layout undoes it" : "; no layout that undoes it was found";
  if (table && guess) r.witness = first_lost(a, *table, *guess);
  repair(a, r);
  if (!a.is_known()) {
    int64_t budget = kMostInTrials;
    const auto at_sizes = [&](Facts& plain, const Numbers& numbers) {
      const auto known = small_at(a, numbers);
      if (!known || (budget -= size(*known).value() + kTrial) < 0) return false;
      static_cast<void>(invert(plain, *known, Effort::trial));
      return true;
    };
    show_sizes(facts, {a}, at_sizes, r);
  }
  throw r;
}

std::optional<Layout> guess_by_magnitudes(Facts& facts, const Layout& a) {
  if (!a.is_known()) return std::nullopt;
  const trace::Quiet trial;
  return invert_by_rule(facts, a, coalesce(facts, magnitudes(a))).inverse;
}

Layout invert(Facts& facts, const Layout& a, Effort effort) {
  const Signs signs = signs_of(a);
  // Values go up and down: the rule orders strides by size and knows no signs, so its result is a
  // guess.
  if (signs.up && signs.down) {
    Refusal r =
        refusal("left-inverse", "left_inverse of " + a.to_string() + ": strides go up and down");
    r.operands = {a.to_string()};
    return search(facts, a, guess_by_magnitudes(facts, a), std::move(r), effort);
  }
  // All strides step down: the mirror image is inverted, and mirrored back.
  if (signs.down) return mirrored(invert(facts, mirrored(a), effort));  // R(-v) == -R(v)
  ByRule by_rule = invert_by_rule(facts, a, coalesce(facts, a));
  return by_rule.refusal ? search(facts, a, by_rule.inverse, *by_rule.refusal, effort)
                         : *by_rule.inverse;
}

}  // namespace

Layout left_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("left_inverse", a);
  require_integer_strides("left_inverse", a);
  Layout inverse = invert(facts, a, Effort::whole);
  inverse.units = {a.units.codomain, a.units.domain};
  return operation.gives(std::move(inverse));
}

// The modes of stride 0, as steps in the domain: along them the layout does not change.
Layout nullspace(const Layout& a) {
  const std::vector<Mode> modes = flat_modes(a);
  const std::vector<Mode> steps = flat_modes(make_layout(a.shape));
  std::vector<Mode> result;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i].stride.is_literal(0)) result.push_back(steps[i]);
  }
  Layout kernel = from_modes(result, {});
  kernel.units = {{}, a.units.domain};
  return kernel;
}

}  // namespace lay
