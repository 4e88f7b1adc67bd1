#include "backend/cuda/types.h"

namespace lay::cuda {
namespace {

using enum ElementType;

Code cast_to(std::string_view c_name, const Code& value) {
  if (c_name == "long long") return widened(value);
  return {"(" + std::string(c_name) + ")" + inside(value, Binding::unary), Binding::unary};
}

Code helper_call(std::string_view helper, const Code& value, Helpers& helpers) {
  helpers.names.insert(helper);
  return call(helper, value.text);
}

// The helper that gives the f32 of a type that the language does not have.
std::string_view from_helper(ElementType from) {
  switch (from) {
    case f16:
      return "f32_from_f16";
    case bf16:
      return "f32_from_bf16";
    case e4m3:
      return "f32_from_e4m3";
    default:
      return "f32_from_e5m2";
  }
}

// The words min and max ask for two operands of one type where that has 64 bits.
std::string bound(int value, ElementType type) {
  return std::to_string(value) + (type == s64 ? "LL" : type == u64 ? "ULL" : "");
}

// An integer to the nearest one of a type of 4 or 8 bits.
Code clamped(const Code& value, ElementType from, ElementType to) {
  const int values = 1 << bits(to), lower = is_signed(to) ? -values / 2 : 0;
  const std::string low =
      is_signed(from) ? "max(" + value.text + ", " + bound(lower, from) + ")" : value.text;
  return cast_to(*c_type(to), call("min", low + ", " + bound(lower + values - 1, from)));
}

// f32 to the others.
std::optional<Code> from_f32(const Code& value, ElementType to, Helpers& helpers) {
  switch (to) {
    case f64:
      return cast_to("double", value);
    case f16:
      return helper_call("f16_from_f32", value, helpers);
    case bf16:
      return helper_call("bf16_from_f32", value, helpers);
    case e4m3:
      return helper_call("e4m3_from_f32", value, helpers);
    case e5m2:
      return helper_call("e5m2_from_f32", value, helpers);
    case s8:
      return helper_call("s8_from_f32", value, helpers);
    case u8:
      return helper_call("u8_from_f32", value, helpers);
    case s4:
      return clamped(helper_call("s8_from_f32", value, helpers), s8, s4);
    case u4:
      return clamped(helper_call("u8_from_f32", value, helpers), u8, u4);
    case s32:
      return call("__float2int_rn", value.text);
    case u32:
      return call("__float2uint_rn", value.text);
    case s64:
      return helper_call("s64_from_f32", value, helpers);
    case u64:
      return helper_call("u64_from_f32", value, helpers);
    case tf32:
      return helper_call("tf32_from_f32", value, helpers);
    default:
      return std::nullopt;
  }
}

std::optional<Code> from_f64(const Code& value, ElementType to, Helpers& helpers) {
  switch (to) {
    case f32:
      return cast_to("float", value);
    case f16:
      return helper_call("f16_from_f64", value, helpers);
    case bf16:
    case e4m3:
    case e5m2:
    case tf32:
      return from_f32(helper_call("f32_odd_from_f64", value, helpers), to, helpers);
    case s8:
      return helper_call("s8_from_f64", value, helpers);
    case u8:
      return helper_call("u8_from_f64", value, helpers);
    case s4:
      return clamped(helper_call("s8_from_f64", value, helpers), s8, s4);
    case u4:
      return clamped(helper_call("u8_from_f64", value, helpers), u8, u4);
    case s32:
      return helper_call("s32_from_f64", value, helpers);
    case u32:
      return helper_call("u32_from_f64", value, helpers);
    case s64:
      return helper_call("s64_from_f64", value, helpers);
    case u64:
      return helper_call("u64_from_f64", value, helpers);
    default:
      return std::nullopt;
  }
}

Code integer_to_integer(const Code& value, ElementType from, ElementType to) {
  return bits(to) <= 8 && from != to ? clamped(value, from, to) : cast_to(*c_type(to), value);
}

}  // namespace

std::optional<Code> converted(const Code& value, ElementType from, ElementType to,
                              Helpers& helpers) {
  if (from == to || (from == tf32 && to == f32)) return value;
  if (from == pred && c_type(to))
    return is_integer(to) || to == f32 || to == f64 ? std::optional(cast_to(*c_type(to), value))
                                                    : std::nullopt;
  switch (from) {
    case f32:
    case tf32:
      return from_f32(value, to, helpers);
    case f64:
      return from_f64(value, to, helpers);
    case f16:
    case bf16:
    case e4m3:
    case e5m2: {
      const Code single = helper_call(from_helper(from), value, helpers);
      return to == f32 ? single : from_f32(single, to, helpers);
    }
    default:
      break;
  }
  if (!is_integer(from)) return std::nullopt;
  if (is_integer(to)) return integer_to_integer(value, from, to);
  if (bits(from) <= 8 && to != f64) {
    const Code single =
        helper_call(is_signed(from) ? "f32_from_s8" : "f32_from_u8", value, helpers);
    return to == f32 ? single : from_f32(single, to, helpers);
  }
  if (to == f32) return cast_to("float", value);
  if (to == f64) return cast_to("double", value);
  // Exact through f32 for narrow integers, through f64 for those of 32 bits; wider ones are made
  // odd f64 first.
  if (bits(from) <= 16) return from_f32(cast_to("float", value), to, helpers);
  if (bits(from) <= 32) return from_f64(cast_to("double", value), to, helpers);
  return from_f64(
      helper_call(from == s64 ? "f64_odd_from_s64" : "f64_odd_from_u64", value, helpers), to,
      helpers);
}

}  // namespace lay::cuda
