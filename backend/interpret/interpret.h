// Runs a kernel of the IR on the host, thread by thread: the meaning of a kernel.
//
//   Report report = run(kernel, {std::int64_t{1000}, 2.0f, Memory{x.data(), 4000, true},
//                                Memory{y.data(), 4000}}, {.threads = 2});
//   if (report.fault) std::cerr << report.fault->message;
//
// The warps of a cluster's blocks run one after another, each until it must wait; 32 lanes go in
// step under a mask. An order that the language of kernels leaves open (which warp is first, when a
// copy arrives) is fixed here, so that the same launch gives the same bits and the same fault;
// another seed is another order. Clusters may run on several host threads; the fault of the lowest
// one is reported.
//
// Arithmetic is IEEE 754 in f32 and f64 with fused multiply-add as one rounding, division and
// square root rounded correctly, subnormals kept: bit for bit what the emitted CUDA computes. exp,
// log, tanh, erf, sin, cos and rsqrt are the host library's, within 1 ulp; the GPU's differ from
// them by up to 2 ulp (CUDA C++ Programming Guide, appendix on mathematical functions). In f32
// sigmoid and normcdf are made of approximate instructions there: they may be off by (7 + 1.3 |x|)
// * 2^-24 of sigmoid(x), and by 2^-22 (cuda/helpers.cpp). Tensor cores add up in the accumulator's
// type here, one product after another; real ones truncate, and keep about 13 bits where they add
// up 8-bit floats.
//
// In field mode all this is exact: casts between floating-point types are the identity, and sums do
// not depend on their order. Addresses, synchronisation and counts are the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/ir/ir.h"
#include "frontend/algebra/field/number.h"

namespace lay::interpret {

// A global buffer; in field mode with elements of 8 bytes. Workspace may be left empty: the
// interpreter provides it.
struct Memory {
  void* data = nullptr;
  std::int64_t bytes = 0;
  bool constant = false;  // the kernel must not write it
  // In workspace that outlives the launch: a flag for each element that tells whether it has been
  // written, as many as the cosize of its layout.
  std::uint8_t* written = nullptr;
};

// In the order of Kernel::params, then of the global buffers in Kernel::buffers.
using Argument = std::variant<std::int64_t, double, Memory>;

// The faults that a run can find; each is an error code of its own.
enum class FaultCode {
  argument,       // an argument does not fit the kernel's parameters
  out_of_bounds,  // a coordinate outside the shape
  uninitialised,  // a read of shared memory, registers or workspace that nothing has written
  in_flight,      // shared memory is touched while a copy into it has not been waited for
  race,  // two threads, one element of shared memory or workspace, one of them writes, no barrier
         // in between and no number that both count up
  barrier_divergence,  // a barrier that some of the threads do not reach together
  deadlock,            // every warp that is not done waits
  barrier_misuse,  // an mbarrier that is not initialised, or arrived at too often; a wait without
                   // an arrival
  missing_fence,   // data that the async proxy or a wgmma touches has not been fenced
  bytes,           // an mbarrier expects other than the bytes that come
  block_ended,     // a copy or an arrival goes to a block of the cluster that has ended
  misaligned,      // a vector access at an address that is no multiple of its size
  written_twice,   // two threads write one global element
  overflow,        // signed integer arithmetic left its type
  division_by_zero,
  limit,        // of steps or memory
  unsupported,  // a statement that is not executed on the host yet
  stopped,      // the progress callback said so
};
std::string_view fault_name(FaultCode code);

// Where and what: always with the thread and, for memory, the coordinate.
struct Fault {
  FaultCode code{};
  std::array<std::int64_t, 3> block{};
  int warp = 0, thread = 0;         // in the block
  std::optional<int> other_thread;  // of a race
  // Empty where no memory is involved.
  std::string buffer;
  // One per top-level mode.
  std::vector<std::int64_t> coordinate;
  int line = 0;  // of the script; 0: none
  // In the IR's text.
  std::string statement;
  // One lower-case sentence with all of it.
  std::string message;
};

struct Progress {
  std::int64_t blocks_done, blocks;
};

// The checks and counts of a run, and the order in which warps and copies are served.
struct Options {
  // Uninitialised reads, races, integer overflow (bounds and alignment are always checked)
  bool checks = true;
  // Also: no global element is written by two threads.
  bool write_once = false;
  // And sectors are counted.
  bool bank_conflicts = false;
  // 0: warps in order, copies as late as can be; else another order.
  std::uint64_t seed = 0;
  // In field mode (field/number.h) memory and registers hold numbers of the field in place of
  // floating-point ones, and integers, in 64 bits an element.
  Arithmetic arithmetic = Arithmetic::ieee;
  int threads = 1;            // of the host
  int resident_clusters = 0;  // that a persistent kernel is launched with at most; 0: its grid
  // Instructions of warps, over all blocks; 0: no limit.
  std::int64_t max_steps = 0;
  // Bytes for shared memory, registers, workspace and their shadows.
  std::int64_t max_memory = std::int64_t{4} << 30;
  // About ten times a second; false stops the run.
  std::function<bool(const Progress&)> progress{};
};

// How the accesses of one statement fell on the 32 banks of shared memory. A wavefront serves one
// word of each bank; `least` counts those that the bytes alone would need.
struct BankConflicts {
  int line = 0;
  std::string statement;
  std::string buffer;
  std::int64_t accesses = 0;    // of warps
  std::int64_t wavefronts = 0;  // in total
  std::int64_t least = 0;       // in total
  // Wavefronts of one access.
  int worst = 0;
};

// How the accesses of one statement fell on the sectors of global memory, 32 bytes each; `least`
// counts those that the bytes alone would need, a byte that several lanes want once. Boxes of TMA
// are not counted.
struct Sectors {
  int line = 0;
  std::string statement;
  std::string buffer;
  std::int64_t accesses = 0;  // of warps
  std::int64_t sectors = 0;   // in total
  std::int64_t least = 0;     // in total
};

// The result of a run.
struct Report {
  std::optional<Fault> fault;
  std::int64_t blocks = 0;  // that ran to their end
  std::int64_t steps = 0;   // instructions of warps
  // The same, times lanes, times elements where an instruction has several.
  std::int64_t lane_operations = 0;
  // If asked for, in the order of the statements.
  std::vector<BankConflicts> banks;
  std::vector<Sectors> sectors;
};

// The kernel must be verified (backend/ir/verify/verify.h). Never throws for what the arguments or
// the kernel's own accesses do.
Report run(const ir::Kernel& kernel, const std::vector<Argument>& arguments,
           const Options& options = {});

}  // namespace lay::interpret
