// The memories of stdlib/prelude.lay as the algebra counts with them, and counts as records.
// Internal to this folder.
#pragma once

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
// What a layout gives, where that is known.
Unit counted_unit(const Value& layout);

// The domain of a layout, as the tile that accesses are laid over.
Tuple tile_of(const AnyLayout& layout);

}  // namespace lay::sema
