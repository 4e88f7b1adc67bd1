// The entries of a schedule, read and checked one by one. Parts that one leaves out stay empty.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"

namespace lay::plan {

// The part that every schedule has.
struct ScheduleHead {
  std::string name;  // of the variants it makes
  std::vector<Predicate> when;
  std::optional<Cost> cost;
  // `accesses`: then the schedule is one variant, with the schedule's name as it is.
  std::optional<Width> accesses;
  bool of_script = false;  // the user's, not a policy
  bool completed = false;  // by a row of the library, which is passed over where it does not fit
  bool is_tuned = false;   // a row that `lay tune` wrote
  bool permuted_outputs = false;  // `outputs`
  Span where;
  std::map<std::string, Span>
      entries;  // where each entry stands, by key and argument: "tile", "smem A"

  // Returns true if the library chose the tile: a row of its own, or one that completes a schedule.
  bool of_library() const { return completed || (!of_script && !is_tuned); }

  Span at(const std::string& entry) const {
    auto found = entries.find(entry);
    return found == entries.end() ? where : found->second;
  }
};

struct SimtSchedule : ScheduleHead {
  std::optional<std::array<int, 3>> tile;
  std::optional<std::array<int, 4>> groups;
  std::optional<std::array<int, 3>> lane_tile;
  std::optional<Layout> lanes;
  std::optional<TileOrder> order;
  std::optional<AnyLayout> shared_a, shared_b;
  int stages = 2;  // more: a ring that TMA fills
  int parts = 1;   // `cluster`: blocks that share K
};

// On tensor cores: by a mma atom.
struct TensorSchedule : ScheduleHead {
  std::optional<std::array<int, 3>> tile;
  std::optional<sema::Atom> mma;
  std::optional<std::array<int, 4>> groups;
  std::optional<std::array<int, 3>> cluster;
  std::optional<int> promotion_interval;  // K elements that the tensor cores add up by themselves
  bool swap_ab = false;  // the atom's first operand is the product's second factor, its rows are
                         // the output's columns
  std::optional<bool> alternate_k;  // every other tile of a cluster goes through K from its end
  std::optional<int> tail;          // parts of K in a last wave that is not whole
  std::optional<int> stages;
  std::optional<TileOrder> order;
  std::optional<AnyLayout> shared_a, shared_b;
  bool private_a = false, private_b = false;  // `private`
  // `repack`: the operands of the instruction that a first launch copies, and in what accesses.
  std::optional<Width> repack_a, repack_b;
  std::optional<bool> stored_operands;        // `operands`
  std::vector<sema::CopyInstruction> copies;  // in place of the library's
};

// Returns the schedule with each `smem X`, `private X` and `repack X`, where X is a tensor that
// is one factor of the product, as `smem A` (the first operand of the instruction) or `smem B` (the
// second): with `swap_ab = 1` the first operand is the product's second factor. Where no tensor of
// the kernel has the name, or both factors are the tensor, A and B name the operands themselves.
// Problem "schedule-entry": a name that is neither.
sema::Schedule with_operand_roles(sema::Schedule schedule, const sema::Kernel& kernel,
                                  const GemmForm& form, std::vector<Problem>& problems);

// Reads `name` and `accesses`, which products and reductions share, and passes over those that
// cost_of reads. Returns false for an entry of another key.
bool read_common_entry(const sema::ScheduleEntry& entry, ScheduleHead& into,
                       std::vector<Problem>& problems);

// Returns the name that the entry `name` gives; nothing, and a problem "schedule-entry", where it
// is no name of a kernel in CUDA.
std::optional<std::string> name_of(const sema::ScheduleEntry& entry,
                                   std::vector<Problem>& problems);

// Problems: "schedule-entry" (unknown, given twice, or not of its form), "unsupported" (an entry of
// another target).
SimtSchedule read_schedule(const sema::Schedule& schedule, std::vector<Problem>& problems);
TensorSchedule read_tensor_schedule(const sema::Schedule& schedule, std::vector<Problem>& problems);

}  // namespace lay::plan
