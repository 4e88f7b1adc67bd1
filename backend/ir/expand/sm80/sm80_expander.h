// The bound program of a product on tensor cores of compute capability 8.0
// (plan/sm80/bind_sm80.h) in steps. One block computes one tile; copies run `stages - 1` K tiles
// ahead.
//
//   copy the first K tiles: global -> shared, a group each
//   read the fragments of the first step
//   for every K tile t:
//     copy K tile t + stages - 1 into the stage that was read last; single
//       elements, if they are few, into registers, and from there before K tile t + 1 is waited for
//     for every step of the atom along k:
//       read the next step's fragments (last step: wait for K tile t + 1, read its first step's)
//       multiply this step's fragments
//   with several slices of K: all others hand their sums to the first
//   epilogue: the value of every accumulator that the thread holds, stored
//
// Elements of another type than the atom's are converted between the read and the products.
//
// What a thread copies of an operand for itself, it reads in whole accesses, each of which it makes
// the fragments of several steps of.
//
// With a promotion interval the accumulators are added to totals after the steps of one, multiplied
// by the scales of the interval, which are read before the first of these steps: the time of the
// products hides their latency. Where these are few they are read two K tiles before, into
// registers of every other one. Each slice of K adds up totals of its own.
//
// Elements outside the tensors are read as zero, so that ragged M, N and K and K = 0 need no other
// path.
#pragma once

#include <functional>
#include <optional>

#include "backend/ir/expand/synchronisation.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/lower/scales/lower_scales.h"
#include "backend/plan/sm80/sm80_gemm.h"

namespace lay::ir {

class Sm80Expander {
 public:
  Sm80Expander(Declared& declared, const tile::Program& program);
  void run();

 private:
  // One operand: its buffers, and where this thread copies and reads.
  struct Operand {
    const plan::Sm80Operand* plan = nullptr;
    int axis = 0;      // 0 for A, 1 for B
    std::string name;  // "A" or "B"
    BufferId shared, fragment;
    BufferId staged;          // of one that is held: elements on their way
    BufferId stored;          // of an operand that is converted: the fragments before that; of a
                              // thread's own: what it has read of a K tile
    Term outer, k;            // of this thread's first access, inside the tile
    Term first;               // the tile's first outer index plus `outer`
    Term read_outer, read_k;  // where this lane reads: the row that it names, else its first value
  };

  void declare(Operand& operand, const plan::Sm80Operand& plan, int axis);
  void place(Operand& operand, Term tile);
  void wait_for_grids();
  void body(const std::vector<Term>& tile);
  // The access, and what it adds to the outer index and to k.
  using AccessBody = std::function<void(Term, Term, Term)>;
  void each_access(const Operand& operand, const AccessBody& body);
  // Its elements are in registers during the products of the K tile before.
  bool is_held(const Operand& operand) const { return holds_ahead_ && !operand.plan->async; }
  void load_tile(Term tile_k, Term stage);
  void load(const Operand& operand, Term k_first, Term stage);
  void store_tile(Term stage);
  void store(const Operand& operand, Term stage);
  void read_own(Term stage);
  void convert_own(const Operand& operand, Term step);
  void convert_own(Term step);
  void multiply_tile(Term tile, Term tiles, Term round);
  void arrived(const Span& where);
  void read_fragments(Term step, Term stage, Term buffer);
  void read(const Operand& operand, Term step, Term stage, Term buffer);
  void products(Term buffer);
  void place_first();
  // A promotion interval of K tile `tile`, of `tiles`, or one that several K tiles share.
  ScaleLowering::Place interval_at(Term tile, Term part);
  HeldScales scales_of(Term part, Term round);
  void begin_interval(Term tile, Term part);
  void end_interval(Term tile, Term tiles, Term part, Term round);
  void main_loop();
  void add_slices();
  void epilogue();
  void unrolled(const char* name, int count, const std::function<void(Term)>& body);
  Term number(std::int64_t value) { return b_.constant(value); }
  const Span& where_of(const Operand& operand) const;

  Declared& declared_;
  Builder& b_;
  const plan::Sm80Gemm gemm_;  // what the program says
  Operand a_, b_operand_;
  BufferId accumulators_, totals_;  // the same where the tensor cores add up all of K
  BufferId handed_;
  const int rounds_;  // K tiles whose scales are held at once
  ScaleLowering scales_;
  Synchronisation sync_;
  Synchronisation::Stages stages_;
  const bool holds_ahead_;  // what no asynchronous copy brings is on its way during products
  const std::optional<plan::KOrder> order_;  // of k, that a thread's own operand gives
  BarrierId all_;
  std::vector<Term> batch_;    // the batch indices of the tile
  Term slice_;                 // this warp's part of every K tile
  std::array<Term, 2> part_;   // this warp's part inside the tile
  std::array<Term, 2> tile_;   // the tile's first element
  std::array<Term, 2> first_;  // this thread's first accumulator, in the output
};

}  // namespace lay::ir
