// Predicts the cost of a variant, as far as it can be told before a run.
#pragma once

#include "backend/plan/plan.h"
#include "backend/plan/simt/simt_gemm.h"
#include "backend/plan/sm80/sm80_gemm.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/target/target.h"

namespace lay::plan {

// Registers a thread: accumulators, fragments and staged elements; and with addresses and the rest.
int least_registers(const SimtGemm& gemm);
int predict_registers(const SimtGemm& gemm);

Prediction predict(const sema::Kernel& kernel, const SimtGemm& gemm, const Target& target);
Prediction predict(const sema::Kernel& kernel, const Sm80Gemm& gemm, const Target& target);
Prediction predict(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Target& target);
Prediction predict(const tile::Program& program, const Target& target);
// Of the kernel's programs of one thread an element, in one launch
// (tile/elementwise/each_element.h): registers are a guess, as the expressions are not read; bytes
// through L2 count what each thread loads, whichever others load it too.
Prediction predict_each_element(const sema::Kernel& kernel,
                                const std::vector<tile::Program>& programs, const Target& target);

// Clocks of an SM that one instruction takes: as many as its products do at the
// machine's rate, and never fewer than its record says.
double instruction_clocks(const sema::Atom& atom, const Target& target);

// Blocks that an SM has room for.
int resident_blocks(int threads, int registers, std::int64_t shared_bytes, const Target& target);

// Blocks of an SM that the registers allow; at most as many as make 512 threads.
int blocks_per_sm(const SimtGemm& gemm, const Target& target);

}  // namespace lay::plan
