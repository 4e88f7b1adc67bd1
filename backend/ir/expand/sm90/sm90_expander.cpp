#include "backend/ir/expand/sm90/sm90_expander.h"

#include <algorithm>
#include <bit>

#include "backend/ir/lower/lower_fragment.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/ir/lower/mma_atom.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/sm90/tma.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128;

}  // namespace

Sm90Expander::Sm90Expander(Declared& declared, const tile::Program& program)
    : declared_(declared),
      b_(declared.b),
      gemm_(plan::sm90_of(program)),
      sync_(declared, program),
      scales_(declared, gemm_, OutsideNumbers::zero, gemm_.accumulator_sets) {
  declare(a_, gemm_.a, 0, "A");
  declare(b_operand_, gemm_.b, 1, "B");
  for (const plan::FurtherGemm& each : gemm_.further) {
    Operand& operand = further_operands_.emplace_back();
    declare(operand, each.b, 1, "B" + std::to_string(further_operands_.size() + 1));
  }
  const Span& where = declared.kernel.node(gemm_.contraction).where;
  const auto repeats = gemm_.repeats();
  declared.from(where, "accumulators, (thread,value) -> (m,n): " + gemm_.accumulators.to_string());
  // One mode for the values that the atom gives a thread, then the atoms along m and n: wgmma
  // m64n128k16 has 64 * 128 / 128 = 64 values a thread, ((2,2,16),1,1):((1,2,4),0,0) for one atom.
  accumulators_ = declare_sums(declared.name("acc"));
  for (size_t i = 0; i < gemm_.further.size(); ++i) {
    declared.from(declared.kernel.node(gemm_.further[i].contraction).where,
                  "those of product " + std::to_string(i + 2));
    further_accumulators_.push_back(declare_sums(declared.fresh("acc")));
  }
  // Hopper's tensor cores keep about 14 bits of a running sum of FP8 products (DeepSeek-V3 report,
  // section 3.3.2). So sums of `promotion_interval` products are added to a second set of f32
  // registers; without an interval both names are one buffer.
  if (gemm_.promotion_interval) {
    declared.from(where, "where the accumulators are added up every " +
                             std::to_string(gemm_.promotion_interval) + " of K" +
                             (gemm_.scales.empty() ? "" : ", each multiplied by its scales"));
    totals_ = b_.registers(declared.name("total"), gemm_.total,
                           make_layout(tuple(gemm_.mma.c.shape[1], repeats[0], repeats[1])));
  } else {
    totals_ = accumulators_;
  }
  if (gemm_.accumulator_sets > 1) {
    declared.from(where, "those of odd K tiles");
    other_accumulators_ = declare_sums(declared.fresh("acc"));
  }
  scales_.declare();
  if (gemm_.a.fragment) {
    declared.from(where, "A in registers: (value of the atom, atom, step)");
    fragments_ =
        b_.registers(declared.name("a"), gemm_.mma.a_type,
                     make_layout(tuple(gemm_.a.fragment->values(), repeats[0], repeats[2])));
    if (gemm_.a.converted)
      unconverted_ =
          b_.registers(declared.name("a_stored"), declared.kernel.loaded(gemm_.a.load).element,
                       make_layout(tuple(gemm_.a.fragment->values(), repeats[0], repeats[2])));
  }
  b_.kernel.atoms.push_back(mma_atom(gemm_.mma));
  declare_store();
  if (gemm_.split) declare_split();
  // The prologue initialises mbarriers that TMA of other blocks signals, so blocks of a cluster
  // meet at a cluster barrier; a block alone needs __syncthreads only.
  blocks_ = sync_.declare_meeting();
  stages_ = sync_.declare(tile::Pipeline::Moves::operands);
  way_ = sync_.declare_direction();
  turn_ = sync_.declare_turn();
  if (gemm_.tail > 1) declare_tail();
}

// Registers for a sum of each of a thread's values: (value of the atom, atoms along m, along n).
BufferId Sm90Expander::declare_sums(const std::string& name) {
  const auto repeats = gemm_.repeats();
  return b_.registers(name, gemm_.mma.accumulator,
                      make_layout(tuple(gemm_.mma.c.shape[1], repeats[0], repeats[1])));
}

std::vector<Sm90Expander::Operand*> Sm90Expander::operands() {
  std::vector<Operand*> all{&a_, &b_operand_};
  for (Operand& each : further_operands_) all.push_back(&each);
  return all;
}

void Sm90Expander::declare(Operand& operand, const plan::TmaOperand& plan, int axis,
                           std::string name) {
  operand.plan = &plan;
  operand.axis = axis;
  operand.name = std::move(name);
  const auto& node = declared_.kernel.node(plan.load);
  const auto& load = std::get<sema::Load>(node.what);
  operand.global = declared_.tensors[static_cast<size_t>(load.tensor)];
  declared_.from(node.where, std::string(axis == 0 ? "(m" : "(n") + ",k,stage)");
  // The 128-byte swizzle repeats every 8 rows of 128 bytes: TMA and wgmma both apply it to address
  // bits, so each stage has to begin at a multiple of 1024 bytes.
  constexpr int alignment = 1024;
  operand.stages =
      b_.shared(declared_.name(operand.name + "_stage"), declared_.tensor(load.tensor).element,
                plan::repeated(plan.shared, {gemm_.stages}), alignment);
  const LoadedBoxes boxes{plan.load, gemm_.k, plan.outer, plan.order, plan.box, plan.span};
  operand.map = plan.view ? map_of_view(declared_, operand.name + "_map", boxes, *plan.view)
                          : map_of_boxes(declared_, operand.name + "_map", boxes);
}

void Sm90Expander::declare_store() {
  const auto& assignments = declared_.kernel.assignments;
  declared_.from(assignments.front().where);
  if (gemm_.store) return declare_staged();
  // From registers: two neighbours along n are the most that the accumulator layout gives a thread,
  // so the buffer of an assignment holds one access, not a tile.
  const int together = *std::max_element(gemm_.vectors.begin(), gemm_.vectors.end());
  for (const sema::Assignment& assignment : assignments) {
    values_.push_back(b_.registers(
        declared_.fresh("out"), declared_.tensor(assignment.target).element, Layout(together, 1)));
  }
}

void Sm90Expander::run() {
  // A persistent grid: one cluster for each `blocks` SMs, never more than there are tiles. Two
  // blocks a cluster on 132 SMs give 66 clusters, as `min(..., 66)` in the emitted header says.
  const Int clusters = tile::clusters_of_launch(
      Int(gemm_.sms / gemm_.blocks()),
      plan::places(declared_.kernel, gemm_.order, plan::tiling_of(gemm_)), gemm_.tail);
  b_.kernel.launch = {
      {clusters * gemm_.blocks(), 1, 1}, {gemm_.blocks(), 1, 1}, sync_.threads(), 1, true};
  prologue();
  // `setmaxnreg` moves registers from the producer to the consumers: 56 * 128 + 224 * 256 = 64512
  // of the SM's 65536. The launch reserves an equal share for each thread before that.
  sync_.role(0, [&] { producer(); });
  sync_.role(1, [&] { consumer(); });
}

void Sm90Expander::prologue() {
  declared_.from(declared_.kernel.where);
  b_.inside(b_.kernel.prologue, [&] {
    sync_.initialise();
    b_.sync(blocks_);
    // Bound here, before the roles part, so that producer and consumers count the same tiles.
    clusters_ = b_.let(declared_.name("clusters"), b_.special(Builtin::grid_x) / gemm_.blocks());
    tiles_k_ = b_.let(declared_.name("tiles_k"),
                      b_.size(plan::tiles(declared_.kernel, gemm_.k, gemm_.tile[2])));
    if (!gemm_.segments) schedule_tiles({});
    // Programmatic dependent launch: all of the above overlaps the tail of the launch before this
    // one, whose results may be read only after this wait.
    b_.emit(Fence{FenceKind::grid_dependency_wait});
    if (!gemm_.segments) return;
    // Rows of tiles of all segments, as the launch before has counted them.
    const Term last = b_.size(gemm_.segments->count);
    schedule_tiles(b_.let(declared_.name("tile_rows"),
                          b_.max(entry(gemm_.segments->first_tile, last), number(1))));
  });
}

void Sm90Expander::schedule_tiles(std::optional<Term> tile_rows) {
  scheduler_.emplace(declared_, gemm_.order, plan::tiling_of(gemm_), TileScheduler::Tiles::many,
                     tile_rows);
  tiles_ = gemm_.tail > 1 ? scheduler_->cut_tail(clusters_, gemm_.tail)
                          : b_.let(declared_.name("tiles"), scheduler_->places());
}

// Of a table of segments.
Term Sm90Expander::entry(sema::TensorId table, Term segment) {
  return b_.read({declared_.tensors[static_cast<size_t>(table)], {segment}});
}

// The cluster's ranks count m first, then n, then parts of K: rank = m + cluster[0] * (n +
// cluster[1] * part).
Term Sm90Expander::along_n_of_cluster(Term rank) {
  if (gemm_.cluster[1] == 1) return number(0);
  const Term row = rank / gemm_.cluster[0];
  return gemm_.split ? row % gemm_.cluster[1] : row;
}

void Sm90Expander::each_tile(const std::function<void(const Tile&)>& body) {
  declared_.from(declared_.kernel.where, "cluster -> tile: " + plan::to_string(gemm_.order));
  b_.tiles(declared_.name("tile"), b_.special(Builtin::block_x) / gemm_.blocks(), tiles_, clusters_,
           [&](Term taken) {
             TileScheduler::Unit unit;
             if (gemm_.tail > 1) unit = scheduler_->unit(taken);
             scheduler_->with_tile(
                 gemm_.tail > 1 ? unit.place : taken,
                 [&](const std::vector<Term>& at) { within_tile(at, unit, body); });
           });
}

// The order counts tiles of the cluster; a block takes the one at its coordinate in the cluster:
// m_first = (tile_m * cluster[0] + rank % cluster[0]) * tile[0].
void Sm90Expander::within_tile(const std::vector<Term>& at, const TileScheduler::Unit& unit,
                               const std::function<void(const Tile&)>& body) {
  const Term rank = gemm_.blocks() > 1 ? b_.special(Builtin::cluster_rank) : number(0);
  const std::array<Term, 2> block{gemm_.cluster[0] == 1 ? number(0) : rank % gemm_.cluster[0],
                                  along_n_of_cluster(rank)};
  Tile made;
  made.batch.assign(at.begin() + 2, at.end());
  with_rows(made, {at[0], at[1]}, block, [&] {
    Term steps = tiles_k_;
    if (gemm_.mask) {
      declared_.from(declared_.kernel.node(gemm_.mask->condition).where,
                     "no products where the mask leaves none");
      steps = b_.let(declared_.name("steps"), b_.select(has_products(at), tiles_k_, number(0)));
    }
    made.k_first = number(0);
    made.steps = steps;
    // Part p of P takes the K tiles from floor(steps * p / P) to floor(steps * (p + 1) / P): the
    // parts differ by one K tile at most, and cover all of them where P does not divide.
    const auto choose_part = [&](Term part, int parts, std::optional<Term> is_part) {
      made.k_first = b_.let(declared_.name("k_first"), steps * part / parts);
      const Term end = steps * (part + 1) / parts;
      made.steps = b_.let(declared_.name("k_steps"),
                          (is_part ? b_.select(*is_part, end, steps) : end) - made.k_first);
    };
    if (gemm_.split) {
      declared_.from(declared_.kernel.where, "this block's part of K");
      choose_part(rank / gemm_.multicast_size(), gemm_.cluster[2], {});
    }
    if (gemm_.tail > 1) {
      declared_.from(declared_.kernel.where, "the part of K, of a whole tile all");
      made.unit = unit;
      choose_part(unit.part, gemm_.tail, unit.is_part);
    }
    body(made);
  });
}

// Runs the body for the rows and columns of a tile at these coordinates in the order. Where rows
// lie in segments, a row of tiles has the rows of one, or none.
void Sm90Expander::with_rows(Tile& tile, const std::array<Term, 2>& at,
                             const std::array<Term, 2>& block, const std::function<void()>& body) {
  for (size_t i = 0; i < 2; ++i) {
    if (i == 0 && gemm_.segments) continue;
    tile.first[i] = b_.let(declared_.name(i == 0 ? "m_first" : "n_first"),
                           (at[i] * gemm_.cluster[i] + block[i]) * gemm_.tile[i]);
  }
  tile.end = declared_.extent(gemm_.m);
  if (!gemm_.segments) return body();
  const plan::RowSegments& segments = *gemm_.segments;
  const Span& where = declared_.kernel.node(gemm_.b.load).where;
  declared_.from(where, "the segment that has the row of tiles");
  tile.segment = segment_of(at[0]);
  declared_.from(where, "its rows");
  b_.when(tile.segment < b_.size(segments.count), [&] {
    const Term before = at[0] - entry(segments.first_tile, tile.segment);
    const Term first = b_.let(declared_.name("row_first"),
                              entry(segments.first_row, tile.segment) + before * segments.rows);
    tile.end = b_.let(declared_.name("row_end"),
                      b_.min(first + segments.rows, entry(segments.first_row, tile.segment + 1)));
    tile.first[0] = b_.let(declared_.name("m_first"), first + block[0] * gemm_.tile[0]);
    body();
  });
}

// The last segment whose tiles do not begin behind a row of tiles; the number of segments behind
// the last one's tiles. Each step finds two digits in base 2 by three reads, none of which waits
// for another.
Term Sm90Expander::segment_of(Term row) {
  constexpr int probes = 3;
  const Term count = b_.size(gemm_.segments->count);
  const auto table = static_cast<size_t>(gemm_.segments->first_tile);
  Term found = number(0);
  for (int step = (plan::most_segments + 1) / (probes + 1); step > 0; step /= probes + 1) {
    Term next = found;
    for (int probe = 1; probe <= probes; ++probe) {
      const Term at = found + probe * step;
      const Term begins = b_.read({declared_.tensors[table], {b_.min(at, count)}});
      next = next + b_.select(at <= count && begins <= row, number(step), number(0));
    }
    found = b_.let(step == 1 ? declared_.name("segment") : declared_.fresh("found"), next);
  }
  return found;
}

// ---- the producer warpgroup

void Sm90Expander::producer() {
  // A stage receives the whole tile of all operands, whichever block of the cluster sends a slice:
  // a box that reaches outside the tensor counts in full, since TMA fills it up with zeros.
  const auto bytes_of = [&](const Operand& operand) {
    return operand.plan->extent * gemm_.tile[2] * bits(b_.kernel.buffer(operand.stages).element) /
           8;
  };
  int bytes = 0;
  for (const Operand* operand : operands()) bytes += bytes_of(*operand);
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  // One thread issues all copies; the other 127 of the warpgroup have nothing to do but give up
  // their registers.
  b_.when(b_.special(Builtin::warp) == 0, [&] {
    b_.elect([&] {
      each_tile([&](const Tile& tile) {
        declared_.from(where);
        for (Operand* operand : {&a_, &b_operand_}) {
          if (!operand->plan->view) continue;
          operand->rows.emplace(
              declared_, operand->axis == 0 ? "m" : "n",
              tile.first[static_cast<size_t>(operand->axis)] + first_of_slice(*operand));
          operand->rows->compute(operand->plan->view->modes, &tile::ViewedMode::outer);
        }
        b_.loop(declared_.name("tile_k"), number(0), tile.steps, {}, [&](Term tile_k) {
          // Alternate K direction: tiles of phase 1 walk K from its end, where the tile before
          // stopped, so its last K tiles are still in L2.
          const Term at =
              way_ ? b_.select(b_.phase(way_) == 0, tile_k, tile.steps - 1 - tile_k) : tile_k;
          Term k = (tile.k_first + at) * gemm_.tile[2];
          std::optional<Digits> digits;
          if (gemm_.a.view || gemm_.b.view) {
            // Before the wait, whose end the copies should follow at once.
            k = b_.let(declared_.name("k_first"), k);
            digits.emplace(declared_, "k", k);
            for (const plan::TmaOperand* operand : {&gemm_.a, &gemm_.b})
              if (operand->view) digits->compute(operand->view->modes, &tile::ViewedMode::k);
          }
          wait_at(b_, stages_.drained, stages_.write);
          expect_at(b_, stages_.filled, stages_.write, bytes);
          for (Operand* operand : operands()) load(*operand, tile, k, digits ? &*digits : nullptr);
          b_.emit(Advance{stages_.write, {}});
        });
        if (way_) b_.emit(Advance{way_, {}});
      });
      // Consumers of another block arrive at this block's `drained`. A block that exits takes its
      // shared memory along, so it waits until each of its stages has been released once more.
      if (stages_.readers.blocks == 1) return;
      declared_.from(where, "no block leaves before its stages have been given back");
      b_.loop("s", number(0), number(stages_.pipeline->stages), {.unrolled = true}, [&](Term) {
        wait_at(b_, stages_.drained, stages_.write);
        b_.emit(Advance{stages_.write, {}});
      });
    });
  });
}

Term Sm90Expander::batch_at(const Tile& tile, sema::IndexId index) const {
  const auto at = std::find(gemm_.batch.begin(), gemm_.batch.end(), index) - gemm_.batch.begin();
  return tile.batch[static_cast<size_t>(at)];
}

std::vector<ExprId> Sm90Expander::coordinate(const plan::TmaOperand& plan, const Tile& tile,
                                             Term outer, Term k) const {
  const auto& load = std::get<sema::Load>(declared_.kernel.node(plan.load).what);
  std::vector<ExprId> made;
  for (const sema::NodeId each : load.coordinate) {
    const sema::IndexId index = plan::bare_index(declared_.kernel, each);
    if (index == gemm_.k || index == plan.outer) {
      made.push_back(index == gemm_.k ? k : outer);
    } else if (index < 0) {
      made.push_back(tile.segment);
    } else {
      made.push_back(batch_at(tile, index));
    }
  }
  return made;
}

// Each block that shares the operand loads one slice and multicasts it. The plan cuts slices along
// the outer index or along k; a slice as long as the tile is not cut along that axis.
Term Sm90Expander::first_of_slice(const Operand& operand) {
  const auto axis = static_cast<size_t>(operand.axis);
  const plan::TmaOperand& plan = *operand.plan;
  if (plan.slice[0] == plan.extent) return number(0);
  const Term rank = b_.special(Builtin::cluster_rank);
  const Term share = axis == 0 ? along_n_of_cluster(rank) : rank % gemm_.cluster[0];
  return share * plan.slice[0];
}

// This block's slice of the tile, box by box, for every block of the cluster that needs it.
void Sm90Expander::load(Operand& operand, const Tile& tile, Term k, Digits* digits_of_k) {
  const plan::TmaOperand& plan = *operand.plan;
  const auto axis = static_cast<size_t>(operand.axis);
  const int multicast_size = gemm_.cluster[1 - axis];
  const Term rank = gemm_.blocks() > 1 ? b_.special(Builtin::cluster_rank) : number(0);
  const Term share = axis == 0 ? along_n_of_cluster(rank) : rank % gemm_.cluster[0];
  const Term outer_first = first_of_slice(operand);
  const Term k_first = plan.slice[1] < gemm_.tile[2] ? share * plan.slice[1] : number(0);
  // Blocks with this block's coordinate along the operand's own axis: a stride of bits in the mask.
  const int step = axis == 0 ? gemm_.cluster[0] : 1;
  std::int64_t mask = 0;
  for (int i = 0; i < multicast_size; ++i) mask |= std::int64_t{1} << (i * step);
  const int places = gemm_.cluster[axis];
  const Term own = axis == 0 ? rank % places : along_n_of_cluster(rank);
  // The mask for the block's own row or column of the cluster, chosen among constants: in a cluster
  // (2,2) A goes to ranks {0,2} from m = 0, mask 0b0101, and to {1,3} from m = 1, mask 0b1010.
  Term bits_of_mask = number(mask);
  for (int i = 1; i < places; ++i) {
    const int shift = axis == 0 ? i : i * gemm_.cluster[0];
    bits_of_mask = b_.select(own == i, number(mask << shift), bits_of_mask);
  }
  // Blocks with another part of K need other data: the mask moves up by whole parts.
  if (gemm_.split && multicast_size > 1) {
    const Term of_first = bits_of_mask;
    for (int part = 1; part < gemm_.cluster[2]; ++part) {
      bits_of_mask = b_.select(rank / gemm_.multicast_size() == part,
                               of_first * (1 << part * gemm_.multicast_size()), bits_of_mask);
    }
  }
  declared_.from(
      declared_.kernel.node(plan.load).where,
      operand.name + ": this block's " + std::to_string(plan.slice[0]) + " x " +
          std::to_string(plan.slice[1]) +
          (multicast_size > 1 ? ", for " + std::to_string(multicast_size) + " blocks" : ""));
  // A box has at most 256 elements an axis and one swizzle width along its fastest mode (CUDA
  // driver API, cuTensorMapEncodeTiled), so a slice may take several.
  each_box(b_, plan.slice, plan.box, [&](Term outer, Term along_k) {
    const Term row = outer_first + outer, column = k_first + along_k;
    const Ref to{operand.stages, {row, column, b_.slot(stages_.write)}};
    TmaLoad how{operand.map,
                {stages_.filled, b_.slot(stages_.write)},
                box_atom(declared_, operand.map, sema::CopySpace::shared, multicast_size),
                {}};
    Ref from{operand.global, {}};
    if (plan.view) {
      // Rows of a further box have digits of their own.
      Digits further(declared_, axis == 0 ? "m" : "n", tile.first[axis] + row);
      Digits& rows = plan.slice[0] == plan.box[0] ? *operand.rows : further;
      ViewedPlace place = place_in_view(declared_, *plan.view, rows, *digits_of_k, column,
                                        [&](sema::IndexId index) { return batch_at(tile, index); });
      from.coordinate = std::move(place.coordinate);
      how.offsets = std::move(place.offsets);
    } else {
      from.coordinate = coordinate(plan, tile, tile.first[axis] + row, k + column);
    }
    TmaLoad& made = b_.copy(to, from, how);
    if (multicast_size > 1) made.multicast = bits_of_mask;
  });
}

// ---- the consumers

void Sm90Expander::consumer() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "this consumer's part of the tile");
  const auto part = gemm_.part();
  consumer_ = gemm_.consumers() == 1
                  ? number(0)
                  : b_.let(declared_.name("consumer"), b_.special(Builtin::warpgroup) - 1);
  const int warpgroups_of_group = gemm_.warpgroups_of_group();
  // Warpgroup 0 produces; consumer c is warpgroup c + 1. Groups are cut off it first (ping-pong),
  // then the place inside the group says which part of the tile it multiplies.
  group_ = warpgroups_of_group == 1 ? consumer_ : consumer_ / warpgroups_of_group;
  const Term member = gemm_.consumer_groups() == 1 ? consumer_
                      : warpgroups_of_group == 1   ? number(0)
                                                   : consumer_ % warpgroups_of_group;
  part_ = {gemm_.groups[0] == 1 ? number(0) : member % gemm_.groups[0] * part[0],
           gemm_.groups[1] == 1 ? number(0) : member / gemm_.groups[0] * part[1]};
  const Term thread = gemm_.consumer_groups() == 1 ? b_.special(Builtin::thread) - warpgroup
                                                   : (b_.special(Builtin::thread) - warpgroup) %
                                                         (warpgroups_of_group * warpgroup);
  if (gemm_.split) {
    declared_.from(where, "this block's number among those that share K");
    split_ =
        b_.let(declared_.name("part"), b_.special(Builtin::cluster_rank) / gemm_.multicast_size());
  }
  declared_.from(where, "this thread's first accumulator");
  for (int axis = 0; axis < 2; ++axis) {
    // `accumulators` maps (thread, value) to (m, n); along one axis it is a layout of integers, and
    // the value's share is added where the value is known.
    held_[static_cast<size_t>(axis)] = b_.let(declared_.name(axis == 0 ? "row" : "column"),
                                              b_.at(along(gemm_.accumulators[0], axis), thread));
  }
  if (gemm_.a.fragment) {
    const plan::Fragment& fragment = *gemm_.a.fragment;
    declared_.from(where, fragment.copy ? "the row of A that this lane names to " +
                                              fragment.copy->name + ": " + fragment.rows.to_string()
                                        : "this lane's values of A: " + fragment.held.to_string());
    const LanePlace place = lane_place(b_, fragment);
    // The four warps of a warpgroup read 16 rows of A each. Along k they all begin at 0, and a
    // layout whose every value is 0 needs no arithmetic.
    const auto of_warp = [&](int axis) {
      const Layout moved = along(fragment.warps, axis);
      const auto all = values(moved);
      const bool still =
          std::all_of(all.begin(), all.end(), [](std::int64_t at) { return at == 0; });
      return still ? number(0) : b_.at(moved, b_.special(Builtin::warp) % (warpgroup / 32));
    };
    brings_[0] = b_.let(declared_.name("a_row"), part_[0] + of_warp(0) + place.outer);
    brings_[1] = b_.let(declared_.name("a_row_k"), of_warp(1) + place.k);
  }
  for (Staged& each : outputs_) place_tensor(each);
  place_inputs();
  const auto each_of_consumer = [&](const std::function<void(const Tile&)>& body) {
    each_tile([&](const Tile& tile) {
      body(tile);
      // Scales are those of the K tiles in the order in which they are walked.
      if (way_ && !gemm_.scales.empty()) b_.emit(Advance{way_, {}});
    });
  };
  each_of_consumer([&](const Tile& tile) {
    const auto take = [&] {
      // Inputs of the epilogue are asked for before the products, whose time hides their latency.
      if (gemm_.tail == 1)
        load_first_inputs(tile);
      else if (!inputs_.empty())
        b_.when(!tile.unit.is_part, [&] { load_first_inputs(tile); });
      multiply(tile);
      if (gemm_.tail > 1) return finish_with_tail(tile);
      if (!gemm_.split) return epilogue(tile);
      exchange();
      sum_up();
      epilogue_of_sums(tile);
    };
    if (gemm_.consumer_groups() == 1) return take();
    declared_.from(where);
    // Every group walks over all tiles and takes each `consumer_groups`-th. The stages of the
    // others' tiles are not its own, so its places in the rings move on by as many K tiles without
    // a wait.
    b_.when(b_.slot(turn_.ring) == group_, take, [&] {
      declared_.from(where, "a tile of another consumer group");
      for (const RingId ring : {stages_.read, stages_.release}) b_.emit(Advance{ring, tile.steps});
    });
    b_.emit(Advance{turn_.ring, {}});
  });
  // The blocks that share K arrive at this block's barrier when they have read what they were
  // given: its shared memory has to live until then.
  if (gemm_.split) wait_until_read();
  if (!gemm_.store || !gemm_.store->out_by_tma()) return;
  declared_.from(declared_.kernel.assignments.front().where,
                 "what was stored has left shared memory");
  by_one_lane([&] { b_.emit(Wait{GroupKind::bulk, 0, false}); });
}

}  // namespace lay::ir
