#include "runtime/bench/checker.h"

#include <cmath>

#include "backend/plan/make.h"
#include "backend/plan/model/scalar.h"
#include "backend/plan/recognise.h"
#include "runtime/bench/problem/element_value.h"

namespace lay::bench {
namespace {

// The scalar kernel takes seconds beyond this: then elements are compared with the host.
constexpr double most_scalar_operations = 5e11;

sema::TensorId loaded(const sema::Kernel& kernel, sema::NodeId load) {
  return std::get<sema::Load>(kernel.node(load).what).tensor;
}

std::string three_digits(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

// Returns numbers for every input, of the kind that `kind` gives for its tensor.
template <class Kind>
HostData numbers(const Problem& problem, const Kind& kind, std::uint64_t seed) {
  HostData data(problem.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.below)
      data[i] = make_positions(tensor.element, tensor.elements, *tensor.below, seed + 16 * i);
    else if (tensor.segments)
      data[i] = make_starts(tensor.element, tensor.elements, tensor.segments->count,
                            tensor.segments->rows, seed + 16 * i);
    else if (tensor.access != sema::Access::output)
      data[i] = make_numbers(tensor.element, tensor.elements, kind(static_cast<sema::TensorId>(i)),
                             seed + 16 * i);
  }
  return data;
}

}  // namespace

Checker::Checker(runtime::Gpu& gpu, const Sources& sources, const plan::Plan& plan,
                 const Problem& problem, OperandSets& sets)
    : problem_(problem), sets_(sets) {
  const auto operations = plan::scalar_work(*problem.kernel).flops.evaluate(problem.sizes);
  try {
    if (operations && static_cast<double>(*operations) <= most_scalar_operations)
      scalar_.emplace(gpu, sources, problem, plan, scalar_variant(plan.kernel));
  } catch (const NotMeasured&) {  // this GPU cannot run it: the host alone is the reference
    scalar_.reset();
  }
  uniform_ = uniform_numbers(problem);
  const auto recognised =
      plan::recognise_coalesced(problem.kernel, plan::facts_of(*problem.kernel));
  const auto* gemm = std::get_if<plan::Gemm>(&recognised);
  if (gemm) {
    a_ = loaded(*gemm->kernel, gemm->form.a);
    b_ = loaded(*gemm->kernel, gemm->form.b);
  }
  add_case("integers", Numbers::small_integers, Numbers::small_integers);
  if (!gemm) return;
  // Integers that need the whole significand, if their sums stay exact and the output can store
  // them: one operand at a time, against signs.
  const auto k = static_cast<double>(with_kernel(problem, gemm->kernel).extent(gemm->form.k));
  const auto exact = [&](sema::TensorId wide) {
    const Tensor& tensor = problem.tensors[static_cast<std::size_t>(wide)];
    const ElementType output =
        problem.tensors[static_cast<std::size_t>(problem.kernel->assignments[0].target)].element;
    const double most = largest(tensor.element, Numbers::wide_integers);
    if (bits(tensor.element) == 8 && is_float(tensor.element)) return k <= 16384;
    return most * k < 0x1p24 && !(output == ElementType::f16 && most * 4 * std::sqrt(k) > 65504);
  };
  if (exact(a_)) add_case("wide integers in A", Numbers::wide_integers, Numbers::signs);
  if (exact(b_) && a_ != b_) add_case("wide integers in B", Numbers::signs, Numbers::wide_integers);
}

HostData uniform_numbers(const Problem& problem) {
  return numbers(
      problem, [](sema::TensorId) { return Numbers::uniform; }, 1);
}

void Checker::add_case(std::string name, Numbers a, Numbers b) {
  const auto kind = [&](sema::TensorId id) {
    return id == a_ ? a : id == b_ ? b : Numbers::small_integers;
  };
  Case made{std::move(name), numbers(problem_, kind, 100 + cases_.size()), {}, {}};
  if (scalar_) {
    Ran ran =
        run_on([&](int set, runtime::StreamHandle stream) { scalar_->launch(sets_, set, stream); },
               made.before);
    made.expected = std::move(ran.outputs);
    const Comparison comparison =
        compare_with_reference(problem_, made.before, made.expected, {.exact = true});
    made.scalar = {comparison.right() && ran.written.empty(),
                   ran.written.empty() ? comparison.first : ran.written,
                   {}};
  }
  cases_.push_back(std::move(made));
}

Checker::Ran Checker::run_on(const Launch& launch, const HostData& before) const {
  sets_.upload(0, before);
  launch(0, nullptr);
  runtime::synchronize();
  return {sets_.download(0), written_input(before)};
}

// Right outputs prove nothing if the launch changed its inputs.
std::string Checker::written_input(const HostData& before) const {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Tensor& tensor = problem_.tensors[i];
    if (tensor.access != sema::Access::input) continue;
    const auto now = sets_.download(0, static_cast<sema::TensorId>(i));
    const std::int64_t at = first_difference(tensor, before[i], now);
    if (at >= 0) return "writes its input " + tensor.name + ", at offset " + std::to_string(at);
  }
  return "";
}

std::string Checker::difference(const HostData& expected, const HostData& got) const {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].empty()) continue;
    const Tensor& tensor = problem_.tensors[i];
    const std::int64_t at = first_difference(tensor, expected[i], got[i]);
    if (at < 0) continue;
    return tensor.name + " at offset " + std::to_string(at) + ": expected " +
           three_digits(Reader(tensor.element, expected[i])[at]) + ", got " +
           three_digits(Reader(tensor.element, got[i])[at]);
  }
  return "";
}

CheckResult Checker::check_all(const Launch& launch, int promotion_interval, bool same_bits) {
  same_bits = same_bits && has_exact_sums(problem_);
  bool all_same = scalar_.has_value();
  for (const Case& each : cases_) {
    const auto [got, written] = run_on(launch, each.before);
    if (!each.scalar.right)
      return {
          false, "WRONG even in the scalar kernel, on " + each.name + ": " + each.scalar.text, {}};
    if (!written.empty()) return {false, "WRONG: " + written, {}};
    std::string wrong = each.expected.empty() ? "" : difference(each.expected, got);
    const bool same = !each.expected.empty() && wrong.empty();
    if (each.expected.empty() || (!same && !same_bits))
      wrong = compare_with_reference(problem_, each.before, got, {.exact = true}).first;
    if (!wrong.empty()) return {false, "WRONG on " + each.name + ": " + wrong, {}};
    all_same = all_same && same;
  }
  auto [result, written] = run_on(launch, uniform_);
  if (!written.empty()) return {false, "WRONG: " + written, {}};
  const Comparison comparison = compare_with_reference(problem_, uniform_, result,
                                                       {.promotion_interval = promotion_interval});
  if (!comparison.right())
    return {false,
            "WRONG in " + std::to_string(comparison.wrong) + " of " +
                std::to_string(comparison.elements) + " elements: " + comparison.first,
            {}};
  return {true,
          (all_same ? "same bits on integers, error " : "error ") + three_digits(comparison.worst) +
              " of the bound in " + std::to_string(comparison.elements) + " elements",
          std::move(result)};
}

CheckResult Checker::check_ours(const Launch& launch, int promotion_interval) {
  return check_all(launch, promotion_interval, true);
}

CheckResult Checker::check_triton(const Launch& launch) {
  return check_all(launch, 0, false);
}

CheckResult Checker::check_baseline(const Launch& launch, bool rounds_between) {
  // The library's gelu may be made of tanh.approx, which is within 2^-11 (PTX ISA); 2^-9 of the
  // output covers that where the tanh is not near -1.
  const ElementType output =
      problem_.tensors[static_cast<std::size_t>(problem_.kernel->assignments[0].target)].element;
  const double extra = 0x1p-9 + (rounds_between ? 4 * unit_roundoff(output) : 0);
  const Ran ran = run_on(launch, uniform_);
  if (!ran.written.empty()) return {false, ran.written, {}};
  return check_outputs(ran.outputs, extra);
}

CheckResult Checker::check_outputs(const HostData& outputs, double extra_roundoff) const {
  const Comparison comparison = compare_with_reference(
      problem_, uniform_, outputs, {.extra_roundoff = extra_roundoff}, {4e7, 2});
  // Near 0 a rounding between product and epilogue is larger than the result: one element in 20
  // may exceed its bound.
  const bool right = comparison.wrong * 20 <= comparison.elements;
  return {right, right ? "" : "WRONG: " + comparison.first, {}};
}

CheckResult Checker::check_repeat(const Launch& launch, const HostData& expected) {
  const Ran ran = run_on(launch, uniform_);
  const std::string wrong = ran.written.empty() ? difference(expected, ran.outputs) : ran.written;
  return {wrong.empty(), wrong.empty() ? "" : "WRONG after the rounds: " + wrong, {}};
}

}  // namespace lay::bench
