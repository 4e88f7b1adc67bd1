// A kernel call in field mode: its reference, and the launches of its variants in the host
// interpreter, in exact arithmetic (frontend/algebra/field/number.h). A plan may compute in another
// order and by other formulas than the reference, so that rounded results differ; in field mode
// they are equal, and a wrong operand, a product that is missing or a scale that is applied twice
// cannot hide in rounding.
//
//   const FieldCheck check(call);
//   check.require_equal(lowered(...), "wide")       Refusal "field-mode" with the first element
//   that
//                                                   differs; what the interpreter finds wrong
#pragma once

#include <optional>
#include <string>

#include "backend/interpret/launches.h"
#include "frontend/sema/kernel/field/field_call.h"
#include "runtime/execute/host_run.h"
#include "runtime/gpu/launches.h"

namespace lay::runtime {

class FieldCheck {
 public:
  // Runs the reference. What `choices` say of interruption holds for the launches.
  explicit FieldCheck(const sema::KernelCall& call, HostChoices choices = {});

  // The error in a run of the launches: the fault of the interpreter, or the first element that
  // differs.
  struct Trouble {
    std::string code, message;
  };
  std::optional<Trouble> trouble(const Launches& launches, const std::string& variant) const;
  // Throws the trouble as a Refusal.
  void require_equal(const Launches& launches, const std::string& variant) const;

  // "f: equal in field mode, variant wide: 12 elements", with those that are NaN and say nothing.
  std::string verdict(const std::string& variants) const;

 private:
  sema::KernelCall call_;
  sema::KernelResult expected_;
  HostChoices choices_;
};

}  // namespace lay::runtime
