// Kernels that run in several launches: which stages there are, that every variant gives what the
// reference gives, and what is refused.
#include "backend/plan/tiles/stages.h"

#include "backend/plan/model/forecast.h"
#include "backend/plan/print.h"
#include "runtime/commands/tile_dump.h"
#include "tests/plan/script_calls.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

struct Row {
  const char* what;
  const char* kernel;  // f
  std::vector<const char*> calls;
  std::size_t stages;
};

const Row rows[] = {
    {"mean of cross-entropy",
     "kernel f<M, N>(X: bf16 (M,N), target: s32 M) -> loss: f32 1\n"
     "{ loss[i] = sum[m](max[n](X[m,n]) + log(sum[j](exp(X[m,j] - max[k](X[m,k])))) -\n"
     "                   X[m,target[m]]) / M }\n",
     {"f(random(bf16, (5,40)), random(s32, 5, 3, 0, 39))",
      "f(random(bf16, (8,17)), random(s32, 8, 3, 0, 16))"},
     2},
    {"accuracy",
     "kernel f<M, N>(X: f16 (M,N), target: s32 M) -> right: s32 1\n"
     "{ right[i] = sum[m](if argmax[n](X[m,n]) == target[m] then 1 else 0) }\n",
     {"f(random(f16, (37,3)), random(s32, 37, 3, 0, 2))",
      "f(random(f16, (16,32)), random(s32, 16, 3, 0, 31))"},
     2},
    {"reductions of different extents",
     "kernel f<M, N, K>(X: f32 (M,N), Z: f32 (M,K)) -> s: f32 M\n"
     "{ s[m] = sum[n](X[m,n]) + max[k](Z[m,k]) }\n",
     {"f(random(f32, (7,19)), random(f32, (7,33), 2))",
      "f(random(f32, (5,64)), random(f32, (5,8), 2))"},
     2},
    {"outputs of rows and of columns",
     "kernel f<M, N>(X: bf16 (M,N), w: bf16 N, dY: bf16 (M,N), r: f32 M)\n"
     "  -> (dX: bf16 (M,N), g: f32 N, b: f32 N)\n"
     "{ let dot = sum[k](dY[m,k] * w[k] * X[m,k]) / N\n"
     "  dX[m,n] = r[m] * (dY[m,n] * w[n] - X[m,n] * r[m] * r[m] * dot)\n"
     "  g[n] = sum[j](dY[j,n] * X[j,n] * r[j])\n"
     "  b[n] = sum[j](dY[j,n]) }\n",
     {"f(random(bf16, (9,40)), random(bf16, 40, 2), random(bf16, (9,40), 3), random(f32, 9, 4))",
      "f(random(bf16, (6,7)), random(bf16, 7, 2), random(bf16, (6,7), 3), random(f32, 6, 4))"},
     2},
    {"normalised by a norm of everything",
     "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n"
     "{ Y[m,n] = X[m,n] / sum[p,q](X[p,q] * X[p,q]) + max[k](X[m,k]) }\n",
     {"f(random(f32, (6,24)))", "f(random(f32, (5,7)))"},
     2},
    {"a condition of rows that another reduction asks for",
     "kernel f<M, N, K>(X: f32 (M,N), Z: s32 (M,K)) -> s: s32 M\n"
     "{ s[m] = sum[k](if any[n](X[m,n] > 0.97) then Z[m,k] else 1) }\n",
     {"f(random(f32, (9,31)), random(s32, (9,16), 2))"},
     2},
    {"three extents",
     "kernel f<M, N, K, L>(X: s32 (M,N), Y: s32 (M,K), Z: s32 (M,L)) -> s: s32 M\n"
     "{ s[m] = sum[n](X[m,n]) * sum[k](Y[m,k]) + sum[l](Z[m,l]) }\n",
     {"f(random(s32, (5,7), 1, -9, 9), random(s32, (5,16), 2, -9, 9), random(s32, (5,9), 3))"},
     3},
    {"a reduction of a reduction of a reduction",
     "kernel f<A, B, C>(X: s32 (A,B,C)) -> s: s32 1\n"
     "{ s[i] = max[a](sum[b](min[c](X[a,b,c]))) }\n",
     {"f(random(s32, (3,5,8)))", "f(random(s32, (2,33,3)))"},
     3},
};

std::vector<sema::KernelPtr> stages_of(const sema::KernelPtr& kernel) {
  const auto stages = plan::split_stages(*kernel, plan::facts_of(*kernel));
  return stages ? stages->kernels : std::vector<sema::KernelPtr>{};
}

}  // namespace

TEST_CASE("kernels in stages mean what the reference says") {
  for (const Row& row : rows) {
    INFO(row.what);
    for (const char* call_text : row.calls) {
      int ran = 0;
      const auto check = [&](const sema::KernelCall& call) {
        CHECK(stages_of(call.kernel).size() == row.stages);
        const auto expected = sema::run_reference(call);
        const auto plan = plan::make_plan(call.kernel);
        REQUIRE(plan.problems.empty());
        for (const plan::Variant& variant : plan.variants) {
          if (!holds(variant.when, call.sizes)) continue;
          INFO("variant " << variant.name);
          CHECK(variant.before.size() + 1 >= row.stages);
          const auto actual = outputs(plan, variant, call);
          for (std::size_t i = 0; i < actual.size(); ++i)
            CHECK(difference(actual[i], expected.outputs[i], terms_of(call)) == "");
          const auto launches = plan::forecast(plan, variant, call.sizes, *find_target("h100"));
          REQUIRE(launches);
          CHECK(launches->size() == variant.before.size() + 1);
          ++ran;
        }
        std::set<std::string> names;
        for (const plan::Variant& variant : plan.variants) CHECK(names.insert(variant.name).second);
      };
      CHECK(for_each_call(std::string(row.kernel) + call_text + "\n", check) == "");
      CHECK(ran >= 1);
    }
  }
}

TEST_CASE("kernels that products are in have no stages, nor those whose outputs are read") {
  const auto stages = [](const std::string& script) {
    const auto kernels = kernels_in("script.lay", script);
    REQUIRE(kernels.size() == 1);
    return stages_of(kernels[0]).size();
  };
  CHECK(stages("kernel f<M, N, K, D>(Q: f32 (M,K), P: f32 (N,K), V: f32 (N,D)) -> O: f32 (M,D)\n"
               "{ O[m,d] = sum[n](exp(sum[k](Q[m,k] * P[n,k])) * V[n,d]) }\n") == 0);
  CHECK(stages("kernel f<M, N, K>(X: f32 (M,N), Z: f32 (M,K)) -> s: inout f32 M\n"
               "{ s[m] = s[m] + sum[n](X[m,n]) + sum[k](Z[m,k]) }\n") == 0);
  CHECK(stages("kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }\n") == 0);
}

TEST_CASE("a schedule of a kernel in stages is refused") {
  const auto kernels = kernels_in("script.lay",
                                  "kernel f<M, N, K>(X: f32 (M,N), Z: f32 (M,K)) -> s: f32 M\n"
                                  "{ s[m] = sum[n](X[m,n]) + sum[k](Z[m,k]) }\n"
                                  "schedule f for simt { columns = \"streamed\" }\n");
  const auto plan = plan::make_plan(kernels.at(0));
  REQUIRE(plan.problems.size() == 1);
  CHECK(plan.problems[0].code == "unsupported");
  CHECK(plan.problems[0].message ==
        "`f` runs in several launches, for its reductions run over different extents");
}

TEST_CASE("golden plan of a kernel in stages") {
  const auto kernels = kernels_in("script.lay", rows[0].kernel);
  auto plan = plan::make_plan(kernels.at(0));
  plan.variants.resize(1);
  Sources sources;
  check_golden(plan::print_plan(plan) + runtime::tile_dump(sources, plan, "form", ""),
               source("tests/tile/mean_cross_entropy.plan"));
}

}  // namespace lay::test
