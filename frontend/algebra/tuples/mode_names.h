#pragma once

// Names of a layout's modes: a name at each leaf of the shape, which says of what dimension the
// leaf is a part.
//
//     named(layout, {"m","k"}) of (128,64):(64,1) divided by (32,16): shape ((32,16),(4,4)), names
//     (("m","k"),("m","k"))
//
// Names are optional, are not compared and not printed, and follow the modes through the algebra
// where it is plain which part comes from which; where it is not they are left out. They are kept
// as a tuple congruent to the shape, with a number for each name and 0 for none, so that what
// rearranges modes rearranges names.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/tuples/tuple.h"

namespace lay {

struct Layout;

using ModeNames = std::shared_ptr<const Tuple>;  // nothing: no leaf has a name

// The number of a name, the same for equal names; and the name of a number, "" for 0.
int64_t name_number(const std::string& name);
std::string name_of_number(int64_t number);

// Nothing if all numbers are 0.
ModeNames mode_names(Tuple numbers);
// Numbers at all leaves of the shape, 0 where there is no name.
Tuple name_numbers(const Layout& a);
// The one name of all leaves; 0 if there are several, or none.
int64_t only_name(const Layout& a);
// Names of a shape that refines b's: each leaf is a part of b's leaf.
ModeNames refined_names(const Tuple& shape, const Layout& b);
// One name for every leaf.
ModeNames same_names(const Tuple& shape, int64_t number);

// The layout with names: `names` is weakly congruent to the shape, with an entry for all leaves
// below it. Refusal "mode-names" if it does not fit.
Layout with_mode_names(Layout a, const Tuple& names);
// Top-level mode `name`: the only one all of whose leaves have it; nothing if there is none or
// several.
std::optional<int> mode_named(const Layout& a, const std::string& name);

}  // namespace lay
