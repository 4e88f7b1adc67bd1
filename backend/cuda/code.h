// A piece of C++ expression: its text, how tightly it binds, and its value where it is a known
// integer.
//
//   Code i = name("i_");
//   sum(product(i, integer(8)), integer(0)).text              "i_ * 8"
//   product(sum(i, integer(1)), integer(4)).text              "(i_ + 1) * 4"
//   quotient(i, integer(1)).text                              "i_"
//   remainder(product(i, integer(8)), integer(2)).text        "0"
//
// Integer operations fold what is constant and drop neutral elements and remainders of multiples of
// powers of two; parentheses stand only where they are needed (and where a reader wants them).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lay::cuda {

// The C++ operators that the emitter writes, loosest first.
enum class Binding {
  conditional,
  logical_or,
  logical_and,
  bit_xor,
  bit_and,
  equality,
  relation,
  shift,
  additive,
  multiplicative,
  unary,
  postfix,
};

// A C++ expression as text.
struct Code {
  std::string text;
  Binding binding = Binding::postfix;
  bool wide = false;  // of type long long
  // The value of an integer constant.
  std::optional<std::int64_t> known = std::nullopt;
  std::string narrow =
      {};  // of an int that was widened: its text, binding as a unary operator does
  // A power of two that divides the value, also where the value has wrapped; 0 of the constant 0.
  std::int64_t multiple = 1;
};

Code name(std::string_view identifier);
Code integer(std::int64_t value);
Code wide_integer(std::int64_t value);  // its literal is a long long

// The text, in parentheses if it binds looser than `least`.
std::string inside(const Code& code, Binding least);

// left op right, for a left-associative operator of that binding.
Code binary(const Code& left, std::string_view op, const Code& right, Binding binding);
Code call(std::string_view function, std::string_view arguments);

// Integers.
Code sum(const Code& a, const Code& b);
Code difference(const Code& a, const Code& b);
Code product(const Code& a, const Code& b);
Code quotient(const Code& a, const Code& b);   // of non-negative operands: floored
Code remainder(const Code& a, const Code& b);  // of non-negative operands
// As long long.
Code widened(const Code& a);
// Where both are long long and one of them is a widened int, it need not be: the operator widens
// it.
void drop_widening(Code& a, Code& b);

}  // namespace lay::cuda
