// Variants of a plan that are run where they are right, whether or not they are fast there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/ir/lower/lower.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/plan.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"

namespace lay::test {

// Conditions on how large sizes are say where a variant is fast, not where it is right.
inline bool is_preference(const Predicate& condition) {
  return condition.kind() != PredicateKind::divides;
}

inline bool can_run(const plan::Variant& variant, const Binding& sizes) {
  return std::all_of(variant.when.begin(), variant.when.end(), [&](const Predicate& condition) {
    return is_preference(condition) || condition.evaluate(sizes) == true;
  });
}

// Returns the error in a run of the variant on the host: the fault, or the first element that
// differs; empty if nothing. The seed varies the order of warps.
inline std::string trouble(const plan::Plan& plan, const plan::Variant& variant,
                           const sema::KernelCall& call, const sema::KernelResult& expected,
                           std::uint64_t seed = 0) {
  auto launches = ir::lower_all(plan, plan::at_sizes(variant, call.sizes));
  for (ir::Kernel& kernel : launches) std::erase_if(kernel.assumptions, is_preference);
  return trouble(
      launches, call, expected,
      [](const sema::Array& got, const sema::Array& wanted) { return difference(got, wanted); },
      seed);
}

// Runs up to `most` variants that can run, drawn among one of each kind; returns what is wrong and
// counts them. `kind_of` says what kind a variant is of, nothing for one that is not meant.
using KindOf = std::function<std::optional<std::string>(const plan::Variant&)>;
inline std::string trouble_of_drawn(const plan::Plan& plan, const sema::KernelCall& call,
                                    std::mt19937& random, std::size_t most, int& count,
                                    const KindOf& kind_of) {
  std::vector<const plan::Variant*> variants;
  std::set<std::string> known;
  for (const plan::Variant& variant : plan.variants)
    if (const auto kind = kind_of(variant);
        kind && can_run(variant, call.sizes) && known.insert(*kind).second)
      variants.push_back(&variant);
  std::shuffle(variants.begin(), variants.end(), random);
  if (variants.size() > most) variants.resize(most);
  const sema::KernelResult expected = sema::run_reference(call);
  for (const plan::Variant* variant : variants) {
    const std::string found = trouble(plan, *variant, call, expected, random());
    if (!found.empty()) return variant->name + ": " + found;
    ++count;
  }
  return "";
}

// " 128 64 64 2 1 1": a tile and its cluster.
inline std::string numbers_of_tile(const plan::Sm90Gemm& gemm) {
  std::string text;
  for (const int number : gemm.tile) text += " " + std::to_string(number);
  for (const int number : gemm.cluster) text += " " + std::to_string(number);
  return text;
}

}  // namespace lay::test
