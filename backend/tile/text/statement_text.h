// The lines of a tile program, which the printer writes and the parser expects.
#pragma once

#include <string>
#include <string_view>

#include "backend/tile/held_values.h"
#include "backend/tile/program.h"
#include "backend/tile/text/value_text.h"

namespace lay::tile {

std::string_view space_name(Space space);

// "value %6: f32 = exp(f32(X[m,n]) - %5)"
std::string value_line(const Program& program, const ValueText& values, sema::NodeId id);

// What a copy does beside: " with zeros around" a window, " at row_of[t]" of rows in segments.
std::string copy_suffix(const Program& program, const Copy& copy);

// The scales of a product, " times s[m,k / 128]", or nothing.
std::string scales_text(const Program& program, const ValueText& values, const HeldValues& held,
                        const Mma& mma);

// A statement, or a loop up to its brace: "for m in grid step 4 {".
std::string first_line(const Program& program, const ValueText& values, const HeldValues& held,
                       const Stmt& stmt);

}  // namespace lay::tile
