#pragma once

// The units that a function takes and gives, where they are known: elements of a type, bytes,
// threads, values or coordinates. A unit that is not known is no objection; two that are known have
// to be the same where they meet. A byte is an element of any type of 8 bits.

#include <cstdint>
#include <string>

#include "frontend/algebra/memory/element.h"

namespace lay {

enum class Counts : uint8_t { none, elements, bytes, threads, values, coordinates };

struct Unit {
  Counts counts = Counts::none;
  ElementType element = ElementType::b8;  // of elements
  friend bool operator==(const Unit& a, const Unit& b) {
    return a.counts == b.counts && (a.counts != Counts::elements || a.element == b.element);
  }
  // "elements of f16", "bytes"
  std::string to_string() const;
};

inline Unit elements_of(ElementType element) {
  return {Counts::elements, element};
}

struct Units {
  Unit domain;
  Unit codomain;
  friend bool operator==(const Units&, const Units&) = default;
};

// Returns true if a function that gives `a` may stand before one that takes `b`.
bool may_meet(const Unit& a, const Unit& b);
// The bits that one of them takes in memory; 0 where it takes none, or that is not known.
int bits(const Unit& unit);

}  // namespace lay
