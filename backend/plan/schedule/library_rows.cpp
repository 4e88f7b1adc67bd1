#include "backend/plan/schedule/library_rows.h"

#include <algorithm>
#include <numeric>

#include "backend/plan/copies.h"
#include "backend/plan/mask.h"

namespace lay::plan {

namespace {

// Returns true if the epilogue reads matrices, whose tiles take shared memory; a bias or a scale
// for each row does not count.
bool reads_matrices(const sema::Kernel& kernel, const GemmForm& form) {
  const auto loads = loads_outside(kernel, form.contractions());
  return std::any_of(loads.begin(), loads.end(),
                     [&](sema::NodeId id) { return kernel.load(id).coordinate.size() > 1; });
}

// Bits of an element of the widest output: f32 outputs take twice the shared memory of 16 bits.
int stored_bits(const sema::Kernel& kernel) {
  int most = 0;
  for (const sema::Assignment& assignment : kernel.assignments)
    most = std::max(most, bits(kernel.tensor(assignment.target).element));
  return most;
}

// Arithmetic of the output with most of it: a gelu is long enough to hide behind another consumer
// group's products, and so prefers ping-pong.
int arithmetic(const sema::Kernel& kernel, const GemmForm& form) {
  int most = 0;
  for (const sema::Assignment& assignment : kernel.assignments)
    most = std::max(most, arithmetic_outside(kernel, assignment.value, form.contractions()));
  return most;
}

// Columns for which all scales are the same; 0 where none depends on the column.
std::int64_t column_run(const sema::Kernel& kernel, const GemmForm& form) {
  std::int64_t run = 0;
  for (const GroupScale& scale : form.scales)
    run = std::gcd(run, constant_run(kernel, scale.value, form.n));
  return run;
}

}  // namespace

sema::ProductKind product_kind(const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                               bool in_parts, const Target& target) {
  const ElementType a = kernel.loaded(form.a).element, b = kernel.loaded(form.b).element,
                    sum = kernel.node(form.contraction).type;
  // Scaled integers are summed as integers within a group; beside floats they are floats.
  const bool scaled = !form.scales.empty();
  const ElementType accumulator = scaled && !is_float(a) && !is_float(b) ? ElementType::s32 : sum;
  const auto along_k = [&](sema::NodeId factor, const std::optional<OperandView>& view) {
    return view ? view->runs_along_k() : runs_along_k(kernel, facts, factor, form.k);
  };
  return {a,
          b,
          accumulator,
          arithmetic(kernel, form),
          form.further.empty() && mask_of(kernel, form.contraction).has_value(),
          stored_bits(kernel),
          along_k(form.a, form.a_view),
          along_k(form.b, form.b_view),
          reads_matrices(kernel, form),
          in_parts || scaled,
          !form.batch.empty(),
          scaled,
          static_cast<int>(column_run(kernel, form)),
          form.segments.has_value(),
          target.capability,
          target.costs,
          static_cast<int>(form.contractions().size())};
}

sema::ProblemSize product_size(const sema::Kernel& kernel, const GemmForm& form,
                               const Target& target) {
  const auto extent = [&](sema::IndexId index) { return kernel.index(index).extent; };
  Int batches = form.segments ? form.segments->count : Int(1);
  for (const sema::IndexId index : form.batch) batches *= extent(index);
  return {extent(form.m), extent(form.n), extent(form.k), batches, target.sms};
}

std::optional<sema::ProblemSize> sized(const sema::ProblemSize& size, const Binding& sizes) {
  // Extents are products of dims where indices are joined, and may not fit 64 bits.
  const auto m = size.m.evaluate(sizes), n = size.n.evaluate(sizes), k = size.k.evaluate(sizes),
             batches = size.batches.evaluate(sizes);
  if (!m || !n || !k || !batches || std::min({*m, *n, *k, *batches}) < 1) return std::nullopt;
  return sema::ProblemSize{*m, *n, *k, *batches, size.sms};
}

std::vector<sema::Policy> library_rows(const std::string& family, const sema::Kernel& kernel,
                                       const GemmForm& form, Facts& facts, bool in_parts,
                                       const Target& target) {
  const ElementType sum = kernel.node(form.contraction).type;
  const bool as_wide = kernel.loaded(form.a).element == sum,
             takes_it = family == "simt" || (family == "sm80" && sum == ElementType::f64);
  if (as_wide && !takes_it) return {};
  // Products that share an operand have rows of their own, whose costs are of all of them.
  const std::string library = form.further.empty() ? family : family + "_fused";
  return sema::library_policies(library, product_kind(kernel, form, facts, in_parts, target));
}

}  // namespace lay::plan
