// A value of every lane of a warp. Integers and truth values are held in 64 bits, whatever their
// type, and lie in its range; f64 in f64; every other floating-point type in f32, which holds all
// of its values. In field mode every floating-point type is held as a number of the field.
#pragma once

#include <cstdint>
#include <type_traits>

#include "frontend/algebra/field/number.h"
#include "frontend/algebra/memory/element.h"

namespace lay::interpret {

// Lanes of a warp, and a set of them: bit i is lane i.
inline constexpr int kLanes = 32;
using Mask = std::uint32_t;

union alignas(64) Lanes {
  std::int64_t integer[kLanes];
  float single[kLanes];
  double real[kLanes];
  field::Number number[kLanes];
};

// The lanes as the C++ type that holds them: float, double, field::Number or std::int64_t.
template <class T>
T* as(Lanes& lanes) {
  if constexpr (std::is_same_v<T, float>) {
    return lanes.single;
  } else if constexpr (std::is_same_v<T, double>) {
    return lanes.real;
  } else if constexpr (std::is_same_v<T, field::Number>) {
    return lanes.number;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>);
    return lanes.integer;
  }
}

// Which of the four holds values of a type.
enum class LaneType : std::uint8_t { integer, single, real, number };

inline LaneType lane_type(ElementType type, Arithmetic arithmetic) {
  if (!is_float(type)) return LaneType::integer;
  if (arithmetic == Arithmetic::field) return LaneType::number;
  return type == ElementType::f64 ? LaneType::real : LaneType::single;
}

// f32, and the types whose values it holds.
inline bool is_narrow_float(ElementType type) {
  return is_float(type) && type != ElementType::f64;
}

inline int first_lane(Mask mask) {
  return __builtin_ctz(mask);
}

// Calls f with each lane of the set, ascending.
template <class F>
void for_each_lane(Mask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

}  // namespace lay::interpret
