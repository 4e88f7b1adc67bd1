// Copies of boxes by records of a script: planned, run on the host, and emitted.
#include <catch2/catch.hpp>

#include "backend/cuda/emit.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/target/target.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/language/script.h"

using namespace lay;
using sema::Array;

namespace {

constexpr const char* text = R"(use atoms.sm90
let by_tile = ".tile.mbarrier::complete_tx::bytes"
record mine(rank, bytes) {
  kind           = "thread"
  from           = "global"
  to             = "shared"
  threads        = 1:0
  source         = thread_values((1,8*bytes):(0,1))
  destination    = source
  instruction    = text("cp.async.bulk.tensor.", rank, "d.shared::cluster.global", by_tile,
    " [$to], [$map, {$coordinates}], [$barrier]")
  since          = 90
  modes          = rank
  alignment      = 128
  pitch          = 16
  swizzle_widths = (128,64)
}
record ours(rank, bytes, blocks) {
  kind           = "cluster"
  from           = "global"
  to             = "shared"
  threads        = blocks:1
  source         = thread_values((blocks,8*bytes):(0,1))
  destination    = source
  instruction    = text("cp.async.bulk.tensor.", rank, "d.shared::cluster.global", by_tile,
    ".multicast::cluster [$to], [$map, {$coordinates}], [$barrier], $mask")
  since          = 90
  modes          = rank
  alignment      = 128
  pitch          = 16
  swizzle_widths = (128,64)
}
record stored(rank, bytes) {
  kind           = "thread"
  from           = "shared"
  to             = "global"
  threads        = 1:0
  source         = thread_values((1,8*bytes):(0,1))
  destination    = source
  instruction    = text("cp.async.bulk.tensor.", rank, "d.global.shared::cta.tile.bulk_group ",
    "[$map, {$coordinates}], [$from]")
  since          = 90
  modes          = rank
  alignment      = 128
  pitch          = 16
  swizzle_widths = (128,64)
}
kernel product<M, N, K>(A: f16 (M,K), B: f16 (N,K)) -> C: f16 (M,N)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
schedule product for sm90 {
  mma     = sm90.wgmma(n = 64, ab = f16, acc = f32)
  tile    = (64,64,64)
  groups  = (1,1,1,1)
  cluster = (2,1)
  stages  = 2
}
)";

sema::CopyInstruction copy(sema::test::Script& script, const std::string& call) {
  const auto outcomes = script.evaluator.run("copy.lay", call);
  REQUIRE(outcomes.size() == 1);
  for (const Diagnostic& each : outcomes[0].diagnostics.list()) FAIL(each.message);
  REQUIRE(outcomes[0].value);
  return sema::copy_of(**outcomes[0].value->as<sema::RecordPtr>());
}

}  // namespace

TEST_CASE("boxes are copied by the records of a script that do what is wanted") {
  sema::test::Script script(text);
  REQUIRE(script.messages == "");
  const std::vector<sema::CopyInstruction> copies{
      copy(script, "mine(2, 8192)"), copy(script, "ours(2, 4096, 2)"),
      copy(script, "stored(2, 2048)"),
      // Of no box of this kernel: bytes, modes and blocks are others.
      copy(script, "mine(2, 4096)"), copy(script, "mine(3, 8192)"),
      copy(script, "ours(2, 4096, 4)")};
  const sema::KernelPtr kernel = script.evaluator.kernels().back();
  const plan::Plan plan = plan::make_plan(kernel, *find_target("h200"));
  REQUIRE(plan.problems.empty());
  plan::Variant variant = plan.variants.front();
  plan::Sm90Gemm gemm = *plan::sm90_of(variant);
  CHECK(gemm.copies.empty());
  gemm.copies = copies;
  const tile::Program program = plan::bind_sm90(std::get<tile::Program>(variant.how).kernel, gemm);
  INFO(tile::print(program));
  CHECK(tile::verify(program).empty());
  CHECK((plan::sm90_of(program) == gemm));
  CHECK(tile::parse(tile::print(program), program.kernel, {gemm.mma}, copies) == program);
  variant.how = program;
  const ir::Kernel lowered = ir::lower(plan, variant);
  CHECK(ir::verify(lowered).empty());
  CHECK(ir::print(ir::parse(ir::print(lowered))) == ir::print(lowered));
  const sema::KernelCall call = lay::test::integer_call(kernel, {192, 96, 136});
  const Array expected = sema::run_reference(call).outputs[0];
  CHECK(lay::test::trouble(lowered, call, expected) == "");
  const std::string emitted =
      std::get<cuda::Emitted>(cuda::emit(lowered, *find_target("h200"))).text;
  for (const char* instruction :
       {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3}], [%4];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"}) {
    INFO(emitted);
    CHECK(emitted.find(instruction) != std::string::npos);
  }
  CHECK(emitted.find("global.mbarrier") == std::string::npos);
  CHECK(emitted.find("cta.bulk_group") == std::string::npos);
}

TEST_CASE("a box that no record of the script copies is the library's") {
  sema::test::Script script(text);
  REQUIRE(script.messages == "");
  const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
  plan::Variant variant = plan.variants.front();
  plan::Sm90Gemm gemm = *plan::sm90_of(variant);
  // Rows of 128 bytes are swizzled by 128, which this record does not say.
  sema::CopyInstruction narrow = copy(script, "mine(2, 8192)");
  narrow.swizzle_widths = {64};
  gemm.copies = {narrow, copy(script, "stored(2, 2048)")};
  variant.how = plan::bind_sm90(std::get<tile::Program>(variant.how).kernel, gemm);
  const ir::Kernel lowered = ir::lower(plan, variant);
  std::vector<std::string> names;
  for (const ir::CopyAtom& atom : lowered.copy_atoms) names.push_back(atom.name);
  CHECK(names ==
        std::vector<std::string>{"sm90.tma_load(rank = 2, bytes = 8192)",
                                 "sm90.tma_load_multicast(rank = 2, bytes = 4096, blocks = 2)",
                                 "sm90.stmatrix(n = 4)", "stored(rank = 2, bytes = 2048)"});
}
