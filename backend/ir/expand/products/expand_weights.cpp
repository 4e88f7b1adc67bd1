// A consumer of chained products: its scores, what becomes of them, and their product.
#include <algorithm>
#include <limits>

#include "backend/ir/expand/products/each_value.h"
#include "backend/ir/expand/products/product_expander.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/tile/online_softmax.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Returns true if a number is positive for sure.
bool is_positive(const sema::Kernel& kernel, sema::NodeId id) {
  const sema::Node& node = kernel.node(id);
  if (const auto* literal = std::get_if<sema::Literal>(&node.what))
    return std::visit([](auto x) { return x > 0 && static_cast<double>(x) < infinity; },
                      literal->value);
  const auto* apply = std::get_if<sema::Apply>(&node.what);
  if (!apply) return false;
  using enum ElementFunction;
  const auto of_size = [&](sema::NodeId of) {
    const auto* cast_of = std::get_if<sema::Apply>(&kernel.node(of).what);
    while (cast_of && cast_of->function == cast) {
      of = cast_of->operands[0];
      cast_of = std::get_if<sema::Apply>(&kernel.node(of).what);
    }
    return std::holds_alternative<sema::SizeValue>(kernel.node(of).what);
  };
  if (apply->function == rsqrt && of_size(apply->operands[0])) return true;
  const bool all = std::all_of(apply->operands.begin(), apply->operands.end(),
                               [&](sema::NodeId each) { return is_positive(kernel, each); });
  const auto f = apply->function;
  return all && (f == mul || f == div || f == add || f == sqrt || f == rsqrt || f == cast);
}

}  // namespace

void ProductExpander::consumer() {
  declared_.from(kernel().where, "64 rows of the tile");
  consumer_ = groups_.consumers == 1
                  ? number(0)
                  : b_.let(declared_.name("consumer"), b_.special(Builtin::warpgroup) - 1);
  const Term thread = b_.special(Builtin::thread) % warpgroup;
  row_ =
      b_.let(declared_.name("row"), consumer_ * rows_of_atom + b_.at(scores_.of_thread[0], thread));
  column_ = b_.let(declared_.name("column"), b_.at(scores_.of_thread[1], thread));
  const auto wait = [&](int pending) { b_.emit(Wait{GroupKind::wgmma, pending, false}); };
  const int columns = axis(tile::column_axis).tile;
  each_tile([&](const Tile& tile) {
    begin_tile();
    if (scale_node_ >= 0) {
      declared_.from(kernel().node(scale_node_).where);
      ElementLowering element(declared_);
      bind_batch(element, tile);
      scale_ = b_.let(declared_.name("scale"), element.value(scale_node_, ElementType::f32));
    } else {
      scale_ = real(1);
    }
    wait_at(b_, q_.sync.filled, q_.sync.read);
    const auto multiply = [&] {
      multiply_scores();
      wait(0);
      release(k_);
      weigh(tile, tile.first * columns);
      round_weights();
      b_.loop(declared_.name("tile_n"), tile.first + 1, tile.end, {}, [&](Term tile_n) {
        // The tensor cores have the result to work at while the scores become weights, and the
        // products of the other consumers, whose turns are between.
        wait_for_turn();
        multiply_scores();
        multiply_result();
        pass_turn();
        wait(1);
        release(k_);
        weigh(tile, tile_n * columns);
        wait(0);
        release(v_);
        rescale_result();
        round_weights();
      });
      // All scores are there: the next tile's Q may come during the last product.
      release(q_);
      multiply_result();
      wait(0);
      release(v_);
    };
    b_.when(tile.first < tile.end, multiply, [&] { release(q_); });
    end_sums();
    outputs(tile);
  });
}

void ProductExpander::begin_tile() {
  declared_.from(where(parts_.result->out), "sums of no columns yet");
  b_.fill(result_.registers, real(0));
  if (maximum_) {
    b_.fill(maximum_, real(-infinity));
    b_.fill(chains_, real(-infinity));
  }
  for (const BufferId sum : sums_) b_.fill(sum, real(0));
}

// A positive number that multiplies the scores of all rows and columns alike, where nobody asks for
// the maximum itself.
void ProductExpander::find_scale() {
  if (!parts_.maximum) return;
  const sema::NodeId maximum = node_of(parts_.maximum->out);
  const sema::NodeId x = std::get<sema::Reduce>(kernel().node(maximum).what).body;
  const sema::NodeId root = mask_ && masked_ == x ? unmasked_ : x;
  const auto* product = std::get_if<sema::Apply>(&kernel().node(root).what);
  if (!product || product->function != ElementFunction::mul) return;
  const sema::NodeId scores = node_of(parts_.scores->out);
  const size_t side = product->operands[0] == scores ? 1 : 0;
  if (product->operands[1 - side] != scores) return;
  const sema::NodeId scale = product->operands[side];
  const auto& batch = axis(tile::batch_axis).indices;
  for (const sema::IndexId index : sema::indices_of(kernel(), scale))
    if (std::find(batch.begin(), batch.end(), index) == batch.end()) return;
  if (!is_positive(kernel(), scale)) return;
  std::vector<sema::NodeId> outputs;
  for (const sema::Assignment& assignment : kernel().assignments)
    outputs.push_back(assignment.value);
  const auto asked = sema::reachable_until(kernel(), outputs, [&](sema::NodeId id) {
    return std::holds_alternative<sema::Reduce>(kernel().node(id).what);
  });
  if (!asked[static_cast<size_t>(maximum)]) scale_node_ = scale;
}

// Consumers issue their products in turn: the parity of the first one's turn is that of the last
// one's, so that its first wait passes.
void ProductExpander::wait_for_turn() {
  if (!turn_.barrier) return;
  b_.sync(turn_.barrier, consumer_,
          WaitMbarrier{
              b_.select(consumer_ == 0, number(1) - b_.phase(turn_.ring), b_.phase(turn_.ring))});
}

void ProductExpander::pass_turn() {
  if (!turn_.barrier) return;
  const Term next = (consumer_ + 1) % groups_.consumers;
  b_.elect([&] { b_.sync(turn_.barrier, next, ArriveMbarrier{}); });
  b_.emit(Advance{turn_.ring, {}});
}

// The stage may be filled again.
void ProductExpander::release(const Operand& operand) {
  const Term slot = b_.slot(operand.sync.read);
  b_.when(b_.special(Builtin::thread) % warpgroup < 1,
          [&] { b_.sync(operand.sync.drained, slot, ArriveMbarrier{}); });
  b_.emit(Advance{operand.sync.read, {}});
}

void ProductExpander::multiply_scores() {
  const sema::Atom& atom = *parts_.scores->atom;
  declared_.from(where(parts_.scores->out));
  wait_at(b_, k_.sync.filled, k_.sync.read);
  sync_.fence(tile::Fence::Use::registers);
  b_.loop("step", number(0), number(axis(tile::summed_axis).tile / atom.shape[2]),
          {.unrolled = true}, [&](Term step) {
            const Term at = step * atom.shape[2];
            Mma& made = b_.mma(MmaKind::wgmma, {scores_.registers, {}},
                               {q_.stages, {consumer_ * rows_of_atom, at, b_.slot(q_.sync.read)}},
                               {k_.stages, {number(0), at, b_.slot(k_.sync.read)}}, atom.name);
            made.zero = step == 0;
          });
  b_.emit(Commit{GroupKind::wgmma});
}

void ProductExpander::multiply_result() {
  const sema::Atom& atom = *parts_.result->atom;
  declared_.from(where(parts_.result->out));
  wait_at(b_, v_.sync.filled, v_.sync.read);
  sync_.fence(tile::Fence::Use::registers);
  b_.loop("step", number(0), number(axis(tile::column_axis).tile / atom.shape[2]),
          {.unrolled = true}, [&](Term step) {
            b_.mma(MmaKind::wgmma, {result_.registers, {}}, {weights_, {step}},
                   {v_.stages, {number(0), step * atom.shape[2], b_.slot(v_.sync.read)}},
                   atom.name);
          });
  b_.emit(Commit{GroupKind::wgmma});
}

// Turns the scores of a column tile into weights: the values that are rounded to weights take their
// place, and the maximum and the sums are updated.
void ProductExpander::weigh(const Tile& tile, Term n_first) {
  latest_ = node_of(parts_.scores->out);
  declared_.from(where(parts_.scores->out));
  const Term partly = b_.let(declared_.name("partly"), counts_in_part(tile, n_first));
  for (const tile::Map* map : parts_.before) map_scores(tile, n_first, *map, &partly);
  if (parts_.before.empty() && parts_.maximum) leave_out_columns(n_first, partly);
  if (parts_.maximum) move_maximum();
  for (const tile::Map* map : parts_.after) map_scores(tile, n_first, *map, nullptr);
  add_up();
}

// Scores that are joined as they are: those of columns that lie outside are -inf, not 0.
void ProductExpander::leave_out_columns(Term n_first, Term partly) {
  b_.when(partly, [&] {
    each_value(b_, scores_.digits, [&](const Place& at) {
      const Ref here{scores_.registers, {at.value}};
      const Term inside = n_first + column_ + at.column < b_.size(axis(tile::column_axis).extent);
      b_.assign(here, b_.select(inside, b_.read(here), real(-infinity)));
    });
  });
}

void ProductExpander::bind(ElementLowering& element, const Tile& tile, const Place& at,
                           Term n_first) {
  bind_batch(element, tile);
  element.bind(index_of(tile::row_axis), tile.m_first + row_ + at.row);
  element.bind(index_of(tile::column_axis), n_first + column_ + at.column);
}

// The map's values in the place of those before. `partly`: whether the tile has columns that do not
// count; their scores are -inf, and without a maximum they are 0. Null: no such are told apart.
void ProductExpander::map_scores(const Tile& tile, Term n_first, const tile::Map& map,
                                 const Term* partly) {
  const sema::NodeId node = node_of(map.out), from = latest_;
  // Weights are rounded when the product before has read those that it multiplies.
  if (bits(program_.tile(map.out).element) < 32) return;
  const bool reads = sema::reads_memory(kernel(), node, [&](sema::NodeId id) {
    return id == from || (parts_.maximum && id == node_of(parts_.maximum->out));
  });
  const bool of_exponential =
      parts_.maximum && tile::is_exponential(kernel(), node, node_of(parts_.maximum->out));
  const auto all = [&](bool whole) {
    declared_.from(where(map.out));
    each_value(b_, scores_.digits, [&](const Place& at) {
      const Ref here{scores_.registers, {at.value}};
      if (of_exponential) {
        const Term least = b_.read({subtracted_, {at.row_number}});
        b_.assign(here, b_.apply(ElementFunction::exp_fma, {b_.read(here), scale_, least}));
        return;
      }
      std::vector<sema::NodeId> given{from};
      if (parts_.maximum) given.push_back(node_of(parts_.maximum->out));
      ElementLowering element(declared_, given);
      bind(element, tile, at, n_first);
      element.know(from, b_.read(here));
      if (!partly && parts_.maximum)
        element.know(node_of(parts_.maximum->out), -b_.read({subtracted_, {at.row_number}}));
      const sema::NodeId value = whole && mask_ && masked_ == node ? unmasked_ : node;
      // The scale waits for the exponential.
      const bool scaled = partly && scale_node_ >= 0;
      if (scaled) {
        if (whole) return;
        Term counts = n_first + column_ + at.column < b_.size(axis(tile::column_axis).extent);
        if (mask_) {
          const Term holds = element.value(mask_->condition);
          counts = counts && (mask_->when ? holds : !holds);
        }
        return b_.assign(here, b_.select(counts, b_.read(here), real(-infinity)));
      }
      const auto assign = [&] { b_.assign(here, element.value(value, ElementType::f32)); };
      if (whole || !partly) return assign();
      const Term outside = real(parts_.maximum ? -infinity : 0);
      Term inside = n_first + column_ + at.column < b_.size(axis(tile::column_axis).extent);
      if (!reads) {
        b_.assign(here, b_.select(inside, element.value(value, ElementType::f32), outside));
        return;
      }
      inside = inside && tile.m_first + row_ + at.row < b_.size(axis(tile::row_axis).extent);
      b_.when(inside, assign, [&] { b_.assign(here, outside); });
    });
  };
  latest_ = node;
  if (!partly) return all(true);
  Term checked = *partly;
  if (reads && !facts_.proves(divides(axis(tile::row_axis).extent, axis(tile::row_axis).tile)))
    checked =
        checked || b_.size(axis(tile::row_axis).extent) < tile.m_first + axis(tile::row_axis).tile;
  if (scale_node_ >= 0) return b_.when(checked, [&] { all(false); });
  b_.when(
      checked, [&] { all(false); }, [&] { all(true); });
}

// m = max(m, x) of each row, and what sums are multiplied by.
void ProductExpander::move_maximum() {
  declared_.from(where(parts_.maximum->out), "the lanes that share a row agree on its maximum");
  const auto joined = [&](Term a, Term b) { return b_.apply(ElementFunction::max_nan, {a, b}); };
  each_value(b_, scores_.digits, [&](const Place& at) {
    const Ref most{chains_, {at.row_number, at.column_number % chains}};
    const Term value = b_.read({scores_.registers, {at.value}});
    b_.assign(most, joined(b_.read(most), value));
  });
  each_row(b_, scores_.rows, [&](Term row) {
    const Ref most{maximum_, {row}}, moved{moved_, {row}}, subtracted{subtracted_, {row}};
    std::array<Term, chains> each;
    for (int i = 0; i < chains; ++i)
      each[static_cast<size_t>(i)] = b_.read({chains_, {row, number(i)}});
    Term all = joined(joined(each[0], each[1]), joined(each[2], each[3]));
    for (const int mask : row_lanes_)
      all = joined(all, b_.shuffle(declared_.fresh("other"), all, mask));
    b_.assign(moved, b_.read(most));
    b_.assign(most, all);
    // The chains go on from the maximum. Scores that are all -inf have the weights exp(-inf - 0).
    for (int i = 0; i < chains; ++i) b_.assign({chains_, {row, number(i)}}, b_.read(most));
    b_.assign(subtracted,
              -b_.select(b_.read(most) == real(-infinity), real(0), b_.read(most) * scale_));
    b_.assign(moved,
              b_.apply(ElementFunction::exp_fma, {b_.read(moved), scale_, b_.read(subtracted)}));
    for (size_t i = 0; i < sums_.size(); ++i) {
      if (!is_rescaled(parts_.sums[i]->out)) continue;
      for (int chain = 0; chain < chains; ++chain) {
        const Ref sum{sums_[i], {row, number(chain)}};
        b_.assign(sum, b_.read(sum) * b_.read(moved));
      }
    }
  });
}

bool ProductExpander::is_rescaled(tile::TileId sum) const {
  if (!parts_.maximum) return false;
  const auto& all = parts_.maximum->rescales;
  return std::find(all.begin(), all.end(), sum) != all.end();
}

void ProductExpander::add_up() {
  for (size_t i = 0; i < sums_.size(); ++i) {
    declared_.from(where(parts_.sums[i]->out));
    each_value(b_, scores_.digits, [&](const Place& at) {
      const Ref sum{sums_[i], {at.row_number, at.column_number % chains}};
      b_.assign(sum, b_.read(sum) + b_.read({scores_.registers, {at.value}}));
    });
  }
}

void ProductExpander::rescale_result() {
  if (!is_rescaled(parts_.result->out)) return;
  declared_.from(where(parts_.result->out), "the maximum has moved");
  each_value(b_, result_.digits, [&](const Place& at) {
    const Ref here{result_.registers, {at.value}};
    b_.assign(here, b_.read(here) * b_.read({moved_, {at.row_number}}));
  });
}

// Value i of the scores is value i % 8 of the operand's step i / 8.
void ProductExpander::round_weights() {
  const tile::TileId weight = parts_.result->a;
  declared_.from(where(weight));
  const int of_step = static_cast<int>(size(parts_.result->atom->a.shape[1]).value());
  each_value(b_, scores_.digits, [&](const Place& at) {
    ElementLowering element(declared_, {latest_});
    element.know(latest_, b_.read({scores_.registers, {at.value}}));
    b_.assign({weights_, {at.value % of_step, at.value / of_step}},
              element.value(node_of(weight), program_.tile(weight).element));
  });
}

// Each lane has what it added up itself.
void ProductExpander::end_sums() {
  for (size_t i = 0; i < sums_.size(); ++i) {
    declared_.from(where(parts_.sums[i]->out), "the lanes that share a row");
    each_row(b_, scores_.rows, [&](Term row) {
      const auto chain = [&](int which) { return b_.read({sums_[i], {row, number(which)}}); };
      Term all = chain(0) + chain(1) + (chain(2) + chain(3));
      for (const int mask : row_lanes_) all = all + b_.shuffle(declared_.fresh("other"), all, mask);
      b_.assign({sums_[i], {row, number(0)}},
                is_rescaled(parts_.sums[i]->out) ? unless_empty(all, row) : all);
    });
  }
}

// exp(-inf - -inf) is NaN where a row's scores are all -inf; on the way it was 0.
Term ProductExpander::unless_empty(Term sum, Term row) {
  const Term empty = b_.read({maximum_, {row}}) == real(-infinity) &&
                     number(0) < b_.size(axis(tile::column_axis).extent);
  return b_.select(empty, real(std::numeric_limits<double>::quiet_NaN()), sum);
}

}  // namespace lay::ir
