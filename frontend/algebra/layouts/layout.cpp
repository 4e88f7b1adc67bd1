#include "frontend/algebra/layouts/layout.h"

#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

// Symbols are at least 1 by the facts of dims, so only literals are looked at.
void check_shape(const Tuple& shape) {
  if (shape.is_tuple()) {
    for (const Tuple& mode : shape.modes()) check_shape(mode);
    return;
  }
  if (shape.is_underscore()) throw refusal("underscore", "an underscore is no extent of a layout");
  if (shape.is_basis())
    throw refusal("basis-extent", shape.to_string() + " is no extent of a layout");
  if (shape.value().is_literal() && shape.value().value() < 1) {
    throw refusal("extent",
                  "an extent of a layout is at least 1, and this one is " + shape.to_string());
  }
}

// Looks for basis elements and for integers other than 0 in one pass.
void check_strides(const Tuple& stride, bool& basis, bool& integer) {
  if (stride.is_tuple()) {
    for (const Tuple& mode : stride.modes()) check_strides(mode, basis, integer);
    return;
  }
  if (stride.is_underscore()) throw refusal("underscore", "an underscore is no stride of a layout");
  basis |= stride.is_basis();
  // Stride 0 goes nowhere, which is right among coordinates as well.
  integer |= !stride.is_basis() && !stride.is_literal(0);
}

}  // namespace

Layout::Layout(Tuple the_shape, Tuple the_stride, Units the_units, ModeNames the_names)
    : shape(std::move(the_shape)),
      stride(std::move(the_stride)),
      units(the_units),
      names(std::move(the_names)) {
  if (!congruent(shape, stride)) {
    throw refusal(
        "not-congruent",
        "shape " + shape.to_string() + " and stride " + stride.to_string() + " nest differently",
        "write one stride for each extent, in the same parentheses");
  }
  check_shape(shape);
  bool basis = false, integer = false;
  check_strides(stride, basis, integer);
  if (basis && integer) {
    throw refusal("mixed-strides",
                  "the strides " + stride.to_string() + " mix integers and coordinates",
                  "write all of them with @, or none");
  }
}

Layout Layout::operator[](int mode) const {
  return Layout(shape[mode], stride[mode], units, names ? mode_names((*names)[mode]) : nullptr);
}

std::string Layout::to_string() const {
  return shape.to_string() + ":" + stride.to_string();
}

Layout substitute(const Layout& a, const std::map<DimId, Int>& replacement) {
  return Layout(substitute(a.shape, replacement), substitute(a.stride, replacement), a.units,
                a.names);
}

//     (4,8):(8,1) at (2,3):         2*8 + 3*1 = 19
//     (4,8):(1@1,1@0) at (2,3):     (3,2)
Tuple evaluate(Facts& facts, const Layout& a, const Tuple& coordinate) {
  Tuple value = crd2idx(facts, coordinate, a.shape, a.stride);
  if (!a.has_basis()) return value;
  for (const Tuple& stride : leaves(a.stride)) {  // directions without a step are coordinates too
    if (stride.is_basis())
      value = add(add(Tuple::basis(1, stride.path()), value), Tuple::basis(-1, stride.path()));
  }
  return value;
}

// One part that is certainly outside is enough; one that is not known leaves the whole open.
Verdict inside(const Facts& facts, const Tuple& coordinate, const Tuple& shape) {
  if (coordinate.is_underscore()) return Verdict::proved;
  if (coordinate.is_leaf()) {
    const Predicate within =
        both(less_equal(0, coordinate.value()), less(coordinate.value(), size(shape)));
    if (facts.proves(within)) return Verdict::proved;
    return facts.proves(negate(within)) ? Verdict::refuted : Verdict::undecided;
  }
  Verdict all = Verdict::proved;
  for (int i = 0; i < coordinate.rank() && i < shape.rank(); ++i) {
    const Verdict one = inside(facts, coordinate[i], shape[i]);
    if (one == Verdict::refuted) return one;
    if (one == Verdict::undecided) all = one;
  }
  return all;
}

}  // namespace lay
