// Notes of a plan about layouts of shared memory that a script says.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "backend/plan/plan.h"

namespace lay::plan {

// Notes what a layout that the user gave costs where the one that is chosen without the entry does
// not. `plan_freely` plans a schedule without those entries.
template <class Schedule, class PlanFreely>
void note_conflicts(Variant& variant, const Schedule& schedule, PlanFreely plan_freely) {
  if (!schedule.of_script || (!schedule.shared_a && !schedule.shared_b)) return;
  std::optional<Variant> other;
  for (const BankConflicts& met : variant.prediction.conflicts) {
    // Accesses are called "write A", "read B", "wgmma A": the last letter is the operand.
    const char operand = met.access.back();
    const bool asked = operand == 'A' ? schedule.shared_a.has_value()
                                      : operand == 'B' && schedule.shared_b.has_value();
    if (!asked || met.wavefronts <= met.least) continue;
    if (!other) {
      // Planned once more without the entries, and only where there is a conflict to compare.
      Schedule free = schedule;
      free.shared_a.reset();
      free.shared_b.reset();
      other = plan_freely(free);
    }
    if (!other) return;
    const auto& conflicts = other->prediction.conflicts;
    const auto freely =
        std::find_if(conflicts.begin(), conflicts.end(),
                     [&](const BankConflicts& each) { return each.access == met.access; });
    if (freely == conflicts.end() || freely->wavefronts >= met.wavefronts) continue;
    variant.notes.push_back(
        std::string("smem ") + operand + " meets bank conflicts: " + met.access + " takes " +
        std::to_string(met.wavefronts) + " wavefronts " + met.unit + ", and " +
        std::to_string(freely->wavefronts) + " in the layout that is chosen without the entry");
  }
}

}  // namespace lay::plan
