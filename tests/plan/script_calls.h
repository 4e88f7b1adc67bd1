// Kernels written in Lay, called in every variant of their plans: the interpreter must give the
// bits of the reference.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/interpret/launches.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/interpret.h"
#include "frontend/sema/kernel/field/field_call.h"
#include "tests/language/script.h"
#include "tests/tile/rounding.h"

namespace lay::test {

inline interpret::Argument scalar(const sema::Number& number, ElementType type) {
  if (is_float(type))
    return std::visit([](auto v) { return interpret::Argument(static_cast<double>(v)); }, number);
  return std::visit([](auto v) { return interpret::Argument(static_cast<std::int64_t>(v)); },
                    number);
}

// Runs one variant on copies of the call's arrays; the bytes of every output.
inline std::vector<sema::Array> outputs(const plan::Plan& plan, const plan::Variant& variant,
                                        const sema::KernelCall& call) {
  const sema::Kernel& kernel = *plan.kernel;
  interpret::NamedArguments arguments;
  for (const sema::Dim& dim : kernel.dims)
    arguments[dim.name] = call.sizes.at(*dim.symbol.dim_id());
  for (size_t i = 0; i < kernel.scalars.size(); ++i) {
    arguments[kernel.scalars[i].name] = scalar(call.scalars[i], kernel.scalars[i].type);
  }
  std::vector<std::vector<std::byte>> memory;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    memory.push_back(sema::pack(kernel.tensors[i], call.sizes, call.tensors[i]));
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    const bool constant = kernel.tensors[i].access == sema::Access::input;
    arguments[kernel.tensors[i].name] =
        interpret::Memory{memory[i].data(), static_cast<std::int64_t>(memory[i].size()), constant};
  }
  const auto report =
      interpret::run_all(ir::lower_all(plan, plan::at_sizes(variant, call.sizes)), arguments,
                         {.write_once = true, .arithmetic = call.arithmetic});
  if (report.fault) FAIL(report.fault->message);
  std::vector<sema::Array> result;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (kernel.tensors[i].access == sema::Access::input) continue;
    result.push_back(
        sema::unpack(kernel.tensors[i], call.tensors[i].element, call.sizes, memory[i]));
  }
  return result;
}

// Returns the most terms that a sum of the call may have.
inline std::int64_t longest_sum(const sema::KernelCall& call) {
  std::int64_t terms = 1;
  for (const sema::Index& index : call.kernel->indices)
    terms = std::max(terms, index.extent.evaluate(call.sizes).value_or(1));
  return terms;
}

// Returns true if one of its launches adds up in another order than the reference.
inline bool joins_sums(const plan::Variant& variant) {
  const auto simt = plan::simt_of(variant);
  // An instruction for f64 adds up several products at once, in the type of the reference.
  if (const auto gemm = plan::sm80_of(variant)) return gemm->total == ElementType::f64;
  const bool tiled = plan::scheduled_program(variant) && !plan::elementwise(variant) && !simt &&
                     !plan::is_sm90(variant);
  return tiled || (simt && (simt->parts > 1 || simt->groups[2] > 1)) ||
         std::any_of(variant.before.begin(), variant.before.end(), [](const auto& before) {
           return std::any_of(before->variants.begin(), before->variants.end(), joins_sums);
         });
}

// In field mode a variant gives what the reference gives, whatever it does in another order.
inline void check_in_field(const plan::Plan& plan, const plan::Variant& variant,
                           const sema::KernelCall& exact, const sema::KernelResult& expected) {
  const auto wrong = sema::difference(*plan.kernel, expected, {outputs(plan, variant, exact), {}});
  if (!wrong) return;
  CAPTURE(plan.kernel->name, variant.name, wrong->tensor, wrong->coordinate, wrong->differing);
  CHECK(wrong->got == wrong->expected);
}

// An elementwise program gives what the reference gives tile by tile as well, bound and unbound,
// bit for bit.
inline void check_tiles(const plan::Variant& variant, const sema::KernelCall& call,
                        const sema::KernelResult& expected) {
  const tile::Program* program = plan::elementwise(variant);
  if (!program || program->kernel != call.kernel) return;
  for (const tile::Program& one : {*program, tile::formed_of(*program)}) {
    const sema::KernelResult made = tile::interpret(one, call);
    REQUIRE(made.outputs.size() == expected.outputs.size());
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      CAPTURE(call.kernel->name, variant.name, one.is_bound(), i);
      CHECK((*made.outputs[i].bytes == *expected.outputs[i].bytes));
    }
  }
}

inline sema::KernelResult checked(const sema::KernelCall& call) {
  const sema::KernelResult expected = sema::run_reference(call);
  const sema::KernelCall exact = sema::in_field(call);
  const sema::KernelResult expected_in_field = sema::run_reference(exact);
  const auto plan = plan::make_plan(call.kernel);
  REQUIRE(plan.problems.empty());
  int ran = 0;
  for (const plan::Variant& variant : plan.variants) {
    bool holds = true;
    for (const Predicate& p : variant.when) holds = holds && p.evaluate(call.sizes) == true;
    if (!holds) continue;
    ++ran;
    check_tiles(variant, call, expected);
    check_tiles(variant, exact, expected_in_field);
    check_in_field(plan, variant, exact, expected_in_field);
    const auto actual = outputs(plan, variant, call);
    REQUIRE(actual.size() == expected.outputs.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(call.kernel->name, variant.name, i);
      if (joins_sums(variant)) {
        CHECK(difference(actual[i], expected.outputs[i], longest_sum(call)) == "");
      } else {
        CHECK((*actual[i].bytes == *expected.outputs[i].bytes));
      }
    }
  }
  CHECK(ran > 0);
  return expected;
}

// Evaluates a script whose kernel calls are checked; its error messages.
inline std::string messages(const std::string& text) {
  Sources sources;
  sema::Host host;
  host.print = [](const std::string&) {};
  host.call = checked;
  sema::Evaluator evaluator(sources, host, {sema::Mode::run, {}});
  std::string all;
  for (const auto& outcome : evaluator.run("script.lay", text)) {
    for (const Diagnostic& d : outcome.diagnostics.list()) {
      if (d.severity == Severity::error) all += render(sources, d);
    }
  }
  return all;
}

}  // namespace lay::test
