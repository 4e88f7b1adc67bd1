#include "backend/plan/model/forecast.h"
#include "backend/plan/print.h"
#include "frontend/source/formatted.h"

namespace lay::plan {
namespace {

// "//   L2     133.15 us    1107.30 MB"
std::string term(const char* name, double seconds, double bytes) {
  return formatted("//   %-20s %10.2f us %12.2f MB", name, 1e6 * seconds, 1e-6 * bytes);
}

void launch_lines(const Forecast& of, std::vector<std::string>& lines) {
  std::string tiles = "//   " + std::to_string(of.tiles) + (of.tiles == 1 ? " tile" : " tiles");
  // Under a mask some tiles only store zeros.
  if (of.live != of.tiles) tiles += ", " + std::to_string(of.live) + " with products";
  lines.push_back(tiles + ", " + std::to_string(of.at_once) +
                  " at once: " + formatted("%.2f waves", of.waves()) + ", at most " +
                  std::to_string(of.most) + " of one SM");
  if (of.multiply_adds > 0)
    lines.push_back(formatted("//   %-20s %10.2f us", "products", 1e6 * of.products));
  lines.push_back(term("L2", of.cache, of.cache_bytes));
  std::string memory = term("global memory", of.memory, of.global_bytes);
  // Adds the least, every input and output once, where the cache model reads bytes again.
  if (of.global_bytes > of.least_global_bytes)
    memory += formatted(", %.2f at least", 1e-6 * of.least_global_bytes);
  lines.push_back(memory);
  lines.push_back(formatted("//   %-20s %10.2f us", "launch", 1e6 * of.launch));
  std::string bound = formatted("//   at least %.2f us, bound by ", 1e6 * of.seconds()) +
                      std::string(of.bottleneck());
  // A multiply-add is two operations, as vendors count.
  if (of.multiply_adds > 0)
    bound += formatted(": %.2f TFLOP/s", 2e-12 * of.multiply_adds / of.seconds());
  lines.push_back(bound + formatted("; expected %.2f us", 1e6 * of.expected()));
}

}  // namespace

std::vector<std::string> forecast_lines(const Plan& plan, const Variant& variant,
                                        const Binding& sizes, const Target& target) {
  std::string at;
  for (const sema::Dim& dim : plan.kernel->dims) {
    const auto value = dim.symbol.evaluate(sizes);
    at +=
        (at.empty() ? "// at " : ", ") + dim.name + " = " + (value ? std::to_string(*value) : "?");
  }
  std::vector<std::string> lines = {(at.empty() ? "//" : at) + " on " + target.name + ", " +
                                    std::to_string(target.sms) + " SMs:"};
  const auto launches = forecast(plan, variant, sizes, target);
  if (!launches) {
    lines.push_back(
        "//   nothing can be said: a number has no value, or there are more tiles than are "
        "counted");
    return lines;
  }
  double all = 0, expected = 0;
  for (const Forecast& launch : *launches) {
    // A repack and its product are two launches, one after the other: their times add.
    if (launches->size() > 1) lines.push_back("//  " + launch.launch_name + ":");
    launch_lines(launch, lines);
    all += launch.seconds();
    expected += launch.expected();
  }
  if (launches->size() > 1)
    lines.push_back(
        formatted("//  together at least %.2f us; expected %.2f us", 1e6 * all, 1e6 * expected));
  return lines;
}

}  // namespace lay::plan
