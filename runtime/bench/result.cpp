#include "runtime/bench/result.h"

#include <algorithm>
#include <cmath>

#include "frontend/source/formatted.h"

namespace lay::bench {
namespace {

std::string time_text(double milliseconds) {
  return milliseconds < 10 ? formatted("%9.2f us", milliseconds * 1e3)
                           : formatted("%9.3f ms", milliseconds);
}

bool is_baseline(const Row& row) {
  return row.side == Side::library || row.side == Side::library_and_epilogue ||
         row.side == Side::copy;
}

template <Side side>
bool is_of(const Row& row) {
  return row.side == side;
}

// Returns the fastest of these rows that was measured and is right; null if there is none.
const Row* best_of(const Result& result, bool (*wanted)(const Row&)) {
  const Row* best = nullptr;
  for (const Row& row : result.rows)
    if (wanted(row) && row.failure.empty() && row.right)
      if (!best || row.timing.median() < best->timing.median()) best = &row;
  return best;
}

std::string mean_text(const std::vector<Result>& results, bool (*wanted)(const Row&),
                      const char* to_what) {
  double logarithms = 0, worst = 0;
  int count = 0, faster = 0, slower = 0;
  for (const Result& result : results) {
    const Row* baseline = best_of(result, wanted);
    const double ratio = baseline ? result.ratio(*baseline) : 0;
    if (ratio <= 0) continue;
    logarithms += std::log(ratio);
    worst = count == 0 ? ratio : std::min(worst, ratio);
    ++count;
    faster += ratio > 1.01;
    slower += ratio < 0.99;
  }
  if (count < 2) return "";
  return formatted(
      "geometric mean of %d ratios to %s %.3f; %d above 1.01, %d below 0.99, least %.3f\n", count,
      to_what, std::exp(logarithms / count), faster, slower, worst);
}

std::string row_text(const Result& result, const Row& row) {
  std::string text = formatted("  %-26s", row.name.c_str());
  if (!row.failure.empty()) return text + " " + row.failure + "\n";
  if (row.timing.graph.empty())
    return text + " launched" + (row.detail.empty() ? "" : "  " + row.detail) + "\n";
  const double ms = row.timing.median();
  text += time_text(ms);
  // A GEMM is limited by its operations, any other kernel by its bytes.
  text += result.is_gemm ? formatted(" %8.2f TF/s", result.operations / ms / 1e9)
                         : formatted(" %8.1f GB/s", result.bytes_of(row) / ms / 1e6);
  if (const double share = result.share_of_copy(row); share > 0 && row.side != Side::copy)
    text += formatted("  %.3f of the copy", share);
  text += formatted("  +-%4.1f%%  single", row.timing.spread() * 50) +
          time_text(row.timing.single_median());
  if (const auto reading = row.timing.median_reading())
    text += formatted("  %4.0f MHz %4.0f W", reading->sm_mhz, reading->watts);
  if (const auto joules = row.timing.joules(); joules && *joules > 0)
    text += formatted(" %9.4f J", *joules) +
            (result.is_gemm ? formatted(" %.2f TF/J", result.operations / *joules / 1e12) : "");
  if (row.side == Side::ours)
    text += formatted("  %d registers", row.registers) +
            (row.local_bytes > 0 ? formatted(", %d bytes of local memory", row.local_bytes) : "") +
            (row.expected > 0 ? "  expected" + time_text(row.expected) : "");
  else if (const double ratio = result.ratio(row); ratio > 0)
    text += formatted("  ratio %.3f, single %.3f", ratio, result.single_ratio(row));
  if (!row.timing.settled) text += "  (times had not settled)";
  if (!row.detail.empty()) text += "  " + row.detail;
  return text + (row.check.empty() ? "" : "  " + row.check) + "\n";
}

}  // namespace

bool Result::right() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.side != Side::ours || row.right; });
}

const Row* Result::ours() const {
  return best_of(*this, [](const Row& row) { return row.side == Side::ours; });
}

double Result::ratio(const Row& baseline) const {
  const Row* best = ours();
  if (!best || best->timing.median() <= 0) return 0;
  return baseline.timing.median() / best->timing.median() * (bytes / bytes_of(baseline));
}

double Result::single_ratio(const Row& baseline) const {
  const Row* best = ours();
  if (!best || best->timing.single_median() <= 0) return 0;
  return baseline.timing.single_median() / best->timing.single_median() *
         (bytes / bytes_of(baseline));
}

double Result::share_of_copy(const Row& row) const {
  const Row* copy = best_of(*this, is_of<Side::copy>);
  if (!copy || !row.failure.empty() || row.timing.median() <= 0) return 0;
  return bytes_of(row) / row.timing.median() * (copy->timing.median() / bytes_of(*copy));
}

std::string table_head(const Setting& setting) {
  std::string text =
      setting.device.name + ", driver " + std::to_string(setting.driver_version / 1000) + "." +
      std::to_string(setting.driver_version % 1000 / 10) +
      (setting.library.empty() ? "" : ", cuBLASLt " + setting.library) +
      (setting.triton.empty() ? "" : ", Triton " + setting.triton) +
      (setting.torch.empty() ? "" : ", PyTorch " + setting.torch) + "; " +
      (setting.once ? "each candidate launched once, neither checked nor timed\n"
                    : formatted("graphs of %d launches, medians of %d interleaved rounds\n",
                                setting.protocol.launches, setting.protocol.rounds));
  for (const std::string* missing : {&setting.library_missing, &setting.sensors_missing,
                                     &setting.triton_missing, &setting.torch_missing})
    if (!missing->empty()) text += *missing + "\n";
  return text;
}

std::string table(const Result& result) {
  std::string text = result.kernel;
  for (const auto& [name, value] : result.sizes) text += " " + name + "=" + std::to_string(value);
  for (const auto& [name, value] : result.scalars)
    text += " " + name + "=" + formatted("%g", value);
  if (!result.form.empty()) text += "  " + result.form;
  text += "\n";
  if (!result.failure.empty()) return text + "  not measured: " + result.failure + "\n";
  for (const Row& row : result.rows) text += row_text(result, row);
  for (const std::string& note : result.notes) text += "  note: " + note + "\n";
  return text;
}

std::string table_foot(const std::vector<Result>& results) {
  return mean_text(results, is_baseline, "the best baseline") +
         mean_text(results, is_of<Side::triton>, "Triton") +
         mean_text(results, is_of<Side::torch>, "PyTorch") +
         mean_text(results, is_of<Side::torch_compile>, "torch.compile") +
         mean_text(results, is_of<Side::equal_gemm>, "the equal GEMM");
}

}  // namespace lay::bench
