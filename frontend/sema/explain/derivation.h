// The text of `explain`: a derivation of the algebra (frontend/algebra/support/trace.h) in words
// and numbers.
//
//   composition: A = (6,2):(8,2), B = (4,3):(3,1)
//     R(c) == A(B(c)); A o B is the same; a tuple tiles by mode
//     A coalesced is 6:8, 2:2; the last mode goes on for ever
//     mode 0 of B is 4:3: 4 steps of 3
//       at 6:8: 3 divides 6, and 6/3 = 2 divides 4: 2 steps fill it, 2:24; 2 steps of 1 go on
//       at 2:2: the last mode takes what is left, 2:2
//     mode 1 of B is 3:1: 3 steps of 1
//       at 6:8: (3-1)*1 = 2 < 6, so they stay inside, 3:8
//     in 6:8 the modes of B reach 3 + 2 = 5 < 6: nothing carries
//     = ((2,2),3):((24,2),8)
//     check: R(1) = A(3) = 24, R(6) = A(7) = 10, R(11) = A(11) = 44
#pragma once

#include <string>
#include <vector>

#include "frontend/algebra/support/trace.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {

// All of it, line by line. `facts` choose the sizes at which laws of symbolic layouts are checked.
std::vector<std::string> derivation_lines(const trace::Derivation& derivation, Facts& facts);

// Returns the sentence that describes one step; empty for the begin and end of an operation.
std::string step_text(const trace::Step& step);

// "R(1) = A(3) = 24, ...": the operation's law at a few coordinates; empty where it has none to
// show.
std::string law_check(const trace::Begin& begin, const trace::Item& result,
                      const std::vector<Guard>& guards, Facts& facts);

// A value of the language as an operand.
trace::Item item_of(const Value& value);

// Tells who listens how the value of a layout or swizzle at a coordinate comes about
// (derivation_value.cpp).
void derive_value(Facts& facts, const Layout& layout, const Tuple& coordinate);
void derive_value(Facts& facts, const Composed& layout, const Tuple& coordinate);
void derive_value(const Swizzle& swizzle, const Tuple& number);
// A slice of it (AnyLayout: the result).
void derive_slice(Facts& facts, const AnyLayout& layout, const Tuple& coordinate,
                  const AnyLayout& result);

}  // namespace lay::sema
