// The common part of two layouts, or of a layout and an access width.

#include <algorithm>
#include <numeric>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/layouts/unit_check.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

const Layout& plain(const AnyLayout& a) {
  if (const Layout* layout = std::get_if<Layout>(&a)) return *layout;
  return std::get<Composed>(a).layout();
}

const Swizzle* swizzle_of(const AnyLayout& a) {
  const Composed* composed = std::get_if<Composed>(&a);
  return composed ? std::get_if<Swizzle>(&composed->outer) : nullptr;
}

// Elements that stay neighbours under both: below the bits that one swizzle moves and the other
// does not.
// A swizzle keeps runs of 2^M elements in one piece.
std::optional<int64_t> swizzle_limit(const AnyLayout& a, const AnyLayout& b) {
  const Swizzle *x = swizzle_of(a), *y = swizzle_of(b);
  if (x && y && *x == *y) return std::nullopt;
  std::optional<int64_t> limit;
  for (const Swizzle* s : {x, y}) {
    if (!s || s->b == 0) continue;
    trace::report([&] { return trace::Limited{*s, int64_t{1} << s->m}; });
    limit = std::min(limit.value_or(INT64_MAX), int64_t{1} << s->m);
  }
  return limit;
}

// a o part, where that is a layout whatever the sizes.
// An attempt: a composition that needs guards would make the vector depend on sizes.
std::optional<Layout> values_along(Facts& facts, const Layout& a, const Layout& part) {
  const trace::Quiet trial;
  GuardScope scope = GuardScope::attempt(facts);
  try {
    Layout values = coalesce(
        facts, composition(facts, Layout(a.shape, a.stride), Layout(part.shape, part.stride)));
    if (scope.guards().empty()) return values;
  } catch (const Refusal&) {
  }
  return std::nullopt;
}

}  // namespace

Layout max_common_layout(Facts& facts, const Layout& a, const Layout& b) {
  common_codomain(a.units.codomain, b.units.codomain);
  // a o (inverse of b) maps offsets of b to offsets of a: where it is the identity, 0 1 2 ..., both
  // lay out the same elements side by side.
  const Layout inverse = known_right_inverse(facts, b);
  const std::vector<Mode> modes = flat_modes(inverse);
  // The longest prefix of b's inverse that a maps to a layout at all.
  // A shorter prefix composes where the whole does not.
  for (size_t count = modes.size(); count > 0; --count) {
    const Layout prefix = from_modes(
        {modes.begin(), modes.begin() + static_cast<std::ptrdiff_t>(count)}, inverse.units);
    const auto values = values_along(facts, a, prefix);
    if (!values) continue;
    const Mode first = flat_modes(*values)[0];
    const bool follows = steps_into(facts, 1, first.stride, 1);
    trace::report([&] { return trace::Common{prefix, *values, follows ? first.extent : Int(1)}; });
    if (!follows) break;
    const trace::Quiet quiet;
    return composition(facts, inverse, Layout(first.extent, 1));
  }
  return Layout(1, 0);
}

Int max_common_vector(Facts& facts, const Layout& a, const Layout& b) {
  return size(max_common_layout(facts, a, b));
}

Layout max_common_layout(Facts& facts, const AnyLayout& a, const AnyLayout& b) {
  const Layout common = max_common_layout(facts, plain(a), plain(b));
  const auto limit = swizzle_limit(a, b);
  if (!limit) return common;
  const Int n = facts.min(size(common), *limit);
  return composition(facts, common, Layout(n, 1));
}

Int max_common_vector(Facts& facts, const AnyLayout& a, const AnyLayout& b) {
  const Int n = max_common_vector(facts, plain(a), plain(b));
  const auto limit = swizzle_limit(a, b);
  return limit ? facts.min(n, *limit) : n;
}

Int max_alignment(Facts& facts, const Layout& a) {
  const std::vector<Mode> modes = flat_modes(coalesce(facts, a));
  // A run of neighbours from the first modes with strides 1, s0, s0*s1, ...; every other stride
  // must be a multiple.
  Int run = 1;
  std::vector<bool> used(modes.size(), false);
  //     (4,8):(8,1)    mode 1 is a run of 8, mode 0 goes on: aligned to 32, its whole size
  //     (4,8):(9,1)    the run of 8 and the stride 9: gcd 1
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < modes.size() && !found; ++i) {
      if (used[i] || !modes[i].stride.is_int() || modes[i].extent.is(1)) continue;
      if (!steps_into(facts, 1, modes[i].stride, run)) continue;
      run *= modes[i].extent;
      found = used[i] = true;
    }
  }
  int64_t alignment = facts.divisor(run);
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!used[i]) alignment = std::gcd(alignment, facts.divisor(modes[i].stride.value()));
  }
  const bool all_used = std::find(used.begin(), used.end(), false) == used.end();
  return all_used && !run.is_literal() ? run : Int(std::max<int64_t>(alignment, 1));
}

// Bits below M stay where they are.
Int max_alignment(const Swizzle& s) {
  return int64_t{1} << s.m;
}

//    (15,14) among 6 workers: 3 along mode 0, 2 along mode 1, (3,2):(1,15)
Layout domain_distribute(Facts& facts, const Tuple& shape, const Int& n) {
  if (n.is_literal() && n.value() < 1) {
    throw refusal("extent",
                  "domain_distribute deals out to at least 1 worker, not to " + n.to_string());
  }
  std::vector<Mode> result;
  Int rest = n, before = 1;
  for (const Tuple& leaf : leaves(shape)) {
    const Int& extent = leaf.value();
    // Each mode takes what divides both its extent and the workers that are left.
    Int share = std::gcd(facts.divisor(extent), facts.divisor(rest));
    if (facts.proves(divides(extent, rest)))
      share = rest;
    else if (facts.proves(divides(rest, extent)))
      share = extent;
    result.push_back({share, before});
    rest = divided(rest, share);
    before *= extent;
  }
  return coalesce(facts, from_modes(result, {}));
}

}  // namespace lay
