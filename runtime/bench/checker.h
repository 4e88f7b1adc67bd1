// Checks the results of a launch on several kinds of numbers:
//
//   integers    every sum is exact: all elements must have the bits of the scalar kernel (one
//               thread an element), which is itself compared with the host
//   uniform     elements are compared with f64 on the host, within a rounding bound (reference.h)
//
// Outputs hold NaN before a launch and lie between guard zones. A launch that writes outside its
// outputs, or changes an input, is wrong.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/reference.h"

namespace lay::bench {

// The verdict on a launch, in words, with its outputs.
struct CheckResult {
  bool right = true;
  std::string text;
  // The outputs for the uniform numbers.
  HostData result;
};

// Returns the inputs that are measured on: uniform numbers, the same every time.
HostData uniform_numbers(const Problem& problem);

class Checker {
 public:
  // Enqueues one launch on the operands of a set. Throws NotMeasured if it cannot.
  using Launch = std::function<void(int set, runtime::StreamHandle)>;

  // Builds the scalar kernel and its results. All checks use set 0 of the operands.
  Checker(runtime::Gpu& gpu, const Sources& sources, const plan::Plan& plan, const Problem& problem,
          OperandSets& sets);

  const HostData& uniform() const { return uniform_; }

  // Checks a kernel of ours, on integers and on uniform numbers. `promotion_interval` is how many
  // K elements tensor cores add up by themselves (0: all of K). Throws NotMeasured if a launch
  // fails.
  CheckResult check_ours(const Launch& launch, int promotion_interval);
  // Checks a kernel that Triton compiled. On integers its epilogue may round where ours does not.
  CheckResult check_triton(const Launch& launch);
  // Checks a library's kernel on uniform numbers alone. `rounds_between` says that the library
  // stores the product, rounded, before the epilogue.
  CheckResult check_baseline(const Launch& launch, bool rounds_between);
  // Checks outputs that were computed elsewhere from the uniform numbers, with a further relative
  // error of intermediate roundings.
  CheckResult check_outputs(const HostData& outputs, double extra_roundoff) const;
  // Checks that a further launch on the uniform numbers gives the same bits as `expected`.
  CheckResult check_repeat(const Launch& launch, const HostData& expected);

 private:
  // Inputs with the outputs that the scalar kernel computes from them.
  struct Case {
    std::string name;
    HostData before;
    // Empty if the scalar kernel is too slow for the problem.
    HostData expected;
    // The scalar kernel compared with the host.
    CheckResult scalar;
  };
  struct Ran {
    HostData outputs;
    // "writes its input A, at offset 5": the first input that changed, or empty.
    std::string written;
  };
  void add_case(std::string name, Numbers a, Numbers b);
  CheckResult check_all(const Launch& launch, int promotion_interval, bool same_bits);
  Ran run_on(const Launch& launch, const HostData& before) const;
  std::string written_input(const HostData& before) const;
  std::string difference(const HostData& expected, const HostData& got) const;

  const Problem& problem_;
  OperandSets& sets_;
  // The operands of a GEMM; -1 for any other kernel.
  sema::TensorId a_ = -1, b_ = -1;
  HostData uniform_;
  std::optional<CompiledKernel> scalar_;
  std::vector<Case> cases_;
};

}  // namespace lay::bench
