#include "backend/plan/sm90/tma.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int tma_bytes = 16, most_modes = 5;

// Returns a mode that is one extent with one stride, as it stands: coalescing would lose the stride
// of an extent that the facts know to be 1.
std::optional<std::pair<Int, Int>> plain_mode(const Layout& mode) {
  if (!mode.shape.is_int() || !mode.stride.is_int()) return std::nullopt;
  return std::pair{mode.shape.value(), mode.stride.value()};
}

}  // namespace

std::optional<std::vector<int>> tma_order(const sema::Kernel& kernel, sema::TensorId id,
                                          Facts& facts, Conditions& conditions) {
  const sema::Tensor& tensor = kernel.tensor(id);
  if (tensor.is_swizzled()) return std::nullopt;
  const Layout& layout = tensor.layout;
  const int elements = 8 * tma_bytes / bits(tensor.element);
  if (layout.rank() < 2 || layout.rank() > most_modes) return std::nullopt;
  int fastest = -1;
  std::vector<Int> strides;
  for (int mode = 0; mode < layout.rank(); ++mode) {
    const auto plain = plain_mode(layout[mode]);
    if (!plain || plain->second.is(0)) return std::nullopt;
    strides.push_back(plain->second);
    if (plain->second.is(1) && fastest < 0) fastest = mode;
  }
  if (fastest < 0) return std::nullopt;
  std::vector<int> order{fastest};
  for (int mode = 0; mode < layout.rank(); ++mode) {
    if (mode == fastest) continue;
    // Strides in bytes are multiples of 16 (cuTensorMapEncodeTiled, globalStrides): K % 8 == 0 for
    // rows of K bf16.
    const Predicate whole = divides(strides[static_cast<std::size_t>(mode)], elements);
    if (whole.is_never()) return std::nullopt;
    if (!facts.proves(whole)) add(conditions, {{whole}, {}});
    order.push_back(mode);
  }
  add(conditions, {{}, {{id, tma_bytes}}});
  return order;
}

bool copies_box(const sema::CopyInstruction& copy, const BoxCopy& box) {
  const bool by_scope = box.blocks == 1 ? copy.kind == "thread"
                                        : copy.kind == "cluster" && copy.count() == box.blocks;
  return by_scope && copy.is_box() && copy.to == box.to && copy.modes == box.modes &&
         copy.since <= sm90_capability && copy.of_pixels() == box.pixels &&
         copy.bits() == 8 * std::int64_t{box.bytes} &&
         std::ranges::find(copy.swizzle_widths, box.span) != copy.swizzle_widths.end();
}

sema::CopyInstruction box_instruction(const BoxCopy& box,
                                      std::span<const sema::CopyInstruction> chosen) {
  const auto copies = [&](const sema::CopyInstruction& copy) { return copies_box(copy, box); };
  if (const auto found = std::ranges::find_if(chosen, copies); found != chosen.end()) return *found;
  const auto known = sema::library_box_copies(box.modes, box.bytes, box.blocks);
  const auto found = std::ranges::find_if(known, copies);
  if (found == known.end())
    throw std::logic_error("internal: no copy of a box of " + std::to_string(box.bytes) +
                           " bytes of a tensor of " + std::to_string(box.modes) + " modes");
  return *found;
}

Swizzle span_swizzle(int span, int element_bits) {
  // On bytes Sw<3,4,3>; on elements of 2 bytes the same bits are one lower: Sw<3,3,3>.
  const int b = std::countr_zero(static_cast<unsigned>(span / 16));
  const int unit = std::countr_zero(static_cast<unsigned>(element_bits / 8));
  return Swizzle(b, 4 - unit, 3);
}

AnyLayout operand_layout(int outer, int k, bool along_k, int span, int element_bits) {
  const int row = 8 * span / element_bits, run = along_k ? k : outer, across = along_k ? outer : k;
  // A tile wider than the swizzle width is columns of that width, one behind the other: k = 128 of
  // bf16 is (outer,(64,2)):(64,(1,64*outer)).
  const Tuple extent = run == row ? Tuple(row) : tuple(row, run / row);
  const Tuple stride = run == row ? Tuple(1) : tuple(1, row * across);
  const Layout rows = along_k ? Layout(tuple(outer, extent), tuple(row, stride))
                              : Layout(tuple(extent, k), tuple(stride, row));
  return Composed{span_swizzle(span, element_bits), 0, rows};
}

AnyLayout repeated(const AnyLayout& one, const std::vector<int>& counts) {
  const auto* composed = std::get_if<Composed>(&one);
  const Layout& inner = composed ? std::get<Layout>(composed->inner) : std::get<Layout>(one);
  std::vector<Tuple> shape = inner.shape.modes(), stride = inner.stride.modes();
  // Tiles are dense, so copies lie size(inner) apart.
  std::int64_t step = size(inner).value();
  for (const int count : counts) {
    shape.emplace_back(count);
    stride.emplace_back(step);
    step *= count;
  }
  const Layout made{Tuple(shape), Tuple(stride)};
  return composed ? AnyLayout(Composed{composed->outer, composed->offset, made}) : AnyLayout(made);
}

}  // namespace lay::plan
