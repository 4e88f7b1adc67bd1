#pragma once

// From values to pictures. Which of these is meant the statement `show` decides
// (frontend/sema/show/show.h).
//
// All refuse what has no numbers ("symbolic") or no shape ("no-shape"), and draw a corner of what
// is larger than the limits, with a note that says how much was left out. Sizes of 10^18 cost no
// more than the corner.

#include <optional>
#include <string>
#include <vector>

#include "frontend/picture/field.h"
#include "frontend/picture/picture.h"

namespace lay::picture {

// The address line below a grid.
enum class Line { where_it_tells, always, never };

struct DrawOptions {
  Limits limits;
  Line line = Line::where_it_tells;
  std::optional<int> bits;  // of an element, for banks
};

struct Named {
  std::string name;
  AnyLayout layout;
};

// A grid of offsets (coordinates for basis strides), coloured by the offset mod 8. A swizzled
// layout: draw_banks.
Picture draw_layout(const Named& value, const DrawOptions& options = {});

// The offsets with their shared-memory banks: bank (offset * bits / 32) % 32, coloured by bank. A
// swizzled layout is drawn without its swizzle as well, before and after. Without `bits` they are
// those for which the swizzle moves 16 bytes at a time (128 >> M), 32 for a plain layout.
Picture draw_banks(const Named& value, const DrawOptions& options = {});

// A swizzle by itself, on the smallest block that it permutes: rows of 2^|S| groups of 2^M
// elements, before and after.
Picture draw_swizzle(const std::string& name, const Swizzle& swizzle,
                     const DrawOptions& options = {});

// Draws which thread holds what: the layout maps (thread, value) to a place in the tile,
// colexicographic for integers, a coordinate for basis strides. The tile is drawn, each element
// with its thread and value, coloured by thread. Refusal "view" if the layout has no two modes or
// the tile more than two.
Picture draw_threads(const Named& value, const Tuple& tile, const DrawOptions& options = {});

// An operand of a multiply-add: (thread, value) -> a place in its tile.
struct Operand {
  Named tv;
  Tuple tile;
};

// C = A B + C as CuTe draws it: B (K down, N across) above, A on the left, C in the corner, each
// element with the thread that holds it. An operand that shared memory holds is left out, with a
// note; then the others stand beside each other.
struct MultiplyAdd {
  std::string name;
  std::optional<Operand> a, b, c;
};
Picture draw_multiply_add(const MultiplyAdd& mma, const DrawOptions& options = {});

// The address line alone: gaps, aliases, order.
Picture draw_line(const Named& value, const DrawOptions& options = {});

// An operation: its operands and its result beside each other, the same tile in the same colour.
// For a divide the tile is that of the result, for a product the copy, for a composition or a slice
// each element that it picks.
struct Operation {
  // "o", "slice", "zipped_divide", ...
  std::string name;
  // Those that are layouts; the first is the one operated on.
  std::vector<Named> operands;
  // The number of tiles in a tuple, mode by mode; 0: one tile.
  int tiler_modes = 0;
  Named result;
  // The result of the same operation on the identity layout of the first operand's shape: which
  // coordinate of the operand each element of the result comes from. Where that is not so, or
  // without it, elements are told by their values.
  std::optional<AnyLayout> origin = {};
  // True for a slice or a tile of the operand: its values count from where it begins there, unlike
  // the operand's.
  bool is_part = false;
};
Picture draw_operation(const Operation& operation, const DrawOptions& options = {});

}  // namespace lay::picture
