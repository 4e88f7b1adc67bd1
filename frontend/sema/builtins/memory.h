// The memories of stdlib/prelude.lay as the algebra counts with them, and counts as records.
// Internal to this folder.
#pragma once

#include <optional>
#include <string>

#include "frontend/algebra/memory/access_pattern.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {

SharedMemory shared_memory(Session& session);
GlobalMemory global_memory(Session& session);

// A record that an operation gives: named after it, `head` reads back to it.
Value result_record(std::string name, std::string head,
                    std::vector<std::pair<std::string, Value>> fields);

// Wavefronts, or sectors, of an access.
std::vector<std::pair<std::string, Value>> shared_fields(const Service& s);

// Bits of an element: of a type, a number of bits 1 to 128, or what the layout counts; else 32.
// Refusal "units" where the layout is known to count something else than the type.
int element_bits(Arguments& a, std::size_t i, const Value& layout);
int element_bits(ElementType type, const Value& layout);
// Returns the unit that a layout gives, where that is known.
Unit counted_unit(const Value& layout);

// The side of a tiled copy that an access is about. `of_shared` is the one beside the registers:
// the destination of cp.async and stmatrix, the source of ldmatrix.
enum class CopySide { source, destination, of_shared };
// Returns the access of a tiled copy by coordinates, (thread, (value, rest...)), repeated over the
// tile, or over the copy's own where none is given. Nothing for values that are no tiled copy; of a
// tiled multiply-add the access of its operand whose tile has these extents, an error where that is
// not one.
std::optional<Layout> access_of_copy(Session& session, const Value& value, CopySide side,
                                     const std::optional<Tuple>& tile, Span where);

// The domain of a layout, as the tile that accesses are laid over.
Tuple tile_of(const AnyLayout& layout);

}  // namespace lay::sema
