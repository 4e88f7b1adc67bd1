// A value of every lane of a warp. Integers and truth values are held in 64 bits, whatever their
// type, and lie in its range; f64 in f64; every other floating-point type in f32, which holds all
// of its values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "frontend/algebra/memory/element.h"

namespace lay::interpret {

// Lanes of a warp, and a set of them: bit i is lane i.
inline constexpr int kLanes = 32;
using Mask = std::uint32_t;

union alignas(64) Lanes {
  std::int64_t integer[kLanes];
  float single[kLanes];
  double real[kLanes];
};

// The lanes as the C++ type that holds them: float, double, or std::int64_t.
template <class T>
T* as(Lanes& lanes) {
  if constexpr (std::is_same_v<T, float>) {
    return lanes.single;
  } else if constexpr (std::is_same_v<T, double>) {
    return lanes.real;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>);
    return lanes.integer;
  }
}

// Which of the three holds values of a type.
enum class LaneType : std::uint8_t { integer, single, real };

inline LaneType lane_type(ElementType type) {
  if (!is_float(type)) return LaneType::integer;
  return type == ElementType::f64 ? LaneType::real : LaneType::single;
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
