#include "frontend/algebra/layouts/units.h"

#include "frontend/algebra/layouts/unit_check.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {

std::string Unit::to_string() const {
  switch (counts) {
    case Counts::none:
      return "anything";
    case Counts::elements:
      return "elements of " + std::string(element_name(element));
    case Counts::bytes:
      return "bytes";
    case Counts::threads:
      return "threads";
    case Counts::values:
      return "values";
    case Counts::coordinates:
      return "coordinates";
  }
  return {};
}

// 0 for what lies in no memory: threads, values, coordinates.
int bits(const Unit& unit) {
  if (unit.counts == Counts::elements) return bits(unit.element);
  return unit.counts == Counts::bytes ? 8 : 0;
}

// Elements of one byte, s8 or e4m3, count as bytes do.
bool may_meet(const Unit& a, const Unit& b) {
  if (a.counts == Counts::none || b.counts == Counts::none || a == b) return true;
  const bool bytes = a.counts == Counts::bytes || b.counts == Counts::bytes;
  return bytes && bits(a) == 8 && bits(b) == 8;
}

Unit codomain_of(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return l->units.codomain;
  const auto* inner = std::get_if<Layout>(&std::get<Composed>(a).inner);
  return inner ? inner->units.codomain : Unit{};
}

Unit common_codomain(const Unit& a, const Unit& b) {
  // A layout that says nothing fits everything: units are checked where both sides say what they
  // count.
  if (a.counts == Counts::none) return b;
  if (may_meet(a, b)) return a;
  const bool memory = bits(a) != 0 && bits(b) != 0;
  throw refusal("units", "one layout gives " + a.to_string() + " and the other " + b.to_string(),
                memory ? "recast converts between element types and bytes" : "");
}

}  // namespace lay
