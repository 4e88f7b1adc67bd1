// The measurements of a benchmark, and their two forms: a table and JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/bench/protocol.h"
#include "runtime/gpu/driver.h"

namespace lay::bench {

// The maker of a candidate: Lay, cuBLASLt with the epilogue fused, cuBLASLt and a kernel for the
// epilogue, the driver's copy, Triton, PyTorch as it is and by torch.compile, and PyTorch's product
// of matrices of the same size, whose operands are put in order before.
enum class Side {
  ours,
  library,
  library_and_epilogue,
  copy,
  triton,
  torch,
  torch_compile,
  equal_gemm
};

// One candidate.
struct Row {
  Row(Side made_by, std::string called) : side(made_by), name(std::move(called)) {}

  Side side;
  // "lay wide", "cuBLASLt first", "cuBLASLt best"
  std::string name;
  // "#3 of 12": which one of several.
  std::string detail;
  // The reason why it was not measured; empty if it was. Nothing below holds otherwise.
  std::string failure;
  // The times; they have no rounds if the candidate was only launched.
  Timing timing;
  // The finding of the check: an error bound, or "WRONG ...".
  std::string check;
  bool right = true;
  // The bytes that a launch moves; 0 for the bytes of the problem.
  double bytes = 0;
  // The resources and compile time of kernels of ours and of Triton's.
  int registers = 0, local_bytes = 0;
  double compile_seconds = 0;
  // The milliseconds that a launch of ours is expected to take (plan::expected_seconds); 0 where
  // there is no forecast.
  double expected = 0;
};

// One benchmark.
struct Result {
  std::string kernel;
  // "bf16 K-major x bf16 K-major -> bf16 row-major"; empty for a kernel that is not a GEMM.
  std::string form;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::pair<std::string, double>> scalars;
  bool is_gemm = false;
  // The floating-point (or integer) operations of a launch.
  double operations = 0;
  // The bytes that a launch has to move: inputs and outputs once, tensors that are both twice.
  double bytes = 0;
  // Sets of operands.
  int sets = 0;
  std::vector<Row> rows;
  std::vector<std::string> notes;
  // The reason why nothing was measured; empty if something was.
  std::string failure;

  // Returns whether all kernels of ours are right.
  bool right() const;
  // Returns the fastest kernel of ours that is right; null if there is none.
  const Row* ours() const;
  // Returns the baseline's time divided by ours: above 1 ours is faster. A copy that moves other
  // bytes than the kernel is as long as it would take for these. 0 if one of them is missing.
  double ratio(const Row& baseline) const;
  // Returns the same of single launches.
  double single_ratio(const Row& baseline) const;
  // Returns the bytes that a launch moves.
  double bytes_of(const Row& row) const { return row.bytes > 0 ? row.bytes : bytes; }
  // Returns the row's bytes a second as a share of those of the copy; 0 if there is no copy.
  double share_of_copy(const Row& row) const;
};

// The machine and the command line of all benchmarks of a run.
struct Setting {
  std::string script;
  runtime::DeviceInfo device;
  int driver_version = 0;
  // Versions: "13.1.0", "3.6.0, Python 3.12.3" and "2.9.0, Python 3.12.3"; empty if missing.
  std::string library, triton, torch;
  // The reasons why something is missing.
  std::string library_missing, sensors_missing, triton_missing, torch_missing;
  Protocol protocol;
  // Each candidate was launched once, neither checked nor timed.
  bool once = false;
};

// Returns the lines above the table: the machine, the versions and what is missing.
std::string table_head(const Setting& setting);
// Returns the lines of one benchmark, one a candidate, and its notes.
std::string table(const Result& result);
// Returns the geometric mean of the ratios to the best baseline of each benchmark, how many are
// above and below 1, and the worst; the same for Triton, PyTorch, torch.compile and the equal GEMM
// in lines of their own. Empty for fewer than two benchmarks.
std::string table_foot(const std::vector<Result>& results);

// Returns everything as JSON (format 1; times in milliseconds a launch).
std::string to_json(const Setting& setting, const std::vector<Result>& results);

}  // namespace lay::bench
