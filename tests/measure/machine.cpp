#include "tests/measure/machine.h"

#include <dlfcn.h>

#include <cstring>
#include <iostream>
#include <list>
#include <map>
#include <utility>

#include "backend/cuda/names.h"
#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/problem/epilogue.h"
#include "runtime/commands/script.h"
#include "runtime/execute/stages.h"
#include "runtime/gpu/launch_check.h"

namespace {

using namespace lay;

struct Known {
  std::string function;
  ir::Kernel kernel;
};
std::list<Known> known;
std::string broken, spoiling;
std::vector<test::Launched> launched;
std::map<std::string, long> costs;  // in launches, by function
test::TimedLaunch timed_launch;
std::list<std::string> timed_functions;  // their names: handles of functions that do nothing

const std::string* timed_function(void* handle) {
  for (const std::string& each : timed_functions)
    if (&each == handle) return &each;
  return nullptr;
}

// Elements of 4 bits as the interpreter has them, a byte each, of those that share bytes.
std::vector<std::int8_t> apart(ElementType type, const void* data, std::int64_t bytes) {
  std::vector<std::int8_t> elements;
  for (std::int64_t i = 0; i < 2 * bytes; ++i) {
    const int half = static_cast<const std::uint8_t*>(data)[i / 2] >> (i % 2 * 4) & 15;
    const bool is_negative = is_signed(type) && half > 7;
    elements.push_back(static_cast<std::int8_t>(is_negative ? half - 16 : half));
  }
  return elements;
}

template <class T>
T value(void* at) {
  T read;
  std::memcpy(&read, at, sizeof read);
  return read;
}

}  // namespace

extern "C" void* fake_find(const char* name) {
  if (timed_launch) {
    for (std::string& each : timed_functions)
      if (each == name) return &each;
    return &timed_functions.emplace_back(name);
  }
  for (Known& each : known)
    if (each.function == name) return &each;
  return nullptr;
}

extern "C" long fake_cost(void* kernel, void** parameters) {
  if (const std::string* timed = timed_function(kernel)) return timed_launch(*timed, parameters);
  std::string function;  // of one that is no kernel of ours, the name of its symbol
  for (const Known& each : known)
    if (&each == kernel) function = each.function;
  Dl_info symbol{};
  if (function.empty() && dladdr(kernel, &symbol) != 0 && symbol.dli_sname)
    function = symbol.dli_sname;
  const auto found = costs.find(function);
  return found == costs.end() ? 1 : found->second;
}

// The parameters as the emitted function has them: pointers, then sizes and scalars (f32).
extern "C" bool fake_run(void* which, const unsigned* launch, void** parameters) {
  if (timed_function(which)) return true;
  const Known& of = *static_cast<Known*>(which);
  launched.push_back({of.function, {launch[0], launch[1], launch[2], launch[3], launch[4]}});
  const ir::Kernel& kernel = of.kernel;
  std::size_t globals = 0;
  for (const ir::Buffer& buffer : kernel.buffers) globals += buffer.space == ir::Space::global;
  std::vector<interpret::Argument> arguments;
  std::list<std::vector<std::uint8_t>> flags;
  std::list<std::vector<std::int8_t>> halves;
  Binding sizes;
  std::size_t next = globals;
  for (const ir::Param& param : kernel.params) {
    void* at = parameters[next++];
    if (param.is_size)
      arguments.emplace_back(sizes[*param.symbol.dim_id()] = value<std::int32_t>(at));
    else
      arguments.emplace_back(static_cast<double>(value<float>(at)));
  }
  for (std::size_t map = 0; map < kernel.tensor_maps.size(); ++map)
    launched.back().maps.push_back(value<std::array<std::uint64_t, 16>>(parameters[next++]));
  next = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    void* data = value<void*>(parameters[next++]);
    const std::int64_t bytes = runtime::span_of(buffer, sizes)->bytes;
    interpret::Memory memory{data, bytes, !buffer.written};
    if (is_half_byte(buffer.element)) {
      auto& elements = halves.emplace_back(apart(buffer.element, data, bytes));
      memory = {elements.data(), 2 * bytes, true};
    }
    // What a launch before has left in workspace is not known here.
    if (buffer.workspace)
      memory.written = flags.emplace_back(static_cast<std::size_t>(bytes), std::uint8_t{1}).data();
    arguments.emplace_back(memory);
  }
  interpret::Options options;
  if (kernel.launch.persistent)
    options.resident_clusters = static_cast<int>(launch[0]) / kernel.launch.cluster[0];
  const auto ran = interpret::run(kernel, arguments, options);
  if (ran.fault) std::cerr << of.function << ": " << ran.fault->message << "\n";
  const bool right = !ran.fault;
  bool spoiled = false;
  next = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    auto* data = static_cast<char*>(value<void*>(parameters[next++]));
    if (buffer.written && !broken.empty() && of.function.ends_with(broken))
      data[3] = static_cast<char>(data[3] ^ 1);
    if (!buffer.written && !spoiled && !spoiling.empty() && of.function.ends_with(spoiling)) {
      data[5] = static_cast<char>(data[5] ^ 1);
      spoiled = true;
    }
  }
  return right;
}

namespace lay::test {

void know_variant(const plan::Plan& plan, const plan::Variant& variant) {
  ir::Kernel kernel = ir::lower(plan, variant);
  known.push_back({cuda::function_name(kernel.name), std::move(kernel)});
}

void know_kernels(const std::string& script) {
  runtime::ScriptOptions options;
  options.evaluation = {sema::Mode::check, {}};
  const auto read = runtime::evaluate_script(script, options);
  for (const auto& kernel : read->evaluator.kernels()) {
    const plan::Plan plan = plan::make_plan(kernel);
    for (const plan::Variant& variant : plan.variants) know_variant(plan, variant);
    know_variant(plan, bench::scalar_variant(kernel));
    // Candidates all have one name, and mean the same.
    auto bare = std::make_shared<sema::Kernel>(*kernel);
    bare->schedules = {
        {"simt", {}, {{"tile", "", tuple(32, 64, 8), kernel->where}}, kernel->where}};
    const plan::Plan tuned = plan::make_plan(bare);
    if (tuned.problems.empty())
      for (const plan::Variant& variant : tuned.variants)
        if (variant.schedule.known()) know_variant(tuned, variant);
    const auto form = plan::recognise(*kernel, plan::facts_of(*kernel));
    if (!std::holds_alternative<plan::GemmForm>(form)) continue;
    const auto output =
        kernel->tensors[static_cast<std::size_t>(kernel->assignments[0].target)].element;
    const plan::Plan epilogue =
        plan::make_plan(bench::epilogue_kernel(*kernel, std::get<plan::GemmForm>(form), output));
    for (const plan::Variant& variant : epilogue.variants) know_variant(epilogue, variant);
  }
}

void know_launches(const Sources& sources, const plan::Plan& plan) {
  for (const plan::Variant& variant : plan.variants) {
    // Plans before are launched by one variant each, of which there may be several.
    plan::Variant own = variant;
    own.before.clear();
    for (const auto& before : variant.before) {
      know_launches(sources, *before);
      if (before->variants.size() == 1) own.before.push_back(before);
    }
    for (ir::Kernel& kernel : runtime::lowered(sources, plan, own))
      known.push_back({cuda::function_name(kernel.name), std::move(kernel)});
  }
}

std::vector<Launched> take_launched() {
  return std::exchange(launched, {});
}

void set_cost(const std::string& function, long launches) {
  costs[function] = launches;
}

void set_timed_launches(TimedLaunch timed) {
  timed_launch = std::move(timed);
}

void break_variant(const std::string& ending) {
  broken = ending;
}

void spoil_input(const std::string& ending) {
  spoiling = ending;
}

}  // namespace lay::test
