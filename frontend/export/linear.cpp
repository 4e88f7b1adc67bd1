#include "frontend/export/linear.h"

#include <bit>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::exports {

void cannot(const std::string& why) {
  throw refusal("export", "this is no linear layout of Triton: " + why);
}

namespace {

Point point_of(const Tuple& value, int rank) {
  Point point(static_cast<size_t>(rank), 0);
  if (!value.is_basis()) {
    point[0] = value.value().value();
    return point;
  }
  if (value.path().size() != 1) cannot("a coordinate inside a mode, " + value.to_string());
  point[static_cast<size_t>(value.path()[0])] = value.value().value();
  return point;
}

// One more than the greatest mode that a basis stride names.
int rank_of_values(const Layout& l) {
  int rank = 1;
  for (const Tuple& d : leaves(l.stride))
    if (d.is_basis()) rank = std::max(rank, d.path()[0] + 1);
  return rank;
}

std::vector<Point> bases_of_mode(const Layout& mode, int rank) {
  std::vector<Point> bases;
  const std::vector<Tuple> extents = leaves(mode.shape), strides = leaves(mode.stride);
  for (size_t k = 0; k < extents.size(); ++k) {
    const std::int64_t extent = extents[k].value().value();
    if (!std::has_single_bit(static_cast<std::uint64_t>(extent)))
      cannot("the extent " + std::to_string(extent) + " is no power of two");
    Point base = point_of(strides[k], rank);
    for (const std::int64_t component : base)
      if (component < 0) cannot("the stride " + strides[k].to_string() + " is negative");
    for (std::int64_t n = extent; n > 1; n /= 2) {
      bases.push_back(base);
      if (n == 2) break;
      for (std::int64_t& component : base) component = checked_mul(component, 2);
    }
  }
  return bases;
}

void check_no_carry(const LinearMap& map) {
  Point seen(static_cast<size_t>(map.rank), 0);
  for (const auto& mode : map.modes)
    for (const Point& base : mode)
      for (size_t k = 0; k < base.size(); ++k) {
        if (seen[k] & base[k])
          cannot("two steps share the bit " +
                 std::to_string(std::bit_floor(static_cast<std::uint64_t>(seen[k] & base[k]))) +
                 ", so that adding carries where XOR does not");
        seen[k] |= base[k];
      }
}

LinearMap of_layout(const Layout& l) {
  if (!l.is_known()) cannot("its sizes are not known");
  LinearMap map;
  map.rank = rank_of_values(l);
  map.coordinates = l.has_basis();
  if (l.shape.is_tuple())
    for (int m = 0; m < l.rank(); ++m) map.modes.push_back(bases_of_mode(l[m], map.rank));
  else
    map.modes.push_back(bases_of_mode(l, map.rank));
  check_no_carry(map);
  return map;
}

LinearMap of_composed(const Composed& c) {
  const auto* swizzle = std::get_if<Swizzle>(&c.outer);
  if (!swizzle) cannot("a layout of a layout, " + c.to_string());
  if (!c.offset.is_literal(0)) cannot("its offset " + c.offset.to_string() + " moves the zero");
  LinearMap map = of_layout(c.layout());
  if (map.coordinates) cannot("a swizzle of coordinates");
  for (auto& mode : map.modes)
    for (Point& base : mode) base[0] = (*swizzle)(base[0]);
  return map;
}

LinearMap of_swizzle(const Swizzle& s) {
  LinearMap map;
  map.modes.emplace_back();
  const std::int64_t bits = s.m + s.b + std::abs(s.s);
  for (std::int64_t k = 0; k < bits; ++k) map.modes[0].push_back({s(std::int64_t{1} << k)});
  return map;
}

}  // namespace

LinearMap bases_of(const std::variant<Layout, Composed, Swizzle>& value) {
  return std::visit(overloaded{[](const Layout& l) { return of_layout(l); },
                               [](const Composed& c) { return of_composed(c); },
                               [](const Swizzle& s) { return of_swizzle(s); }},
                    value);
}

}  // namespace lay::exports
