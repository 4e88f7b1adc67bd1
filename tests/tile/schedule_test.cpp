// Schedules of reductions that no variant comes of: what is wrong, where, and what works instead.
#include "tests/tile/programs.h"

namespace lay::test {

namespace {

const std::string softmax =
    "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n"
    "{ let most = max[k](X[m,k])\n"
    "  Y[m,n] = exp(X[m,n] - most) / sum[k](exp(X[m,k] - most)) }\n";
const std::string log_sum_exp =
    "kernel f<M, N>(X: f32 (M,N)) -> s: f32 M\n"
    "{ let most = max[k](X[m,k])\n  s[m] = most + log(sum[k](exp(X[m,k] - most))) }\n";
const std::string row_sum = "kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }\n";

plan::Plan planned(const std::string& kernel, const std::string& entries) {
  const auto kernels =
      kernels_in("script.lay", kernel + "schedule f for simt { " + entries + " }\n");
  REQUIRE(kernels.size() == 1);
  return plan::make_plan(kernels[0]);
}

std::string problem(const std::string& kernel, const std::string& entries) {
  const auto plan = planned(kernel, entries);
  if (plan.problems.empty()) return "";
  const plan::Problem& first = plan.problems.front();
  std::string text = first.code + ": " + first.message;
  for (const auto& [kind, note] : first.notes) text += "; " + kind + ": " + note;
  return text;
}

}  // namespace

TEST_CASE("parts of columns are refused where a first launch cannot reduce them") {
  CHECK(problem(softmax, "parts = 4") ==
        "schedule-cover: a first launch cannot reduce parts of the columns: an output has an "
        "element for each column; works: the schedule without `parts`");
  CHECK(problem(log_sum_exp, "parts = 4") ==
        "schedule-cover: a first launch cannot reduce parts of the columns: a reduction needs the "
        "result of another one first; works: the schedule without `parts`");
  CHECK(problem(row_sum, "parts = 4") == "");
}

}  // namespace lay::test
