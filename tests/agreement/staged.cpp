// The data that goes through shared memory on both sides of a Hopper epilogue, against the kernel's
// reference meaning, bit for bit on integers, over outputs of NaN; and mistakes in it, which the
// host finds.
//
//   test_agreement "staged*"             on the host
//   test_agreement "[gpu][staged]"       on a GPU too, with larger sizes
#include <catch2/catch.hpp>
#include <regex>

#include "backend/interpret/launches.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using test::difference;
using test::Extents;
using test::integer_call;

const char* const file = "tests/agreement/staged.lay";

const sema::KernelPtr& kernel_of(const test::Kernels& kernels, const std::string& name) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

// The variant on a machine of `clusters`, in an order of warps.
ir::Kernel lowered(const sema::KernelPtr& kernel, std::size_t variant, int clusters) {
  Target target = default_target();
  const plan::Plan first = plan::make_plan(kernel, target);
  target.sms = clusters * plan::sm90_of(first.variants[variant])->blocks();
  const plan::Plan plan = plan::make_plan(kernel, target);
  return ir::lower(plan, plan.variants[variant]);
}

// For one cluster, without the notes at the ends of lines.
std::string text_of(const sema::KernelPtr& kernel, std::size_t variant) {
  static const std::regex note("  @[0-9]+( \"[^\"]*\")?\n");
  return std::regex_replace(ir::print(lowered(kernel, variant, 1)), note, "\n");
}

std::string trouble(const ir::Kernel& kernel, const sema::KernelCall& call,
                    const std::vector<sema::Array>& expected, std::uint64_t seed) {
  runtime::PackedCall packed = runtime::packed(call);
  const auto arguments = runtime::named_arguments(packed);
  const interpret::Report report =
      interpret::run_all({kernel}, arguments, {.write_once = true, .seed = seed});
  if (report.fault)
    return std::string(interpret::fault_name(report.fault->code)) + ": " + report.fault->message;
  const auto got = runtime::unpacked_outputs(call, packed);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (const std::string found = difference(got[i], expected[i]); !found.empty())
      return "output " + std::to_string(i) + ": " + found;
  }
  return "";
}

void agree(runtime::Executor& executor, const sema::KernelPtr& kernel, const Extents& sizes) {
  INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
  const sema::KernelCall call = integer_call(kernel, sizes);
  const auto expected = sema::run_reference(call).outputs, got = executor.run(call).outputs;
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(difference(got[i], expected[i]) == "");
}

}  // namespace

TEST_CASE("staged: epilogues agree with the reference on ragged sizes", "[staged]") {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    for (const Extents& sizes :
         {Extents{208, 144, 80}, {64, 64, 16}, {16, 16, 208}, {70, 37, 48}, {136, 280, 16}})
      agree(kernels.host(), kernel, sizes);
  }
}

TEST_CASE(
    "staged: what has the output's shape goes through shared memory, by TMA where strides are "
    "whole 16 bytes",
    "[staged]") {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    for (const auto& problem : plan.problems) FAIL(problem.message);
    std::size_t full = 0, vectors = 0;
    for (const sema::Tensor& tensor : kernel->tensors) {
      const bool factor =
          tensor.name == "A" || tensor.name == "B" || tensor.access == sema::Access::output;
      (tensor.layout.rank() == 1 ? vectors : full) += !factor;
    }
    int taken = 0;
    for (const plan::Variant& variant : plan.variants) {
      const auto gemm = plan::sm90_of(variant);
      if (!gemm || !variant.before.empty()) continue;
      INFO(variant.name);
      REQUIRE(gemm->store);
      CHECK(gemm->store->outputs.size() == kernel->assignments.size());
      CHECK(gemm->store->inputs.size() == full);
      const bool any = variant.name.ends_with("_any");
      CHECK(gemm->store->vectors.size() == vectors);
      for (const plan::StagedVector& each : gemm->store->vectors) {
        const bool in_pairs =
            !any && each.axis == 1 && kernel->loaded(each.load).layout.stride.is_literal(1);
        CHECK(each.together == (in_pairs ? 2 : 1));
        CHECK(size(each.held).is(gemm->store->step()));
        CHECK(size(each.read).is(gemm->store->step() /
                                 (each.axis == 1 ? 2 : gemm->store->step() / 2)));
      }
      for (const plan::StagedTensor& each : gemm->store->inputs) {
        const bool ends =
            each.along_n &&
            gemm->store->width * kernel->tensor(each.tensor).element_bytes() % 16 != 0;
        CHECK(each.tma ==
              !(any || ends ||
                gemm->store->rest * kernel->tensor(each.tensor).element_bytes() % 16 != 0));
      }
      ++taken;
    }
    CHECK(taken == 2);
  }
}

TEST_CASE("staged: many tiles of a block agree in any order of warps", "[staged]") {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const sema::KernelCall call = integer_call(kernel, {272, 208, 16});
    const auto expected = sema::run_reference(call).outputs;
    for (const std::size_t variant : {0, 1}) {
      const ir::Kernel made = lowered(kernel, variant, 1);
      CHECK(ir::verify(made).empty());
      for (const std::uint64_t seed : {0, 1}) {
        INFO(kernel->name << ", variant " << variant << ", seed " << seed);
        CHECK(trouble(made, call, expected, seed) == "");
      }
    }
  }
}

TEST_CASE("staged: banks of shared memory are met as often as must be, and as the plan says",
          "[staged]") {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan::make_plan(kernel);
    runtime::PackedCall packed = runtime::packed(integer_call(kernel, {272, 208, 16}));
    for (const std::size_t variant : {0, 1}) {
      INFO(kernel->name << ", variant " << variant);
      for (const plan::BankConflicts& access : plan.variants[variant].prediction.conflicts) {
        INFO(access.access);
        CHECK(access.wavefronts <= access.least);
      }
      const interpret::Report report =
          interpret::run_all({lowered(kernel, variant, 1)}, runtime::named_arguments(packed),
                             {.bank_conflicts = true});
      REQUIRE(!report.fault);
      int met = 0;
      for (const interpret::BankConflicts& access : report.banks) {
        if (access.buffer == "A_stage" || access.buffer == "B_stage" || access.buffer == "parts")
          continue;
        INFO(access.statement);
        ++met;
        CHECK(access.wavefronts <= access.least);
      }
      CHECK(met > 0);
    }
  }
}

TEST_CASE("staged: faults of inputs that TMA loads are found", "[staged]") {
  test::Kernels kernels(file);
  const sema::KernelPtr& kernel = kernel_of(kernels, "residual");
  const sema::KernelCall call = integer_call(kernel, {512, 256, 64});
  const std::string text = text_of(kernel, 0);
  const size_t epilogue = text.find("for pass"),
               next = text.find("arrive_expect_bytes arrived", epilogue);
  test::find_planted(
      text, call, sema::run_reference(call).outputs[0],
      {
          {"nobody waits for them",
           "wait arrived[(consumer * 4 + warp % 4) * 3 + slot(`arrive`)] phase phase(`arrive`)", "",
           "in-flight", epilogue},
          {"the buffer that comes next is read", "staged_column_2 + step * 8 * 2,slot(`arrive`)",
           "staged_column_2 + step * 8 * 2,(slot(`arrive`) + 1) % 3", "in-flight", epilogue},
          {"the bytes of half of a box", "bytes 2048", "bytes 1024", "bytes"},
          {"the rows of another warp", "R_in1_stage[warp % 4 * 16",
           "R_in1_stage[(warp + 1) % 4 * 16", "race"},
          {"another warp's rows come", "consumer % 2 * 128 + ahead / 2 * 64 + warp % 4 * 16",
           "consumer % 2 * 128 + ahead / 2 * 64 + (warp + 1) % 4 * 16", "element"},
          {"the last subtile is not loaded", "+ 3 < 4", "+ 3 < 3", "deadlock", epilogue},
          {"a buffer is filled before it has been read", "fence warp", "", "race",
           text.find("advance `arrive`")},
          {"the next pass' columns are those of this one",
           "n_first + (pass / 2 * 2 + pass % 2 + 3) % 2 * 64", "n_first + pass % 2 * 64", "element",
           next},
          {"the barrier of another buffer is told",
           "then mbarrier arrived[(consumer * 4 + warp % 4) * 3 + slot(load_input)]",
           "then mbarrier arrived[(consumer * 4 + warp % 4) * 3]", "bytes", next},
      });
}

TEST_CASE("staged: faults of inputs that threads load are found", "[staged]") {
  test::Kernels kernels(file);
  const sema::KernelPtr& kernel = kernel_of(kernels, "across");
  const sema::KernelCall call = integer_call(kernel, {136, 112, 16});
  const std::string text = text_of(kernel, 1);
  const size_t epilogue = text.find("for some"), rest = text.find("< 40 and", epilogue);
  test::find_planted(text, call, sema::run_reference(call).outputs[0],
                     {
                         {"others' parts are not waited for", "sync stored[consumer]", "",
                          "uninitialised", epilogue},
                         {"the buffer is filled while others read it", "sync stored[consumer]", "",
                          "race", text.find("copy warp C_stage", epilogue)},
                         {"rows beyond the tensor are read", "when m < M and n < N", "when n < N",
                          "out-of-bounds", epilogue},
                         {"rows are not transposed", "((4,8),(16,2,4)):((256,16),(1,128,1024))",
                          "(32,(32,4)):(32,(1,1024))", "element"},
                         {"the rest is a whole pass", "n_first + 64 + (run_column_2",
                          "n_first + (run_column_2", "element", text.rfind("let n", rest)},
                     });
}

TEMPLATE_TEST_CASE_SIG("on a GPU: staged: epilogues agree with the reference", "[.][gpu][staged]",
                       ((int part), part), 0, 1, 2, 3) {
  constexpr int parts = 4;  // so that several processes share the work
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.part(part, parts)) {
    for (const std::int64_t m : {16, 200, 528})
      for (const std::int64_t n : {37, 208, 336})
        for (const std::int64_t k : {16, 208}) agree(kernels.gpu(), kernel, {m, n, k});
  }
}
