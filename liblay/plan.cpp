#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "liblay/objects.h"
#include "runtime/build/narrow.h"
#include "runtime/compile/compile.h"
#include "runtime/execute/stages.h"
#include "runtime/gpu/device.h"

namespace lay::api {
namespace {

// Works on a plan, whose variant `index` there must be.
template <class Work>
lay_result on_variant(lay_plan* plan, std::size_t index, Work work) {
  if (!plan) return LAY_RESULT_MISUSE;
  ProgramState& state = *plan->state;
  return guarded(state.context, &state.program.sources, [&] {
    if (index >= plan->plan.variants.size())
      throw Misuse{"`variant` is " + std::to_string(index) + ": the plan has " +
                   std::to_string(plan->plan.variants.size())};
    work(plan->plan.variants[index]);
  });
}

// The launches of a variant as CUDA, emitted when they are asked for first.
std::vector<lay_plan::Launch>& launches_of(lay_plan& plan, std::size_t index) {
  const auto known = plan.launches.find(index);
  if (known != plan.launches.end()) return known->second;
  std::vector<lay_plan::Launch> launches;
  for (const ir::Kernel& kernel :
       runtime::lowered(plan.state->program.sources, plan.plan, plan.plan.variants[index]))
    launches.push_back({runtime::emitted(*plan.plan.kernel, kernel, plan.target), {}});
  return plan.launches.emplace(index, std::move(launches)).first->second;
}

lay_plan::Launch& launch_of(lay_plan& plan, std::size_t variant, std::size_t launch) {
  auto& launches = launches_of(plan, variant);
  if (launch >= launches.size())
    throw Misuse{"`launch` is " + std::to_string(launch) + ": the variant has " +
                 std::to_string(launches.size())};
  return launches[launch];
}

std::string image_of(const lay_plan& plan, const cuda::Emitted& emitted) {
  std::string why;
  if (!runtime::can_compile(&why)) throw runtime::MachineLacks("nothing compiles here: " + why);
  const runtime::Cache cache;
  runtime::CompileOptions options;
  options.cache = &cache;
  runtime::Compilation made = runtime::compile(emitted, plan.target, options);
  if (made.ok()) return std::move(made.image);
  throw DiagnosticError("cuda-compiler",
                        made.compiler + " refuses what was emitted for " +
                            plan.target.architecture + ": " +
                            (made.messages.empty() ? made.log : made.messages.front().text),
                        plan.plan.kernel->where);
}

}  // namespace
}  // namespace lay::api

using namespace lay::api;
using namespace lay;

lay_result lay_plan_new(lay_kernel* kernel, const char* target, lay_plan** plan) {
  if (!kernel) return LAY_RESULT_MISUSE;
  ProgramState& state = *kernel->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(plan, "plan");
    *plan = nullptr;
    const Target on = target ? runtime::target_named(target) : default_target();
    plan::Plan made = plan::make_plan(kernel->kernel, on);
    const Diagnostics problems = runtime::problems_of(made);
    state.context->add(&state.program.sources, problems);
    if (!problems.ok()) return;
    state.context->add(&state.program.sources, runtime::warnings_of(made, on, false));
    *plan = new lay_plan{kernel->state, on, std::move(made), {}, {}};
  });
}

void lay_plan_free(lay_plan* plan) {
  delete plan;
}

const char* lay_plan_text(lay_plan* plan) {
  if (!plan) return nullptr;
  return kept_text(plan->text, [&] { return plan::print_plan(plan->plan); });
}

size_t lay_plan_variant_count(const lay_plan* plan) {
  return plan ? plan->plan.variants.size() : 0;
}

const char* lay_plan_variant_name(lay_plan* plan, size_t variant) {
  if (!plan || variant >= plan->plan.variants.size()) return nullptr;
  return plan->plan.variants[variant].name.c_str();
}

lay_result lay_plan_choose(lay_plan* plan, const lay_size* sizes, size_t size_count,
                           size_t* variant) {
  if (!plan) return LAY_RESULT_MISUSE;
  ProgramState& state = *plan->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(variant, "variant");
    const Binding bound =
        runtime::solved_sizes(*plan->plan.kernel, api::sizes_of(sizes, size_count));
    const plan::Variant& chosen = plan::chosen_variant(plan->plan, bound);
    *variant = static_cast<std::size_t>(&chosen - plan->plan.variants.data());
  });
}

lay_result lay_plan_forecast(lay_plan* plan, size_t variant, const lay_size* sizes,
                             size_t size_count, double* seconds, const char** bound) {
  return on_variant(plan, variant, [&](const plan::Variant& asked) {
    require(seconds, "seconds");
    const Binding at = runtime::solved_sizes(*plan->plan.kernel, api::sizes_of(sizes, size_count));
    const auto forecasts = plan::forecast(plan->plan, asked, at, plan->target);
    if (!forecasts || forecasts->empty())
      throw DiagnosticError("no-forecast",
                            "there is no forecast of variant `" + asked.name + "` at these sizes");
    double total = 0;
    const plan::Forecast* longest = &forecasts->front();
    for (const plan::Forecast& each : *forecasts) {
      total += each.seconds();
      if (each.seconds() > longest->seconds()) longest = &each;
    }
    *seconds = total;
    if (bound) *bound = longest->bottleneck().data();  // a literal
  });
}

lay_result lay_plan_launch_count(lay_plan* plan, size_t variant, size_t* launches) {
  return on_variant(plan, variant, [&](const plan::Variant&) {
    require(launches, "launches");
    *launches = launches_of(*plan, variant).size();
  });
}

lay_result lay_plan_source(lay_plan* plan, size_t variant, size_t launch, const char** text) {
  return on_variant(plan, variant, [&](const plan::Variant&) {
    require(text, "text");
    *text = launch_of(*plan, variant, launch).emitted.text.c_str();
  });
}

lay_result lay_plan_image(lay_plan* plan, size_t variant, size_t launch, const void** image,
                          size_t* bytes) {
  return on_variant(plan, variant, [&](const plan::Variant&) {
    require(image, "image");
    require(bytes, "bytes");
    lay_plan::Launch& asked = launch_of(*plan, variant, launch);
    if (asked.image.empty()) asked.image = image_of(*plan, asked.emitted);
    *image = asked.image.data();
    *bytes = asked.image.size();
  });
}
