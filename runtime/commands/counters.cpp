#include "runtime/commands/counters.h"

#include <cstdio>

namespace lay::runtime {
namespace {

std::string each(std::int64_t all, std::int64_t accesses) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g",
                static_cast<double>(all) / static_cast<double>(accesses));
  return text;
}

// "  line 3, A_shared: 4 wavefronts an access of a warp, 4 at the least"
std::string line_of(int line, const std::string& buffer, const std::string& what, std::int64_t all,
                    std::int64_t least, std::int64_t accesses) {
  return "  " + (line > 0 ? "line " + std::to_string(line) + ", " : "") + buffer + ": " +
         each(all, accesses) + " " + what + " an access of a warp, " + each(least, accesses) +
         " at the least";
}

}  // namespace

std::vector<std::string> counter_lines(const interpret::Report& counters,
                                       const plan::Prediction& predicted, const Binding& sizes) {
  std::vector<std::string> lines;
  for (const interpret::BankConflicts& of : counters.banks) {
    if (of.accesses == 0) continue;
    lines.push_back(
        line_of(of.line, of.buffer, "wavefronts", of.wavefronts, of.least, of.accesses) + ", " +
        std::to_string(of.worst) + " at the worst: " + of.statement);
  }
  for (const plan::BankConflicts& of : predicted.conflicts) {
    lines.push_back("  predicted, " + of.access + ": " + std::to_string(of.wavefronts) +
                    " wavefronts " + of.unit + ", " + std::to_string(of.least) + " at the least");
  }
  constexpr std::int64_t sector_bytes = 32;
  std::int64_t bytes = 0;
  for (const interpret::Sectors& of : counters.sectors) {
    if (of.accesses == 0) continue;
    bytes += of.sectors * sector_bytes;
    lines.push_back(line_of(of.line, of.buffer, "sectors", of.sectors, of.least, of.accesses) +
                    ": " + of.statement);
  }
  const auto expected = predicted.cache_bytes.evaluate(sizes);
  lines.push_back(
      "  " + std::to_string(bytes) +
      " bytes in sectors of global memory, boxes of TMA not counted" +
      (expected ? "; predicted with them: " + std::to_string(*expected) + " through L2" : ""));
  return lines;
}

}  // namespace lay::runtime
