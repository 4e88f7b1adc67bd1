#include "backend/cuda/descriptor.h"

#include <bit>

#include "backend/cuda/index.h"

namespace lay::cuda {

namespace {

// A mode that runs with stride 1 in whole rows of `row` elements, and the distance of the rows; the
// distance is 0 where there is one.
std::optional<std::int64_t> rows_of(const std::vector<Leaf>& mode, std::int64_t row) {
  if (mode.empty() || !mode[0].stride.is(1) || !mode[0].extent.is(row)) return std::nullopt;
  if (mode.size() == 1) return 0;
  if (mode.size() > 2 || !mode[1].stride.is_literal()) return std::nullopt;
  return mode[1].stride.value();
}

bool steps_by(const std::vector<Leaf>& mode, std::int64_t step) {
  return mode.size() == 1 && mode[0].stride.is(step);
}

}  // namespace

// Recognises the canonical layouts of wgmma (PTX ISA, "Strides" of "Asynchronous Warpgroup Level
// Matrix Multiply"). A core group is 8 rows of `span` bytes, span = 32, 64 or 128, the swizzle's
// width. In units of bytes the swizzle is Sw<b,4,3> with span = 16 << b: b address bits above the 8
// rows' three are xored into those above the 16 bytes that stay together. Here offsets count
// elements, so m is smaller by the log of the element's bytes.
//
// K-major: k runs along the span, rows follow one another (outer steps by the span), and further
// spans along k are whole groups away. MN-major: the outer index runs along the span and k steps by
// it; `leading` is the distance of the next span of the outer index.
std::optional<Descriptor> descriptor_of(const AnyLayout& layout, int element_bits) {
  constexpr int rows_of_a_group = 8, field_bytes = 16;
  const auto* composed = std::get_if<Composed>(&layout);
  const auto* swizzle = composed ? std::get_if<Swizzle>(&composed->outer) : nullptr;
  const auto* inner = composed ? std::get_if<Layout>(&composed->inner) : nullptr;
  if (!swizzle || !inner || inner->rank() < 2 || !composed->offset.is_literal(0))
    return std::nullopt;
  const int bytes = element_bits / 8, unit = std::countr_zero(static_cast<unsigned>(bytes));
  if (swizzle->m + unit != 4 || swizzle->s != 3 || swizzle->b < 1 || swizzle->b > 3)
    return std::nullopt;
  Descriptor made;
  made.span = field_bytes << swizzle->b;
  made.stride = std::int64_t{rows_of_a_group} * made.span;
  const std::int64_t row = made.span / bytes;
  const auto outer = leaves_of((*inner)[0]), depth = leaves_of((*inner)[1]);
  const auto whole = [&](std::int64_t elements) { return elements * bytes % made.stride == 0; };
  // Further modes (the stage) start at whole groups: the swizzle, a function of address bits, is
  // then the same in each.
  for (int mode = 2; mode < inner->rank(); ++mode) {
    for (const Leaf& leaf : leaves_of((*inner)[mode])) {
      if (!leaf.stride.is_literal() || !whole(leaf.stride.value())) return std::nullopt;
    }
  }
  if (const auto next = rows_of(depth, row); next && steps_by(outer, row) && whole(*next))
    return made;
  if (const auto next = rows_of(outer, row); next && steps_by(depth, row) && whole(*next)) {
    made.along_k = false;
    if (*next > 0) made.leading = *next * bytes;
    return made;
  }
  return std::nullopt;
}

}  // namespace lay::cuda
