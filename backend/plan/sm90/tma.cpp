#include "backend/plan/sm90/tma.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/library.h"
#include "frontend/sema/shared_block.h"

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

// A box for several blocks of a cluster is loaded by one thread and arrives in all of them: a
// record whose threads are as many blocks.
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
  // 1 to 5 modes and whole 16 bytes, as plans have them, are boxes that the library copies.
  const auto known = sema::library_box_copies(box.modes, box.bytes, box.blocks);
  const auto found = std::ranges::find_if(known, copies);
  if (found == known.end())
    throw std::logic_error("internal: no copy of a box of " + std::to_string(box.bytes) +
                           " bytes of a tensor of " + std::to_string(box.modes) + " modes");
  return *found;
}

const std::vector<int>& box_widths() {
  // The widths are those of any box: what is asked for is the smallest. 16 bytes are no swizzle, in
  // which neither the atoms' operands nor what warps store lies.
  static const std::vector<int> widths = [] {
    std::vector<int> made;
    for (const int width : box_instruction({.modes = 2, .bytes = tma_bytes}, {}).swizzle_widths)
      if (width > tma_bytes) made.push_back(width);
    std::ranges::sort(made, std::greater());
    return made;
  }();
  return widths;
}

Swizzle address_swizzle(int span) {
  return sema::shared_block(true, span, ElementType::u8).address;
}

AnyLayout operand_layout(int outer, int k, bool along_k, int span, ElementType element) {
  const sema::SharedBlock block = sema::shared_block(along_k, span, element);
  Facts facts;  // the layouts are of literals
  // (8,64):(64,1) tiled onto (128,128) is ((8,16),(64,2)):((64,512),(1,8192)), rows (128):(64) and
  // two columns of 128 bytes; coalesced mode by mode it is (128,(64,2)):(64,(1,8192)).
  const Layout tiled =
      tile_to_shape(facts, block.rows, tuple(outer, k), along_k ? tuple(0, 1) : tuple(1, 0));
  return Composed{block.elements, 0, coalesce(facts, tiled, tuple(1, 1))};
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
