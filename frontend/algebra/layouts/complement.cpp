#include <algorithm>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/repair.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

// A mode of extent 1 leaves no gap below it. Where the extent may be 1 and rounding would tell the
// difference, that it is more is guarded; false if it never is.
// For M:8 behind 4:1 the complement has a mode 2:4 below M. If M may be 1 the mode M:8 is not
// there, and all places from 4 on are one mode: the same layout only where nothing is rounded.
bool require_counted(Facts& facts, const Mode& mode, const Int& covered,
                     const std::vector<Int>& next) {
  const Int& stride = mode.stride.value();
  if (mode.extent.is_literal() || stride == covered) return true;
  const auto fits = [&](const Int& step) { return facts.proves(divides(step, stride)); };
  // Nothing is rounded: both cases coalesce to the same layout.
  if (facts.proves(divides(stride, covered)) && std::all_of(next.begin(), next.end(), fits))
    return true;
  return facts.try_require(less_equal(2, mode.extent), "complement");
}

// Returns the steps that may come above a mode: those of the modes behind it up to one that surely
// counts, or else the cotarget as well.
// A mode whose extent may be 1 may not be there: the one behind it is then the next.
std::vector<Int> steps_above(Facts& facts, const std::vector<Mode>& modes,
                             const std::vector<size_t>& order, size_t k, const Int& whole) {
  std::vector<Int> steps;
  for (size_t j = k + 1; j < order.size(); ++j) {
    const Mode& mode = modes[order[j]];
    steps.push_back(mode.stride.value());
    if (mode.extent.is_literal() || facts.proves(less_equal(2, mode.extent))) return steps;
  }
  steps.push_back(whole);
  return steps;
}

}  // namespace

Layout complement(Facts& facts, const Layout& a) {
  return complement(facts, a, cosize(facts, filter(facts, a)));
}

namespace {

// Modes, by ascending stride, of which some step within what others cover: no copies fit in between
// but those of single values below their common divisor.
// (2,2):(2,3) gives 0 2 3 5: no block from 0 on that copies could be laid behind, but its values
// have gcd 1, so nothing fits below; above all of it, from 6 on, copies do.
struct Interleaved {
  Int gap;
  std::optional<Int> covered;  // none: beyond 64 bits
};

Interleaved interleave(const std::vector<Mode>& modes, const std::vector<size_t>& order,
                       size_t count) {
  int64_t common = 0, span = 0;
  for (size_t k = 0; k < count; ++k) {
    const int64_t stride = modes[order[k]].stride.value().value();
    common = gcd(common, stride);
    span = checked_add(span, checked_mul(modes[order[k]].extent.value() - 1, stride));
  }
  int64_t covered;
  if (__builtin_add_overflow(span, common, &covered)) return {common, std::nullopt};
  return {common, covered};
}

// Returns what modes up to this one cover; nothing beyond 64 bits, where no stride and no cotarget
// is. A mode s:d above a dense block covers s*d: up to where its next step would be.
std::optional<Int> covered_by(const Mode& mode) {
  int64_t covered;
  const Int &extent = mode.extent, &stride = mode.stride.value();
  if (!extent.is_literal() || !stride.is_literal()) return stride * extent;
  if (__builtin_mul_overflow(extent.value(), stride.value(), &covered)) return std::nullopt;
  return covered;
}

// Refuses unless the literal layout is injective.
// The rule found a mode that steps into what others cover. That may still be injective, as
// (2,2):(2,3) is; if it is not, the refusal shows the value that comes twice.
void check_injective(Facts& facts, const Layout& a, const Layout& filtered, const Int& stride,
                     const std::optional<Int>& covered) {
  const std::string below = covered ? "the " + covered->to_string() : "what is beyond 64 bits";
  Refusal r = refusal("complement-overlap",
                      "complement of " + a.to_string() + ": a mode steps by " + stride.to_string() +
                          ", within " + below + " that the modes below it cover");
  r.operands = {a.to_string()};
  if (!filtered.is_known()) {
    const auto at_sizes = [&](Facts& plain, const Numbers& numbers) {
      const auto known = small_at(a, numbers);
      if (known) static_cast<void>(complement(plain, *known));
      return known.has_value();
    };
    show_sizes(facts, {a}, at_sizes, r);
    throw r;
  }
  // Modes of stride 0 stay at 0: the indices are those of the others.
  const Layout zeros = filter_zeros(a);
  const trace::Quiet trials;
  const Conclusion once = injective(facts, zeros);
  if (once.verdict == Verdict::proved) return;
  if (once.verdict == Verdict::undecided) throw r;
  const auto index = [&](int64_t i) {
    return crd2idx(facts, idx2crd(facts, i, zeros.shape), a.shape).value();
  };
  const auto coordinate = [&](int64_t i) {
    return a.shape.is_leaf() ? "" : idx2crd(facts, i, a.shape).to_string();
  };
  r.message = "complement needs an injective layout, and " + a.to_string() + " is not injective";
  const int64_t first = index(*once.failure.other), second = index(*once.failure.index);
  Counterexample w;
  w.index = second;
  w.coordinate = coordinate(second);
  w.expected =
      "a value other than at " + (a.shape.is_leaf() ? std::to_string(first) : coordinate(first));
  w.got = once.failure.value;
  r.witness = std::move(w);
  if (const auto apart = spread(a)) {
    Facts plain;
    static_cast<void>(complement(plain, *apart));
    r.works.push_back("the layout as " + apart->to_string());
  }
  throw r;
}

// Differences of values come with both signs, so that a mode that steps down is met where one that
// steps up is.
// The complement keeps a's values apart from their copies, which depends on differences only.
Int ascending(const Int& stride) {
  return stride.is_literal() && stride.value() < 0 ? -stride : stride;
}

}  // namespace

Layout complement(Facts& facts, const Layout& a, const Tuple& cotarget) {
  trace::Operation operation("complement", a, cotarget);
  const Layout filtered = filter(facts, a);
  require_integer_strides("complement", a);
  std::vector<Mode> modes = flat_modes(filtered);
  // Modes that stay at 0 take no room.
  std::erase_if(modes,
                [](const Mode& mode) { return mode.stride.is_literal(0) || mode.extent.is(1); });
  for (Mode& mode : modes) mode.stride = ascending(mode.stride.value());
  std::vector<Mode> result;
  // From the least stride up: below each mode there is room for stride/covered copies of all that
  // was covered so far.
  std::optional<Int> covered = 1;
  const std::vector<size_t> order = by_stride(facts, modes);
  for (size_t k = 0; k < order.size(); ++k) {
    const Mode& mode = modes[order[k]];
    const Int& stride = mode.stride.value();
    const std::vector<Int> next = steps_above(facts, modes, order, k, size(cotarget));
    if (covered && !require_counted(facts, mode, *covered, next)) continue;
    if (!covered || !facts.try_require(less_equal(*covered, stride), "complement")) {
      check_injective(facts, a, filtered, stride, covered);
      const Interleaved block = interleave(modes, order, k + 1);
      // All modes up to this one count as one block, with room below it only for what lies between
      // multiples of their common divisor.
      result.assign({{block.gap, 1}});
      trace::report([&] { return trace::Interlaced{mode, block.covered, block.gap}; });
      covered = block.covered;
      continue;
    }
    result.push_back({facts.floor_div(stride, *covered), *covered});
    trace::report([&] { return trace::Gap{mode, *covered, result.back().extent}; });
    covered = covered_by(mode);
  }
  if (covered) {
    // Above all modes as many copies as the cotarget needs.
    const Int rest = size(ceil_div(facts, cotarget, *covered));
    result.push_back({rest, *covered});
    trace::report([&] { return trace::Rest{cotarget, *covered, rest}; });
  }
  Layout complement = coalesce(facts, from_modes(result, {}));
  complement.units = {{}, a.units.codomain};
  return operation.gives(std::move(complement));
}

}  // namespace lay
