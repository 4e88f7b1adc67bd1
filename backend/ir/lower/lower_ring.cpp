#include "backend/ir/lower/lower_ring.h"

#include "backend/plan/recognise.h"
#include "backend/plan/sm90/tma.h"

namespace lay::ir {

void wait_at(Builder& b, BarrierId barrier, RingId ring) {
  // A wait names a parity, not a count: the phase of the ring's place alternates each time that the
  // ring comes around, in step with the phases of the mbarrier in that slot.
  const ExprId slot = b.slot(ring);
  b.sync(barrier, slot, WaitMbarrier{b.phase(ring)});
}

void expect_at(Builder& b, BarrierId barrier, RingId ring, int bytes) {
  const ExprId slot = b.slot(ring);
  // Arrives and announces bytes in one instruction: the phase completes when both counts have run
  // out.
  b.sync(barrier, slot, ArriveExpectBytes{b.constant(std::int64_t{bytes})});
}

int add_map(Declared& declared, const std::string& name, const LoadedBoxes& boxes,
            const std::function<void(TensorMap&)>& add_modes) {
  const sema::Load& load = declared.kernel.load(boxes.load);
  TensorMap map{declared.name(name),
                declared.tensors[static_cast<size_t>(load.tensor)],
                boxes.order,
                {},
                {},
                {}};
  add_modes(map);
  constexpr int as_it_lies = 16;
  if (boxes.span > as_it_lies) map.swizzle = plan::address_swizzle(boxes.span);
  auto& maps = declared.b.kernel.tensor_maps;
  maps.push_back(std::move(map));
  return static_cast<int>(maps.size()) - 1;
}

int map_of_boxes(Declared& declared, const std::string& name, const LoadedBoxes& boxes) {
  const sema::Load& load = declared.kernel.load(boxes.load);
  // A box is given mode by mode, fastest first, as cuTensorMapEncodeTiled takes it. `onto` says
  // which mode of the buffer in shared memory each one runs along: 0 the outer index, 1 k.
  return add_map(declared, name, boxes, [&](TensorMap& map) {
    for (const int mode : boxes.order) {
      const sema::IndexId index =
          plan::bare_index(declared.kernel, load.coordinate[static_cast<size_t>(mode)]);
      map.box.push_back(index == boxes.k ? boxes.box[1] : index == boxes.outer ? boxes.box[0] : 1);
      map.onto.push_back(index == boxes.k ? 1 : 0);
    }
  });
}

std::string box_atom(Declared& declared, int map, sema::CopySpace to, int blocks) {
  const Kernel& kernel = declared.b.kernel;
  const TensorMap& of = kernel.tensor_maps[static_cast<size_t>(map)];
  plan::BoxCopy box{.to = to, .modes = static_cast<int>(of.order.size()), .blocks = blocks};
  box.bytes = bits(kernel.buffer(of.tensor).element) / 8;
  for (const int extent : of.box) box.bytes *= extent;
  if (of.swizzle) box.span <<= of.swizzle->b;
  box.pixels = !of.im2col.empty();
  return declared.b.atom(plan::box_instruction(box, declared.copies));
}

void each_box(Builder& b, const std::array<int, 2>& slice, const std::array<int, 2>& box,
              const std::function<void(Term, Term)>& body) {
  // Unrolled, since the number of boxes is known: a 128 x 64 slice of bf16 with boxes 64 x 64 is
  // two.
  const auto over = [&](size_t which, const std::function<void(Term)>& then) {
    const Term first = b.constant(std::int64_t{0});
    if (slice[which] == box[which]) return then(first);
    b.loop(which == 0 ? "row" : "step", first, b.constant(std::int64_t{slice[which]}),
           {.step = box[which], .unrolled = true}, then);
  };
  over(0, [&](Term outer) { over(1, [&](Term k) { body(outer, k); }); });
}

}  // namespace lay::ir
