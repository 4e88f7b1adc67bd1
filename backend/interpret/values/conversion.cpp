#include <algorithm>
#include <cmath>

#include "backend/interpret/values/arithmetic.h"
#include "backend/interpret/values/codec.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

// A number as one of type To: in one rounding, because f32 and f64 hold what narrower types do
// exactly and integers are converted from themselves.
template <class From>
float to_narrow(ElementType to, From value) {
  if constexpr (std::is_same_v<From, float>) {
    if (to == ElementType::f32) return value;
    if (to == ElementType::tf32) return f32_to_tf32(value);
    return with_codec(to, Arithmetic::ieee, [&](auto codec) -> float {
      using C = decltype(codec);
      if constexpr (std::is_same_v<typename C::Value, float>) return C::decode(C::encode(value));
      return 0;
    });
  } else {
    if (to == ElementType::f32) return static_cast<float>(value);
    if constexpr (std::is_integral_v<From>) return static_cast<float>(from_integer(to, value));
    return static_cast<float>(decode(to, encode(to, static_cast<double>(value))));
  }
}

template <class From>
void to_floating(Warp& warp, const Instruction& at) {
  const From* a = as<From>(warp.slots[at.a]);
  const auto to = static_cast<ElementType>(at.value);
  if (to == ElementType::f64) {
    double* dst = as<double>(warp.slots[at.dst]);
    for (int i = 0; i < kLanes; ++i) dst[i] = static_cast<double>(a[i]);
    return;
  }
  float* dst = as<float>(warp.slots[at.dst]);
  for (int i = 0; i < kLanes; ++i) dst[i] = to_narrow(to, a[i]);
}

// u64 is held in the bits of int64.
void u64_to_floating(Warp& warp, const Instruction& at) {
  const std::int64_t* a = as<std::int64_t>(warp.slots[at.a]);
  const auto to = static_cast<ElementType>(at.value);
  for (int i = 0; i < kLanes; ++i) {
    const auto value = static_cast<std::uint64_t>(a[i]);
    if (to == ElementType::f64) {
      as<double>(warp.slots[at.dst])[i] = static_cast<double>(value);
    } else {
      as<float>(warp.slots[at.dst])[i] = to_narrow(to, value);
    }
  }
}

template <class From>
void to_integer(Warp& warp, const Instruction& at) {
  const From* a = as<From>(warp.slots[at.a]);
  std::int64_t* dst = as<std::int64_t>(warp.slots[at.dst]);
  const auto to = static_cast<ElementType>(at.value);
  for (int i = 0; i < kLanes; ++i) dst[i] = round_to_integer(to, static_cast<double>(a[i]));
}

// Between integers: types of up to 8 bits saturate, the others keep the low bits.
void integer_to_integer(Warp& warp, const Instruction& at) {
  const std::int64_t* a = as<std::int64_t>(warp.slots[at.a]);
  std::int64_t* dst = as<std::int64_t>(warp.slots[at.dst]);
  const auto to = static_cast<ElementType>(at.value);
  for (int i = 0; i < kLanes; ++i) {
    dst[i] = bits(to) <= 8 ? saturate(to, a[i])
                           : with_codec(to, Arithmetic::ieee, [&](auto codec) -> std::int64_t {
                               using C = decltype(codec);
                               if constexpr (std::is_same_v<typename C::Value, std::int64_t>)
                                 return C::decode(C::encode(a[i]));
                               return 0;
                             });
  }
}

// ---- in field mode

void number_to_number(Warp& warp, const Instruction& at) {
  std::copy_n(warp.slots[at.a].number, kLanes, warp.slots[at.dst].number);
}

void number_to_integer(Warp& warp, const Instruction& at) {
  const auto to = static_cast<ElementType>(at.value);
  for (int i = 0; i < kLanes; ++i)
    warp.slots[at.dst].integer[i] = field::to_integer(to, warp.slots[at.a].number[i]);
}

void integer_to_number(Warp& warp, const Instruction& at) {
  for (int i = 0; i < kLanes; ++i)
    warp.slots[at.dst].number[i] = field::embed(warp.slots[at.a].integer[i]);
}

}  // namespace

Handler conversion(ElementType from, ElementType to, Arithmetic of_floats) {
  if (of_floats == Arithmetic::field && (is_float(from) || is_float(to))) {
    if (!is_float(from)) return integer_to_number;
    return is_float(to) ? number_to_number : number_to_integer;
  }
  if (from == ElementType::u64 && is_float(to)) return u64_to_floating;
  switch (lane_type(from, of_floats)) {
    case LaneType::single:
      return is_float(to) ? to_floating<float> : to_integer<float>;
    case LaneType::real:
      return is_float(to) ? to_floating<double> : to_integer<double>;
    case LaneType::number:
    case LaneType::integer:
      return is_float(to) ? to_floating<std::int64_t> : integer_to_integer;
  }
  return integer_to_integer;
}

}  // namespace lay::interpret
