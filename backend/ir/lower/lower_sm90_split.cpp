// K shared by blocks of a cluster: each has multiplied its part of K, and now
//
//   every block gives each of the others the passes that that one adds up: st.async into its shared
//   memory, whose bytes an mbarrier there counts; its own stay in registers every block adds up its
//   passes in the order of ranks, so that the bits are the same every time, in the place of its
//   own, says that it has read what it was given, and stores the sums
//
// A thread's accumulators are added up by the threads of the same number, each consumer's by the
// consumer of the same number, so that no other barrier is needed.
#include "backend/ir/lower/lower_sm90.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128, warps = 4, vector = 4;  // accumulators that go together

}  // namespace

void Sm90Lowering::declare_split() {
  const plan::Split& split = *gemm_.split;
  const int others = gemm_.cluster[2] - 1, values = split.each * split.values,
            threads = warpgroup * gemm_.consumers();
  const ElementType type = gemm_.total;
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "(value,thread,from)");
  constexpr int alignment = 16;
  parts_ = b_.shared(declared_.name("parts"), type,
                     Layout(tuple(tuple(vector, values / vector), threads, others),
                            tuple(tuple(1, vector * threads), vector, values * threads)),
                     alignment);
  own_ = b_.registers(declared_.name("own"), type, Layout(values, 1));
  piece_ = b_.registers(declared_.name("piece"), type, Layout(vector, 1));
  sum_ = b_.registers(declared_.name("sum"), type, Layout(vector, 1));
  const int slots = gemm_.consumers();
  given_ = b_.barrier({declared_.name("given"), BarrierKind::mbarrier, slots, 1, 0});
  taken_ = b_.barrier(
      {declared_.name("taken"), BarrierKind::mbarrier, slots, warps * gemm_.cluster[2], 0});
  give_ = b_.ring(declared_.name("give"), 1, 1);
  take_ = b_.ring(declared_.name("take"), 1);
}

// The block of the cluster with that part of K and this one's tile.
Term Sm90Lowering::rank_of(Term part) const {
  return part * gemm_.multicast_size() + b_.special(Builtin::cluster_rank) % gemm_.multicast_size();
}

Sm90Lowering::Pass Sm90Lowering::pass_of(Term number, int passes, int width) const {
  const auto repeats = gemm_.repeats();
  const Term atom = number / passes;
  return {atom / repeats[1], atom % repeats[1], number % passes, width};
}

void Sm90Lowering::exchange() {
  const plan::Split& split = *gemm_.split;
  const int passes = gemm_.mma.shape[1] / 2 / split.values, others = gemm_.cluster[2] - 1;
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "until the others have read what they were given before");
  wait_until_read();
  b_.emit(Advance{give_, {}});
  declared_.from(where, "what this block will be given");
  const int bytes = split.values * warpgroup * others * bits(gemm_.total) / 8;
  b_.when(b_.special(Builtin::warp) % warps == 0, [&] {
    b_.elect([&] {
      const Term left = number(split.passes) - split_ * split.each;
      const Term all = split.passes == split.each * gemm_.cluster[2]
                           ? number(split.each * bytes)
                           : b_.max(b_.min(number(split.each), left), number(0)) * bytes;
      b_.sync(given_, consumer_, ArriveExpectBytes{all});
    });
  });
  declared_.from(where, "to each what it adds up");
  b_.loop("pass", number(0), number(split.passes), {.unrolled = true}, [&](Term pass) {
    const Pass at = pass_of(pass, passes, split.values * 2);
    const Term owner = pass / split.each, first = pass % split.each * split.values,
               held = at.pass * split.values;
    b_.when(
        split_ == owner,
        [&] {
          b_.loop("v", number(0), number(split.values), {.unrolled = true}, [&](Term v) {
            b_.assign({own_, {first + v}}, b_.read({totals_, {held + v, at.i, at.j}}));
          });
        },
        [&] {
          const Term slot = others == 1 ? number(0)
                                        : b_.let(declared_.name("from"),
                                                 b_.select(split_ < owner, split_, split_ - 1));
          b_.loop(
              "v", number(0), number(split.values), {.step = vector, .unrolled = true},
              [&](Term v) {
                const Ref to{parts_, {first + v, thread, slot}},
                    from{totals_, {held + v, at.i, at.j}};
                b_.copy(to, from, RemoteStore{{vector, 0, 0}, {given_, consumer_}, rank_of(owner)});
              });
        });
  });
}

void Sm90Lowering::sum_up() {
  const plan::Split& split = *gemm_.split;
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "the sums, in the order of ranks");
  b_.sync(given_, consumer_, WaitMbarrier{b_.phase(take_)});
  b_.emit(Advance{take_, {}});
  const auto each_vector = [&](Term first, const std::function<void(Term)>& body) {
    b_.loop("v", number(0), number(split.values), {.step = vector, .unrolled = true},
            [&](Term v) { body(first + v); });
  };
  b_.loop("pass", number(0), number(split.each), {.unrolled = true}, [&](Term pass) {
    b_.when(split_ * split.each + pass < split.passes, [&] {
      each_vector(pass * split.values, [&](Term at) {
        for (int part = 0; part < gemm_.cluster[2]; ++part) {
          b_.when(
              split_ == part,
              [&] {
                b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
                  b_.assign({piece_, {e}}, b_.read({own_, {at + e}}));
                });
              },
              [&] {
                const Term slot =
                    part == 0 ? number(0)
                              : b_.select(number(part) < split_, number(part), number(part - 1));
                b_.copy({piece_, {number(0)}}, {parts_, {at, thread, slot}}, vector);
              });
          b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
            const Term piece = b_.read({piece_, {e}});
            b_.assign({sum_, {e}}, part == 0 ? piece : b_.read({sum_, {e}}) + piece);
          });
        }
        b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
          b_.assign({own_, {at + e}}, b_.read({sum_, {e}}));
        });
      });
    });
  });
  declared_.from(where, "all that share K are told");
  b_.emit(Fence{FenceKind::warp});
  const Term lane = b_.special(Builtin::lane);
  b_.when(lane < gemm_.cluster[2],
          [&] { b_.sync(taken_, consumer_, ArriveMbarrier{rank_of(lane)}); });
}

void Sm90Lowering::epilogue_of_sums(const Tile& tile) {
  const plan::Split& split = *gemm_.split;
  const int passes = gemm_.mma.shape[1] / 2 / split.values;
  declared_.from(declared_.kernel.assignments.front().where);
  if (gemm_.store) wait_for_stores(0);
  b_.loop("pass", number(0), number(split.each), {.unrolled = true}, [&](Term pass) {
    const Term index = split_ * split.each + pass;
    const Pass at = pass_of(index, passes, split.values * 2);
    const auto sum = [&](Term value) { return b_.read({own_, {pass * split.values + value}}); };
    b_.when(index < split.passes, [&] {
      if (gemm_.store) {
        store_through_shared(tile, at, pass, sum);
      } else {
        store_from_registers(tile, at, split.values, sum);
      }
    });
  });
}

void Sm90Lowering::wait_until_read() {
  b_.sync(taken_, consumer_, WaitMbarrier{b_.phase(give_)});
}

}  // namespace lay::ir
