// What `lay tune` found, and the two forms in which it is kept: policies for all products of a
// class, and schedules beside one script.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "frontend/sema/kernel/tuned_rows.h"

namespace lay::bench {

struct Finding {
  std::string kernel;
  sema::Schedule schedule;  // the fastest
  std::string
      condition;  // the class of its sizes over the kernel's dims; "" where no extent is a size
  std::string comment;  // "NVIDIA H200, 2026-11-22, tt M=4096 N=4096 K=4096: 191.6 us, the default
                        // 196.5 us"
  sema::TunedClass of;  // with the sizes, which policies are for
  std::array<std::int64_t, 4> extents{};  // M, N, K and L
  bool any_pitch = false;                 // single elements are accessed, or operands copied first

  bool has_class = false;  // else it can be kept beside the script alone
};

// The text of `NAME.tuned.lay` (runtime/commands/tuned.h) with these findings and, of what the file
// held before, the schedules of other kernels and classes.
std::string schedules_text(const std::vector<Finding>& findings, const std::string& before);

// The text of a file of policies, formatted, with these findings of one family and what the file
// held before: a row of the same class is replaced, all else stays. DiagnosticError where what it
// held does not parse; `path` is for messages.
std::string policies_text(const std::vector<Finding>& findings, const std::string& path,
                          const std::string& before);

// The name of a finding's row: "h200_bf16_bf16_f32_bf16_kkn_4096_4096_4096_1".
std::string row_name(const Finding& finding);

}  // namespace lay::bench
