// What the Hopper family proposes: one or two consumers of 64 rows each and two in turns, the widths of the
// instruction, with and without neighbours that share what they load, and rings of several depths.
#include "backend/plan/candidates.h"
#include "frontend/algebra/refusal.h"
#include "frontend/sema/library.h"

namespace lay::plan {

std::vector<sema::Schedule> sm90_proposals(const sema::Kernel& kernel, const GemmForm& form) {
  std::vector<sema::Schedule> schedules;
  const ElementType factors = kernel.loaded(form.a).element;
  const ElementType sum = kernel.node(form.contraction).type;
  if (kernel.loaded(form.b).element != factors || bits(factors) > 32) return schedules;
  const auto entry = [&](const char* key, auto value) { return sema::ScheduleEntry{key, "", value, kernel.where}; };
  constexpr int span_bits = 1024;  // of a row of shared memory: the widest swizzle
  for (const int n : {32, 64, 96, 128, 160, 192, 256}) {
    sema::Atom mma;
    try {
      mma = sema::library_atom("atoms.sm90", "wgmma", {{"n", n}, {"ab", factors}, {"acc", sum}});
    } catch (const Refusal&) {
      continue;  // no instruction for these types and this width
    }
    struct Consumers {
      int atoms, together, in_turns;  // of 64 rows; consumers of a tile; tiles at once
    };
    for (const Consumers& of : {Consumers{1, 1, 1}, {2, 2, 1}, {1, 1, 2}, {2, 1, 2}})
      for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{2, 1}})
        for (const int stages : {3, 4, 6})
          schedules.push_back({"sm90",
                               {},
                               {entry("tile", tuple(64 * of.atoms, n, span_bits / bits(factors))), entry("mma", mma),
                                entry("groups", tuple(of.together, 1, 1, of.in_turns)),
                                entry("cluster", tuple(rows, columns)), entry("stages", Tuple(stages))},
                               kernel.where});
  }
  return schedules;
}

}  // namespace lay::plan
