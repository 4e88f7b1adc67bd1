// Schedules that were found by measuring, as policies: files tuned_<target>.lay, which `lay tune`
// writes.
//
//   record h200_bf16_bf16_f32_bf16_kkn_4096_4096_4096_1 {
//     gpu = "h200", a = bf16, b = bf16, acc = f32, c = bf16, along = "kkn", masked = false,
//     any_pitch = false condition = M >= 3072 and M < 6144 and ...          over M, N, K and L, as
//     those of policies tile = (128,256,64), mma = ...                       and whatever a
//     schedule says
//   }
//   let rows = (h200_bf16_bf16_f32_bf16_kkn_4096_4096_4096_1,)
//
// A file of the user's (add_library, "user.tuned_sm90") stands before the library's own
// ("policies.tuned_sm90").
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/library.h"

namespace lay::sema {

// Which products a row is for, besides their sizes.
struct TunedClass {
  std::string gpu;  // as stdlib/targets calls it
  ElementType a = ElementType::f32, b = ElementType::f32, acc = ElementType::f32,
              c = ElementType::f32;
  // The index along which A, B and C lie in memory: "kkn", "mnn", ...
  std::string along;
  // The sum counts in a part of the output only.
  bool masked = false;

  friend bool operator==(const TunedClass&, const TunedClass&) = default;
};

struct TunedRow {
  std::string name;
  TunedClass of;
  Predicate when;
  // Also where operands or outputs are accessed element by element, or copied first.
  bool any_pitch = false;
  std::vector<ScheduleEntry> entries;
};

// The rows for a family of schedules ("sm90"), the user's first. Refusal "file" for a row that
// lacks something, what the file's evaluation refuses else; both name the file.
std::vector<TunedRow> tuned_rows(const std::string& target);

}  // namespace lay::sema
