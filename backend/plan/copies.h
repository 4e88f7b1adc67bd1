// How the operands of a SIMT GEMM travel and its outputs are written: which thread copies what,
// how wide,
// and the layout of the tile in shared memory.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/simt/simt_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// Conditions that a variant takes on with its vectors.
struct Conditions {
  std::vector<Predicate> when;
  std::vector<Alignment> aligned;
};
void add(Conditions& to, const Conditions& more);
// One of them holds for no size.
bool is_never(const Conditions& conditions);

// Returns true if neighbouring elements of a factor, in memory, are neighbours along k.
bool runs_along_k(const sema::Kernel& kernel, Facts& facts, sema::NodeId load, sema::IndexId k);

// Fills in gemm.a, gemm.b and gemm.stores. Problems: "schedule-copy" (the threads cannot share the
// copy evenly), "schedule-smem" (a layout of shared memory that does not fit the tile), and those
// of a ring (simt_ring.h).
bool plan_copies(SimtGemm& gemm, const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                 const Target& target, Width width, const SimtSchedule& schedule,
                 Conditions& conditions, std::vector<Problem>& problems);

// Elements that one access of shared memory by a fragment takes along the outer index: at most 16
// bytes.
int fragment_vector(ElementType accumulator, int lane_tile);
// Elements that one access takes when the operand is stored to shared memory.
int shared_store_vector(const sema::Kernel& kernel, const SimtGemm& gemm, const OperandCopy& copy);

// Bytes of both operands in shared memory, all stages, and of what a slice hands to the first one.
int shared_bytes(const SimtGemm& gemm);
// Elements of one stage of an operand: the cosize of its layout.
int stage_elements(const OperandCopy& copy);

// The worst of each access of a warp to shared memory in one K tile; the sum over all of them, and
// what it would be without conflicts.
struct SharedTraffic {
  BankConflicts write, read;
  long total = 0, least = 0;
};
SharedTraffic shared_traffic(const sema::Kernel& kernel, const SimtGemm& gemm,
                             const OperandCopy& copy, bool is_a);

}  // namespace lay::plan
