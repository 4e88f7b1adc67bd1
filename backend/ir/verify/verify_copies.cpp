#include <algorithm>
#include <set>

#include "backend/ir/text/print.h"
#include "backend/ir/text/text.h"
#include "backend/ir/verify/verifier.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kVectorElements = 32;

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

// ---- tensor maps (CUDA driver API, cuTensorMapEncodeTiled)

void Verifier::tensor_map(const TensorMap& map) {
  const std::string name = quoted_name(map.name);
  const Buffer& tensor = kernel_.buffers[map.tensor.index];
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
  const int bytes = bits(tensor.element) / 8;
  for (size_t i = 0; i < map.order.size(); ++i) {
    if (map.box[i] < 1 || map.box[i] > 256)
      wrong("a box has 1 to 256 elements along a mode, not " + std::to_string(map.box[i]));
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
  if (copy.predicate) use(copy.predicate, "the predicate", ElementType::pred);
  if (copy.remote) use_integer(copy.remote, "the remote block");
  if (static_cast<bool>(copy.remote) != (copy.kind == CopyKind::st_async)) {
    problem("copy", copy.remote ? "only st_async goes to a remote block"
                                : "st_async names the block that it goes to");
  }
  if (copy.zero_fill && !copy.predicate)
    problem("copy", "zeros are filled in where a predicate is false, and there is none");
  if (buffer_of(copy.dst).element != buffer_of(copy.src).element) {
    problem("copy",
            "a copy does not convert: " + std::string(element_name(buffer_of(copy.src).element)) +
                " to " + std::string(element_name(buffer_of(copy.dst).element)));
  }
  switch (copy.kind) {
    case CopyKind::plain:
      return plain_copy(copy);
    case CopyKind::cp_async:
      return async_copy(copy);
    case CopyKind::tma_load:
    case CopyKind::tma_store:
      return tma_copy(copy);
    case CopyKind::ldmatrix:
    case CopyKind::stmatrix:
      return matrix_copy(copy);
    case CopyKind::st_async:
      return remote_copy(copy);
  }
}

void Verifier::completion(const Copy& copy, std::vector<Completion> allowed) {
  if (std::find(allowed.begin(), allowed.end(), copy.completion) == allowed.end()) {
    problem("copy-completion", std::string(text::kCopies[copy.kind]) + " does not complete by " +
                                   std::string(text::kCompletions[copy.completion]));
  }
  if (copy.completion != Completion::mbarrier) return;
  if (!copy.barrier || kernel_.barriers[copy.barrier.index].kind != BarrierKind::mbarrier) {
    return problem("copy-completion", "the copy completes on an mbarrier, and none is named");
  }
  slot(copy.barrier, copy.slot);
}

// A side of a vector copy that is memory: contiguous and aligned.
void Verifier::vector_side(const Copy& copy, const Ref& side, int mode, std::string_view name) {
  if (mode < 0 || mode >= rank(side.buffer)) {
    return problem("copy-run", "the " + std::string(name) + " has no mode " + std::to_string(mode));
  }
  if (copy.count <= 1 || !is_memory(space(side)) ||
      static_cast<int>(side.coordinate.size()) != rank(side.buffer))
    return;
  const Buffer& buffer = buffer_of(side);
  const std::int64_t bytes = std::int64_t{copy.count} * bits(buffer.element) / 8;
  if (!alignment_.contiguous(side, mode, copy.count)) {
    problem("copy-run", std::to_string(copy.count) + " elements along mode " +
                            std::to_string(mode) + " of " + quoted_name(buffer.name) + ", " +
                            to_string(buffer.layout) + ", are not known to lie side by side");
  }
  const std::int64_t known = alignment_.of(side);
  if (known % copy.count != 0 || buffer.alignment < bytes) {
    problem("copy-alignment", "`" + print(kernel_, side) + "` is only known to be aligned to " +
                                  std::to_string(std::min<std::int64_t>(
                                      known * bits(buffer.element) / 8, buffer.alignment)) +
                                  " bytes, and a vector of " + std::to_string(bytes) +
                                  " bytes starts there");
  }
}

void Verifier::plain_copy(const Copy& copy) {
  completion(copy, {Completion::none});
  const std::int64_t bytes = std::int64_t{copy.count} * bits(buffer_of(copy.dst).element) / 8;
  const bool memory = is_memory(space(copy.dst)) || is_memory(space(copy.src));
  if (!power_of_two(copy.count) || copy.count > kVectorElements ||
      (memory && bytes > kVectorBytes)) {
    problem("copy-length", "a vector of " + std::to_string(copy.count) + " elements, " +
                               std::to_string(bytes) + " bytes");
  }
  vector_side(copy, copy.dst, copy.dst_mode, "destination");
  vector_side(copy, copy.src, copy.src_mode, "source");
}

void Verifier::async_copy(const Copy& copy) {
  completion(copy, {Completion::group, Completion::mbarrier});
  if (space(copy.dst) != Space::shared || space(copy.src) != Space::global) {
    problem("copy", "cp_async copies from global to shared memory");
  }
  const std::int64_t bytes = std::int64_t{copy.count} * bits(buffer_of(copy.dst).element) / 8;
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    problem("copy-length", "cp_async copies 4, 8 or 16 bytes, not " + std::to_string(bytes));
  }
  vector_side(copy, copy.dst, copy.dst_mode, "destination");
  vector_side(copy, copy.src, copy.src_mode, "source");
}

void Verifier::tma_copy(const Copy& copy) {
  const bool load = copy.kind == CopyKind::tma_load;
  if (load) {
    completion(copy, {Completion::mbarrier});
  } else {
    completion(copy, {Completion::bulk_group});
  }
  const Ref& tensor = load ? copy.src : copy.dst;
  const Ref& shared = load ? copy.dst : copy.src;
  if (copy.tensor_map < 0) return problem("copy", "a TMA copy names its tensor map");
  const TensorMap& map = kernel_.tensor_maps[copy.tensor_map];
  if (tensor.buffer != map.tensor)
    problem("copy", quoted_name(map.name) + " describes another tensor");
  if (space(shared) != Space::shared)
    problem("copy", "TMA copies between global and shared memory");
  const int due = map.swizzle ? 1024 : 128;
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
  if (buffer_of(shared).alignment < due) {
    problem("copy-alignment", quoted_name(buffer_of(shared).name) + " is aligned to fewer than " +
                                  std::to_string(due) + " bytes");
  }
  if (copy.multicast) {
    use_integer(copy.multicast, "the multicast mask");
    if (!load) problem("copy", "only loads are multicast");
  }
  if (copy.predicate) problem("copy", "a TMA copy has no predicate: put it under a condition");
}

void Verifier::matrix_copy(const Copy& copy) {
  completion(copy, {Completion::none});
  needs(Uniformity::warp, text::kCopies[copy.kind]);
  const bool load = copy.kind == CopyKind::ldmatrix;
  if (space(load ? copy.dst : copy.src) != Space::registers ||
      space(load ? copy.src : copy.dst) != Space::shared) {
    problem("copy",
            std::string(text::kCopies[copy.kind]) + " copies between registers and shared memory");
  }
  const std::int64_t bytes = std::int64_t{copy.count} * bits(buffer_of(copy.dst).element) / 8;
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    problem("copy-length", std::string(text::kCopies[copy.kind]) +
                               " moves 4, 8 or 16 bytes a lane, not " + std::to_string(bytes));
  }
}

// st.async (PTX ISA): 1, 2 or 4 words of 32 bits, to a block that is named.
void Verifier::remote_copy(const Copy& copy) {
  completion(copy, {Completion::mbarrier});
  if (space(copy.dst) != Space::shared || space(copy.src) != Space::registers) {
    problem("copy",
            "st_async copies from registers to the shared memory of a block of the cluster");
  }
  const int each = bits(buffer_of(copy.dst).element);
  if (each != 32 || (copy.count != 1 && copy.count != 2 && copy.count != 4)) {
    problem("copy-length", "st_async moves 1, 2 or 4 elements of 32 bits, not " +
                               std::to_string(copy.count) + " of " + std::to_string(each));
  }
  vector_side(copy, copy.dst, copy.dst_mode, "destination");
  if (copy.predicate) problem("copy", "st_async has no predicate: put it under a condition");
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
