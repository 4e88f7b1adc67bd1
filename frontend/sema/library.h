// Records of the standard library for who has no script: the planner asks for an instruction by
// name, and for the schedules that kernels get that have none.
//
//   library_atom("atoms.sm90", "wgmma", {{"n", 256}, {"ab", ElementType::bf16}, {"acc",
//   ElementType::f32}}) library_policies("sm90", {ElementType::bf16, ElementType::bf16,
//   ElementType::f32})
//
// Each library is evaluated once, each answer kept. May be called from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/sema/coefficients.h"
#include "frontend/sema/kernel/kernel.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {

using LibraryArgument =
    std::pair<std::string, std::variant<std::int64_t, ElementType, std::string>>;

// The record `name` of a library with these parameters as an atom. Refusal "not-an-atom" if there
// is no such instruction, "atom-cover" if the record is wrong, and what else its evaluation
// refuses.
Atom library_atom(const std::string& library, const std::string& name,
                  const std::vector<LibraryArgument>& arguments);

// As a copy: refusals of copy_of (copy_instruction.h), and what its evaluation refuses.
CopyInstruction library_copy(const std::string& library, const std::string& name,
                             const std::vector<LibraryArgument>& arguments);

// The copies that the files of stdlib/atoms list as `copy_instructions`, those of the oldest
// machines first.
const std::vector<CopyInstruction>& library_copies();

// Those that a machine has, from one space to another, in the same order.
std::vector<CopyInstruction> library_copies(CopySpace from, CopySpace to, int capability);

// The copies of a box of `bytes` bytes of a tensor of that many modes, to one block or to `blocks`
// of a cluster: what the files of stdlib/atoms give for box_instructions(modes, bytes, blocks),
// without those that there are not; in the same order. bytes, blocks and modes are at least 1.
std::vector<CopyInstruction> library_box_copies(int modes, int bytes, int blocks);

// The copy of those lists that this one is, by the name of another file that uses its file; else
// the copy itself.
CopyInstruction as_listed(CopyInstruction copy);

// The record `name` of a library with these parameters. Refusal "not-an-atom" where it is none, and
// what else its evaluation refuses.
RecordPtr library_record(const std::string& library, const std::string& name,
                         const std::vector<LibraryArgument>& arguments);

// Adds a library under this name from now on, in place of the one before: a file of the user's,
// read from `path`, which messages name. Its refusals are known when it is asked.
void add_library(const std::string& name, const std::string& path, const std::string& text);

// Returns true if there is such a library: one that was added, or an embedded one.
bool has_library(const std::string& name);
// Where its text stands: the path of one that was added, "stdlib/policies/sm90.lay" of an embedded
// one.
std::string library_path(const std::string& name);

// The records that a library lists under a name: `let gpus = (h200, h100)` of targets.sm90.
std::vector<RecordPtr> library_records(const std::string& library, const std::string& list);

// The kernel of that name of a library; without type parameters. std::logic_error where it has
// none: libraries whose kernels are asked for are the project's own.
KernelPtr library_kernel(const std::string& library, const std::string& name);

// A row of stdlib/policies/<target>.lay: a schedule by name, for the sizes for which its condition
// holds. Conditions are over the library's dims M, N, K, L and SMs, which are
// `ProblemSize`.
struct Policy {
  std::string name;
  Predicate when;
  // Where it is taken once factors have been copied that cannot be read as they lie.
  Predicate copies = Predicate(false);
  // Also where outputs have to be stored element by element.
  bool elements = true;
  // Tile, mma, groups, ...
  std::vector<ScheduleEntry> entries;
};

// The sizes that conditions and costs are about: an output of m x n elements and `batches` of them,
// sums over k, the SMs of the GPU.
struct ProblemSize {
  Int m, n, k, batches;
  int sms = 0;
};
Predicate under(const Predicate& condition, const ProblemSize& given);
Int under(const Int& number, const ProblemSize& given);

// A sum of products of these types, an epilogue of so much arithmetic an element
// (`plan::arithmetic_outside`), whether a mask skips products, the bits of the widest output's
// elements, which factors run along k, whether the epilogue reads inputs of two modes or more,
// whether the sum is added up in parts beside the tensor cores' own, whether there are batches, be
// it one, whether parts of the sum are multiplied by scales, from multiples of which number on
// as many columns have the same scales (0: all have), whether the rows lie in segments; of the GPU
// the compute capability, ten times as it is written, and the coefficients of costs, none for those
// that were fitted on an H200; and how many products share A in one launch, which only libraries of
// several are told.
struct ProductKind {
  ElementType a, b, accumulator;
  int arithmetic = 0;
  bool masked = false;
  int stored = 16;
  bool a_along_k = true, b_along_k = true;
  bool inputs = false;
  bool in_parts = false;
  bool batched = false;
  bool scaled = false;
  int columns_alike = 0;
  bool segments = false;
  int capability = 90;
  Coefficients costs = {};
  int products = 1;
};

// The rows for such products in the library's order, without those whose conditions hold for no
// sizes; none where it has none for them, or nothing for the target.
std::vector<Policy> library_policies(const std::string& target, const ProductKind& kind);

// A schedule of stdlib/policies/<target>_space.lay, which has more of them than a plan for any
// sizes can hold.
struct SpaceRow {
  std::int64_t cost = 0;  // at the sizes that it was asked for
  Tuple tile;
  std::int64_t how = 0;  // consumers share the tile, as the library numbers it
};

// The schedules for such products at these sizes, which are literal, by rising cost, of equal ones
// in the library's order; none where the target has no space, or one of the costs does not fit 64
// bits.
std::vector<SpaceRow> library_space(const std::string& target, const ProductKind& kind,
                                    const ProblemSize& sizes);

// The row of one of them, for any sizes; nothing where its conditions hold for none.
std::optional<Policy> space_policy(const std::string& target, const ProductKind& kind,
                                   const SpaceRow& row);

// Returns the widths of 128 bytes along K that a K tile of m x n has in the space for Hopper's
// tensor cores, `how` its consumers share it (SpaceRow).
std::int64_t space_widths(std::int64_t m, std::int64_t n, std::int64_t how);

// What schedules of a space cost, as expressions over the coefficients: the policies' own text,
// evaluated with a dim for each coefficient that is an integer. Whoever fits coefficients asks once
// for a schedule and a problem, and evaluates as often as the fit needs; so the costs stand in Lay
// alone.
class CostTerms {
 public:
  // `coefficients` are the names, and the numbers of those that are tuples. Throws std::logic_error
  // where the target has no space.
  CostTerms(const std::string& target, const Coefficients& coefficients);
  ~CostTerms();

  // Returns the clocks of a launch, in hundredths, without what a drawn schedule is priced higher
  // (SpaceRow). `kind.costs` does not count.
  Int of(const ProductKind& kind, const SpaceRow& schedule, const ProblemSize& sizes);

  // Returns the dims of such an expression, and which of the coefficients each stands for.
  static std::vector<std::pair<DimId, std::size_t>> coefficients_in(
      const Int& cost, const Coefficients& coefficients);

 private:
  struct Asked;
  std::unique_ptr<Asked> asked_;
};

}  // namespace lay::sema
