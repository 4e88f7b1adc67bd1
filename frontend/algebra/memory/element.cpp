#include "frontend/algebra/memory/element.h"

#include <array>

namespace lay {
namespace {

using enum ElementType;

constexpr std::array kElements = {
    ElementRow{pred, "pred", 1, false, false},   ElementRow{s4, "s4", 4, false, true},
    ElementRow{u4, "u4", 4, false, false},       ElementRow{e2m1, "e2m1", 4, true, true},
    ElementRow{e2m3, "e2m3", 6, true, true},     ElementRow{e3m2, "e3m2", 6, true, true},
    ElementRow{e4m3, "e4m3", 8, true, true},     ElementRow{e5m2, "e5m2", 8, true, true},
    ElementRow{s8, "s8", 8, false, true},        ElementRow{u8, "u8", 8, false, false},
    ElementRow{b8, "b8", 8, false, false},       ElementRow{f16, "f16", 16, true, true},
    ElementRow{bf16, "bf16", 16, true, true},    ElementRow{s16, "s16", 16, false, true},
    ElementRow{u16, "u16", 16, false, false},    ElementRow{b16, "b16", 16, false, false},
    ElementRow{f32, "f32", 32, true, true},      ElementRow{tf32, "tf32", 32, true, true},
    ElementRow{s32, "s32", 32, false, true},     ElementRow{u32, "u32", 32, false, false},
    ElementRow{b32, "b32", 32, false, false},    ElementRow{f64, "f64", 64, true, true},
    ElementRow{s64, "s64", 64, false, true},     ElementRow{u64, "u64", 64, false, false},
    ElementRow{b64, "b64", 64, false, false},    ElementRow{u128, "u128", 128, false, false},
    ElementRow{b128, "b128", 128, false, false},
};

using F = ElementFunction;
using R = ResultKind;

constexpr std::array kFunctions = {
    FunctionRow{F::add, "add", 2, R::same, true, true},
    FunctionRow{F::sub, "sub", 2, R::same, true, true},
    FunctionRow{F::mul, "mul", 2, R::same, true, true},
    FunctionRow{F::div, "div", 2, R::same, true, true},
    FunctionRow{F::rem, "rem", 2, R::same, false, true},
    FunctionRow{F::neg, "neg", 1, R::same, true, true},
    FunctionRow{F::abs, "abs", 1, R::same, true, true},
    FunctionRow{F::min, "min", 2, R::same, true, true},
    FunctionRow{F::max, "max", 2, R::same, true, true},
    FunctionRow{F::min_nan, "min_nan", 2, R::same, true, true},
    FunctionRow{F::max_nan, "max_nan", 2, R::same, true, true},
    FunctionRow{F::fma, "fma", 3, R::same, true, true},
    FunctionRow{F::exp, "exp", 1, R::same, true, false},
    FunctionRow{F::exp_fma, "exp_fma", 3, R::same, true, false},
    FunctionRow{F::log, "log", 1, R::same, true, false},
    FunctionRow{F::sqrt, "sqrt", 1, R::same, true, false},
    FunctionRow{F::rsqrt, "rsqrt", 1, R::same, true, false},
    FunctionRow{F::tanh, "tanh", 1, R::same, true, false},
    FunctionRow{F::erf, "erf", 1, R::same, true, false},
    FunctionRow{F::sigmoid, "sigmoid", 1, R::same, true, false},
    FunctionRow{F::normcdf, "normcdf", 1, R::same, true, false},
    FunctionRow{F::sin, "sin", 1, R::same, true, false},
    FunctionRow{F::cos, "cos", 1, R::same, true, false},
    FunctionRow{F::floor, "floor", 1, R::same, true, false},
    FunctionRow{F::lt, "lt", 2, R::truth, true, true},
    FunctionRow{F::le, "le", 2, R::truth, true, true},
    FunctionRow{F::gt, "gt", 2, R::truth, true, true},
    FunctionRow{F::ge, "ge", 2, R::truth, true, true},
    FunctionRow{F::eq, "eq", 2, R::truth, true, true},
    FunctionRow{F::ne, "ne", 2, R::truth, true, true},
    FunctionRow{F::and_, "and", 2, R::truth, false, false},
    FunctionRow{F::or_, "or", 2, R::truth, false, false},
    FunctionRow{F::not_, "not", 1, R::truth, false, false},
    FunctionRow{F::select, "select", 3, R::same, true, true},
    FunctionRow{F::cast, "cast", 1, R::asked, true, true},
};

}  // namespace

std::span<const ElementRow> element_rows() {
  return kElements;
}

const ElementRow& element_row(ElementType type) {
  return kElements[static_cast<size_t>(type)];
}

std::string_view element_name(ElementType type) {
  return element_row(type).name;
}

// A bit of an operand is b1 in the PTX ISA's instructions, and pred in its registers.
std::optional<ElementType> parse_element(std::string_view name) {
  if (name == "b1") return pred;
  for (const ElementRow& row : kElements) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int bits(ElementType type) {
  return element_row(type).bits;
}

bool is_half_byte(ElementType type) {
  return bits(type) == 4;
}

bool is_float(ElementType type) {
  return element_row(type).is_float;
}

bool is_signed(ElementType type) {
  return element_row(type).is_signed;
}

std::span<const FunctionRow> function_rows() {
  return kFunctions;
}

const FunctionRow& function_row(ElementFunction function) {
  return kFunctions[static_cast<size_t>(function)];
}

std::optional<ElementFunction> parse_function(std::string_view name) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name == name) return row.function;
  }
  return std::nullopt;
}

}  // namespace lay
