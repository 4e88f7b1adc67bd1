// A plan whose variants are lowered when they are taken first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/gpu/launches.h"

namespace lay::runtime {

class LoweredPlan {
 public:
  // The sources outlive it.
  LoweredPlan(const Sources& sources, plan::Plan plan)
      : sources_(sources), plan_(std::move(plan)) {}

  const plan::Plan& plan() const { return plan_; }
  // The launches of a variant of the plan at these sizes; they stay where they are.
  const Launches& at(const plan::Variant& variant, const Binding& sizes);

 private:
  const Sources& sources_;
  plan::Plan plan_;
  std::map<std::vector<std::string>, Launches> lowered_;  // by the names of the launches
};

}  // namespace lay::runtime
