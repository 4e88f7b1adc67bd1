#include "backend/cuda/types.h"

namespace lay::cuda {
namespace {

using enum ElementType;
using F = ElementFunction;

std::string_view float_function(F function) {
  switch (function) {
    case F::min:
      return "fmin";
    case F::max:
      return "fmax";
    case F::abs:
      return "fabs";
    case F::fma:
      return "fma";
    case F::exp:
      return "exp";
    case F::log:
      return "log";
    case F::sqrt:
      return "sqrt";
    case F::tanh:
      return "tanh";
    case F::erf:
      return "erf";
    case F::normcdf:
      return "normcdf";
    case F::sin:
      return "sin";
    case F::cos:
      return "cos";
    case F::floor:
      return "floor";
    default:
      return "";
  }
}

struct Operator {
  std::string_view text;
  Binding binding;
};

std::optional<Operator> infix(F function) {
  switch (function) {
    case F::add:
      return Operator{"+", Binding::additive};
    case F::sub:
      return Operator{"-", Binding::additive};
    case F::mul:
      return Operator{"*", Binding::multiplicative};
    case F::div:
      return Operator{"/", Binding::multiplicative};
    case F::rem:
      return Operator{"%", Binding::multiplicative};
    case F::lt:
      return Operator{"<", Binding::relation};
    case F::le:
      return Operator{"<=", Binding::relation};
    case F::gt:
      return Operator{">", Binding::relation};
    case F::ge:
      return Operator{">=", Binding::relation};
    case F::eq:
      return Operator{"==", Binding::equality};
    case F::ne:
      return Operator{"!=", Binding::equality};
    case F::and_:
      return Operator{"&&", Binding::logical_and};
    case F::or_:
      return Operator{"||", Binding::logical_or};
    default:
      return std::nullopt;
  }
}

// Returns the name of a function that the emitted text itself defines: one made of approximate f32
// instructions, or one that CUDA lacks.
std::string_view own_function(F function, ElementType type) {
  if (function == F::sigmoid) return type == f64 ? "sigmoid_f64" : "sigmoid_f32";
  if (function == F::min_nan) return type == f64 ? "min_nan_f64" : "min_nan_f32";
  if (function == F::max_nan) return type == f64 ? "max_nan_f64" : "max_nan_f32";
  if (function == F::exp_fma) return type == f64 ? "exp_fma_f64" : "exp_fma_f32";
  return function == F::normcdf && type == f32 ? "normcdf_f32" : "";
}

std::string arguments_of(F function, const Code* x) {
  std::string arguments = x[0].text;
  for (int i = 1; i < function_row(function).arity; ++i) arguments += ", " + x[i].text;
  return arguments;
}

std::optional<Code> applied_to_floats(F function, const Code* x, ElementType type,
                                      Helpers& helpers) {
  if (const std::string_view own = own_function(function, type); !own.empty()) {
    helpers.names.insert(own);
    return call(std::string(own), arguments_of(function, x));
  }
  const std::string suffix = type == f64 ? "" : "f";
  if (function == F::rsqrt)
    return binary(name(type == f64 ? "1.0" : "1.0f"), "/", call("sqrt" + suffix, x[0].text),
                  Binding::multiplicative);
  const std::string_view stem = float_function(function);
  if (stem.empty()) return std::nullopt;
  return call(std::string(stem) + suffix, arguments_of(function, x));
}

// A constant of s64, whose literal may be an int, where nothing beside it makes it a long long.
Code as_wide(const Code& x, ElementType type) {
  return type == s64 && x.known ? wide_integer(*x.known) : x;
}

std::optional<Code> applied_to_integers(F function, const Code* x, ElementType type) {
  switch (function) {
    case F::add:
      return sum(x[0], x[1]);
    case F::sub:
      return difference(x[0], x[1]);
    case F::mul:
      return product(x[0], x[1]);
    case F::div:
      return quotient(x[0], x[1]);
    case F::rem:
      return remainder(x[0], x[1]);
    case F::fma:
      return sum(product(x[0], x[1]), x[2]);
    case F::min:
    case F::min_nan:
      return call("min", as_wide(x[0], type).text + ", " + as_wide(x[1], type).text);
    case F::max:
    case F::max_nan:
      return call("max", as_wide(x[0], type).text + ", " + as_wide(x[1], type).text);
    case F::abs:
      return is_signed(type) ? call(type == s64 ? "llabs" : "abs", x[0].text) : x[0];
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Code> applied(F function, const Code* x, ElementType type, Helpers& helpers) {
  if (function == F::select) {
    const Code then = x[2].known && (x[1].wide || x[2].wide) ? as_wide(x[1], s64) : x[1];
    return Code{inside(x[0], Binding::logical_or) + " ? " + inside(then, Binding::logical_or) +
                    " : " + inside(x[2], Binding::conditional),
                Binding::conditional, x[1].wide || x[2].wide};
  }
  if (function == F::not_) return Code{"!" + inside(x[0], Binding::unary), Binding::unary};
  const bool is_logical = function == F::and_ || function == F::or_;
  const bool is_float_type = type == f32 || type == f64;
  if (!is_logical && !is_float_type && !(is_integer(type) && bits(type) >= 32)) return std::nullopt;
  if (function == F::neg)
    return Code{"-" + inside(x[0], Binding::postfix), Binding::unary, x[0].wide};
  if (is_integer(type))
    if (auto code = applied_to_integers(function, x, type)) return code;
  if (const auto op = infix(function)) {
    Code a = x[0], b = x[1];
    drop_widening(a, b);
    return binary(a, op->text, b, op->binding);
  }
  return is_float_type ? applied_to_floats(function, x, type, helpers) : std::nullopt;
}

}  // namespace lay::cuda
