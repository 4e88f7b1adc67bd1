// The remarks of ptxas (spills, local memory, serialised wgmma, ignored setmaxnreg) on kernels of
// the tables: one of each family, compiled where there is a compiler. tests/bench/ptxas.sh and
// lay_compile_bench go through all of them.
#include <algorithm>
#include <set>
#include <sstream>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

using namespace lay;

bool missing_compiler() {
  std::string why;
  if (runtime::can_compile(&why)) return false;
  WARN("skipped, ptxas cannot be asked: " << why);
  return true;
}

void describe(std::ostream& out, const plan::Sm90Gemm& gemm) {
  out << "sm90 " << gemm.consumer_groups() << gemm.warpgroups_of_group() << gemm.split.has_value()
      << gemm.mask.has_value() << gemm.swap_ab << (gemm.promotion_interval > 0)
      << (gemm.mma.shape[1] > 128);
  out << " stored " << gemm.store.has_value();
  if (!gemm.store) return;
  for (const plan::StagedTensor& each : gemm.store->outputs)
    out << each.tma << each.along_n << each.matrices;
  for (const plan::StagedTensor& each : gemm.store->inputs)
    out << " read " << each.tma << each.along_n << each.matrices;
}
void describe(std::ostream& out, const tile::Program& program) {
  if (plan::is_sm90(program)) {
    describe(out, plan::sm90_of(program));
  } else if (plan::is_sm80(program)) {
    const plan::Sm80Gemm gemm = plan::sm80_of(program);
    out << "sm80 " << gemm.a.async.has_value() << gemm.b.async.has_value() << (gemm.tile[0] > 64);
  } else if (program.is_product()) {
    const plan::SimtGemm gemm = plan::simt_of(program);
    out << "simt " << gemm.ring() << gemm.a.along_k << gemm.b.along_k << (gemm.a.vector > 1)
        << (gemm.tile[0] > 64);
  } else if (program.is_elementwise()) {
    out << "permute " << program.threads->vector << program.threads->along;
  } else {
    out << "tiles " << program.threads->layout.to_string();
  }
}

// Returns what decides on the text, sizes and types apart.
std::string family(const plan::Variant& variant, const sema::Kernel& kernel) {
  std::ostringstream out;
  if (variant.copies)
    out << "copies " << variant.programs.size();
  else if (plan::runs_each_element(variant))
    out << "scalar";
  else
    describe(out, variant.programs.front());
  const auto applied = std::count_if(
      kernel.nodes.begin(), kernel.nodes.end(),
      [](const sema::Node& node) { return std::holds_alternative<sema::Apply>(node.what); });
  constexpr int little = 4;  // the product, and a mask
  out << " arithmetic " << (applied > little);
  return out.str();
}

// Checks the first variant of every family, its last launch and those before.
int check_families(const std::string& script) {
  std::set<std::string> families, texts;
  for (const sema::KernelPtr& kernel : kernels_of(source(script))) {
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const plan::Variant& variant : plan.variants) {
      if (!families.insert(family(variant, *kernel)).second) continue;
      for (const ir::Kernel& launch : ir::lower_all(plan, variant)) {
        const cuda::Emitted text = emitted(launch, "sm_90a");
        if (!texts.insert(text.text).second) continue;
        INFO(script << ": " << launch.name);
        check_compiled(runtime::compile(text, *find_target("sm_90a")));
      }
    }
  }
  return static_cast<int>(families.size());
}

std::vector<std::string> remarks_on(const std::string& body, const std::string& attributes = "") {
  cuda::Emitted text;
  text.function = "f";
  text.text =
      "extern \"C\" __global__ void " + attributes + " f(float* x, int n) {\n" + body + "}\n";
  const auto made = runtime::compile(text, *find_target("sm_90a"));
  INFO(made.log);
  REQUIRE(made.ok());
  return made.remarks;
}

bool any_has(const std::vector<std::string>& remarks, const std::string& word) {
  return std::any_of(remarks.begin(), remarks.end(), [&](const std::string& remark) {
    return remark.find(word) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("this machine's ptxas remarks on planted faults in words that are read") {
  if (missing_compiler()) return;
  const std::string add = "x[threadIdx.x] += 1;\n";
  CHECK(remarks_on(add).empty());
  CHECK(any_has(
      remarks_on(
          "float y[64];\nfor (int i = 0; i < 64; ++i) y[i * n % 64] = x[i];\nx[n] = y[n % 64];\n"),
      "local memory"));
  std::string many =
      "float y[96];\n#pragma unroll\nfor (int i = 0; i < 96; ++i) y[i] = x[i * "
      "n];\n__syncthreads();\n";
  many += "#pragma unroll\nfor (int i = 0; i < 96; ++i) x[i] = y[95 - i] * y[i];\n";
  CHECK(any_has(remarks_on(many, "__launch_bounds__(1024, 2)"), "spills registers"));
  // Without bounds of the launch the registers at entry are not known.
  CHECK(any_has(remarks_on("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n" + add),
                "setmaxnreg"));
  // A sum that is read before its wgmma has been waited for.
  std::string products = "float d[4] = {};\nasm volatile(\"wgmma.fence.sync.aligned;\");\n";
  for (int i = 0; i < 2; ++i) {
    products +=
        "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, "
        "%4, 1, 1, 1, 0, "
        "0;\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"((long "
        "long)n));\nd[0] += x[0];\n";
  }
  products += "asm volatile(\"wgmma.commit_group.sync.aligned;\");\nx[threadIdx.x] = d[0];\n";
  CHECK(any_has(remarks_on(products, "__launch_bounds__(128)"), "wgmma"));
}

TEST_CASE("ptxas has no remark on tensor-core kernels of the tables") {
  if (missing_compiler()) return;
  CHECK(check_families("tests/bench/hopper.lay") > 10);
}

TEST_CASE("ptxas has no remark on f32 kernels of the tables") {
  if (missing_compiler()) return;
  CHECK(check_families("tests/bench/sgemm.lay") > 5);
}

TEST_CASE("ptxas has no remark on permute kernels of the tables") {
  if (missing_compiler()) return;
  CHECK(check_families("tests/bench/permute.lay") > 2);
}
