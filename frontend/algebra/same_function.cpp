#include <algorithm>

#include "frontend/algebra/judge.h"
#include "frontend/algebra/mode.h"
#include "frontend/algebra/operations.h"

namespace lay {
namespace {

KnownVerdict sizes_differ(int64_t a, int64_t b) {
  Failure f;
  f.value = std::to_string(a);
  f.due = std::to_string(b);
  f.sentence = "the sizes are " + f.value + " and " + f.due;
  return {Verdict::refuted, std::move(f)};
}

KnownVerdict differ_at(const AnyLayout& a, const AnyLayout& b, int64_t index) {
  Failure f;
  f.index = index;
  f.coordinate = coordinate_text(a, index);
  f.value = value_text(a, index);
  f.due = value_text(b, index);
  f.sentence = place_text(a, index) + ", the first gives " + f.value + " and the second " + f.due;
  return {Verdict::refuted, std::move(f)};
}

// Coalesced layouts are equal where the functions are: the first stride is the value at 1, the first extent where the
// values leave its multiples, and so on. So they differ first where their first unequal modes begin or end.
std::optional<int64_t> first_difference(const Layout& a, const Layout& b) {
  Facts facts;
  const std::vector<Mode> of_a = flat_modes(coalesce(facts, a)), of_b = flat_modes(coalesce(facts, b));
  int64_t index = 1;
  for (size_t k = 0; k < std::min(of_a.size(), of_b.size()); ++k) {
    if (of_a[k].extent.is(1)) break;
    if (!(of_a[k].stride == of_b[k].stride)) return index;
    const int64_t extent = std::min(of_a[k].extent.value(), of_b[k].extent.value());
    index *= extent;
    if (!(of_a[k].extent == of_b[k].extent)) return index;
  }
  return std::nullopt;
}

constexpr int64_t kFirstValues = int64_t{1} << 16;

// A difference among the first values is the smallest there is; without one nothing is known.
KnownVerdict by_first_values(const AnyLayout& a, const AnyLayout& b, int64_t count) {
  Facts facts;
  for (int64_t i = 0; i < count; ++i) {
    if (!(evaluate(facts, a, i) == evaluate(facts, b, i))) return differ_at(a, b, i);
  }
  return {};
}

KnownVerdict decide(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>&, int64_t most) {
  const AnyLayout &a = layouts[0], &b = layouts[1];
  const int64_t n = size_of(a).value();
  if (const int64_t m = size_of(b).value(); n != m) return sizes_differ(n, m);
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (parts_a && parts_b && parts_a->swizzle == parts_b->swizzle) {
    if (!(parts_a->offset == parts_b->offset)) return differ_at(a, b, 0);
    const auto index = first_difference(parts_a->layout, parts_b->layout);
    return index ? differ_at(a, b, *index) : KnownVerdict{Verdict::proved, {}};
  }
  const auto of_a = walked(a, most), of_b = walked(b, most);
  if (!of_a || !of_b) return by_first_values(a, b, std::min<int64_t>(n, std::min(most, kFirstValues)));
  const auto [x, y] = std::mismatch(of_a->begin(), of_a->end(), of_b->begin());
  return x == of_a->end() ? KnownVerdict{Verdict::proved, {}} : differ_at(a, b, x - of_a->begin());
}

// The modes of both taken off from the left together: of two extents of which one divides the other, the greater is
// split. What is left open for them to be the same.
std::optional<std::vector<Predicate>> refined(Facts& facts, const Layout& a, const Layout& b) {
  std::vector<Mode> of_a = flat_modes(coalesce(facts, a)), of_b = flat_modes(coalesce(facts, b));
  std::reverse(of_a.begin(), of_a.end());
  std::reverse(of_b.begin(), of_b.end());
  std::vector<Predicate> all{equal(size(a), size(b))};
  while (!of_a.empty() && !of_b.empty()) {
    Mode &x = of_a.back(), &y = of_b.back();
    if (x.stride.path() != y.stride.path()) return std::nullopt;
    all.push_back(either(equal(x.extent, 1), equal(x.stride.value(), y.stride.value())));
    const auto split = [&](std::vector<Mode>& longer, std::vector<Mode>& shorter) {
      const Int times = shorter.back().extent;
      Mode& mode = longer.back();
      mode = {divided(mode.extent, times), Tuple::basis(mode.stride.value() * times, mode.stride.path())};
      shorter.pop_back();
    };
    if (x.extent == y.extent || facts.proves(equal(x.extent, y.extent))) {
      of_a.pop_back();
      of_b.pop_back();
    } else if (facts.proves(divides(x.extent, y.extent))) {
      split(of_a, of_b);
    } else if (facts.proves(divides(y.extent, x.extent))) {
      split(of_b, of_a);
    } else {
      all.push_back(equal(x.extent, y.extent));
      of_a.pop_back();
      of_b.pop_back();
    }
  }
  for (const auto* rest : {&of_a, &of_b}) {
    for (const Mode& mode : *rest) all.push_back(equal(mode.extent, 1));
  }
  return all;
}

// The sizes, and the values at 1 where there are two.
std::vector<Predicate> needed(Facts& facts, const Layout& a, const Layout& b) {
  std::vector<Predicate> all{equal(size(a), size(b))};
  const Mode x = flat_modes(coalesce(facts, a)).front(), y = flat_modes(coalesce(facts, b)).front();
  if (facts.proves(less_equal(2, x.extent)) && facts.proves(less_equal(2, y.extent))) {
    all.push_back(equal(x.stride, y.stride));
  }
  return all;
}

}  // namespace

Judgement same_function(Facts& facts, const AnyLayout& a, const AnyLayout& b) {
  Claim claim{{a, b}, {}, std::nullopt, {}, decide};
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (parts_a && parts_b && parts_a->swizzle == parts_b->swizzle && parts_a->offset == parts_b->offset) {
    claim.enough = refined(facts, parts_a->layout, parts_b->layout);
    claim.needed = needed(facts, parts_a->layout, parts_b->layout);
  }
  return judge(facts, claim);
}

}  // namespace lay
