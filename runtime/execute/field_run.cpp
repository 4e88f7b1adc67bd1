#include "runtime/execute/field_run.h"

#include <algorithm>
#include <thread>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"

namespace lay::runtime {
namespace {

std::string element_text(const sema::FieldDifference& difference) {
  std::string text = difference.tensor + "[";
  for (std::size_t k = 0; k < difference.coordinate.size(); ++k)
    text += (k == 0 ? "" : ",") + std::to_string(difference.coordinate[k]);
  return text + "]";
}

}  // namespace

FieldCheck::FieldCheck(const sema::KernelCall& call, HostChoices choices)
    : call_(sema::in_field(call)),
      expected_(sema::run_reference(call_)),
      choices_(std::move(choices)) {}

std::optional<FieldCheck::Trouble> FieldCheck::trouble(const Launches& launches,
                                                       const std::string& variant) const {
  PackedCall arguments = packed(call_);
  interpret::Options options;
  options.arithmetic = Arithmetic::field;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.progress = [this](const interpret::Progress&) { return !choices_.is_interrupted(); };
  const interpret::Report report =
      interpret::run_all(launches, named_arguments(arguments), options);
  if (report.fault)
    return Trouble{std::string(interpret::fault_name(report.fault->code)),
                   "variant `" + variant + "` in field mode: " + report.fault->message};
  const auto found =
      sema::difference(*call_.kernel, expected_, {unpacked_outputs(call_, arguments), {}});
  if (!found) return std::nullopt;
  return Trouble{"field-mode",
                 "variant `" + variant + "` differs from `reference` in field mode: " +
                     element_text(*found) + " is " + found->got + ", expected " + found->expected +
                     "; " + std::to_string(found->differing) + " of " +
                     std::to_string(found->elements) + " elements of " + found->tensor + " differ"};
}

void FieldCheck::require_equal(const Launches& launches, const std::string& variant) const {
  const auto wrong = trouble(launches, variant);
  if (!wrong) return;
  throw refusal(wrong->code, wrong->message,
                "this is a mistake of the plan, not of rounding: please report it with the script");
}

std::string FieldCheck::verdict(const std::string& variants) const {
  const sema::FieldCounts counts = sema::counts(*call_.kernel, expected_);
  std::string text = call_.kernel->name + ": equal to `reference` in field mode, " +
                     std::to_string(counts.elements) + " elements, variants " + variants;
  if (counts.nan > 0)
    text += " (" + std::to_string(counts.nan) + " elements are NaN, which tells nothing)";
  return text;
}

}  // namespace lay::runtime
