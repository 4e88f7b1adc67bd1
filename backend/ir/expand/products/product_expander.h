// Chained products on Hopper's tensor cores. A persistent grid; a block takes one tile of rows of
// one batch after another.
//
//   the producer, one thread:    for every tile: the rows of Q; for every column tile that counts:
//                                K and V, each when its stage has been read
//   a consumer, a warpgroup:     64 of the rows. It issues the scores of a column tile before the
//                                product of the weights of the one before, and makes its own
//                                weights of them while the tensor cores work at that:
//
//     wgmma S = Q * K[t]          wgmma O += P * V[t-1]
//     x = element function of S;  m = max(m, x);  S = exp(x - m);  l = l * exp(..) + sum of S
//     O = O * exp(m before - m);  P = S in 16 bits
//
// The accumulators S are the operand P value by value (plan/tiles/chained_variants.h proves it), so
// weights never leave registers. A row is held by the lanes of a quad, which join what they have of
// it by shuffles.
//
// Where a mask says that weights are 0, column tiles that it masks entirely are skipped, and column
// tiles that it masks nowhere run without it. Elements outside of the tensors arrive as zeros.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "backend/ir/expand/synchronisation.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/mask.h"
#include "backend/tile/chained_products.h"

namespace lay::ir {

class ProductExpander {
 public:
  ProductExpander(Declared& declared, const tile::Program& program);
  void run();

  // Where the values of an accumulator lie: digits of a value's number, and what each adds to the
  // number, the row and the column.
  struct Digit {
    int extent = 1, value = 0, row = 0, column = 0;
  };
  // A value's place: its number, its row and column from the thread's first, and their numbers
  // among the rows and columns of the thread.
  struct Place {
    Term value, row, column, row_number, column_number;
  };
  // Sums and maxima of a row go on in so many chains.
  static constexpr int chains = 4;
  // Threads of a consumer, and its rows.
  static constexpr int warpgroup = 128, rows_of_atom = 64;

 private:
  // A tensor on its way to shared memory, and the barriers and rings of its stages.
  struct Operand {
    const tile::Tile* tile = nullptr;
    sema::NodeId load = -1;
    sema::IndexId outer = -1, summed = -1;
    std::array<int, 2> extent{};  // of a tile along (outer, summed)
    BufferId global, stages;
    int map = -1;
    Synchronisation::Stages sync;
  };
  // A tile of rows of one batch, and the column tiles that count.
  struct Tile {
    Term m_first, first, end;
    std::vector<Term> batch;
  };
  struct Accumulators {
    BufferId registers;
    std::vector<Digit> digits;  // those that move the row first
    std::array<Layout, 2> of_thread;
    int rows = 1;  // of a thread
  };

  Operand operand(tile::TileId id, tile::AxisId outer, tile::AxisId summed);
  Accumulators accumulators(const tile::Mma& mma, const char* name);
  const tile::Axis& axis(tile::AxisId id) const { return program_.axis(id); }
  sema::IndexId index_of(tile::AxisId id) const { return axis(id).indices.front(); }
  const sema::Kernel& kernel() const { return declared_.kernel; }
  sema::NodeId node_of(tile::TileId id) const { return program_.tile(id).value; }
  const Span& where(tile::TileId id) const { return kernel().node(node_of(id)).where; }
  Term number(std::int64_t value) { return b_.constant(value); }
  Term real(double value) { return b_.constant(value, ElementType::f32); }

  void prologue();
  void each_tile(const std::function<void(const Tile&)>& body);
  void bind_batch(ElementLowering& element, const Tile& tile);

  // The columns that count, and whether a column tile has some that do not (expand_mask.cpp).
  void find_mask();
  void find_columns(Tile& tile);
  // The mask bounds the columns on one side, further out from row to row.
  bool leaves_triangle();
  Term counts_in_part(const Tile& tile, Term n_first);

  void producer();
  void load(const Operand& operand, const Tile& tile, Term outer, Term summed);

  // The weights (expand_weights.cpp).
  void consumer();
  void begin_tile();
  void release(const Operand& operand);
  void find_scale();
  void wait_for_turn();
  void pass_turn();
  void multiply_scores();
  void multiply_result();
  void weigh(const Tile& tile, Term n_first);
  void map_scores(const Tile& tile, Term n_first, const tile::Map& map, const Term* partly);
  void leave_out_columns(Term n_first, Term partly);
  void move_maximum();
  bool is_rescaled(tile::TileId sum) const;
  void add_up();
  void rescale_result();
  void round_weights();
  void end_sums();
  Term unless_empty(Term sum, Term row);
  void bind(ElementLowering& element, const Tile& tile, const Place& at, Term n_first);

  // The outputs (expand_outputs.cpp).
  void outputs(const Tile& tile);
  void store(const Tile& tile, const tile::Copy& copy);
  ElementLowering finished(const Tile& tile, const Place& at, bool along_result);

  Declared& declared_;
  Builder& b_;
  const tile::Program& program_;
  const tile::Warpgroups& groups_;
  tile::ChainedProducts parts_;
  Synchronisation sync_;
  Facts facts_;
  Operand q_, k_, v_;
  Accumulators scores_, result_;
  BufferId weights_;  // the operand of the second product: (value, step)
  // By row: the maximum, what is added for it before the exponential, and exp(before - after).
  BufferId maximum_, subtracted_, moved_;
  // (row, chain): maxima and sums of every `chains`-th column, so that few wait for another. They
  // cover all column tiles, and only this thread's columns until the end.
  BufferId chains_;
  std::vector<BufferId> sums_;
  std::vector<int> row_lanes_;      // lane masks of the lanes that share a row
  std::optional<plan::Mask> mask_;  // where weights are not 0
  sema::NodeId masked_ = -1,
               unmasked_ = -1;  // a selection by the mask, and the value that it takes
  sema::NodeId latest_ = -1;    // the node whose values the scores' registers have now
  // Scores that a positive number multiplies before they are joined are joined without it: the
  // exponential takes it on the way. -1: there is none.
  sema::NodeId scale_node_ = -1;
  Term scale_;
  Synchronisation::Turn turn_;  // of each consumer: it may issue its products
  // What blocks take in turn: places of a batch and of all. A place is one tile, or as many as the
  // term says. Rounds of the blocks count each tile of a place.
  Term places_of_batch_, places_, rounds_;
  std::optional<Term> tiles_of_place_;
  Term consumer_, row_, column_;  // row_, column_: this thread's first in the tile
};

}  // namespace lay::ir
