#include "liblay/context.h"
#include "runtime/commands/policies.h"

using namespace lay;

lay_result lay_read_measured(lay_context* context, const char* policies, const char* targets) {
  if (!context) return LAY_RESULT_MISUSE;
  const api::ContextPtr& found = context->context;
  return api::guarded(found, nullptr, [&] {
    const std::string of_targets = targets ? targets : runtime::target_folder();
    if (!of_targets.empty()) found->add(nullptr, runtime::read_measured_gpus(of_targets));
    found->add(nullptr,
               runtime::read_valid_policies(policies ? policies : runtime::policy_folder()));
  });
}
