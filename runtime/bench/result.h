// What came out of a measurement, and its two forms: a table for people, JSON for everybody else.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/bench/protocol.h"
#include "runtime/gpu/driver.h"

namespace lay::bench {

enum class Side { ours, library, library_and_epilogue, copy, triton };

struct Row {
  Side side = Side::ours;
  std::string name;     // "lay wide", "cuBLASLt first", "cuBLASLt best"
  std::string detail;   // "of 12 algorithms, 33554432 bytes of workspace"
  std::string failure;  // why it was not measured; then nothing below holds
  Timing timing;        // of no rounds where the side was only launched
  std::string verdict;  // "right", or what was wrong
  bool right = true;
  int registers = 0, local_bytes = 0;  // of ours and of Triton's
  double compile_seconds = 0;
};

struct Result {
  std::string kernel, form;  // "bf16 K-major x bf16 K-major -> bf16 row-major"
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::pair<std::string, double>> scalars;
  double operations = 0;  // floating-point (or integer) operations of a launch
  double bytes = 0;       // of all tensors
  int sets = 0;
  std::vector<Row> rows;
  std::vector<std::string> notes;
  std::string failure;  // why nothing was measured

  bool right() const;
  // The best of ours; null where none was measured.
  const Row* ours() const;
  // The time of the opponent over the best of ours: above 1 we are faster. 0 where one of them is
  // missing.
  double ratio(const Row& opponent) const;
  double single_ratio(const Row& opponent) const;
};

struct Setting {
  std::string script;
  runtime::DeviceInfo device;
  int driver_version = 0;
  std::string library;  // "13.1.0"; empty: then `library_missing` says why
  std::string triton;   // "3.6.0, Python 3.12.3"; the same
  std::string library_missing, sensors_missing, triton_missing;
  Protocol protocol;
  bool once = false;  // each side was launched once, neither checked nor timed
};

std::string table_head(const Setting& setting);
std::string table(const Result& result);
// The geometric mean of the ratios to the best opponent of each result, wins, losses and the worst,
// and the same of those to Triton, which is no opponent that these count; empty for fewer than two.
std::string table_foot(const std::vector<Result>& results);

std::string to_json(const Setting& setting, const std::vector<Result>& results);

}  // namespace lay::bench
