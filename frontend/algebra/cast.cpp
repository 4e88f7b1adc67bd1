// Element widths: upcast, downcast, recast.

#include <bit>
#include <numeric>

#include "frontend/algebra/operations.h"
#include "frontend/algebra/trace.h"

namespace lay {
namespace {

void check_factor(const char* name, const Int& n) {
  if (n.is_literal() && n.value() < 1) {
    throw refusal("factor", std::string(name) + " by " + n.to_string() + ": the factor is at least 1");
  }
}

bool negative(const Int& d) {
  return d.is_literal() && d.value() < 0;
}

struct Pair {
  Tuple shape;
  Tuple stride;
};

// f on every mode s:d, rebuilt in the same nesting.
template <typename OneMode>
Layout each_mode(const Layout& a, const OneMode& one) {
  const std::function<Pair(const Tuple&, const Tuple&)> all = [&](const Tuple& shape, const Tuple& stride) -> Pair {
    if (shape.is_leaf()) return one(shape.value(), stride);
    std::vector<Tuple> shapes, strides;
    for (int i = 0; i < shape.rank(); ++i) {
      Pair mode = all(shape[i], stride[i]);
      shapes.push_back(std::move(mode.shape));
      strides.push_back(std::move(mode.stride));
    }
    return {Tuple(std::move(shapes)), Tuple(std::move(strides))};
  };
  Pair result = all(a.shape, a.stride);
  return Layout(std::move(result.shape), std::move(result.stride), a.units);
}

using trace::Casting;

Pair report_cast(Casting how, const Pair& from, Pair to, const Int& factor) {
  trace::report([&] {
    return trace::Cast{how, {from.shape.value(), from.stride}, {to.shape.value(), to.stride}, factor};
  });
  return to;
}

Refusal refuse_upcast(const Layout& a, const Int& stride, const Int& n) {
  return refusal("upcast", "upcast of " + a.to_string() + " by " + n.to_string() + ": the stride " +
                               stride.to_string() + " is no multiple of " + n.to_string() + " and does not divide it");
}

Unit of_type(const Unit& unit, ElementType type) {
  return unit.counts == Counts::elements || unit.counts == Counts::none ? elements_of(type) : unit;
}

int64_t power_of_two(const char* name, const Swizzle& s, int64_t n) {
  if (n < 1 || !std::has_single_bit(static_cast<uint64_t>(n))) {
    throw refusal("swizzle-power", std::string(name) + " of " + s.to_string() + " by " + std::to_string(n) +
                                       ": a swizzle moves bits, so the factor is a power of two");
  }
  return std::countr_zero(static_cast<uint64_t>(n));
}

std::variant<Swizzle, Layout> outer_cast(Facts& facts, const std::variant<Swizzle, Layout>& outer, const Int& n,
                                         bool up) {
  if (const Layout* layout = std::get_if<Layout>(&outer))
    return up ? upcast(facts, *layout, n) : downcast(facts, *layout, n);
  if (!n.is_literal()) throw refusal("symbolic", "a swizzle is recast by a literal factor only");
  const Swizzle& s = std::get<Swizzle>(outer);
  return up ? upcast(s, n.value()) : downcast(s, n.value());
}

struct Ratio {
  int64_t up;
  int64_t down;
};

Ratio ratio_of(int from_bits, int to_bits) {
  if (from_bits < 1 || to_bits < 1) throw refusal("factor", "recast needs element widths of at least one bit");
  const int common = std::gcd(from_bits, to_bits);
  return {to_bits / common, from_bits / common};
}

}  // namespace

Layout upcast(Facts& facts, const Layout& a, const Int& n) {
  check_factor("upcast", n);
  if (n.is(1)) return a;
  trace::Operation operation("upcast", a, n);
  return operation.gives(each_mode(a, [&](const Int& extent, const Tuple& stride) -> Pair {
    const Int d = negative(stride.value()) ? -stride.value() : stride.value();
    const auto with = [&](Casting how, const Int& shape, const Int& step) {
      const Tuple to = Tuple::basis(negative(stride.value()) ? -step : step, stride.path());
      return report_cast(how, {extent, stride}, {shape, to}, n);
    };
    const auto fewer = [&](const Int& together) { return with(Casting::shrunk, facts.ceil_div(extent, together), 1); };
    if (d.is(0)) return report_cast(Casting::still, {extent, stride}, {extent, stride}, n);
    if (facts.proves(divides(d, n))) return with(Casting::divided, extent, divided(d, n));
    if (facts.proves(divides(n, d))) return fewer(divided(n, d));
    if (facts.try_require(divides(d, n), "upcast")) return with(Casting::divided, extent, divided(d, n));
    if (facts.try_require(divides(n, d), "upcast")) return fewer(floor_div(n, d));
    throw refuse_upcast(a, stride.value(), n);
  }));
}

Layout downcast(Facts& facts, const Layout& a, const Int& n) {
  check_factor("downcast", n);
  if (n.is(1)) return a;
  trace::Operation operation("downcast", a, n);
  bool found = false;
  Layout result = each_mode(a, [&](const Int& extent, const Tuple& stride) -> Pair {
    const Int& d = stride.value();
    if (d.is(1) || d.is(-1) || (!d.is_literal() && facts.proves(equal(d, 1)))) {
      found = true;
      return report_cast(Casting::grown, {extent, stride}, {extent * n, stride}, n);
    }
    if (!d.is_literal()) facts.try_require(not_equal(d, 1), "downcast");
    return report_cast(Casting::scaled, {extent, stride}, {extent, Tuple::basis(d * n, stride.path())}, n);
  });
  if (!found) {
    throw refusal("downcast",
                  "downcast of " + a.to_string() + ": no mode has stride 1, so elements are not neighbours");
  }
  return operation.gives(std::move(result));
}

Layout recast(Facts& facts, const Layout& a, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  trace::Operation operation("recast", a, Int(from_bits), Int(to_bits));
  return operation.gives(downcast(facts, upcast(facts, a, ratio.up), ratio.down));
}

Layout recast(Facts& facts, const Layout& a, ElementType from, ElementType to) {
  const Unit& unit = a.units.codomain;
  if (unit.counts == Counts::elements && unit.element != from) {
    throw refusal("units",
                  "recast from " + std::string(element_name(from)) + ": the layout counts " + unit.to_string());
  }
  Layout result = recast(facts, a, bits(from), bits(to));
  result.units = {a.units.domain, of_type(unit, to)};
  return result;
}

Swizzle upcast(const Swizzle& s, int64_t n) {
  trace::Operation operation("upcast", s, Int(n));
  const int64_t base = s.m - power_of_two("upcast", s, n);
  return operation.gives(base >= 0 ? Swizzle(s.b, base, s.s) : Swizzle(std::max<int64_t>(0, s.b + base), 0, s.s));
}

Swizzle downcast(const Swizzle& s, int64_t n) {
  trace::Operation operation("downcast", s, Int(n));
  return operation.gives(Swizzle(s.b, s.m + power_of_two("downcast", s, n), s.s));
}

Swizzle recast(const Swizzle& s, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  return downcast(upcast(s, ratio.up), ratio.down);
}

Composed upcast(Facts& facts, const Composed& a, const Int& n) {
  const Int offset = a.offset.is_int()
                         ? facts.exact_div(a.offset.value(), n, "upcast")
                         : throw refusal("not-integer", "upcast of " + a.to_string() + ": the offset is a coordinate");
  return {outer_cast(facts, a.outer, n, true), offset, upcast(facts, a.layout(), n)};
}

Composed downcast(Facts& facts, const Composed& a, const Int& n) {
  if (!a.offset.is_int()) throw refusal("not-integer", "downcast of " + a.to_string() + ": the offset is a coordinate");
  return {outer_cast(facts, a.outer, n, false), a.offset.value() * n, downcast(facts, a.layout(), n)};
}

Composed recast(Facts& facts, const Composed& a, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  Composed result = a;
  if (ratio.up != 1) result = upcast(facts, result, ratio.up);
  if (ratio.down != 1) result = downcast(facts, result, ratio.down);
  return result;
}

}  // namespace lay
