// A schedule that `lay tune` found, and the two forms in which it is saved: policies for all GEMMs
// of a class, and schedules beside one script.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "frontend/sema/kernel/tuned_rows.h"
#include "runtime/bench/tune/shape_class.h"

namespace lay::bench {

struct Finding {
  std::string kernel;
  // The fastest.
  sema::Schedule schedule;
  // For its sizes alone where it is slower than the default elsewhere in their class.
  Reach reach = Reach::of_class;
  // What it is for, over the kernel's dims; "" if no extent is a size.
  std::string condition;
  // "NVIDIA H200, 2026-11-22, tt M=4096 N=4096 K=4096: 191.6 us, the default 196.5 us"
  std::string comment;
  // Types, operand orders and GPU. With the sizes they are what a policy is for; without a class
  // the schedule can only be saved beside the script.
  bool has_class = false;
  sema::TunedClass of;
  // M, N, K and the number of batches.
  std::array<std::int64_t, 4> extents{};
  // The schedule needs no alignment of rows: it accesses single elements or repacks operands first.
  bool any_pitch = false;
};

// Returns the text of `NAME.tuned.lay` (runtime/commands/tuned.h): these findings, and the
// schedules that the file held before for other kernels and classes.
std::string schedules_text(const std::vector<Finding>& findings, const std::string& before);

// Returns the text of a file of policies, formatted: these findings, which must be of one family,
// and what the file held before. A row of the same class is replaced; all else stays. Throws
// DiagnosticError if the old text does not parse; `path` is for the message.
std::string policies_text(const std::vector<Finding>& findings, const std::string& path,
                          const std::string& before);

// Returns the name of a finding's row: "h200_bf16_bf16_f32_bf16_kkn_4096_4096_4096_1", the powers
// of two of its class or its own extents.
std::string row_name(const Finding& finding);

}  // namespace lay::bench
