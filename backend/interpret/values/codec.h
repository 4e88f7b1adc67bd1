// How a lane's value of each element type lies in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "backend/interpret/lanes.h"
#include "frontend/algebra/memory/convert.h"

namespace lay::interpret {

// Bits: in memory. Value: in a slot.
// A type's two forms: as bits in memory, and as a value that a slot holds.
template <class BitsType, class ValueType, ValueType (*kDecode)(BitsType),
          BitsType (*kEncode)(ValueType)>
struct Codec {
  using Bits = BitsType;
  using Value = ValueType;
  static Value decode(Bits bits) { return kDecode(bits); }
  static Bits encode(Value value) { return kEncode(value); }
};

namespace codec {
// Integers of all widths are held in 64 bits.
template <class Integer>
std::int64_t widen(Integer value) {
  return static_cast<std::int64_t>(value);
}
template <class Integer>
Integer narrow(std::int64_t value) {
  return static_cast<Integer>(value);
}
// f32 and f64 are the same in both forms.
template <class T>
T same(T value) {
  return value;
}
inline field::Number number_of(std::uint64_t bits) {
  return {bits};
}
inline std::uint64_t bits_of(field::Number number) {
  return number.bits;
}
}  // namespace codec

template <class Integer>
using IntegerCodec = Codec<Integer, std::int64_t, codec::widen<Integer>, codec::narrow<Integer>>;

using FieldCodec = Codec<std::uint64_t, field::Number, codec::number_of, codec::bits_of>;

// Calls f with the codec of the type. std::logic_error for floats below a byte and types wider than
// 64 bits: the compiler refuses buffers of those. In field mode every element has 64 bits.
template <class F>
auto with_codec(ElementType type, Arithmetic arithmetic, F f) {
  if (arithmetic == Arithmetic::field)
    return is_float(type) ? f(FieldCodec{}) : f(IntegerCodec<std::int64_t>{});
  switch (type) {
    // On the host an integer of 4 bits has a byte of its own, with its sign.
    case ElementType::s8:
    case ElementType::s4:
      return f(IntegerCodec<std::int8_t>{});
    case ElementType::u8:
    case ElementType::u4:
    case ElementType::b8:
    case ElementType::pred:
      return f(IntegerCodec<std::uint8_t>{});
    case ElementType::s16:
      return f(IntegerCodec<std::int16_t>{});
    case ElementType::u16:
    case ElementType::b16:
      return f(IntegerCodec<std::uint16_t>{});
    case ElementType::s32:
      return f(IntegerCodec<std::int32_t>{});
    case ElementType::u32:
    case ElementType::b32:
      return f(IntegerCodec<std::uint32_t>{});
    case ElementType::s64:
    case ElementType::u64:
    case ElementType::b64:
      return f(IntegerCodec<std::int64_t>{});
    case ElementType::f32:
    case ElementType::tf32:
      return f(Codec<float, float, codec::same<float>, codec::same<float>>{});
    case ElementType::f64:
      return f(Codec<double, double, codec::same<double>, codec::same<double>>{});
    case ElementType::f16:
      return f(Codec<std::uint16_t, float, f16_to_f32, f32_to_f16>{});
    case ElementType::bf16:
      return f(Codec<std::uint16_t, float, bf16_to_f32, f32_to_bf16>{});
    case ElementType::e4m3:
      return f(Codec<std::uint8_t, float, e4m3_to_f32, f32_to_e4m3>{});
    case ElementType::e5m2:
      return f(Codec<std::uint8_t, float, e5m2_to_f32, f32_to_e5m2>{});
    // No buffer holds these: floats below a byte, and elements wider than 64 bits.
    case ElementType::e2m1:
    case ElementType::e2m3:
    case ElementType::e3m2:
    case ElementType::u128:
    case ElementType::b128:
      break;
  }
  throw std::logic_error("no codec for " + std::string(element_name(type)));
}

// A value as an operand of arithmetic in T. Kernels are verified, so that numbers of the field meet
// only each other: that they convert is for the compiler of this file.
template <class T, class Value>
T operand_value(Value value) {
  if constexpr (std::is_same_v<T, field::Number> && !std::is_same_v<Value, field::Number>) {
    return field::embed(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<Value, field::Number> && !std::is_same_v<T, field::Number>) {
    return T{};
  } else {
    return static_cast<T>(value);
  }
}

// Returns true if the interpreter has memory of this type.
inline bool storable(ElementType type) {
  const int width = bits(type);
  return type == ElementType::pred || type == ElementType::s4 || type == ElementType::u4 ||
         (width % 8 == 0 && width <= 64);
}

}  // namespace lay::interpret
