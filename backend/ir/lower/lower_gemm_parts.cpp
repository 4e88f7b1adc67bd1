// K shared by the blocks of a cluster: each has multiplied its part, and now
//
//   every block gives each of the others those accumulators that that one adds up: st.async into
//   its shared memory, whose bytes an mbarrier there counts; its own stay in registers
//   every block adds up, in the order of parts, so that the bits are the same every time, and
//   stores
//
// A thread's accumulators are added up by the threads of the same number. A block has one tile, so
// that nothing is given twice, and leaves when it has got everything, so that nobody writes to one
// that has left.
#include <numeric>

#include "backend/ir/lower/lower_gemm.h"
#include "backend/ir/lower/lower_ring.h"

namespace lay::ir {

namespace {
constexpr int widest_access = 16;  // bytes
}  // namespace

void GemmLowering::declare_parts() {
  const ElementType type = gemm_.accumulator;
  const int values = gemm_.stored_of_part() * held_[1 - gemm_.shared_out()],
            threads = gemm_.slice_threads(), others = gemm_.parts - 1, vector = sent_at_once();
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "(value,thread,from)");
  given_sums_ = b_.shared(declared_.name("parts"), type,
                          Layout(tuple(tuple(vector, values / vector), threads, others),
                                 tuple(tuple(1, vector * threads), vector, values * threads)),
                          widest_access);
  own_ = b_.registers(declared_.name("own"), type, Layout(values, 1));
  piece_ = b_.registers(declared_.name("piece"), type, Layout(vector, 1));
  sum_ = b_.registers(declared_.name("sum"), type, Layout(vector, 1));
  blocks_ = b_.barrier({declared_.name("blocks"), BarrierKind::cluster, 1, 0, 0});
  given_ = b_.barrier({declared_.name("given"), BarrierKind::mbarrier, 1, 1, 0});
}

// Accumulators that go together: neighbours along the vectors of the output, of 16 bytes at most.
int GemmLowering::sent_at_once() const {
  return std::gcd(held_[1 - gemm_.shared_out()], widest_access * 8 / bits(gemm_.accumulator));
}

// Before anything is given, the mbarriers of all blocks are there.
void GemmLowering::meet_blocks() {
  initialise(b_, {{1, {given_}}});
  b_.sync(blocks_);
}

// A thread's accumulator: `unit` along the axis that is shared out, `value` along the other one.
Ref GemmLowering::accumulator(Term unit, Term value) const {
  return {accumulators_, gemm_.shared_out() == 0 ? std::vector<ExprId>{unit, value}
                                                 : std::vector<ExprId>{value, unit}};
}

void GemmLowering::send_parts() {
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
          each_vector(1, [&](Term v) {
            b_.assign({own_, {first + v}}, b_.read(accumulator(unit, v)));
          });
        },
        [&] {
          const Term slot = others == 1 ? number(0)
                                        : b_.let(declared_.name("from"),
                                                 b_.select(part_ < owner, part_, part_ - 1));
          each_vector(vector, [&](Term v) {
            b_.copy(
                {given_sums_, {first + v, thread, slot}}, accumulator(unit, v),
                RemoteStore{{vector, 0, static_cast<int>(1 - axis)}, {given_, number(0)}, owner});
          });
        });
  });
}

// The sums take the place of the thread's first accumulators.
void GemmLowering::add_parts() {
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
    const Term at = unit * across + v;
    for (int part = 0; part < gemm_.parts; ++part) {
      b_.when(
          part_ == part,
          [&] {
            b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
              b_.assign({piece_, {e}}, b_.read({own_, {at + e}}));
            });
          },
          [&] {
            const Term slot = part == 0
                                  ? number(0)
                                  : b_.select(number(part) < part_, number(part), number(part - 1));
            b_.copy({piece_, {number(0)}}, {given_sums_, {at, thread, slot}}, vector);
          });
      b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
        const Term piece = b_.read({piece_, {e}});
        b_.assign({sum_, {e}}, part == 0 ? piece : b_.read({sum_, {e}}) + piece);
      });
    }
    b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
      b_.assign(accumulator(unit, v + e), b_.read({sum_, {e}}));
    });
  });
}

}  // namespace lay::ir
