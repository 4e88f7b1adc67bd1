// The properties that an expression's node tells: its type, and the threads that see one value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ir/ir.h"

namespace lay::ir {

// The type that a function of operands of these types gives, by the table of element functions;
// `asked` is what a cast converts to. Where the operands do not fit the function, the reason, in
// words that follow "`add`": "takes two operands, not 3".
//
// Types of fewer than 32 bits, tf32 and the bit types are for storage: they are read, written,
// copied, selected, cast and multiplied by an mma, never computed with.
struct ResultType {
  ElementType type = ElementType::pred;
  std::string misfit;  // empty: it fits
};
ResultType result_type(ElementFunction function, std::span<const ElementType> operands,
                       ElementType asked);
bool computes(ElementType type);

// The widest group that certainly sees one value; `known` holds that of the expressions with
// smaller ids. A read of what the kernel writes is uniform per thread only, whatever its
// coordinate: memory may have changed between two threads' reads. What it only reads stays as it
// is.
Uniformity uniformity(const Kernel& kernel, const Expr& expr, std::span<const Uniformity> known);
// Returns those of all expressions, by id.
std::vector<Uniformity> uniformities(const Kernel& kernel);

}  // namespace lay::ir
