// A SIMT product whose K the blocks of a cluster share (part_sums.h). A block has one tile, so that
// nothing is given twice, and leaves when it has got everything, so that nobody writes to one that
// has left.
#include <numeric>

#include "backend/ir/expand/simt/simt_expander.h"
#include "backend/ir/lower/split/part_sums.h"

namespace lay::ir {

namespace {
constexpr int widest_access = 16;  // bytes
}  // namespace

void SimtExpander::declare_parts() {
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "(value,thread,from)");
  sums_.declare(
      b_, declared_,
      {gemm_.accumulator, gemm_.parts, gemm_.stored_of_part() * held_[1 - gemm_.shared_out()],
       sent_at_once(), gemm_.slice_threads()});
  blocks_ = sync_.declare_meeting(tile::Barrier::Scope::cluster);
  given_ = sync_.declare(tile::Pipeline::Moves::sums).filled;
}

// Accumulators that go together: neighbours along the vectors of the output, of 16 bytes at most.
int SimtExpander::sent_at_once() const {
  return std::gcd(held_[1 - gemm_.shared_out()], widest_access * 8 / bits(gemm_.accumulator));
}

// Before anything is given, the mbarriers of all blocks are there.
void SimtExpander::meet_blocks() {
  sync_.initialise(sync_.said().moving(tile::Pipeline::Moves::sums));
  b_.sync(blocks_);
}

// A thread's accumulator: `unit` along the axis that is shared out, `value` along the other one.
Ref SimtExpander::accumulator(Term unit, Term value) const {
  return {accumulators_, gemm_.shared_out() == 0 ? std::vector<ExprId>{unit, value}
                                                 : std::vector<ExprId>{value, unit}};
}

void SimtExpander::send_parts() {
  const size_t axis = gemm_.shared_out();
  const int across = held_[1 - axis], each = gemm_.stored_of_part(), others = gemm_.parts - 1,
            vector = sent_at_once();
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const Term thread = b_.special(Builtin::thread) % gemm_.slice_threads();
  declared_.from(where, "what this block will be given");
  const int bytes = across * gemm_.slice_threads() * others * bits(gemm_.accumulator) / 8;
  b_.when(b_.special(Builtin::thread) == 0, [&] {
    const Term left = number(held_[axis]) - part_ * each;
    const Term units = held_[axis] == each * gemm_.parts
                           ? number(each)
                           : b_.max(b_.min(number(each), left), number(0));
    b_.sync(given_, number(0), ArriveExpectBytes{units * bytes});
  });
  declared_.from(where, "to each what it adds up");
  b_.loop("unit", number(0), number(held_[axis]), {.unrolled = true}, [&](Term unit) {
    const Term owner = unit / each, first = unit % each * across;
    const auto each_vector = [&](int step, const std::function<void(Term)>& body) {
      b_.loop("v", number(0), number(across), {.step = step, .unrolled = true}, body);
    };
    b_.when(
        part_ == owner,
        [&] {
          each_vector(
              1, [&](Term v) { b_.assign(sums_.own(first + v), b_.read(accumulator(unit, v))); });
        },
        [&] {
          const Term slot = sums_.slot_in(b_, declared_, part_, owner);
          each_vector(vector, [&](Term v) {
            b_.copy(
                sums_.given(first + v, thread, slot), accumulator(unit, v),
                RemoteStore{{vector, 0, static_cast<int>(1 - axis)}, {given_, number(0)}, owner});
          });
        });
  });
}

// The sums take the place of the thread's first accumulators.
void SimtExpander::add_parts() {
  const size_t axis = gemm_.shared_out();
  const int across = held_[1 - axis], each = gemm_.stored_of_part(), vector = sent_at_once();
  const Term thread = b_.special(Builtin::thread) % gemm_.slice_threads();
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "the sums, in the order of parts");
  b_.sync(given_, number(0), WaitMbarrier{number(0)});
  const auto each_vector = [&](const std::function<void(Term, Term)>& body) {
    b_.loop("unit", number(0), number(each), {.unrolled = true}, [&](Term unit) {
      const auto vectors = [&] {
        b_.loop("v", number(0), number(across), {.step = vector, .unrolled = true},
                [&](Term v) { body(unit, v); });
      };
      const auto stored = is_stored(unit);
      stored ? b_.when(*stored, vectors) : vectors();
    });
  };
  each_vector([&](Term unit, Term v) {
    sums_.add_up(b_, part_, unit * across + v, thread,
                 [&](Term e, Term sum) { b_.assign(accumulator(unit, v + e), sum); });
  });
}

}  // namespace lay::ir
