#include <algorithm>
#include <set>

#include "backend/ir/text/print.h"
#include "backend/ir/text/text.h"
#include "backend/ir/verify/verifier.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/copy_rows.h"

namespace lay::ir {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kVectorElements = 32;
constexpr int tma_bytes = 16;  // of which a box is a multiple, and the width of no swizzle

bool is_memory(Space space) {
  return space != Space::registers;
}

bool power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

// The bytes that a TMA swizzle permutes a row of; 0: it is none of the three.
int swizzle_span(const Swizzle& swizzle) {
  if (swizzle.m != 4 || swizzle.s != 3 || swizzle.b < 1 || swizzle.b > 3) return 0;
  return 16 << swizzle.b;
}

bool narrow(ElementType type) {
  return is_float(type) && type != ElementType::f64;
}

bool simt_types(ElementType d, ElementType a, ElementType b) {
  const auto small = [](ElementType type) {
    return type == ElementType::s8 || type == ElementType::u8 || type == ElementType::s32;
  };
  if (d == ElementType::f64) return a == d && b == d;
  if (d == ElementType::f32) return narrow(a) && narrow(b);
  return d == ElementType::s32 && small(a) && small(b);
}

}  // namespace

// ---- tensor maps (CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col)

void Verifier::tensor_map(const TensorMap& map) {
  const std::string name = quoted_name(map.name);
  const Buffer& tensor = kernel_.buffer(map.tensor);
  const Layout* layout = inner_layout(tensor.layout);
  const auto wrong = [&](const std::string& what) { problem("tensor-map", name + ": " + what); };
  if (tensor.space != Space::global || layout == nullptr ||
      !std::holds_alternative<Layout>(tensor.layout)) {
    return wrong("its tensor is not a global buffer with a plain layout");
  }
  const int modes = rank(map.tensor);
  std::set<int> order(map.order.begin(), map.order.end());
  const bool permutation = static_cast<int>(map.order.size()) == modes &&
                           static_cast<int>(order.size()) == modes && *order.begin() == 0 &&
                           *order.rbegin() == modes - 1;
  if (!permutation || modes > 5) return wrong("its order is no order of 1 to 5 modes");
  if (map.box.size() != map.order.size()) return wrong("its box has another rank");
  if (!map.onto.empty() && map.onto.size() != map.order.size())
    return wrong("its box runs onto another rank");
  if (tensor.alignment < 16) wrong("its tensor is aligned to fewer than 16 bytes");
  if (bits(tensor.element) < 8)
    return wrong("its tensor has elements of " + std::string(element_name(tensor.element)) +
                 ", which are no whole bytes");
  const int bytes = bits(tensor.element) / 8;
  if (!map.im2col.empty()) {
    if (modes < 3 || map.im2col.size() != map.order.size() - 2)
      return wrong("im2col takes 3 to 5 modes, and says the base pixels of all but two");
    for (size_t i = 2; i < map.box.size(); ++i)
      if (map.box[i] != 1) wrong("a column of pixels has channels and pixels alone");
    for (const BasePixels& along : map.im2col)
      if (along.step < 1 || along.step > 8)
        wrong("base pixels are 1 to 8 apart, not " + std::to_string(along.step));
  }
  for (size_t i = 0; i < map.order.size(); ++i) {
    const int most = !map.im2col.empty() && i == 1 ? 1024 : 256;
    if (map.box[i] < 1 || map.box[i] > most)
      wrong("a box has 1 to " + std::to_string(most) + " elements along a mode, not " +
            std::to_string(map.box[i]));
    const Tuple stride = layout->shape.is_tuple() ? layout->stride[map.order[i]] : layout->stride;
    if (!stride.is_int()) {
      wrong("mode " + std::to_string(map.order[i]) + " of its tensor is nested");
    } else if (i == 0 && !stride.is_literal(1)) {
      wrong("its fastest mode has stride " + stride.to_string());
    } else if (i > 0 && !alignment_.divides(stride.value(), 16 / bytes)) {
      wrong("the stride " + stride.to_string() + " is not known to be a multiple of 16 bytes");
    }
  }
  const int row = map.box[0] * bytes;
  if (row % 16 != 0)
    wrong("a row of its box has " + std::to_string(row) + " bytes, no multiple of 16");
  if (!map.swizzle) return;
  const int span = swizzle_span(*map.swizzle);
  if (span == 0)
    return wrong(map.swizzle->to_string() +
                 " is no swizzle of TMA: Sw<1,4,3>, Sw<2,4,3> or Sw<3,4,3>");
  if (row > span)
    wrong("a row of its box has " + std::to_string(row) + " bytes, more than the " +
          std::to_string(span) + " of its swizzle");
}

// ---- copies

void Verifier::check(const Copy& copy) {
  for (const Ref* side : {&copy.dst, &copy.src}) {
    for (const ExprId coordinate : side->coordinate) use(coordinate, "a coordinate");
  }
  ref(copy.dst, true);
  ref(copy.src, false);
  if (buffer_of(copy.dst).element != buffer_of(copy.src).element) {
    problem("copy", "expected one element type, got " +
                        std::string(element_name(buffer_of(copy.src).element)) + " -> " +
                        std::string(element_name(buffer_of(copy.dst).element)) +
                        ": a copy does not convert");
  }
  std::visit([&](const auto& how) { check(copy, how); }, copy.how);
}

std::int64_t Verifier::bytes(const Copy& copy, int count) const {
  return std::int64_t{count} * bits(buffer_of(copy.dst).element) / 8;
}

void Verifier::guard(const CopyGuard& guard) {
  if (guard.predicate) use(guard.predicate, "the predicate", ElementType::pred);
  if (guard.zero_fill && !guard.predicate)
    problem("copy", "zeros are filled in where a predicate is false, and there is none");
}

void Verifier::completion(const MbarrierSlot& at) {
  if (kernel_.barrier(at.barrier).kind != BarrierKind::mbarrier) {
    return problem("copy-completion",
                   "expected an mbarrier, got " + quoted_name(kernel_.barrier(at.barrier).name) +
                       ", a barrier of kind " +
                       std::string(text::kBarriers[kernel_.barrier(at.barrier).kind]));
  }
  slot(at.barrier, at.slot);
}

void Verifier::vector_sides(const Copy& copy, const CopyVector& vector) {
  vector_side(copy.dst, vector.dst_mode, vector.count, "destination");
  vector_side(copy.src, vector.src_mode, vector.count, "source");
}

// A side of a vector copy that is memory: contiguous and aligned. CUDA C++ vector types and
// ld.global.v4 (PTX ISA, "Addresses as operands") need an address that is a multiple of the
// vector's bytes.
void Verifier::vector_side(const Ref& side, int mode, int count, std::string_view name) {
  if (mode < 0 || mode >= rank(side.buffer)) {
    return problem("copy-run", "the " + std::string(name) + " has no mode " + std::to_string(mode));
  }
  if (count <= 1 || !is_memory(space(side)) ||
      static_cast<int>(side.coordinate.size()) != rank(side.buffer))
    return;
  const Buffer& buffer = buffer_of(side);
  const std::int64_t vector_bytes = std::int64_t{count} * bits(buffer.element) / 8;
  if (!alignment_.contiguous(side, mode, count)) {
    problem("copy-run", std::to_string(count) + " elements along mode " + std::to_string(mode) +
                            " of " + quoted_name(buffer.name) + ", " + to_string(buffer.layout) +
                            ", are not known to be contiguous");
  }
  const std::int64_t known = alignment_.of(side);
  if (known % count != 0 || buffer.alignment < vector_bytes) {
    problem("copy-alignment", "expected `" + print(kernel_, side) + "` aligned to " +
                                  std::to_string(vector_bytes) + " bytes, got " +
                                  std::to_string(std::min<std::int64_t>(
                                      known * bits(buffer.element) / 8, buffer.alignment)));
  }
}

// Two threads that write an element of one byte each would race for it.
void Verifier::whole_bytes(const Ref& to, int count) {
  const Buffer& buffer = buffer_of(to);
  if (!is_memory(buffer.space) || std::int64_t{count} * bits(buffer.element) % 8 == 0 ||
      buffer.element == ElementType::pred)
    return;
  problem("half-byte", "expected `" + print(kernel_, to) + "` written in whole bytes, got " +
                           std::to_string(count) + " elements of " +
                           std::string(element_name(buffer.element)));
}

void Verifier::check(const Copy& copy, const PlainCopy& how) {
  guard(how.guard);
  whole_bytes(copy.dst, how.vector.count);
  const int count = how.vector.count;
  const bool memory = is_memory(space(copy.dst)) || is_memory(space(copy.src));
  if (!power_of_two(count) || count > kVectorElements ||
      (memory && bytes(copy, count) > kVectorBytes)) {
    problem("copy-length", "expected a power of two of elements and at most " +
                               std::to_string(kVectorBytes) + " bytes, got " +
                               std::to_string(count) + " elements, " +
                               std::to_string(bytes(copy, count)) + " bytes");
  }
  vector_sides(copy, how.vector);
}

void Verifier::check(const Copy& copy, const AsyncCopy& how) {
  guard(how.guard);
  if (space(copy.dst) != Space::shared || space(copy.src) != Space::global) {
    problem("copy", "cp_async copies from global to shared memory");
  }
  const CopyAtom* atom = atom_of(copy, how.atom, CopyScope::thread);
  const std::int64_t moved = std::int64_t{how.vector.count} * bits(buffer_of(copy.dst).element);
  if (atom && atom->box) {
    problem("copy", "\"" + atom->name + "\" copies boxes of a tensor, and cp_async vectors");
  } else if (atom && !size(atom->source).is(moved)) {
    problem("copy-length", "expected " + std::to_string(size(atom->source).value() / 8) +
                               " bytes for \"" + atom->name + "\", got " +
                               std::to_string(moved / 8));
  }
  vector_sides(copy, how.vector);
}

// The atom copies the box: as many modes and bytes, pixels or not, by a swizzle and with strides
// that it takes.
void Verifier::box_atom(const TensorMap& map, const CopyAtom& atom, const Ref& shared) {
  const auto wrong = [&](const std::string& expected, const std::string& got) {
    problem("copy-box", "expected " + expected + " for \"" + atom.name + "\", got " + got);
  };
  if (!atom.box) return wrong("neighbouring bytes", "a box of " + quoted_name(map.name));
  const Buffer& tensor = kernel_.buffer(map.tensor);
  const auto modes = static_cast<int>(map.order.size());
  if (atom.box->modes != modes)
    wrong("a tensor of " + std::to_string(atom.box->modes) + " modes",
          quoted_name(tensor.name) + " of " + std::to_string(modes));
  std::int64_t moved = bits(tensor.element);
  for (const int extent : map.box) moved *= extent;
  if (!size(atom.source.shape[1]).is(moved))
    wrong("a box of " + std::to_string(size(atom.source.shape[1]).value() / 8) + " bytes",
          std::to_string(moved / 8));
  if (moved % (8 * tma_bytes) != 0)
    wrong("whole " + std::to_string(tma_bytes) + " bytes", std::to_string(moved / 8));
  const bool pixels = atom.instruction.find("$offsets") != std::string::npos;
  if (!atom.instruction.empty() && pixels != !map.im2col.empty())
    wrong(pixels ? "a box of pixels" : "a box without im2col", quoted_name(map.name));
  const int width = map.swizzle ? std::max(tma_bytes, swizzle_span(*map.swizzle)) : tma_bytes;
  const auto& widths = atom.box->swizzle_widths;
  if (std::ranges::find(widths, width) == widths.end())
    wrong("one of its swizzle widths", std::to_string(width) + " bytes");
  if (buffer_of(shared).alignment < atom.box->alignment)
    problem("copy-alignment", "expected " + quoted_name(buffer_of(shared).name) + " aligned to " +
                                  std::to_string(atom.box->alignment) + " bytes, got " +
                                  std::to_string(buffer_of(shared).alignment));
  const Layout* layout = inner_layout(tensor.layout);
  const int pitch = atom.box->pitch * 8 / bits(tensor.element);
  for (std::size_t i = 1; pitch > 1 && layout && i < map.order.size(); ++i) {
    const Tuple stride = layout->stride[map.order[i]];
    if (stride.is_int() && !alignment_.divides(stride.value(), pitch))
      wrong("strides of whole " + std::to_string(atom.box->pitch) + " bytes", stride.to_string());
  }
}

// The box of a TMA copy: in a buffer of shared memory whose modes it runs along, each once. A
// swizzle, which permutes address bits, begins at the buffer's first element, at a multiple of 1024
// bytes.
void Verifier::tma_box(int tensor_map, const Ref& tensor, const Ref& shared) {
  const TensorMap& map = kernel_.tensor_maps[static_cast<size_t>(tensor_map)];
  if (tensor.buffer != map.tensor) {
    problem("copy", "expected " + quoted_name(kernel_.buffer(map.tensor).name) +
                        ", the tensor of " + quoted_name(map.name) + ", got " +
                        quoted_name(buffer_of(tensor).name));
  }
  if (space(shared) != Space::shared)
    problem("copy", "TMA copies between global and shared memory");
  std::set<int> taken;
  for (size_t i = 0; i < map.order.size() && i < map.box.size(); ++i) {
    const int mode = map.shared_mode(i);
    const bool there = mode >= 0 && mode < rank(shared.buffer);
    if (!there || (map.box[i] > 1 && !taken.insert(mode).second)) {
      problem("tensor-map", quoted_name(map.name) + " runs along mode " + std::to_string(mode) +
                                " of " + quoted_name(buffer_of(shared).name) +
                                (there ? " twice" : ", which has none"));
    }
  }
  constexpr int required = 1024;
  if (map.swizzle && buffer_of(shared).alignment < required) {
    problem("copy-alignment", "expected " + quoted_name(buffer_of(shared).name) + " aligned to " +
                                  std::to_string(required) + " bytes, got " +
                                  std::to_string(buffer_of(shared).alignment));
  }
}

void Verifier::check(const Copy& copy, const TmaLoad& how) {
  completion(how.completion);
  tma_box(how.tensor_map, copy.src, copy.dst);
  if (how.multicast) use_integer(how.multicast, "the multicast mask");
  const TensorMap& map = kernel_.tensor_maps[static_cast<size_t>(how.tensor_map)];
  if (how.offsets.size() != map.im2col.size())
    problem("copy", "expected " + std::to_string(map.im2col.size()) + " offsets for " +
                        quoted_name(map.name) + ", got " + std::to_string(how.offsets.size()));
  for (const ExprId offset : how.offsets) use_integer(offset, "an offset");
  const CopyScope scope = how.multicast ? CopyScope::cluster : CopyScope::thread;
  if (const CopyAtom* atom = atom_of(copy, how.atom, scope)) box_atom(map, *atom, copy.dst);
}

void Verifier::check(const Copy& copy, const TmaStore& how) {
  tma_box(how.tensor_map, copy.dst, copy.src);
  const TensorMap& map = kernel_.tensor_maps[static_cast<size_t>(how.tensor_map)];
  if (!map.im2col.empty())
    problem("copy", quoted_name(map.name) + " has im2col, by which nothing is stored here");
  if (const CopyAtom* atom = atom_of(copy, how.atom, CopyScope::thread))
    box_atom(map, *atom, copy.src);
}

// Each lane has whole elements in registers, and names rows of whole elements in shared memory.
void Verifier::check(const Copy& copy, const WarpCopy& how) {
  needs(Uniformity::warp, "a copy by a warp");
  const CopyAtom* atom = atom_of(copy, how.atom, CopyScope::warp);
  if (!atom) return;
  const int element = bits(buffer_of(copy.dst).element);
  const bool loads = atom->from == Space::shared;
  if (!loads && atom->to != Space::shared)
    return problem("copy", "\"" + atom->name + "\" names rows of no shared memory");
  const auto rows =
      element < 8 ? std::nullopt : copy_rows(atom->in_memory(), atom->in_registers(), element);
  if (!rows)
    return problem("copy", "\"" + atom->name + "\" copies no elements of " +
                               std::string(element_name(buffer_of(copy.dst).element)));
  if (rows->values != how.vector.count)
    return problem("copy-length", "expected " + std::to_string(rows->values) +
                                      " elements a lane for \"" + atom->name + "\", got " +
                                      std::to_string(how.vector.count));
  const auto& [side, mode] =
      loads ? std::pair{copy.src, how.vector.src_mode} : std::pair{copy.dst, how.vector.dst_mode};
  vector_side(side, mode, rows->length, loads ? "source" : "destination");
}

// st.async (PTX ISA): 1, 2 or 4 words of 32 bits, or 1 or 2 of 64 bits.
void Verifier::check(const Copy& copy, const RemoteStore& how) {
  completion(how.completion);
  use_integer(how.block, "the remote block");
  if (space(copy.dst) != Space::shared || space(copy.src) != Space::registers) {
    problem("copy",
            "st_async copies from registers to the shared memory of a block of the cluster");
  }
  const int each = bits(buffer_of(copy.dst).element), count = how.vector.count;
  const bool fits = count == 1 || count == 2 || (count == 4 && each == 32);
  if ((each != 32 && each != 64) || !fits) {
    problem("copy-length",
            "expected 1, 2 or 4 elements of 32 bits or 1 or 2 of 64 bits for st_async, got " +
                std::to_string(count) + " of " + std::to_string(each));
  }
  vector_side(copy.dst, how.vector.dst_mode, count, "destination");
}

// ---- multiply-accumulate

void Verifier::simt(const Mma& mma) {
  for (const Ref* side : {&mma.d, &mma.a, &mma.b}) {
    if (space(*side) != Space::registers)
      return problem("mma", quoted_name(buffer_of(*side).name) + " is not in registers");
  }
  ref(mma.d, true, 2);
  ref(mma.a, false, 1);
  ref(mma.b, false, 1);
  if (!simt_types(buffer_of(mma.d).element, buffer_of(mma.a).element, buffer_of(mma.b).element)) {
    problem("mma", "no fused multiply-add of " +
                       std::string(element_name(buffer_of(mma.a).element)) + " and " +
                       std::string(element_name(buffer_of(mma.b).element)) + " into " +
                       std::string(element_name(buffer_of(mma.d).element)));
  }
  if (rank(mma.d.buffer) < 2)
    return problem("mma", quoted_name(buffer_of(mma.d).name) + " has rank 1");
  const auto extent = [&](const Ref& side, int mode) {
    const Layout* layout = inner_layout(buffer_of(side).layout);
    return size(layout->shape.is_tuple() ? layout->shape[mode] : layout->shape);
  };
  if (!(extent(mma.d, 0) == extent(mma.a, 0)) || !(extent(mma.d, 1) == extent(mma.b, 0))) {
    problem("mma", "an outer product of " + extent(mma.a, 0).to_string() + " and " +
                       extent(mma.b, 0).to_string() + " elements into " +
                       extent(mma.d, 0).to_string() + " by " + extent(mma.d, 1).to_string());
  }
}

void Verifier::check(const Mma& mma) {
  for (const Ref* side : {&mma.d, &mma.a, &mma.b}) {
    for (const ExprId coordinate : side->coordinate) use(coordinate, "a coordinate");
  }
  if (mma.zero) use(mma.zero, "the first-step condition", ElementType::pred);
  if (mma.kind == MmaKind::simt) return simt(mma);
  const bool wgmma = mma.kind == MmaKind::wgmma;
  needs(wgmma ? Uniformity::warpgroup : Uniformity::warp, text::kMmas[mma.kind]);
  const auto side = [&](const Ref& operand, bool written, bool shared_allowed) {
    const bool shared = space(operand) == Space::shared;
    if (shared ? !shared_allowed : space(operand) != Space::registers) {
      return problem("mma", quoted_name(buffer_of(operand).name) +
                                " lies where the instruction does not take it");
    }
    ref(operand, written, shared ? 0 : 1);
  };
  side(mma.d, true, false);
  side(mma.a, false, wgmma);
  side(mma.b, false, wgmma);
  if (wgmma && space(mma.b) != Space::shared)
    problem("mma", "wgmma takes its second operand from shared memory");
  check_atom(mma);
}

}  // namespace lay::ir
