// Copies of boxes by records of a script: planned, run on the host, and emitted.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <stdexcept>

#include "backend/cuda/emit.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/chosen_copies.h"
#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/target/target.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/kernel/reference.h"
#include "generated/tests/paths.h"
#include "tests/agreement/calls.h"
#include "tests/language/script.h"

using namespace lay;
using sema::Array;

namespace {

// The script without what schedules say of copies, or with it.
std::string text(bool says_copies) {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/tests/agreement/copies.lay");
  std::string all, line;
  while (std::getline(in, line))
    if (says_copies || !line.starts_with("  copies ")) all += line + "\n";
  REQUIRE(!all.empty());
  return all;
}

sema::KernelPtr kernel_of(const sema::test::Script& script, const std::string& name) {
  for (const sema::KernelPtr& each : script.evaluator.kernels())
    if (each->name == name) return each;
  throw std::logic_error("no kernel " + name);
}

sema::CopyInstruction copy(sema::test::Script& script, const std::string& call) {
  const auto outcomes = script.evaluator.run("copy.lay", call);
  REQUIRE(outcomes.size() == 1);
  for (const Diagnostic& each : outcomes[0].diagnostics.list()) FAIL(each.message);
  REQUIRE(outcomes[0].value);
  return sema::copy_of(**outcomes[0].value->as<sema::RecordPtr>());
}

}  // namespace

TEST_CASE("boxes are copied by the records of a script that do what is wanted") {
  sema::test::Script script(text(false));
  REQUIRE(script.messages == "");
  const std::vector<sema::CopyInstruction> copies{
      copy(script, "mine(2, 8192)"), copy(script, "ours(2, 4096, 2)"),
      copy(script, "stored(2, 2048)"),
      // Of no box of this kernel: bytes, modes and blocks are others.
      copy(script, "mine(2, 4096)"), copy(script, "mine(3, 8192)"),
      copy(script, "ours(2, 4096, 4)")};
  const sema::KernelPtr kernel = kernel_of(script, "boxes");
  const plan::Plan plan = plan::make_plan(kernel, *find_target("h200"));
  REQUIRE(plan.problems.empty());
  plan::Variant variant = plan.variants.front();
  plan::Sm90Gemm gemm = *plan::sm90_of(variant);
  CHECK(gemm.copies.empty());
  gemm.copies = copies;
  const tile::Program program = plan::bind_sm90(variant.programs.front().kernel, gemm);
  INFO(tile::print(program));
  CHECK(tile::verify(program).empty());
  CHECK((plan::sm90_of(program) == gemm));
  CHECK(tile::parse(tile::print(program), program.kernel, {gemm.mma}, copies) == program);
  variant.programs = {program};
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
  sema::test::Script script(text(false));
  REQUIRE(script.messages == "");
  const plan::Plan plan = plan::make_plan(kernel_of(script, "boxes"), *find_target("h200"));
  plan::Variant variant = plan.variants.front();
  plan::Sm90Gemm gemm = *plan::sm90_of(variant);
  // Rows of 128 bytes are swizzled by 128, which this record does not say.
  sema::CopyInstruction narrow = copy(script, "mine(2, 8192)");
  narrow.swizzle_widths = {64};
  gemm.copies = {narrow, copy(script, "stored(2, 2048)")};
  variant.programs = {plan::bind_sm90(variant.programs.front().kernel, gemm)};
  const ir::Kernel lowered = ir::lower(plan, variant);
  std::vector<std::string> names;
  for (const ir::CopyAtom& atom : lowered.copy_atoms) names.push_back(atom.name);
  CHECK(names ==
        std::vector<std::string>{"sm90.tma_load(rank = 2, bytes = 8192)",
                                 "sm90.tma_load_multicast(rank = 2, bytes = 4096, blocks = 2)",
                                 "sm90.stmatrix(n = 4)", "stored(rank = 2, bytes = 2048)"});
}

namespace {

// The names of the copies that a kernel declares.
std::set<std::string> declared(const ir::Kernel& lowered) {
  std::set<std::string> names;
  for (const ir::CopyAtom& atom : lowered.copy_atoms) names.insert(atom.name);
  return names;
}

std::set<std::string> names_of(const std::vector<sema::CopyInstruction>& copies) {
  std::set<std::string> names;
  for (const sema::CopyInstruction& each : copies) names.insert(each.name);
  return names;
}

}  // namespace

TEST_CASE("schedules name the copies that their kernels take") {
  using Names = std::set<std::string>;
  struct Row {
    const char *kernel, *gpu;
    Names said, others;
    lay::test::Extents sizes;
    const char* instruction;
  };
  const Row rows[] = {
      {"boxes",
       "h200",
       {"mine(rank = 2, bytes = 8192)", "ours(rank = 2, bytes = 4096, blocks = 2)",
        "stored(rank = 2, bytes = 2048)"},
       {"sm90.stmatrix(n = 4)"},
       {192, 96, 136},
       "global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], "
       "%5;"},
      {"in_pairs",
       "h200",
       {"sm90.stmatrix(n = 2)", "sm75.ldmatrix(n = 2)"},
       {"sm90.tma_load(rank = 2, bytes = 8192)", "sm90.tma_load(rank = 2, bytes = 2048)",
        "sm90.tma_store(rank = 2, bytes = 2048)"},
       {136, 72, 72},
       "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"},
      {"crosses",
       "a100",
       {"crossed(n = 4)", "sm80.cp_async(bytes = 8)"},
       {"sm75.ldmatrix(n = 2)"},
       {64, 96, 48},
       "cp.async.ca.shared.global [%0], [%1], 8, %2;"},
  };
  const sema::test::Script script(text(true));
  REQUIRE(script.messages == "");
  for (const Row& row : rows) {
    INFO(row.kernel);
    const sema::KernelPtr kernel = kernel_of(script, row.kernel);
    const plan::Plan plan = plan::make_plan(kernel, *find_target(row.gpu));
    for (const plan::Problem& problem : plan.problems) FAIL(problem.message);
    const plan::Variant& variant = plan.variants.front();
    const auto& program = variant.programs.front();
    INFO(tile::print(program));
    CHECK(names_of(program.copies) == row.said);
    CHECK(tile::verify(program).empty());
    const ir::Kernel lowered = ir::lower(plan, variant);
    Names all = row.said;
    all.insert(row.others.begin(), row.others.end());
    CHECK(declared(lowered) == all);
    CHECK(names_of(plan::copies_of(variant)) == all);
    const sema::KernelCall call = lay::test::integer_call(kernel, row.sizes);
    CHECK(lay::test::trouble(lowered, call, sema::run_reference(call).outputs[0]) == "");
    const std::string emitted =
        std::get<cuda::Emitted>(cuda::emit(lowered, *find_target(row.gpu))).text;
    CHECK(emitted.find(row.instruction) != std::string::npos);
  }
}

namespace {

// The printed plan of a product with one entry of its schedule more, or the problem and its cure.
std::string planned(const std::string& family, const std::string& copies, const char* gpu,
                    const std::string& more = "") {
  const bool hopper = family == "sm90";
  const sema::test::Script script(
      "use atoms.sm90\nrecord later(n) {\n kind = \"warp\"\n from = \"shared\"\n"
      " to = \"registers\"\n threads = 32:1\n source = thread_values((32,32*n):(32*n,1))\n"
      " destination = source\n since = 200\n}\n"
      "kernel f<M, N, K>(A: f16 (M,K), B: f16 (N,K)) -> C: f16 (M,N) "
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\nschedule f for " +
      family + " {\n mma = " +
      (hopper ? "sm90.wgmma(n = 64, ab = f16, acc = f32)"
              : "sm80.mma(m = 16, k = 16, ab = f16, acc = f32)") +
      "\n" + more + "\n" + (copies.empty() ? "" : "copies = " + copies + "\n") + "}\n");
  std::string text = script.messages;
  if (!text.empty()) return text;
  const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back(), *find_target(gpu));
  for (const plan::Problem& problem : plan.problems) {
    text += problem.code + ": " + problem.message;
    for (const auto& [kind, note] : problem.notes) text += "; " + note;
  }
  return plan.problems.empty() ? plan::print_plan(plan) : text;
}

}  // namespace

TEST_CASE("copies that the library takes anyway are not said by the plan") {
  const std::string plain = planned("sm90", "", "h200");
  CHECK(plain.find("copies ") == std::string::npos);
  CHECK(planned("sm90", "stmatrix(4)", "h200") == plain);
  CHECK(planned("sm90", "tma_store(2, 2048)", "h200") == plain);
  CHECK(planned("sm90", "stmatrix(2)", "h200").find("  copies        = sm90.stmatrix(n = 2)\n") !=
        std::string::npos);
  const std::string ampere = planned("sm80", "", "a100");
  CHECK(planned("sm80", "(ldmatrix(4), cp_async(16))", "a100") == ampere);
  const std::string narrow = planned("sm80", "(ldmatrix(4), cp_async(8))", "a100");
  CHECK(narrow.find("  copies        = (sm75.ldmatrix(n = 4), sm80.cp_async(bytes = 8))\n") !=
        std::string::npos);
  CHECK(narrow.find("by sm80.cp_async(bytes = 8)") != std::string::npos);
  CHECK(narrow.find("use atoms.sm75\n") != std::string::npos);
  // Element by element nothing is copied by them: the variant says nothing.
  const std::size_t any = narrow.find("any");
  REQUIRE(any != std::string::npos);
  CHECK(narrow.find("copies ", any) == std::string::npos);
}

TEST_CASE("a copy of a schedule that does nothing, or that the GPU lacks, is an error") {
  CHECK(planned("sm90", "ldmatrix(4)", "h200")
            .starts_with("schedule-copy: sm75.ldmatrix(n = 4) copies nothing of this schedule"));
  const std::string box = planned("sm90", "(stmatrix(2), tma_load(3, 8192))", "h200");
  CHECK(box.starts_with("schedule-copy: sm90.tma_load(rank = 3, bytes = 8192) copies nothing"));
  CHECK(box.find("sm90.tma_load(rank = 2, bytes = 8192)") != std::string::npos);
  CHECK(planned("sm80", "ldmatrix(1)", "a100").starts_with("schedule-copy: "));
  CHECK(planned("sm80", "cp_async(8)", "a100", "accesses = \"elements\"")
            .starts_with("schedule-copy: sm80.cp_async(bytes = 8)"));
  CHECK(planned("sm90", "later(4)", "h200") ==
        "schedule-capability: later(n = 4) needs compute capability 20.0, and h200 has 9.0; a copy "
        "that the GPU has, or a schedule for a newer one");
  CHECK(planned("sm80", "stmatrix(2)", "a100").starts_with("schedule-capability: "));
  CHECK(planned("sm90", "ldmatrix", "h200").find("`copies` takes copy instructions, not") !=
        std::string::npos);
  CHECK(planned("sm90", "(stmatrix(2), 3)", "h200").find("`copies` takes copy instructions") !=
        std::string::npos);
  CHECK(planned("sm90", "sm90.wgmma(n = 64, ab = f16, acc = f32)", "h200").find("is no copy") !=
        std::string::npos);
  CHECK(planned("sm90", "cp_async(5)", "h200").find("no instruction with these") !=
        std::string::npos);
}

TEST_CASE("rows of the library under a schedule without an atom take its copies") {
  const sema::test::Script script(
      "use atoms.sm90\nkernel f<M, N, K>(A: f16 (M,K), B: f16 (N,K)) -> C: f16 (M,N) "
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\nschedule f for sm90 { copies = stmatrix(2) }\n");
  REQUIRE(script.messages == "");
  const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
  for (const plan::Problem& problem : plan.problems) FAIL(problem.message);
  int taken = 0;
  for (const plan::Variant& variant : plan.variants) {
    if (!variant.schedule.known() || !plan::is_sm90(variant)) continue;
    const auto names = names_of(plan::copies_of(variant));
    taken += names.contains("sm90.stmatrix(n = 2)");
    CHECK(!names.contains("sm90.stmatrix(n = 4)"));
  }
  CHECK(taken > 10);
}
