#include <algorithm>

#include "liblay/objects.h"
#include "runtime/build/manifest.h"
#include "runtime/commands/script.h"

namespace lay::api {
namespace {

// The name of the only kernel. DiagnosticError "no-kernel".
std::string only_kernel(const ProgramState& state) {
  const auto kernels = state.program.evaluator.kernels();
  if (kernels.size() == 1) return kernels[0]->name;
  throw DiagnosticError("no-kernel", kernels.empty()
                                         ? "the program has no kernel"
                                         : "the program has " + std::to_string(kernels.size()) +
                                               " kernels: name the one that is meant");
}

// Evaluates "scale(argument0, argument1)" with the values for these names.
sema::Outcome called(lay_kernel& kernel, const lay_value* const* arguments, std::size_t count,
                     const std::map<std::string, std::int64_t>& sizes) {
  const std::string& callee = kernel.kernel->name;
  sema::Bindings bound = {{callee, kernel.family}};
  std::string stem = "argument", text = callee + "(";
  while (callee.starts_with(stem)) stem += "_";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = stem + std::to_string(i);
    text += (i > 0 ? ", " : "") + name;
    bound.emplace_back(name, value_for(kernel.state, arguments[i], "arguments[]"));
  }
  return kernel.state->program.evaluator.evaluate_expression(callee, text + ")", bound, sizes);
}

// The outputs of a call: one value, or a tuple of several.
std::vector<sema::Value> parts(const sema::Value& result) {
  if (const auto* list = result.as<sema::ListPtr>()) return (*list)->elements;
  return {result};
}

}  // namespace
}  // namespace lay::api

using namespace lay::api;
using namespace lay;

size_t lay_kernel_count(const lay_program* program) {
  try {
    return program ? program->state->program.evaluator.kernels().size() : 0;
  } catch (...) {
    return 0;
  }
}

const char* lay_kernel_name(lay_program* program, size_t index) {
  if (!program) return nullptr;
  try {
    const auto kernels = program->state->program.evaluator.kernels();
    // The program keeps every kernel that it has had, and its name with it.
    return index < kernels.size() ? kernels[index]->name.c_str() : nullptr;
  } catch (...) {
    return nullptr;
  }
}

lay_result lay_kernel_new(lay_program* program, const char* name, lay_kernel** kernel) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(kernel, "kernel");
    *kernel = nullptr;
    const std::string wanted = name ? name : only_kernel(state);
    const sema::KernelPtr named = runtime::kernels_named(state.program, wanted).front();
    const sema::Outcome outcome = state.program.evaluator.evaluate_expression("<kernel>", wanted);
    state.context->add(&state.program.sources, outcome.diagnostics);
    if (outcome.ok() && outcome.value)
      *kernel = new lay_kernel{program->state, *outcome.value, named, {}, {}, {}};
  });
}

void lay_kernel_free(lay_kernel* kernel) {
  delete kernel;
}

const char* lay_kernel_json(lay_kernel* kernel) {
  if (!kernel) return nullptr;
  return kept_text(kernel->json, [&] { return runtime::signature_json(*kernel->kernel); });
}

lay_result lay_kernel_run(lay_kernel* kernel, const lay_value* const* arguments,
                          size_t argument_count, const lay_size* sizes, size_t size_count,
                          lay_value** outputs, size_t output_count) {
  if (!kernel) return LAY_RESULT_MISUSE;
  ProgramState& state = *kernel->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(outputs, "outputs");
    std::fill(outputs, outputs + output_count, nullptr);
    if (argument_count > 0) require(arguments, "arguments");
    const sema::Outcome outcome =
        called(*kernel, arguments, argument_count, sizes_of(sizes, size_count));
    state.context->add(&state.program.sources, outcome.diagnostics);
    if (!outcome.ok() || !outcome.value) return;
    const std::vector<sema::Value> made = parts(*outcome.value);
    if (made.size() != output_count)
      throw Misuse{"`output_count` is " + std::to_string(output_count) + ": the kernel has " +
                   std::to_string(made.size()) + " outputs"};
    std::vector<std::unique_ptr<lay_value>> kept;
    for (const sema::Value& value : made)
      kept.emplace_back(new_value(state.context, kernel->state, value));
    for (std::size_t i = 0; i < kept.size(); ++i) outputs[i] = kept[i].release();
  });
}
