#include "backend/cuda/types.h"

#include <array>
#include <charconv>
#include <cmath>

namespace lay::cuda {
namespace {

using enum ElementType;

template <class T>
std::string shortest(T value) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

bool is_integer(ElementType type) {
  switch (type) {
    case s4:
    case u4:
    case s8:
    case u8:
    case s16:
    case u16:
    case s32:
    case u32:
    case s64:
    case u64:
      return true;
    default:
      return false;
  }
}

std::optional<std::string_view> c_type(ElementType type) {
  switch (type) {
    case pred:
      return "bool";
    case s4:
    case s8:
      return "signed char";
    case e4m3:
    case e5m2:
    case u4:
    case u8:
    case b8:
      return "unsigned char";
    case s16:
      return "short";
    case f16:
    case bf16:
    case u16:
    case b16:
      return "unsigned short";
    case f32:
    case tf32:
      return "float";
    case s32:
      return "int";
    case u32:
    case b32:
      return "unsigned";
    case f64:
      return "double";
    case s64:
      return "long long";
    case u64:
    case b64:
      return "unsigned long long";
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> memory_type(ElementType type) {
  return is_half_byte(type) && c_type(type) ? "unsigned char" : c_type(type);
}

std::optional<VectorType> vector_type(ElementType type, int bytes) {
  const bool is_single = type == f32 || type == tf32;
  switch (bytes) {
    case 1:
      return VectorType{"unsigned char", "0", u8};
    case 2:
      return VectorType{"unsigned short", "0", u16};
    case 4:
      return is_single ? VectorType{"float", "0.0f", f32} : VectorType{"unsigned", "0", u32};
    case 8:
      if (is_single) return VectorType{"float2", "make_float2(0.0f, 0.0f)", f32};
      return type == f64 ? VectorType{"double", "0.0", f64}
                         : VectorType{"uint2", "make_uint2(0, 0)", u32};
    case 16:
      if (is_single) return VectorType{"float4", "make_float4(0.0f, 0.0f, 0.0f, 0.0f)", f32};
      return type == f64 ? VectorType{"double2", "make_double2(0.0, 0.0)", f64}
                         : VectorType{"uint4", "make_uint4(0, 0, 0, 0)", u32};
    default:
      return std::nullopt;
  }
}

std::optional<std::string> literal(double value, ElementType type) {
  if (type == f64) {
    if (std::isnan(value)) return "__longlong_as_double(0x7ff8000000000000LL)";
    if (std::isinf(value))
      return std::string(value < 0 ? "-" : "") + "__longlong_as_double(0x7ff0000000000000LL)";
    return shortest(value);
  }
  if (type == f32 || type == tf32) {
    const auto rounded = static_cast<float>(value);
    if (std::isnan(rounded)) return "__int_as_float(0x7fc00000)";
    if (std::isinf(rounded))
      return std::string(rounded < 0 ? "-" : "") + "__int_as_float(0x7f800000)";
    return shortest(rounded) + "f";
  }
  return std::nullopt;
}

}  // namespace lay::cuda
