#include <charconv>
#include <iostream>
#include <optional>

#include "frontend/algebra/support/refusal.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/pictures/pictures.h"
#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/io/arrays.h"

namespace lay::runtime {
namespace {

// The kernel that a script without calls wants run.
sema::KernelPtr chosen_kernel(const Script& script, const std::string& name) {
  const auto named = kernels_named(script, name);
  if (named.empty()) throw DiagnosticError("no-kernel", "the script has no kernel");
  if (named.size() == 1 || !name.empty()) return named.front();
  std::string names;
  for (const auto& kernel : named) names += (names.empty() ? "`" : ", `") + kernel->name + "`";
  throw DiagnosticError("no-kernel",
                        "the script has several kernels (" + names + "): choose with --kernel");
}

sema::Number number(const std::string& name, const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto r = std::from_chars(text.data(), end, integer);
      r.ec == std::errc() && r.ptr == end)
    return integer;
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end)
    return real;
  Diagnostic d;
  d.code = "set";
  d.message = "`" + text + "` is not a number, in --set " + name + "=" + text;
  if (text.find(',') != std::string::npos)
    d.notes.push_back({"help", "each takes one name: --set M=64 --set N=64"});
  throw DiagnosticError(std::move(d));
}

// Every name on the command line must mean something in the kernel.
void check_names(const sema::Kernel& kernel, const RunOptions& options) {
  const auto is_tensor = [&](const std::string& name, bool read) {
    for (const auto& tensor : kernel.tensors)
      if (tensor.name == name)
        return tensor.access == sema::Access::inout ||
               (tensor.access == sema::Access::input) == read;
    return false;
  };
  const auto is_size_or_scalar = [&](const std::string& name) {
    for (const auto& dim : kernel.dims)
      if (dim.name == name) return true;
    for (const auto& scalar : kernel.scalars)
      if (scalar.name == name) return true;
    return false;
  };
  for (const auto& [name, file] : options.in)
    if (!is_tensor(name, true))
      throw DiagnosticError("no-parameter",
                            "kernel `" + kernel.name + "` has no input `" + name + "`");
  for (const auto& [name, file] : options.out)
    if (!is_tensor(name, false))
      throw DiagnosticError("no-parameter",
                            "kernel `" + kernel.name + "` has no output `" + name + "`");
  for (const auto& [name, value] : options.set)
    if (!is_size_or_scalar(name))
      throw DiagnosticError("no-parameter",
                            "kernel `" + kernel.name + "` has no size or scalar `" + name + "`");
}

sema::Array given_array(const sema::Tensor& tensor, const std::string& file) {
  const sema::Array array = load_array(file);
  const std::string wanted(element_name(tensor.element));
  Diagnostic d;
  if (const auto fitting = sema::as_elements(array, tensor.element)) {
    if (!sema::is_rounded(array, *fitting)) return *fitting;
    d.code = "rounded";
    d.severity = Severity::note;
    d.message = "`" + tensor.name + "` is rounded from " +
                std::string(element_name(array.element)) + " to " + wanted;
    report(Sources(), d);
    return *fitting;
  }
  d.code = "argument-kind";
  d.message = "`" + tensor.name + "` is of " + wanted + ", and `" + file + "` holds " +
              std::string(element_name(array.element));
  if (is_half_byte(tensor.element))
    d.notes.push_back({"works", is_signed(tensor.element)
                                    ? "an array of int8 with numbers from -8 to 7"
                                    : "an array of uint8 with numbers from 0 to 15"});
  else
    d.notes.push_back({"help", "convert the array in NumPy with .astype()"});
  throw DiagnosticError(std::move(d));
}

// The arrays given, converted to the kernel's elements; nothing for outputs and for what is to be
// made.
std::vector<std::optional<sema::Array>> given_arrays(const sema::Kernel& kernel,
                                                     const RunOptions& options) {
  std::vector<std::optional<sema::Array>> arrays(kernel.tensors.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const sema::Tensor& tensor = kernel.tensors[i];
    if (tensor.access == sema::Access::output) continue;
    const auto file = options.in.find(tensor.name);
    if (file != options.in.end())
      arrays[i] = given_array(tensor, file->second);
    else if (!options.random)
      throw DiagnosticError("no-input", "kernel `" + kernel.name + "` needs `" + tensor.name +
                                            "`: --in " + tensor.name + "=FILE.npy, or --random");
  }
  return arrays;
}

sema::KernelCall call_of(const sema::KernelPtr& kernel, const RunOptions& options) {
  check_names(*kernel, options);
  auto arrays = given_arrays(*kernel, options);
  std::vector<std::optional<std::vector<std::int64_t>>> shapes;
  for (const auto& array : arrays)
    shapes.push_back(array ? std::optional(array->shape) : std::nullopt);
  sema::KernelCall call;
  call.kernel = kernel;
  call.sizes = sema::solve_sizes(*kernel, shapes, sizes_of(options.set));
  sema::check_guards(*kernel, call.sizes);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const sema::Tensor& tensor = kernel->tensors[i];
    const auto shape = sema::array_shape(tensor, call.sizes);
    if (arrays[i]) {
      sema::check_shared_places(tensor, call.sizes, *arrays[i]);
      call.tensors.push_back(*arrays[i]);
    } else if (tensor.access == sema::Access::output) {
      call.tensors.push_back(sema::Array::make(tensor.element, shape));
    } else {
      sema::Array made = random_array(tensor.element, shape, options.seed + i);
      if (sema::may_share_places(tensor, call.sizes))  // one value for each place
        made = sema::unpack(tensor, call.sizes, sema::pack(tensor, call.sizes, made));
      call.tensors.push_back(std::move(made));
    }
  }
  for (const sema::Scalar& scalar : kernel->scalars) {
    const auto value = options.set.find(scalar.name);
    if (value == options.set.end())
      throw DiagnosticError("no-input", "kernel `" + kernel->name + "` needs the number `" +
                                            scalar.name + "`: --set " + scalar.name + "=...");
    call.scalars.push_back(number(scalar.name, value->second));
  }
  return call;
}

// Returns an array that NumPy has no name for as its bits; any other as it is.
sema::Array as_bits(const sema::Array& array) {
  if (!is_float(array.element) || array.element == ElementType::f16 || bits(array.element) > 16)
    return array;
  return {bits(array.element) == 16 ? ElementType::b16 : ElementType::b8, array.shape, array.bytes};
}

void write_outputs(const sema::Kernel& kernel, const sema::KernelResult& result,
                   const RunOptions& options) {
  std::size_t next = 0;
  for (const sema::Tensor& tensor : kernel.tensors) {
    if (tensor.access == sema::Access::input) continue;
    const sema::Array& array = result.outputs.at(next++);
    const auto file = options.out.find(tensor.name);
    if (file == options.out.end()) {
      std::cout << tensor.name << " = " << array.to_string() << "\n";
    } else {
      save_array(file->second, options.bits ? as_bits(array) : array);
      std::cerr << tensor.name << ": written to " << file->second << "\n";
    }
  }
}

bool needs_input(const std::vector<sema::KernelPtr>& kernels) {
  const auto reads = [](const sema::Tensor& tensor) {
    return tensor.access != sema::Access::output;
  };
  return std::any_of(kernels.begin(), kernels.end(), [&](const sema::KernelPtr& kernel) {
    return !kernel->scalars.empty() ||
           std::any_of(kernel->tensors.begin(), kernel->tensors.end(), reads);
  });
}

void run_kernel(Script& script, const RunOptions& options) {
  const sema::KernelPtr kernel = chosen_kernel(script, options.kernel);
  try {
    write_outputs(*kernel, script.executor.run(call_of(kernel, options)), options);
  } catch (const Refusal& refusal) {
    Diagnostic d;
    d.code = refusal.code;
    d.message = "kernel `" + kernel->name + "`: " + refusal.message;
    for (const auto& [kind, text] : refusal.notes()) d.notes.push_back({kind, text});
    throw DiagnosticError(std::move(d));
  }
}

}  // namespace

int run_script(const RunOptions& options) {
  for (const auto& [name, text] : options.set) number(name, text);
  ScriptOptions evaluation;
  evaluation.evaluation = {sema::Mode::run, sizes_of(options.set)};
  evaluation.show = show_picture;
  evaluation.after = [](const Sources& sources, const sema::Outcome& outcome) {
    report(sources, outcome.diagnostics);
  };
  evaluation.host = {options.counts, options.order, options.field, options.strict};
  bool printed = false;
  evaluation.print = [&](const std::string& line) {
    printed = true;
    print_line(line);
  };
  const bool of_host = options.counts || options.order != 0 || options.field;
  evaluation.on = of_host && options.on == MachineChoice::any ? MachineChoice::host : options.on;
  evaluation.log = log_to_stderr;
  const auto script = evaluate_script(options.file, evaluation);
  int code = exit_code_of(script->outcomes);
  const bool wants_kernel =
      !options.in.empty() || !options.out.empty() || options.random || !options.kernel.empty();
  if (script->evaluator.kernel_calls() > 0 || code != exit_ok) return code;
  if (!wants_kernel && script->evaluator.kernels().empty()) return code;
  if (!wants_kernel && printed && needs_input(script->evaluator.kernels())) {
    log_to_stderr(
        "no kernel was run: the script calls none, and no inputs are given (--in "
        "PARAMETER=FILE.npy "
        "or --random)");
    return code;
  }
  try {
    run_kernel(*script, options);
  } catch (const DiagnosticError& e) {
    report(script->sources, e.diagnostic);
    code = exit_program;
  }
  return code;
}

}  // namespace lay::runtime
