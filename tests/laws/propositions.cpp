// Every answer of a proposition against the values of the layout, one by one: the verdict, and the
// counterexample, which must be the smallest. Symbolic claims against the answers at all small
// sizes.

#include "frontend/algebra/claims/propositions.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "tests/laws/random_layouts.h"

using namespace lay;
using laws::Random;

namespace {

// The values as text: numbers and coordinates alike.
std::vector<std::string> texts(const AnyLayout& a) {
  Facts facts;
  const Tuple& shape = std::holds_alternative<Layout>(a) ? std::get<Layout>(a).shape
                                                         : std::get<Composed>(a).layout().shape;
  std::vector<std::string> all;
  for (int64_t i = 0; i < size(shape).value(); ++i)
    all.push_back(evaluate(facts, a, i).to_string());
  return all;
}

// Index of the first value that was there before, and where.
std::optional<std::pair<int64_t, int64_t>> first_repeat(const std::vector<std::string>& values) {
  std::map<std::string, int64_t> seen;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto [at, fresh] = seen.try_emplace(values[i], static_cast<int64_t>(i));
    if (!fresh) return std::pair(at->second, static_cast<int64_t>(i));
  }
  return std::nullopt;
}

std::vector<std::string> elements(const Tuple& shape, bool as_coordinates) {
  Facts facts;
  std::vector<std::string> all;
  for (int64_t i = 0; i < size(shape).value(); ++i) {
    all.push_back(as_coordinates ? idx2crd(facts, i, shape).to_string() : std::to_string(i));
  }
  return all;
}

std::string shown(const AnyLayout& a) {
  return to_string(a);
}

void check_injective(const AnyLayout& a) {
  Facts facts;
  const auto repeat = first_repeat(texts(a));
  const Conclusion j = injective(facts, a);
  INFO("injective " << shown(a) << ": " << j.failure.sentence);
  REQUIRE(j.verdict == (repeat ? Verdict::refuted : Verdict::proved));
  if (repeat) CHECK(j.failure.other == repeat->first);
  if (repeat) CHECK(j.failure.index == repeat->second);
}

void check_image(const AnyLayout& a, const Tuple& shape, bool coordinates) {
  Facts facts;
  const std::vector<std::string> values = texts(a), all = elements(shape, coordinates);
  const std::set<std::string> valid(all.begin(), all.end()), found(values.begin(), values.end());
  const auto repeat = first_repeat(values);
  std::optional<int64_t> outside, missing;
  for (size_t i = values.size(); i-- > 0;) {
    if (!valid.count(values[i])) outside = static_cast<int64_t>(i);
  }
  for (size_t i = all.size(); i-- > 0;) {
    if (!found.count(all[i])) missing = static_cast<int64_t>(i);
  }
  INFO(shown(a) << " into " << shape.to_string());

  const Conclusion in = inside(facts, a, shape);
  REQUIRE(in.verdict == (outside ? Verdict::refuted : Verdict::proved));
  if (outside) CHECK(in.failure.index == *outside);

  const Conclusion onto = surjective(facts, a, shape);
  REQUIRE(onto.verdict == (missing ? Verdict::refuted : Verdict::proved));
  if (missing) CHECK(onto.failure.expected == all[static_cast<size_t>(*missing)]);

  const Conclusion cover = covers(facts, a, shape);
  INFO(cover.failure.sentence);
  REQUIRE(cover.verdict == (outside || repeat || missing ? Verdict::refuted : Verdict::proved));
  if (outside && (!repeat || *outside <= repeat->second)) {
    CHECK(cover.failure.index == *outside);
  } else if (repeat) {
    CHECK(cover.failure.index == repeat->second);
    CHECK(cover.failure.other == repeat->first);
  } else if (missing) {
    CHECK(cover.failure.expected == all[static_cast<size_t>(*missing)]);
  }
}

void check_numbers(const AnyLayout& a, Random& random) {
  const std::vector<int64_t> all = values(a);
  Facts facts;
  INFO(shown(a));
  const int64_t bytes = random.in(1, 12);
  const int bits = random.once_in(2) ? 16 : random.once_in(2) ? 4 : 8;
  std::optional<int64_t> first;
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i] * bits % (bytes * 8) != 0) first = static_cast<int64_t>(i);
  }
  const Conclusion multiple = aligned(facts, a, bytes, bits);
  INFO("aligned to " << bytes << " bytes, elements of " << bits);
  REQUIRE(multiple.verdict == (first ? Verdict::refuted : Verdict::proved));
  if (first) CHECK(multiple.failure.index == *first);

  const int width = static_cast<int>(random.in(1, 8));
  first.reset();
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i] < -(int64_t{1} << (width - 1)) || all[i] >= (int64_t{1} << (width - 1)))
      first = static_cast<int64_t>(i);
  }
  const Conclusion fit = fits(facts, a, width);
  REQUIRE(fit.verdict == (first ? Verdict::refuted : Verdict::proved));
  if (first) CHECK(fit.failure.index == *first);
}

void check_pair(const AnyLayout& a, const AnyLayout& b, int64_t offset) {
  const std::vector<int64_t> of_a = values(a), of_b = values(b);
  Facts facts;
  INFO(shown(a) << " and " << shown(b) << " at " << offset);
  std::optional<std::pair<size_t, size_t>> meet;
  for (size_t i = 0; i < of_a.size() && !meet; ++i) {
    for (size_t j = 0; j < of_b.size() && !meet; ++j) {
      if (of_a[i] == offset + of_b[j]) meet = {i, j};
    }
  }
  const Conclusion apart = disjoint(facts, a, b, offset);
  REQUIRE(apart.verdict == (meet ? Verdict::refuted : Verdict::proved));
  if (meet) CHECK(apart.failure.index == static_cast<int64_t>(meet->first));
  if (meet) CHECK(apart.failure.other == static_cast<int64_t>(meet->second));

  const Conclusion same = same_function(facts, a, b);
  REQUIRE(same.verdict == (of_a == of_b ? Verdict::proved : Verdict::refuted));
  if (of_a != of_b && of_a.size() == of_b.size()) {
    const auto at = std::mismatch(of_a.begin(), of_a.end(), of_b.begin()).first - of_a.begin();
    CHECK(same.failure.index == at);
  }
}

// Strides of either sign, and an offset or a swizzle around them.
AnyLayout random_any(Random& random) {
  const Layout l = laws::random_layout(random, 2, 5);
  if (random.once_in(3))
    return composition(Swizzle(random.in(1, 2), random.in(0, 2), random.in(2, 3)), random.in(0, 3),
                       l);
  return l;
}

Layout with_signs(Random& random, const Layout& l) {
  const Tuple stride = transform(
      l.stride, [&](const Tuple& d) { return random.once_in(3) ? Tuple(-d.value()) : d; });
  return Layout(l.shape, stride);
}

// Basis strides into two modes, one of them nested; each direction occurs.
Layout random_basis(Random& random) {
  const std::vector<std::vector<int>> paths = {{0}, {1, 0}, {1, 1}};
  std::vector<Tuple> shape, stride;
  const size_t modes = static_cast<size_t>(random.in(3, 5)),
               first = static_cast<size_t>(random.in(0, 2));
  for (size_t k = 0; k < modes; ++k) {
    shape.push_back(random.in(1, 4));
    stride.push_back(Tuple::basis(random.in(1, 5), paths[(first + k) % 3]));
  }
  return Layout(Tuple(shape), Tuple(stride));
}

}  // namespace

TEST_CASE("propositions of small layouts, against their values") {
  for (const Layout& l : laws::small_layouts(4, 6)) {
    check_injective(l);
    for (const int64_t n : {1, 5, 8}) check_image(l, n, false);
  }
}

TEST_CASE("propositions of random layouts, against their values") {
  const uint64_t seed = 20261120;
  INFO("seed " << seed);
  Random random{seed};
  for (int i = 0; i < 3000; ++i) {
    const Layout l = with_signs(random, laws::random_layout(random, 2, 5));
    check_injective(l);
    check_image(l, random.in(1, 40), false);
    check_numbers(l, random);
    check_pair(l, with_signs(random, laws::random_layout(random, 2, 4)), random.in(-20, 20));
    const AnyLayout a = random_any(random);
    check_injective(a);
    check_image(a, random.in(1, 64), false);
    check_numbers(a, random);
    check_pair(a, random_any(random), random.once_in(2) ? 0 : random.in(0, 40));
    check_pair(a, a, 0);
  }
}

TEST_CASE("one layout, or one in other words, under two swizzles, against their values") {
  Random random{20261122};
  for (int i = 0; i < 3000; ++i) {
    const auto swizzle = [&] {
      const int64_t b = random.in(0, 2), s = std::max<int64_t>(b, random.in(1, 3));
      return Swizzle(b, random.in(0, 3), random.once_in(3) ? -s : s);
    };
    const Layout l = laws::random_layout(random, 2, 6);
    const int64_t offset = random.once_in(2) ? 0 : random.in(0, 9);
    check_pair(composition(swizzle(), offset, l), composition(swizzle(), offset, l), 0);
    // Powers of two in any order, so that the sums have no carries.
    const Tuple bits = tuple(random.once_in(2) ? 4 : 2, 2, 4);
    const Layout x = make_ordered_layout(bits, tuple(random.in(0, 2), 1, random.in(0, 2)));
    const Layout y =
        random.once_in(3) ? x : make_ordered_layout(bits, tuple(2, random.in(0, 3), 1));
    check_pair(composition(swizzle(), x), composition(swizzle(), 0, y), 0);
    // A mode in one piece and in two, above the bits of the swizzles or not, the offsets perhaps
    // under them.
    const int64_t half = random.in(1, 20),
                  step = random.once_in(2) ? 256 * random.in(1, 3) : random.in(1, 70);
    const Layout whole(tuple(4, 2 * half), tuple(random.in(1, 2), step));
    const Layout parts(tuple(4, 2, half),
                       tuple(whole.stride[0], step, random.once_in(5) ? step : 2 * step));
    check_pair(composition(swizzle(), random.in(0, 9), whole),
               composition(swizzle(), random.in(0, 9), parts), 0);
  }
}

TEST_CASE("bijective onto coordinates: each of the shape that the values reach") {
  Random random{8};
  int proved = 0;
  for (int i = 0; i < 2000; ++i) {
    const Layout l = random_basis(random);
    Facts facts;
    const std::vector<std::string> values = texts(l);
    const std::set<std::string> found(values.begin(), values.end());
    const Tuple shape = coshape(facts, l);
    const bool holds =
        found.size() == values.size() && static_cast<int64_t>(values.size()) == size(shape).value();
    const Conclusion j = bijective(facts, l);
    INFO(l.to_string() << " onto " << shape.to_string() << ": " << j.failure.sentence);
    REQUIRE(j.verdict == (holds ? Verdict::proved : Verdict::refuted));
    proved += holds;
  }
  CHECK(proved > 20);
  Facts facts;
  const Int m = facts.dim("M");
  CHECK(bijective(facts, Layout(tuple(4, m), tuple(Tuple::basis(m, {0}), Tuple::basis(1, {0}))))
            .verdict == Verdict::proved);
}

TEST_CASE("propositions of layouts into coordinates, against their values") {
  Random random{7};
  for (int i = 0; i < 2000; ++i) {
    const Layout l = random_basis(random);
    check_injective(l);
    const Tuple shape = tuple(random.in(1, 6), tuple(random.in(1, 5), random.in(1, 4)));
    check_image(l, shape, true);
  }
}

namespace {

Int random_number(Random& random, const std::vector<Int>& dims) {
  const Int d = dims[static_cast<size_t>(random.in(0, static_cast<int64_t>(dims.size()) - 1))];
  const Int e = dims[static_cast<size_t>(random.in(0, static_cast<int64_t>(dims.size()) - 1))];
  switch (random.in(0, 5)) {
    case 0:
      return random.in(1, 4);
    case 1:
      return d;
    case 2:
      return d * random.in(1, 4);
    case 3:
      return d * e;
    case 4:
      return d + random.in(0, 2);
    default:
      return random.in(1, 6);
  }
}

Layout random_symbolic(Random& random, const std::vector<Int>& dims) {
  std::vector<Tuple> shape, stride;
  Int reached = 1;
  for (int64_t k = random.in(1, 3); k > 0; --k) {
    shape.push_back(random_number(random, dims));
    stride.push_back(random.once_in(2) ? reached : random_number(random, dims));
    reached = shape.back().value() * stride.back().value();
  }
  return Layout(Tuple(shape), Tuple(stride));
}

using Ask = std::function<Conclusion(Facts&, const AnyLayout&, const AnyLayout&, const Int&)>;

AnyLayout substituted(const AnyLayout& a, const std::map<DimId, Int>& by) {
  return std::visit([&](const auto& x) -> AnyLayout { return substitute(x, by); }, a);
}

// The symbolic verdict against the known ones at all M and N of a sum up to 8 that the facts allow.
void check_symbolic(const Ask& ask, const AnyLayout& a, const AnyLayout& b, const Int& n,
                    bool even) {
  Facts facts;
  const Int m = facts.dim("M"), k = facts.dim("N");
  std::map<DimId, Int> own;
  std::map<DimId, std::string> dims;
  const auto named = [&](const Tuple& t) {
    for (const Tuple& leaf : leaves(t)) leaf.value().collect_dims(dims);
  };
  for (const AnyLayout* x : {&a, &b}) {
    const auto* l = std::get_if<Layout>(x);
    const Layout& inner = l ? *l : std::get<Composed>(*x).layout();
    named(inner.shape);
    named(inner.stride);
  }
  named(n);
  for (const auto& [id, name] : dims) own.emplace(id, name == "M" ? m : k);
  if (even) facts.assume(divides(m, 2));
  const AnyLayout sa = substituted(a, own), sb = substituted(b, own);
  const Int sn = n.substitute(own);
  const Conclusion j = ask(facts, sa, sb, sn);
  INFO(to_string(sa) << " and " << to_string(sb) << ", " << sn.to_string() << ": "
                     << j.failure.sentence);
  bool any_holds = false, any_fails = false;
  std::optional<std::vector<int64_t>> smallest;
  for (int64_t sum = 2; sum <= 8; ++sum) {
    for (int64_t vm = 1; vm < sum; ++vm) {
      const int64_t vn = sum - vm;
      if (even && vm % 2 != 0) continue;
      const std::map<DimId, Int> at{{*m.dim_id(), vm}, {*k.dim_id(), vn}};
      Facts none;
      const Conclusion known =
          ask(none, substituted(sa, at), substituted(sb, at), sn.substitute(at));
      REQUIRE(known.verdict != Verdict::undecided);
      (known.verdict == Verdict::proved ? any_holds : any_fails) = true;
      if (known.verdict == Verdict::refuted && !smallest) smallest = {vm, vn};
    }
  }
  if (j.verdict == Verdict::proved) CHECK_FALSE(any_fails);
  if (j.never) CHECK_FALSE(any_holds);
  if (any_fails) REQUIRE(j.verdict == Verdict::refuted);
  if (!smallest) return;
  for (const auto& [name, value] : j.sizes) CHECK(value == (*smallest)[name == "M" ? 0 : 1]);
}

}  // namespace

TEST_CASE("symbolic propositions, against the known ones at all small sizes") {
  const uint64_t seed = 3;
  INFO("seed " << seed);
  Random random{seed};
  const std::vector<Int> dims{Int::dim("M"), Int::dim("N")};
  const std::vector<Ask> asks = {
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int&) { return injective(f, a); },
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int&) { return bijective(f, a); },
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int& n) { return inside(f, a, n); },
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int& n) {
        return surjective(f, a, n);
      },
      [](Facts& f, const AnyLayout& a, const AnyLayout& b, const Int& n) {
        return disjoint(f, a, b, n);
      },
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int&) {
        return aligned(f, a, 4, 16);
      },
      [](Facts& f, const AnyLayout& a, const AnyLayout&, const Int&) { return fits(f, a, 5); },
      [](Facts& f, const AnyLayout& a, const AnyLayout& b, const Int&) {
        return same_function(f, a, b);
      },
  };
  for (int i = 0; i < 400; ++i) {
    const auto any = [&]() -> AnyLayout {
      const Layout l = random_symbolic(random, dims);
      if (!random.once_in(4)) return l;
      return composition(Swizzle(1, random.in(0, 1), random.in(1, 2)), random.in(0, 2), l);
    };
    const AnyLayout a = any(), b = random.once_in(6) ? a : any();
    const Int n = random_number(random, dims);
    for (size_t k = 0; k < asks.size(); ++k) {
      INFO("proposition " << k);
      check_symbolic(asks[k], a, b, n, random.once_in(2));
    }
  }
}

TEST_CASE("symbolic claims that are proved") {
  Facts facts;
  const Int m = facts.dim("M"), n = facts.dim("N"), ld = facts.dim("ld");
  facts.assume(less_equal(m, ld));
  facts.assume(divides(n, 8));
  const Layout columns(tuple(m, n), tuple(1, ld));
  const Layout deal(tuple(tuple(m, 4), tuple(2, 2)),
                    tuple(tuple(Tuple::basis(1, {0}), Tuple::basis(m, {0})),
                          tuple(Tuple::basis(1, {1}), Tuple::basis(2, {1}))));
  const auto proved = [](const Conclusion& j) {
    INFO(j.failure.sentence);
    return j.verdict == Verdict::proved;
  };
  CHECK(proved(injective(facts, columns)));
  CHECK(proved(injective(facts, composition(Swizzle(3, 3, 3), columns))));
  CHECK(proved(inside(facts, columns, ld * n)));
  CHECK(proved(inside(facts, composition(Swizzle(1, 0, 2), columns), ld * n)));
  CHECK(proved(covers(facts, deal, tuple(m * 4, 4))));
  CHECK(proved(bijective(facts, Layout(tuple(m, tuple(n, 4)), tuple(n * 4, tuple(1, n))))));
  CHECK(proved(surjective(facts, Layout(tuple(4, m), tuple(1, 3)), m * 3 + 1)));
  CHECK(proved(disjoint(facts, columns, columns, ld * n)));
  CHECK(proved(disjoint(facts, Layout(tuple(m, 4), tuple(1, ld * 4)),
                        Layout(tuple(m, 4), tuple(1, ld * 4)), ld)));
  CHECK(proved(aligned(facts, Layout(tuple(4, m), tuple(n, 16)), 16, 16)));
  CHECK(proved(same_function(facts, Layout(tuple(n, m), tuple(1, n)), make_layout(tuple(m, n)))));
  CHECK(proved(same_function(facts, composition(Swizzle(2, 1, 3), Layout(tuple(8, m), tuple(1, 8))),
                             composition(Swizzle(2, 1, 3), Layout(tuple(m, 8), tuple(1, m))))));
  // An even step and an odd one meet beyond the ends.
  const Int odd = facts.dim("odd");
  facts.assume(not_equal(odd - floor_div(odd, 2) * 2, 0));
  CHECK(proved(injective(facts, Layout(tuple(2, odd), tuple(odd, 2)))));
  CHECK(proved(injective(facts, Layout(tuple(2, odd, m), tuple(odd, 2, odd * 3)))));
  CHECK(injective(facts, Layout(tuple(2, n), tuple(n, 2))).verdict == Verdict::refuted);
  facts.assume(less_equal(m, 40));
  facts.assume(less_equal(ld, 40));
  facts.assume(less_equal(n, 64));
  CHECK(proved(fits(facts, columns, 13)));
  CHECK(fits(facts, columns, 11).verdict == Verdict::refuted);
}

TEST_CASE("propositions of layouts that nobody could walk through") {
  Facts facts;
  const int64_t e = 1'000'000;
  const Layout compact(tuple(e, e, e), tuple(1, e, e * e));
  CHECK(bijective(facts, compact).verdict == Verdict::proved);
  CHECK(injective(facts, Layout(tuple(e, e, e), tuple(1, e, e * e - 1))).failure.index == e * e);
  CHECK(inside(facts, compact, e * e * e - 1).failure.index == e * e * e - 1);
  CHECK(same_function(facts, compact, make_layout(tuple(e * e * e))).verdict == Verdict::proved);
  CHECK(fits(facts, compact, 32).failure.index == int64_t{1} << 31);
  CHECK(fits(facts, Layout(tuple(3, 2), tuple(INT64_MAX, 1)), 64).failure.index == 2);
  CHECK(injective(facts, composition(Swizzle(3, 4, 3), compact)).verdict == Verdict::proved);
  CHECK(fits(facts, Layout(INT64_MAX, INT64_MAX), 64).failure.index == 2);
  CHECK(injective(facts, Layout(INT64_MAX, INT64_MAX)).verdict == Verdict::proved);
  CHECK(same_function(facts, composition(Swizzle(3, 4, 3), compact),
                      composition(Swizzle(2, 4, 3), compact))
            .failure.index == 512);
  // One layout, or one in other words, under two swizzles.
  const Layout rows(tuple(e, e), tuple(12, 12 * e));
  const auto swizzled = [](const Swizzle& s, const Layout& l) { return composition(s, l); };
  CHECK(same_function(facts, swizzled(Swizzle(1, 0, 3), rows), swizzled(Swizzle(1, 0, 4), rows))
            .failure.index == 1);
  CHECK(same_function(facts, swizzled(Swizzle(3, 4, 3), rows), swizzled(Swizzle(3, 4, 4), rows))
            .failure.index == 11);
  const Layout high(tuple(4, e), tuple(1, int64_t{1} << 20));
  CHECK(same_function(facts, swizzled(Swizzle(3, 4, 6), high), swizzled(Swizzle(2, 5, 8), high))
            .verdict == Verdict::proved);
  const int64_t many = int64_t{1} << 30;
  CHECK(same_function(facts, swizzled(Swizzle(3, 0, 3), Layout(tuple(8, many), tuple(1, 8))),
                      swizzled(Swizzle(3, 0, 4), Layout(tuple(many, 8), tuple(1, many))))
            .failure.index == 8);
  // A knapsack of strides: whatever the answer, it comes within the steps.
  std::vector<Tuple> shape, stride;
  for (int64_t k = 0; k < 60; ++k) {
    shape.push_back(2);
    stride.push_back((int64_t{1} << 40) + k * k * 7919);
  }
  const Conclusion j = injective(facts, Layout(Tuple(shape), Tuple(stride)));
  CHECK(j.verdict != Verdict::proved);  // 2^60 sums below 2^47
}
