#include "runtime/bench/judge.h"

#include <cmath>

#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "runtime/bench/value.h"

namespace lay::bench {
namespace {

// The plain kernel takes seconds beyond: then elements are held against the host.
constexpr double most_plain_operations = 5e11;

sema::TensorId loaded(const sema::Kernel& kernel, sema::NodeId load) {
  return std::get<sema::Load>(kernel.nodes[static_cast<std::size_t>(load)].what).tensor;
}

std::string part(double worst) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g", worst);
  return text;
}

// For every input, of the kind that is wanted of it.
template <class Kind>
HostData numbers(const Problem& problem, const Kind& kind, std::uint64_t seed) {
  HostData data(problem.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.access != sema::Access::output)
      data[i] = make_numbers(tensor.element, tensor.elements, kind(static_cast<sema::TensorId>(i)),
                             seed + 16 * i);
  }
  return data;
}

}  // namespace

Judge::Judge(runtime::Gpu& gpu, const Sources& sources, const plan::Plan& plan,
             const Problem& problem, DeviceSets& sets)
    : problem_(problem), sets_(sets) {
  const double operations =
      plan.variants.empty()
          ? 0
          : static_cast<double>(
                plan.variants.front().prediction.flops.evaluate(problem.sizes).value_or(0));
  try {
    if (operations <= most_plain_operations)
      plain_.emplace(gpu, sources, problem, plan, plain_variant());
  } catch (const NotMeasured&) {  // no plain form for this GPU: then the host judges alone
    plain_.reset();
  }
  uniform_ = uniform_numbers(problem);
  const auto form = plan::recognise(*problem.kernel, plan::facts_of(*problem.kernel));
  const auto* gemm = std::get_if<plan::GemmForm>(&form);
  if (gemm) {
    a_ = loaded(*problem.kernel, gemm->a);
    b_ = loaded(*problem.kernel, gemm->b);
  }
  add_case("integers", Numbers::small_integers, Numbers::small_integers);
  if (!gemm) return;
  // Wide ones as far as their sums stay exact, and finite where they are stored.
  const auto k = static_cast<double>(problem.extent(gemm->k));
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

void Judge::add_case(std::string name, Numbers a, Numbers b) {
  const auto kind = [&](sema::TensorId id) {
    return id == a_ ? a : id == b_ ? b : Numbers::small_integers;
  };
  Case made{std::move(name), numbers(problem_, kind, 100 + cases_.size()), {}, {}};
  if (plain_) {
    Ran ran = result_of(
        [&](int set, runtime::StreamHandle stream) { plain_->launch(sets_, set, stream); },
        made.before);
    made.due = std::move(ran.outputs);
    const Judgement judgement = check(problem_, made.before, made.due, true);
    made.plain = {judgement.right() && ran.written.empty(),
                  ran.written.empty() ? judgement.first : ran.written,
                  {}};
  }
  cases_.push_back(std::move(made));
}

Judge::Ran Judge::result_of(const Launch& launch, const HostData& before) const {
  sets_.upload(0, before);
  launch(0, nullptr);
  runtime::synchronize();
  return {sets_.download(0), written_input(before)};
}

// What the outputs say is worth nothing where the launch changed what they are computed from.
std::string Judge::written_input(const HostData& before) const {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Tensor& tensor = problem_.tensors[i];
    if (tensor.access != sema::Access::input) continue;
    const auto now = sets_.download(0, static_cast<sema::TensorId>(i));
    const std::int64_t at = first_difference(tensor, before[i], now);
    if (at >= 0) return "writes its input " + tensor.name + ", at offset " + std::to_string(at);
  }
  return "";
}

std::string Judge::difference(const HostData& due, const HostData& got) const {
  for (std::size_t i = 0; i < due.size(); ++i) {
    if (due[i].empty()) continue;
    const Tensor& tensor = problem_.tensors[i];
    const std::int64_t at = first_difference(tensor, due[i], got[i]);
    if (at < 0) continue;
    return tensor.name + " at offset " + std::to_string(at) + " is " +
           part(Reader(tensor.element, got[i])[at]) + " and should be " +
           part(Reader(tensor.element, due[i])[at]);
  }
  return "";
}

Verdict Judge::judged(const Launch& launch, int accumulate, bool same_bits) {
  bool all_same = plain_.has_value();
  for (const Case& each : cases_) {
    const auto [got, written] = result_of(launch, each.before);
    if (!each.plain.right)
      return {false, "WRONG even when run plainly, on " + each.name + ": " + each.plain.text, {}};
    if (!written.empty()) return {false, "WRONG: " + written, {}};
    std::string wrong = each.due.empty() ? "" : difference(each.due, got);
    const bool same = !each.due.empty() && wrong.empty();
    if (each.due.empty() || (!same && !same_bits))
      wrong = check(problem_, each.before, got, true).first;
    if (!wrong.empty()) return {false, "WRONG on " + each.name + ": " + wrong, {}};
    all_same = all_same && same;
  }
  auto [result, written] = result_of(launch, uniform_);
  if (!written.empty()) return {false, "WRONG: " + written, {}};
  const Judgement judgement = check(problem_, uniform_, result, false, {}, 0, accumulate);
  if (!judgement.right())
    return {false,
            "WRONG in " + std::to_string(judgement.wrong) + " of " +
                std::to_string(judgement.elements) + " elements: " + judgement.first,
            {}};
  return {true,
          (all_same ? "same bits on integers, error " : "error ") + part(judgement.worst) +
              " of what is allowed in " + std::to_string(judgement.elements) + " elements",
          std::move(result)};
}

Verdict Judge::of_ours(const Launch& launch, int accumulate) {
  return judged(launch, accumulate, true);
}

Verdict Judge::of_stated(const Launch& launch) {
  return judged(launch, 0, false);
}

Verdict Judge::of_opponent(const Launch& launch, bool rounds_between) {
  // The library's gelu may be made of tanh.approx, which is within 2^-11 (PTX ISA); 2^-9 of the
  // output covers that where the tanh is not near -1.
  const ElementType output =
      problem_.tensors[static_cast<std::size_t>(problem_.kernel->assignments[0].target)].element;
  const double extra = 0x1p-9 + (rounds_between ? 4 * unit_roundoff(output) : 0);
  const Ran ran = result_of(launch, uniform_);
  if (!ran.written.empty()) return {false, ran.written, {}};
  const Judgement judgement = check(problem_, uniform_, ran.outputs, false, {4e7, 2}, extra);
  // Near 0 the roundings in between are larger than the result: few elements may leave the bound.
  const bool right = judgement.wrong * 20 <= judgement.elements;
  return {right, right ? "" : "gives something else: " + judgement.first, {}};
}

Verdict Judge::same_again(const Launch& launch, const HostData& judged) {
  const Ran ran = result_of(launch, uniform_);
  const std::string wrong = ran.written.empty() ? difference(judged, ran.outputs) : ran.written;
  return {wrong.empty(), wrong.empty() ? "" : "WRONG after the rounds: " + wrong, {}};
}

}  // namespace lay::bench
