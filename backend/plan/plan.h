// A plan: how a checked kernel is executed. An ordered list of variants, each with the conditions
// under which it is right, and every choice of its schedule as a layout or a named number that `lay
// plan` prints back as Lay.
//
// The launcher takes the first variant whose conditions hold for the sizes and pointers at hand.
// Neighbours with a cost may be a portfolio: of those whose conditions hold it takes the one of
// least cost at these sizes, the first of equal ones (schedule/cost.h).
// One variant has no condition of its own, so that every launch that keeps the kernel's guards
// finds one; what stands behind it is of its portfolio. A variant adds in the same order each time,
// so that a launch gives the same bits again; variants may differ, where K is split over groups of
// warps or over blocks.
//
//   C[m,n] = alpha * sum[k](A[m,k] * B[n,k]) + beta * C[m,n]     with row-major A, B and C of f32
//   gives
//
//   simt_32x32, simt_128x256_ring, ...   where K % 4 == 0 and N % 4 == 0, and pointers are aligned
//   to
//                                        16 bytes: one portfolio
//   simt_64x64_any, ...                  for all sizes, element by element: another one
//
// and Y[i,j] = X[j,i] the variants bytes16, bytes8 and any of a permute kernel (plan_permute.h).
//
// A variant may need operands in another layout than the caller's: then it begins with a launch
// that copies them into workspace, memory of the launcher's that nobody else sees
// (operand_repack.h).
//
// A plan is for one GPU, to whose limits all of it is held and whose SMs its choices
// count (target.h).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/schedule/cost.h"
#include "backend/plan/schedule/tile_order.h"
#include "backend/tile/elementwise/each_element.h"
#include "backend/tile/program.h"
#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// The base address of a tensor is a multiple of `bytes`.
struct Alignment {
  sema::TensorId tensor;
  int bytes;
  friend bool operator==(const Alignment&, const Alignment&) = default;
};

// Shared-memory wavefronts of one access of one warp, and the least that an access of that width
// can take.
struct BankConflicts {
  std::string access;  // "write A", "read B"
  int wavefronts = 1, least = 1;
  const char* unit = "a warp";  // the unit that makes the one access
};

// The demands that one K tile of a GEMM makes on an SM's share of the machine. Clocks are those of
// an SM.
struct TileWork {
  double bytes = 0;           // that a block loads through L2; what others load for it not counted
  double cache_clocks = 0;    // in which its share of the cache delivers them
  double product_clocks = 0;  // in which the products are done at the machine's rate
};

// The numbers that are known before sizes are; forecast.h has the rest.
struct Prediction {
  int registers = 0;  // a thread
  int shared_bytes = 0;
  int blocks = 0;  // that an SM has room for at once, by registers, shared memory and threads
  std::vector<BankConflicts> conflicts;
  std::optional<TileWork> tile;
  Int cache_bytes;   // moved through L2: what blocks of a cluster load together
                     // counts once
  Int global_bytes;  // moved to and from global memory at the least: everything once
  Int flops;
};

// A tensor in workspace, by its name in the kernels that write and read it.
struct WorkspaceTensor {
  std::string name;
  Int offset;  // bytes from the start of the workspace, whole workspace_alignment
};
inline constexpr int workspace_alignment = 128;  // bytes, of the workspace too

// The widths of accesses to global memory; `vectors` (the widest) come at the price of conditions.
enum class Width { vectors, elements };

struct Plan;

struct Variant {
  std::string name;             // unique in the plan; part of the emitted kernel's name
  std::vector<Predicate> when;  // over the dims
  std::vector<Alignment> aligned;
  std::optional<Cost> cost;  // none: the variant stands in no portfolio
  // What its launch runs, most often one program. Several are elementwise and stand side by side:
  // with as many threads as the others each takes its share of the blocks, and makes the
  // assignments of its own kernel, which has the nodes and tensors of the variant's.
  std::vector<tile::Program> programs;
  // The programs copy operands of the launch behind it (operand_repack.h): program i makes
  // assignment i of the kernel.
  bool copies = false;
  Width accesses = Width::vectors;
  int access_bytes = 0;  // of a permute kernel: of its widest access to global memory; 0: of an
                         // element
  // Launches that come first, in order: of each plan the first variant that takes the sizes
  // (launches/launch_sequence.h). One of them takes them wherever this one does.
  std::vector<std::shared_ptr<const Plan>> before;
  sema::KernelPtr kernel;  // the kernel executed then: the plan's kernel, some of its tensors in
                           // workspace; else null
  // The kernel whose operands a GEMM's schedule names, where it is not the plan's: its indices are
  // joined, factors stand after its sum, or launches before have computed what it reads. Else null.
  sema::KernelPtr rewritten = nullptr;
  Int workspace = Int(0);                          // bytes that all its launches share
  std::vector<WorkspaceTensor> workspace_tensors;  // in workspace
  Prediction prediction;                           // of its own launch, which is the last
  std::vector<std::string> notes;  // why it is so: choices a reader may want to argue with
  Span schedule;                   // the user's schedule that it follows, if any
  bool of_library = false;         // a row of the library, whole or under a schedule of the user's
  bool stores_operands = false;    // by launches before, where others read them in place (views)
  bool is_stage = false;  // one of several launches (tiles/stages.h), which no schedule describes
};

// Why a kernel or one of its schedules cannot be planned: a mistake of the user's, or what is not
// supported yet.
struct Problem {
  std::string code;  // "unsupported", "schedule-cover", ...
  std::string message;
  Span where;
  std::vector<std::pair<Span, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> notes;    // (kind, text): "at", "works", "help"
  std::vector<std::pair<std::string, std::string>> witness;  // (name, JSON text)
};

struct Plan {
  sema::KernelPtr kernel;
  std::vector<Variant> variants;
  std::vector<Problem> problems;        // when there are any, the plan must not be run
  std::vector<std::string> notes = {};  // schedules of the script that it passes over, and why
};

// Returns true if the launch computes with one thread an element
// (tile/elementwise/each_element.h), as kernels do that no schedule describes: each output's
// element is one thread's, with all loads and sums that it needs, of which others may compute the
// same.
inline bool runs_each_element(const Variant& variant) {
  return !variant.programs.empty() && tile::is_of_each_element(variant.programs.front());
}

// The program that a schedule of the variant describes, which its launch runs alone; null where it
// copies operands, or runs one thread an element.
inline const tile::Program* scheduled_program(const Variant& variant) {
  const bool is_scheduled = !variant.copies && !runs_each_element(variant);
  return is_scheduled && variant.programs.size() == 1 ? &variant.programs.front() : nullptr;
}

// The same where it is an elementwise program.
inline const tile::Program* elementwise(const Variant& variant) {
  const tile::Program* program = scheduled_program(variant);
  return program && program->is_elementwise() ? program : nullptr;
}

// The kernel that the variant itself executes.
inline const sema::Kernel& executed(const Plan& plan, const Variant& variant) {
  return variant.kernel ? *variant.kernel : *plan.kernel;
}

// The kernel whose operands the variant's schedule names.
inline const sema::Kernel& scheduled(const Plan& plan, const Variant& variant) {
  return variant.rewritten ? *variant.rewritten : *plan.kernel;
}

}  // namespace lay::plan
