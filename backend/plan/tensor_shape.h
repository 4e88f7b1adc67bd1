// The common parts of the shapes of GEMMs on tensor cores: consequences of a schedule's atom, tile
// and groups, checked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/tensor_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// The GEMM to be shaped, and the results: conditions that vectors need, and problems.
struct TensorShaping {
  const sema::Kernel& kernel;
  const GemmForm& form;
  const TensorSchedule& schedule;
  const Target& target;
  Width width;  // of what global memory is read and written in: Width::elements takes on no
                // conditions for it
  Facts& facts;
  Conditions& conditions;
  std::vector<Problem>& problems;

  // A problem at an entry of the schedule; false.
  using Notes = std::vector<std::pair<std::string, std::string>>;
  bool wrong(const char* code, const std::string& entry, std::string message,
             Notes notes = {}) const;
};

// The family's demand on its atom: "an atom that ...", with one that meets it.
struct AtomDemand {
  std::string family, what, example;
  bool (*meets)(const sema::Atom&);
};

// Returns true if tensor cores multiply a factor of the product, `value`, as its load lies in
// memory: under casts at most that they do themselves, which change no value. f32(bf16) is one.
bool is_as_stored(const sema::Kernel& kernel, const GemmForm& form, sema::NodeId value,
                  sema::NodeId load);

// Returns true if the atom gets the factor, its first operand (0) or its second (1), by a
// conversion in registers, where it reads that operand from: each value is one of the operand's
// type, a float. bf16 has all of s8 and e4m3.
bool is_convertible(const sema::Kernel& kernel, sema::NodeId value, const sema::Atom& atom,
                    int operand);

// Sets the indices and the atom. Problems: "schedule-entry" (none, or none of the family's),
// "schedule-capability" (one that the target is too old for), "schedule-types".
bool choose_atom(const TensorShaping& at, TensorGemm& gemm, const AtomDemand& demand);

// The tile is a multiple of `least`, which the groups (`who`) need at the least along each axis:
// "schedule-cover". Its accumulators are no more than a thread has registers: "schedule-registers".
bool check_tile(const TensorShaping& at, const TensorGemm& gemm, const std::array<int, 3>& least,
                const char* who);

// `whose` threads are as many as a block can have: "schedule-threads".
bool check_threads(const TensorShaping& at, int threads, const char* whose);

// An operand of an atom, (thread, value) -> column-major index, as (row, column): basis strides.
Layout fragment_of(const Layout& operand, std::array<int, 2> shape);

// Sets the accumulators, which cover the tile exactly once: "schedule-cover".
bool choose_accumulators(const TensorShaping& at, TensorGemm& gemm);

// Sets the vectors of outputs that are written from registers: pairs of accumulators of a thread
// that lie side by side along n.
void choose_vectors(const TensorShaping& at, TensorGemm& gemm);

}  // namespace lay::plan
