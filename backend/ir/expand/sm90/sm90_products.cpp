// A tile's products: K tile after K tile, as they arrive in shared memory, and what becomes of
// their stages.
#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/ir/lower/lower_fragment.h"
#include "backend/ir/lower/lower_ring.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128;

}  // namespace

void Sm90Expander::multiply(const Tile& tile) {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  if (turn_.barrier) wait_for_turn();
  const auto clear = [&] {
    for (const BufferId sums : sums_of_products())
      b_.fill(sums, b_.constant(std::int64_t{0}, gemm_.total));
  };
  // Where blocks share K the old sums are no more than zeros by now, and need no registers until
  // then.
  const bool cleared_first = gemm_.promotion_interval || gemm_.split;
  if (cleared_first) clear();
  declared_.from(where);
  if (gemm_.accumulator_sets > 1) {
    products_in_turn(tile);
  } else {
    b_.loop(declared_.name("tile_k"), number(0), tile.steps, {}, [&](Term tile_k) {
      if (gemm_.promotion_interval) {
        products_in_parts(tile, tile_k);
      } else {
        products(tile_k);
      }
    });
  }
  if (turn_.barrier) pass_turn();
  if (gemm_.promotion_interval) return;
  declared_.from(where, "the last stage");
  b_.emit(Wait{GroupKind::wgmma, 0, false});
  const auto give = [&] { release_stage(); };
  if (cleared_first) return b_.when(tile.steps > 0, give);
  b_.when(tile.steps > 0, give, [&] {
    declared_.from(where, "a sum of nothing");
    clear();
    b_.emit(Fence{FenceKind::branch});
  });
}

// The products of the tile before have been issued, so that this tile's do not come between them,
// and its stages have arrived: what the parity of the next ones' barriers says is then about this
// round of the ring. Nothing is before the first tile of the first consumer group: its first wait
// passes.
void Sm90Expander::wait_for_turn() {
  b_.sync(
      turn_.barrier, group_,
      WaitMbarrier{b_.select(group_ == 0, number(1) - b_.phase(turn_.ring), b_.phase(turn_.ring))});
}

void Sm90Expander::pass_turn() {
  b_.elect(
      [&] { b_.sync(turn_.barrier, (group_ + 1) % gemm_.consumer_groups(), ArriveMbarrier{}); });
}

std::vector<BufferId> Sm90Expander::sums_of_products() const {
  std::vector<BufferId> all{totals_};
  all.insert(all.end(), further_accumulators_.begin(), further_accumulators_.end());
  return all;
}

std::vector<Term> Sm90Expander::sums_at(const std::vector<BufferId>& sums,
                                        const std::vector<ExprId>& at) {
  std::vector<Term> values;
  for (const BufferId each : sums) values.push_back(b_.read({each, at}));
  return values;
}

void Sm90Expander::over(const char* name, int count, const std::function<void(Term)>& body) {
  if (count == 1) return body(number(0));
  b_.loop(name, number(0), number(count), {.unrolled = true}, body);
}

// Issues `steps` steps of the stage, from `first` on, on top of what `sums` hold unless the first
// is `fresh`: a group of products together or, where A goes to registers first, each step one of
// its own. Elements that are converted have been read for all of these steps by then, so that no
// step waits for shared memory.
void Sm90Expander::issue(BufferId sums, Term first, int steps, Term fresh) {
  if (!gemm_.a.fragment) sync_.fence(tile::Fence::Use::registers);
  if (gemm_.a.converted) {
    over("step", steps, [&](Term step) { read_step(unconverted_, first + step); });
  }
  over("step", steps, [&](Term step) {
    if (gemm_.a.fragment) load_fragment_step(first + step);
    multiply_step(sums, first + step, steps == 1 ? fresh : fresh && step == 0);
    if (gemm_.a.fragment) b_.emit(Commit{GroupKind::wgmma});
  });
  if (!gemm_.a.fragment) b_.emit(Commit{GroupKind::wgmma});
}

// Of each product, the first with the sums that take their turn.
void Sm90Expander::multiply_step(BufferId sums, Term step, Term fresh) {
  const auto repeats = gemm_.repeats();
  const auto multiply_by = [&](const Operand& b, BufferId into) {
    over("i", repeats[0], [&](Term i) {
      over("j", repeats[1], [&](Term j) {
        const Term k = step * gemm_.mma.shape[2], slot = b_.slot(stages_.read);
        const Ref a = gemm_.a.fragment
                          ? Ref{fragments_, {i, step}}
                          : Ref{a_.stages, {part_[0] + i * gemm_.mma.shape[0], k, slot}};
        Mma& made =
            b_.mma(MmaKind::wgmma, {into, {i, j}}, a,
                   {b.stages, {part_[1] + j * gemm_.mma.shape[1], k, slot}}, gemm_.mma.name);
        made.zero = fresh;
      });
    });
  };
  multiply_by(b_operand_, sums);
  for (size_t p = 0; p < further_operands_.size(); ++p)
    multiply_by(further_operands_[p], further_accumulators_[p]);
}

// A step's part of A to registers, (value, atom, step).
void Sm90Expander::read_step(BufferId registers, Term step) {
  over("i", gemm_.repeats()[0], [&](Term i) {
    read_fragment(b_, *gemm_.a.fragment,
                  {registers,
                   {i, step},
                   a_.stages,
                   brings_[0] + i * gemm_.mma.shape[0],
                   brings_[1] + step * gemm_.mma.shape[2],
                   b_.slot(stages_.read)});
  });
}

// A step's part of A to the registers that had this step's of the K tile before: the products that
// read those are done when no more than the other steps' are in flight.
void Sm90Expander::load_fragment_step(Term step) {
  const auto repeats = gemm_.repeats();
  const plan::TmaOperand& a = gemm_.a;
  b_.emit(Wait{GroupKind::wgmma, repeats[2] - 1, false});
  if (!a.converted) {
    read_step(fragments_, step);
  } else {
    over("i", repeats[0], [&](Term i) {
      convert_fragment(
          declared_, *a.fragment,
          {a.load, a.value, gemm_.mma.a_type, unconverted_, fragments_, {i, step}, {i, step}});
    });
  }
  sync_.fence(tile::Fence::Use::registers);
}

// The K tile of the sum that a step of the tile multiplies, as the producer has loaded it.
Term Sm90Expander::k_tile(const Tile& tile, Term tile_k) {
  if (!way_ && !gemm_.split) return tile_k;
  const Term step = way_ ? b_.select(b_.phase(way_) == 0, tile_k, tile.steps - 1 - tile_k) : tile_k;
  return b_.let(declared_.name("at_k"), tile.k_first + step);
}

// One K tile whose products go to the totals every so many K: they are complete by then, and the
// tensor cores have those of another consumer to go on with. Scales are read before the products
// that they belong to, whose time hides their latency.
void Sm90Expander::products_in_parts(const Tile& tile, Term tile_k) {
  const int steps = gemm_.tile[2] / gemm_.mma.shape[2], parts = gemm_.intervals_of_tile(),
            of_tiles = gemm_.tiles_of_interval();
  const bool scaled = scales_.any();
  const Term always = number(0) == 0;
  // Intervals count from the sum's first K tile, where groups of scales begin, else from the
  // block's first.
  const Term at = scaled ? k_tile(tile, tile_k) : tile_k;
  const Term begins = of_tiles == 1           ? always
                      : scaled && gemm_.split ? tile_k == 0 || at % of_tiles == 0
                                              : at % of_tiles == 0;
  const auto read = [&](Term part) {
    if (!scaled) return;
    const auto numbers = [&] {
      scales_.read({{tile.first[0] + held_[0], tile.first[1] + held_[1]}, tile.batch, at, part});
    };
    if (of_tiles == 1) return numbers();
    b_.when(begins, numbers);
  };
  const auto add = [&] { scales_.add(totals_, accumulators_); };
  if (parts == 1) read(number(0));
  wait_at(b_, stages_.filled, stages_.read);
  over("part", parts, [&](Term part) {
    if (parts > 1) read(part);
    issue(accumulators_, part * (steps / parts), steps / parts, begins);
    b_.emit(Wait{GroupKind::wgmma, 0, false});
    if (parts == 1) release_stage();
    if (of_tiles == 1) return add();
    b_.when(at % of_tiles == of_tiles - 1 || tile_k == tile.steps - 1, add);
  });
  if (parts > 1) release_stage();
  b_.emit(Advance{stages_.read, {}});
}

// K tiles whose products go to the totals each, in two sets of accumulators in turn: the tensor
// cores have the next K tile to multiply while the sums of one are added. Two K tiles a round,
// since registers have no address; the first one before, and what is left behind them.
void Sm90Expander::products_in_turn(const Tile& tile) {
  const BufferId sums[] = {accumulators_, other_accumulators_};
  const auto begin = [&](Term tile_k, size_t set) {
    if (scales_.any()) {
      const Term at = k_tile(tile, tile_k);
      scales_.read(
          {{tile.first[0] + held_[0], tile.first[1] + held_[1]}, tile.batch, at, number(0)}, {set});
    }
    wait_at(b_, stages_.filled, stages_.read);
    issue(sums[set], number(0), gemm_.repeats()[2], number(0) == 0);
    b_.emit(Advance{stages_.read, {}});
  };
  const auto end = [&](size_t set, int in_flight) {
    b_.emit(Wait{GroupKind::wgmma, in_flight, false});
    release_stage();
    scales_.add(totals_, sums[set], {set});
  };
  b_.when(tile.steps > 0, [&] {
    begin(number(0), 0);
    b_.loop(declared_.name("pair"), number(0), (tile.steps - 1) / 2, {}, [&](Term pair) {
      begin(pair * 2 + 1, 1);
      end(0, 1);
      begin(pair * 2 + 2, 0);
      end(1, 1);
    });
    b_.when(
        tile.steps % 2 == 0,
        [&] {
          begin(tile.steps - 1, 1);
          end(0, 1);
          end(1, 0);
        },
        [&] { end(0, 0); });
  });
}

// One K tile. Its stage is given back when the next one's products are on their way: consumers that
// share a tile end at about the same time, so that none would keep the tensor cores busy while
// another waits.
void Sm90Expander::products(Term tile_k) {
  wait_at(b_, stages_.filled, stages_.read);
  issue(accumulators_, number(0), gemm_.repeats()[2], tile_k == 0);
  const int late = stages_.pipeline->late;
  if (!gemm_.a.fragment) b_.emit(Wait{GroupKind::wgmma, late, false});
  b_.when(tile_k > late - 1, [&] { release_stage(); });
  b_.emit(Advance{stages_.read, {}});
}

// The stage may be filled again: every block that loads into it, in any block of the cluster, is
// told.
void Sm90Expander::release_stage() {
  const tile::Arrivals& readers = stages_.readers;
  const Term thread = readers.agent == tile::Agent::warp ? b_.special(Builtin::lane)
                                                         : b_.special(Builtin::thread) % warpgroup;
  const Term slot = b_.slot(stages_.release);
  ArriveMbarrier made;
  if (readers.blocks > 1) made.block = gemm_.split ? split_ * readers.blocks + thread : thread;
  b_.when(thread < readers.blocks, [&] { b_.sync(stages_.drained, slot, made); });
  b_.emit(Advance{stages_.release, {}});
}

}  // namespace lay::ir
