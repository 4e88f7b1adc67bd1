#pragma once

// Element types and element functions: two closed tables that the checker, the interpreter and the
// emitter read.
//
//     bits(ElementType::bf16) == 16        element_name(ElementType::bf16) == "bf16"
//     *parse_element("e4m3") == ElementType::e4m3
//
// The names are those of the PTX ISA (section 5.2, fundamental and alternate types).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lay {

// b8 .. b128 are bits without a meaning; e2m1, e2m3 and e3m2 the OCP microscaling floats.
enum class ElementType : uint8_t {
  pred,
  s4,
  u4,
  e2m1,
  e2m3,
  e3m2,
  e4m3,
  e5m2,
  s8,
  u8,
  b8,
  f16,
  bf16,
  s16,
  u16,
  b16,
  f32,
  tf32,
  s32,
  u32,
  b32,
  f64,
  s64,
  u64,
  b64,
  u128,
  b128,
};

// One row of the table of types. `bits` is the width in an array (tf32 is stored as 32 bits);
// `pred` counts as 1 bit.
struct ElementRow {
  ElementType type;
  std::string_view name;
  int bits;
  bool is_float;
  bool is_signed;
};

// Rows in the order of the enumeration.
std::span<const ElementRow> element_rows();
const ElementRow& element_row(ElementType type);
std::string_view element_name(ElementType type);
// The type of a name; nothing for another word.
std::optional<ElementType> parse_element(std::string_view name);
int bits(ElementType type);
// Returns true for types of 4 bits, of which memory has two to a byte: the element of even offset
// in the low bits, the next one in the high bits.
bool is_half_byte(ElementType type);
bool is_float(ElementType type);
bool is_signed(ElementType type);

// The functions that an epilogue is made of. Gelu, relu, silu and the like are `def`s over these.
enum class ElementFunction : uint8_t {
  add,
  sub,
  mul,
  div,
  rem,
  neg,
  abs,
  min,
  max,
  min_nan,  // of floats NaN where an operand is; min and max take the other operand there
  max_nan,
  fma,
  exp,
  exp_fma,  // exp(a * b + c), in f32 by an approximate instruction
  log,
  sqrt,
  rsqrt,
  tanh,
  erf,
  sigmoid,  // 1 / (1 + exp(-x))
  normcdf,  // (1 + erf(x / sqrt(2))) / 2, of the normal distribution
  sin,
  cos,
  floor,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  and_,
  or_,
  not_,
  select,
  cast,
};

// The result type of a function: the type of its operands, a truth value, or the type it is asked
// for (cast).
enum class ResultKind : uint8_t { same, truth, asked };

// One row of the table of functions. `name` is the word in Lay; `floats` and `integers` say on what
// it is defined (truth values are the operands of and, or, not and the first of select).
struct FunctionRow {
  ElementFunction function;
  std::string_view name;
  int arity;
  ResultKind result;
  bool floats;
  bool integers;
};

std::span<const FunctionRow> function_rows();
const FunctionRow& function_row(ElementFunction function);
std::optional<ElementFunction> parse_function(std::string_view name);

}  // namespace lay
