// The bound program of a product on Hopper's tensor cores (plan/sm90/bind_sm90.h) in steps. The
// grid is persistent; a cluster takes tile after tile.
//
// Products of one A with several B have accumulators each, and are issued together; the epilogue
// computes with the sums of all.
//
//   the producer warpgroup, one thread:     for every tile, for every K tile:
//     wait until the consumers of the cluster have read the stage
//     TMA: this block's parts of A and B, for all blocks that need them
//   a consumer, a warpgroup:               for every tile, for every K tile:
//     wait until the stage has arrived, wgmma, give the stage back
//     (an atom that reads A from registers: before each step of wgmma, shared -> registers)
//     epilogue, while the next tile is on its way: registers -> shared -> TMA or threads -> global,
//     or from registers; what it reads of the output's shape the other way, by TMA from before the
//     products on
//
// Ping-pong: each group of consumers takes its own tiles and walks past those of the others, whose
// K tiles its place in the ring moves on by. It begins its products when those of the tile before
// have been issued.
//
// Where blocks of the cluster share K each multiplies its own range of the K tiles. Then each block
// gives every other block the accumulators that the other block adds up, and stores those that it
// has added up itself (sm90_split.cpp).
//
// The tiles of a last wave may be cut into parts of K, which clusters take as they take tiles: each
// part's sums go to workspace, and the consumer that comes last adds up those of all
// (sm90_tail.cpp).
//
// Elements outside the tensors arrive as zeros, and TMA stores nothing there.
#pragma once

#include <functional>
#include <vector>

#include "backend/ir/expand/synchronisation.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/lower/lower_tiles.h"
#include "backend/ir/lower/scales/lower_scales.h"
#include "backend/ir/lower/split/part_sums.h"
#include "backend/ir/lower/views/lower_views.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::ir {

class Sm90Expander {
 public:
  Sm90Expander(Declared& declared, const tile::Program& program);
  void run();

 private:
  struct Operand {
    const plan::TmaOperand* plan = nullptr;
    int axis = 0;      // 0 for A, 1 for B
    std::string name;  // "A" or "B", of further products "B2", "B3", ...
    BufferId global, stages;
    int map = -1;
    std::optional<Digits> rows;  // with a view: those of the first row of this block's slice
  };
  // A tile of the block: the first element of its outer indices, the row behind its last one, its
  // batch, and the segment that its rows are of, where they lie in segments.
  struct Tile {
    std::array<Term, 2> first;
    Term end;
    std::vector<Term> batch;
    Term segment;
    Term k_first;              // K tile
    Term steps;                // K tiles: none where no product counts
    TileScheduler::Unit unit;  // where a last wave is cut into parts
  };

  void declare(Operand& operand, const plan::TmaOperand& plan, int axis, std::string name);
  BufferId declare_sums(const std::string& name);
  std::vector<Operand*> operands();
  void declare_store();
  void declare_staged();
  void prologue();
  void producer();
  Term first_of_slice(const Operand& operand);
  void load(Operand& operand, const Tile& tile, Term k, Digits* digits_of_k);
  void consumer();

  // The products (sm90_products.cpp).
  void multiply(const Tile& tile);
  void over(const char* name, int count, const std::function<void(Term)>& body);
  void rolled(const char* name, int count, const std::function<void(Term)>& body);
  void issue(BufferId sums, Term first, int steps, Term fresh);
  void multiply_step(BufferId sums, Term step, Term fresh);
  void read_step(BufferId registers, Term step);
  void load_fragment_step(Term step);
  void products(Term tile_k);
  void products_in_parts(const Tile& tile, Term tile_k);
  void products_in_turn(const Tile& tile);
  Term k_tile(const Tile& tile, Term tile_k);
  void wait_for_turn();
  void pass_turn();
  void release_stage();

  // Returns the condition that the mask leaves the cluster's tile a product (sm90_mask.cpp).
  Term has_products(const std::vector<Term>& tile);
  Term along_n_of_cluster(Term rank);
  void schedule_tiles(std::optional<Term> tile_rows);
  void each_tile(const std::function<void(const Tile&)>& body);
  void within_tile(const std::vector<Term>& at, const TileScheduler::Unit& unit,
                   const std::function<void(const Tile&)>& body);
  void with_rows(Tile& tile, const std::array<Term, 2>& at, const std::array<Term, 2>& block,
                 const std::function<void()>& body);
  Term entry(sema::TensorId table, Term segment);
  Term segment_of(Term row);
  Term batch_at(const Tile& tile, sema::IndexId index) const;
  std::vector<ExprId> coordinate(const plan::TmaOperand& plan, const Tile& tile, Term outer,
                                 Term k) const;

  // The epilogue (sm90_epilogue.cpp).
  void prepare_values();
  Term vector_coordinate(sema::NodeId coordinate, const Tile& tile, Term at);
  void read_vectors(const Tile& tile, const std::array<Term, 2>& repeat, Term base);
  Term value_at(const sema::Assignment& assignment, const Tile& tile, Term m, Term n,
                const std::vector<Term>& sums, const Term* v = nullptr);
  Term position(const Tile& tile, int axis, Term value, Term repeat) const;
  // An epilogue subtile of a consumer's accumulators: `width` columns of atom (i, j), after those
  // of `pass` whole ones.
  struct Pass {
    Term i, j, pass;
    int width;
  };
  Pass pass_of(Term number, int passes, int width) const;
  // A value of the pass, counted from its first: the sum of each product.
  using Source = std::function<std::vector<Term>(Term)>;
  // Of each product, where the tensor cores or promotion leave the sums.
  std::vector<BufferId> sums_of_products() const;
  std::vector<Term> sums_at(const std::vector<BufferId>& sums, const std::vector<ExprId>& at);
  bool much_text() const;
  bool in_halves(int passes) const;
  void epilogue(const Tile& tile);
  using PassBody = std::function<void(const Pass& at, const Pass& held, Term number)>;
  void each_pass(Term half, int halves, const PassBody& body);
  int passes_of_atom() const;

  // The epilogue as a rolled loop (sm90_rolled.cpp): how a loop over the groups of a pass
  // moves `values` of each to the same registers.
  struct Picks {
    int values = 0;
    std::function<void(Term group)> pick;
  };
  int picked_values(int width) const;
  int picked_values() const;
  void rolled_epilogue(const Tile& tile);
  void store_picked(const Tile& tile, int first_pass, int passes, int width, Term atom);
  void pick(Term number, int count, const std::function<void(int)>& one);

  // How outputs leave (sm90_store.cpp).
  // A tensor on its way through shared memory.
  struct Staged {
    const plan::StagedTensor* plan = nullptr;
    BufferId shared;    // (m,n,buffer,consumer)
    BufferId values;    // of a step
    BufferId together;  // of one access of a thread that holds accumulators, where it is no matrix
    BufferId run;       // by threads: of one access to memory, and for inputs of some
    int map = -1,
        rest_map = -1;  // by TMA: of a whole pass, and of an atom's last where that is narrower
    std::array<Term, 2> put;        // where this lane's row is, or its first value, in 64 rows
    std::array<Term, 2> first_run;  // by threads: this thread's first, in its consumer's 64 rows
    Term rotated;                   // true if it begins with later values
  };
  void declare_tensor(Staged& staged, const plan::StagedTensor& plan, const char* stem,
                      int buffers);
  int map_of(const plan::StagedTensor& plan, const std::string& name, int columns);
  void place_tensor(Staged& staged);
  void consumer_meets();
  void putters_meet();
  void by_one_lane(const std::function<void()>& body);
  void wait_for_stores(int in_flight);
  void store_through_shared(const Tile& tile, const Pass& at, Term buffer, const Source& source,
                            const Picks* picks = nullptr);
  void pack(const Tile& tile, const Pass& at, Term first, int values, const Source& source);
  void put(const Staged& staged, Term first, int values, Term buffer);
  void store_matrices_to_shared(const Staged& staged, Term first, int values, Term buffer);
  void store_values_to_shared(const Staged& staged, Term first, int values, Term buffer);
  std::vector<ExprId> place_of(const Staged& staged, Term first, Term v, int values, Term buffer);
  void store_tile(const Tile& tile, const Pass& at, Term buffer);
  void each_box_of_pass(const Staged& staged, const Tile& tile, const Pass& at,
                        const std::function<void(Term row, std::vector<ExprId> element)>& body);
  void store_boxes(const Staged& staged, const Tile& tile, const Pass& at, Term buffer);
  void store_runs(const Staged& staged, const Tile& tile, const Pass& at, Term buffer);
  // A run of an access: where in the consumer's 64 rows, at which row and column, and whether those
  // are the tile's.
  struct Run {
    std::array<Term, 2> at;
    Term m, n;
    Term inside;
  };
  Run run_at(const Staged& staged, const Tile& tile, const Pass& at, Term access);
  int mode_along(const plan::StagedTensor& plan) const;
  std::vector<ExprId> element_at(const std::vector<sema::IndexId>& indices, const Tile& tile,
                                 Term m, Term n) const;
  Term row_of_output(Term m);
  void store_from_registers(const Tile& tile, const Pass& at, int values, const Source& source);

  // Inputs that come through shared memory (sm90_inputs.cpp).
  struct Input : Staged {
    sema::NodeId load = -1;
    sema::NodeId condition = -1;  // of all elements: it is read where this is `when`
    bool when = true;
    Term wanted;   // that value, where there is a condition
    BufferId raw;  // values in the order of this lane's accesses, where some lanes turn theirs
  };
  void declare_inputs();
  void place_inputs();
  void if_wanted(const Input& input, const std::function<void()>& body,
                 const std::function<void()>& otherwise);
  Term arrived_slot(RingId ring);
  Term passes_left(Term number);
  Pass pass_with(Term number);
  void load_first_inputs(const Tile& tile);
  void load_next_inputs(const Tile& tile, const Pass& at);
  void load_inputs(const Tile& tile, Term number);
  void load_input_boxes(const Input& input, const Tile& tile, const Pass& at, int map);
  void load_input_runs(const Tile& tile, const Pass& at);
  void inputs_arrive(const Tile& tile, const Pass& at);
  void inputs_done();
  void read_inputs(Term first, int values);
  void read_inputs(const Input& input, Term first, int values);

  // K shared by blocks (sm90_split.cpp).
  void declare_split();
  Term rank_of(Term part) const;
  void exchange();
  void sum_up();
  void epilogue_of_sums(const Tile& tile);
  void wait_until_read();

  // The parts of a last wave (sm90_tail.cpp).
  void declare_tail();
  Term of_block(Term unit) const;
  Term in_tail(const Tile& tile, Term part) const;
  ExprId slot_of_consumer() const;
  void each_sum_vector(const std::function<void(Term, Ref)>& body);
  void leave_part(const Tile& tile);
  void add_parts(const Tile& tile);
  void finish_with_tail(const Tile& tile);

  Term number(std::int64_t value) { return b_.constant(value); }

  Declared& declared_;
  Builder& b_;
  const plan::Sm90Gemm gemm_;  // what the program says
  Operand a_, b_operand_;
  std::vector<Operand> further_operands_;  // the B of each further product
  Synchronisation sync_;
  // Of the loop over K, of inputs and outputs on their way through shared memory, and of sums where
  // blocks share K.
  Synchronisation::Stages stages_, input_stages_, output_stages_, exchange_;
  Synchronisation::Turn turn_;  // of consumer groups: whose products are issued
  BarrierId blocks_;
  RingId way_;  // its phase is the way through K, where that changes from tile to tile
  BufferId
      fragments_;  // a K tile of A: (value, atom, step), where the atom reads it from registers
  BufferId unconverted_;  // where these are converted: of the same places, as memory has them
  BufferId accumulators_, totals_;              // the same where the tensor cores add up all of K
  std::vector<BufferId> further_accumulators_;  // of each further product
  BufferId other_accumulators_;                 // those of odd K tiles, where two sets take turns
  ScaleLowering scales_;
  std::vector<Staged> outputs_;  // of each assignment, where they leave through shared memory
  std::vector<Input> inputs_;
  std::vector<BufferId> picked_;  // where the epilogue is rolled: the values of one round, of each
                                  // product
  // Where blocks share K.
  PartSums sums_;  // of all parts of K
  Term split_;     // this block's number among those that share K
  // Where a last wave is cut into parts: sums and numbers in workspace, and what a consumer knows
  // of how many parts have been counted before its own.
  struct Tail {
    BufferId sums, counts, before, piece;
    BarrierId counted;
  };
  Tail tail_;
  // The elements of a vector along m or n that the epilogue reads for the values of a step.
  struct Ahead {
    const plan::StagedVector* plan = nullptr;
    BufferId held;
  };
  std::vector<Ahead> ahead_;
  bool guarded_ = false;          // the epilogue reads other elements, which must lie inside
  std::vector<BufferId> values_;  // of one access, of each assignment
  std::array<Term, 2> part_;      // of this consumer, inside the tile
  std::array<Term, 2> held_;      // this thread's first element, inside the tile
  std::array<Term, 2>
      brings_;  // where this lane reads A for its registers, inside the tile: (m, k)
  Term consumer_, group_;
  std::optional<TileScheduler> scheduler_;
  Term tiles_, clusters_, tiles_k_;  // bound in the prologue: of the grid, of the launch, of a sum
};

}  // namespace lay::ir
