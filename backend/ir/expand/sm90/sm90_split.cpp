// A product for Hopper whose K the blocks of a cluster share (part_sums.h). Of a thread's sums a
// block adds up some passes, in the place of its own, says that it has read what it was given, and
// stores them. Each consumer's go to the consumer of the same number, so that no other barrier is
// needed.
#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/ir/lower/split/part_sums.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128, warps = 4, vector = 4;  // accumulators that go together

}  // namespace

void Sm90Expander::declare_split() {
  const plan::Split& split = *gemm_.split;
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "(value,thread,from)");
  sums_.declare(b_, declared_,
                {gemm_.total, gemm_.cluster[2], split.each * split.values, vector,
                 warpgroup * gemm_.consumers()});
  exchange_ = sync_.declare(tile::Pipeline::Moves::sums);
}

// The block of the cluster with that part of K and this one's tile.
Term Sm90Expander::rank_of(Term part) const {
  return part * gemm_.multicast_size() + b_.special(Builtin::cluster_rank) % gemm_.multicast_size();
}

Sm90Expander::Pass Sm90Expander::pass_of(Term number, int passes, int width) const {
  const auto repeats = gemm_.repeats();
  const Term atom = number / passes;
  return {atom / repeats[1], atom % repeats[1], number % passes, width};
}

void Sm90Expander::exchange() {
  const plan::Split& split = *gemm_.split;
  const int passes = gemm_.mma.shape[1] / 2 / split.values, others = gemm_.cluster[2] - 1;
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "until the others have read what they were given before");
  wait_until_read();
  b_.emit(Advance{exchange_.write, {}});
  declared_.from(where, "what this block will be given");
  const int bytes = split.values * warpgroup * others * bits(gemm_.total) / 8;
  b_.when(b_.special(Builtin::warp) % warps == 0, [&] {
    b_.elect([&] {
      const Term left = number(split.passes) - split_ * split.each;
      const Term all = split.passes == split.each * gemm_.cluster[2]
                           ? number(split.each * bytes)
                           : b_.max(b_.min(number(split.each), left), number(0)) * bytes;
      b_.sync(exchange_.filled, consumer_, ArriveExpectBytes{all});
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
            b_.assign(sums_.own(first + v), b_.read({totals_, {held + v, at.i, at.j}}));
          });
        },
        [&] {
          const Term slot = sums_.slot_in(b_, declared_, split_, owner);
          b_.loop("v", number(0), number(split.values), {.step = vector, .unrolled = true},
                  [&](Term v) {
                    const Ref to = sums_.given(first + v, thread, slot),
                              from{totals_, {held + v, at.i, at.j}};
                    b_.copy(
                        to, from,
                        RemoteStore{{vector, 0, 0}, {exchange_.filled, consumer_}, rank_of(owner)});
                  });
        });
  });
}

void Sm90Expander::sum_up() {
  const plan::Split& split = *gemm_.split;
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "the sums, in the order of ranks");
  b_.sync(exchange_.filled, consumer_, WaitMbarrier{b_.phase(exchange_.read)});
  b_.emit(Advance{exchange_.read, {}});
  const auto each_vector = [&](Term first, const std::function<void(Term)>& body) {
    b_.loop("v", number(0), number(split.values), {.step = vector, .unrolled = true},
            [&](Term v) { body(first + v); });
  };
  b_.loop("pass", number(0), number(split.each), {.unrolled = true}, [&](Term pass) {
    b_.when(split_ * split.each + pass < split.passes, [&] {
      each_vector(pass * split.values, [&](Term at) {
        sums_.add_up(b_, split_, at, thread,
                     [&](Term e, Term sum) { b_.assign(sums_.own(at + e), sum); });
      });
    });
  });
  declared_.from(where, "all that share K are told");
  b_.emit(Fence{FenceKind::warp});
  const Term lane = b_.special(Builtin::lane);
  b_.when(lane < gemm_.cluster[2],
          [&] { b_.sync(exchange_.drained, consumer_, ArriveMbarrier{rank_of(lane)}); });
}

void Sm90Expander::epilogue_of_sums(const Tile& tile) {
  const plan::Split& split = *gemm_.split;
  const int passes = gemm_.mma.shape[1] / 2 / split.values;
  declared_.from(declared_.kernel.assignments.front().where);
  if (gemm_.store) wait_for_stores(0);
  b_.loop("pass", number(0), number(split.each), {.unrolled = true}, [&](Term pass) {
    const Term index = split_ * split.each + pass;
    const Pass at = pass_of(index, passes, split.values * 2);
    const auto sum = [&](Term value) {
      return std::vector<Term>{b_.read(sums_.own(pass * split.values + value))};
    };
    b_.when(index < split.passes, [&] {
      if (gemm_.store) {
        store_through_shared(tile, at, pass, sum);
      } else {
        store_from_registers(tile, at, split.values, sum);
      }
    });
  });
}

void Sm90Expander::wait_until_read() {
  b_.sync(exchange_.drained, consumer_, WaitMbarrier{b_.phase(exchange_.write)});
}

}  // namespace lay::ir
