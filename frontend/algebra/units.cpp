#include "frontend/algebra/units.h"

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

int bits(const Unit& unit) {
  if (unit.counts == Counts::elements) return bits(unit.element);
  return unit.counts == Counts::bytes ? 8 : 0;
}

bool may_meet(const Unit& a, const Unit& b) {
  if (a.counts == Counts::none || b.counts == Counts::none || a == b) return true;
  const bool bytes = a.counts == Counts::bytes || b.counts == Counts::bytes;
  return bytes && bits(a) == 8 && bits(b) == 8;
}

}  // namespace lay
