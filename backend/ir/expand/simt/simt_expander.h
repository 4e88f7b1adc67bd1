// The bound program of a product on CUDA cores (plan/simt/bind_simt.h) in steps. One block computes
// one tile:
//
//   copy the first K tile: global -> registers -> shared
//   for every K tile t:
//     the next K tile: global -> registers              in flight during the products
//     for every k: shared -> fragments, outer product   into the accumulators
//     the next K tile: registers -> shared              into the other stage
//     barrier
//   where slices share K: slice after slice hands its sums to the first through shared memory
//   epilogue: the value of every element that the thread holds, stored
//
// With a ring of stages the K tiles come from a role of their own, and there is no barrier of the
// block:
//
//   the producer warpgroup:    for every K tile:
//     global -> registers, what is transposed or converted
//     wait until all warps have read the stage; TMA, registers -> shared
//   the other threads:         for every K tile:
//     wait until the stage has arrived; the products; each warp gives the stage back
//
// With several parts of K a cluster computes a tile, each block the products of its K tiles, and
// then gives the others what they add up and store (simt_parts.cpp).
//
// Elements outside the tensors are read as zero, so that ragged M, N and K and K = 0 need no other
// path.
#pragma once

#include "backend/ir/expand/synchronisation.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/lower/source_operand.h"
#include "backend/ir/lower/split/part_sums.h"
#include "backend/plan/simt/simt_gemm.h"

namespace lay::ir {

class SimtExpander {
 public:
  SimtExpander(Declared& declared, const tile::Program& program);
  void run();

 private:
  // One operand: its buffers and where this thread copies and reads.
  struct Operand {
    const plan::OperandCopy* copy = nullptr;
    int axis = 0;          // 0 for A, 1 for B
    std::string name;      // "A" or "B"
    int map = -1;          // of TMA
    int store_vector = 1;  // elements of an access from registers to shared memory
    BufferId global, staged, shared, fragment;
    Term outer, k;        // of this thread's first access, inside the tile
    Term first;           // the tile's first outer index plus `outer`
    Term fragment_first;  // this thread's first element, inside the tile
  };

  void declare(Operand& operand, const plan::OperandCopy& copy, int axis);
  void place(Operand& operand);
  void place_copy(Term tile, Operand& operand, Term thread);
  void body(const std::vector<Term>& tile);
  // For every access of this thread to the tile: its number, and how far it lies from the first
  // along outer and k.
  void each_access(const Operand& operand, const std::function<void(Term, Term, Term)>& body);
  void load(Operand& operand, Term k_first);
  void store(Operand& operand, Term stage);
  void stage_element(Operand& operand, Term access, Term element, const Ref& to);
  void read_fragment(Operand& operand, Term k, Term stage);
  void products(Term stage);
  void main_loop();

  // The ring (simt_ring.cpp).
  using WithTile = std::function<void(const std::function<void(const std::vector<Term>&)>&)>;
  void declare_ring();
  void run_ring(const WithTile& with_its_tile);
  void copy_ahead(const std::vector<Term>& tile);
  void copy_boxes(const std::vector<Term>& tile, Term k_first);
  void empty_ring();
  void tell(BarrierId barrier, RingId ring);
  void add_slices();

  // K shared by the blocks of a cluster (simt_parts.cpp).
  void declare_parts();
  void meet_blocks();
  void send_parts();
  void add_parts();
  int sent_at_once() const;
  Ref accumulator(Term unit, Term value) const;

  // The K tiles of this block: its first one, and the one behind its last one.
  std::array<Term, 2> k_tiles();
  void epilogue();
  void store_sums();
  // Whether this block stores what is at `i` along the axis that is shared out. Nothing where every
  // block does: else the last blocks of a cluster have fewer than the others, or none.
  std::optional<Term> is_stored(Term i) const;
  Term to_store(const std::array<Term, 2>& at, Term shared) const;
  void store_vectors(const plan::OutputStore& store);
  void read_old(ElementLowering& element, const SourceOperand& value, const Ref& output,
                BufferId before, const plan::OutputStore& store);
  void store_elements();
  void store_values(ElementLowering& element);
  void passes(size_t axis, int most, const std::function<void(Term, int)>& body);
  void bind(ElementLowering& element, Term m, Term n, Term accumulator);
  Term extent(sema::IndexId index) const { return declared_.extent(index); }
  Ref operand_at(const Operand& operand, Term outer, Term k) const;
  // This thread's element i along an axis, inside the tile and in the output.
  Term inside(int axis, Term i);
  Term position(int axis, Term i);
  Term number(std::int64_t value) { return b_.constant(value); }

  Declared& declared_;
  Builder& b_;
  const plan::SimtGemm gemm_;  // what the program says
  Operand a_operand_, b_operand_;
  BufferId accumulators_;
  BufferId
      handed_;  // (i, j, thread of a slice): the accumulators of one slice, where there are several
  Term slice_;  // this thread's
  PartSums sums_;      // of all parts
  Term part_;          // this block's, of K
  Term first_stored_;  // the first of its accumulators that this block stores
  Synchronisation sync_;
  BarrierId all_, blocks_, given_;
  Synchronisation::Stages stages_;    // of a ring
  std::array<int, 2> held_{};         // accumulators of a thread along m and n
  std::array<int, 2> stored_{};       // those that it stores, from the first ones on
  std::vector<Term> batch_;           // the batch indices of the tile
  std::array<Term, 2> output_first_;  // this thread's first element in the output
};

}  // namespace lay::ir
