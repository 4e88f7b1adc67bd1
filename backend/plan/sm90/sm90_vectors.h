// The vectors of an epilogue, read ahead.
#pragma once

#include "backend/plan/copies.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Returns the vectors for consumers whose accumulators lie in atoms of that layout, (thread, value)
// -> (m, n), and which take `step` values at a time. Neighbours in memory that a thread has side by
// side are read together where `width` allows conditions, which `conditions` gains.
std::vector<StagedVector> staged_vectors(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                                         const Layout& atom, int step, Width width, Facts& facts,
                                         Conditions& conditions);

// The vector of a load along an axis, an element at a time.
StagedVector staged_vector(sema::NodeId load, int axis, const Layout& atom, int step);

// Returns true if a coordinate is the row of the outputs that a row is (RowSegments::row_of).
bool is_row_of_output(const sema::Kernel& kernel, const Sm90Gemm& gemm, sema::NodeId coordinate);

}  // namespace lay::plan
