// Times of schedules of products, and what the library's costs say of them. A schedule is one of
// the library's space (frontend/sema/library.h: SpaceRow), so that a row of the policies, a
// schedule that was drawn and a line of a file are the same thing.
//
//   const ProductKernels kernels;
//   const auto problems = read_times(text, kernels);             tests/plan/tiles.txt
//   const auto costed = costed_problems(problems, kernels, 132, target.costs);
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/library.h"
#include "frontend/source/source.h"

namespace lay::bench {

struct TimedSchedule {
  sema::SpaceRow schedule;  // without its cost
  double seconds = 0;       // of a launch
};

// The schedules that were timed on one problem.
struct TimedProblem {
  std::string kernel;  // of ProductKernels
  std::int64_t m = 0, n = 0, k = 0, batches = 1;
  std::vector<TimedSchedule> schedules;
};

// The kernels that schedules are timed for, by name: "tt", a product of bf16 both of whose factors
// run along K, "to_f32", "activated", "sgemm_nt", ...
class ProductKernels {
 public:
  ProductKernels();

  const Sources& sources() const { return sources_; }
  // Null where there is none of that name.
  sema::KernelPtr find(const std::string& name) const;
  // "sm90" for tensor cores, "simt" for CUDA cores.
  static std::string family_of(const std::string& name);
  // What the library's policies ask of the kernel, but for the coefficients.
  sema::ProductKind kind_of(const std::string& name) const;

 private:
  Sources sources_;
  sema::Evaluator evaluator_;
};

// Returns the schedule of the space that a variant of the library has; nothing of a variant whose
// cost says nothing of its time: without a cost, behind other launches, with sums in parts, with
// factors through registers.
std::optional<sema::SpaceRow> schedule_of(const plan::Variant& variant,
                                          const ProductKernels& kernels);

// A schedule in a word: "128x96.2x1p" (the tile, the cluster, ping-pong), "48x64.1x1x2s" (parts of
// K, the tile's M is the instruction's columns), "128x48w1.1x2" (a K tile of one width of 128
// bytes, where the space has two); on CUDA cores "64x128x16.2x2x1.4.2" (the tile; the
// warps along M and N, the slices; stages; parts of K).
std::string schedule_word(const sema::SpaceRow& schedule, const std::string& family);

// Reads lines "KERNEL M N K [BATCHES] TIME: SCHEDULE MICROSECONDS, SCHEDULE MICROSECONDS"; a line
// of another form is prose. TIME is what another library takes and does not count; what stands
// behind a slash in KERNEL says how problems were drawn, "sgemm_nt/elements" accesses element by
// element. Throws DiagnosticError "file" for a kernel or a schedule that is not known.
std::vector<TimedProblem> read_times(const std::string& text, const ProductKernels& kernels);

// Returns such lines.
std::string times_text(const std::vector<TimedProblem>& problems);

// A schedule's cost on its problem as an expression over the coefficients, and the time.
struct CostedSchedule {
  Int cost;
  // The dims of the expression, and which coefficients they are.
  std::vector<std::pair<DimId, std::size_t>> dims;
  double seconds = 0;
};
struct CostedProblem {
  bool on_cuda_cores = false;
  std::vector<CostedSchedule> schedules;
};

// Asks the policies for the costs, on a GPU of so many SMs. Integers of `coefficients` do not
// count, tuples do.
std::vector<CostedProblem> costed_problems(const std::vector<TimedProblem>& problems,
                                           const ProductKernels& kernels, int sms,
                                           const sema::Coefficients& coefficients);

}  // namespace lay::bench
