#include <algorithm>

#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

using Indices = std::vector<sema::IndexId>;

Indices sorted(Indices indices) {
  std::sort(indices.begin(), indices.end());
  return indices;
}

// The output's indices, the one that runs along memory first.
Indices by_memory(const Declared& declared, const sema::Assignment& assignment) {
  Facts facts;
  Indices indices = assignment.indices;
  // Neighbouring threads write neighbours in memory, so that stores coalesce: the index whose
  // stride is 1 runs fastest in the thread's number.
  const int unit = tile::unit_mode(facts, declared.tensor(assignment.target).layout);
  if (unit > 0) std::rotate(indices.begin(), indices.begin() + unit, indices.begin() + unit + 1);
  return indices;
}

Int elements(const Declared& declared, const Indices& indices) {
  Int product = 1;
  for (sema::IndexId index : indices)
    product *= declared.kernel.indices[static_cast<size_t>(index)].extent;
  return product;
}

// One group of assignments over the same indices: all values first, then all stores.
void lower_group(Declared& declared, const std::vector<const sema::Assignment*>& group,
                 Term linear) {
  Builder& b = declared.b;
  const Indices indices = by_memory(declared, *group[0]);
  declared.from(group[0]->where, "one thread an element");
  // 64 bits: an output of 2^31 elements or more has numbers that 32 bits do not hold. Each
  // coordinate does fit, since an extent is at most 2^31 - 1.
  b.when(linear < b.size(elements(declared, indices), ElementType::s64), [&] {
    ElementLowering element(declared);
    Term rest = linear;
    for (size_t i = 0; i < indices.size(); ++i) {
      const Term extent = b.cast(declared.extent(indices[i]), ElementType::s64);
      const bool last = i + 1 == indices.size();
      const Term coordinate = b.cast(last ? rest : rest % extent, ElementType::s32);
      element.bind(indices[i], b.let(declared.index_name(indices[i]), coordinate));
      // The mixed radix of the extents, fastest first; the last digit is what is left.
      if (!last) rest = b.let(declared.fresh("rest"), rest / extent);
    }
    std::vector<Term> values;
    for (const sema::Assignment* assignment : group) {
      declared.from(assignment->where);
      const Term value =
          element.value(assignment->value, declared.tensor(assignment->target).element);
      // An assignment may read what another of the group writes at the same element, so every value
      // is computed before the first store.
      values.push_back(group.size() > 1 ? b.let(declared.fresh("value"), value) : value);
    }
    for (size_t i = 0; i < group.size(); ++i) {
      declared.from(group[i]->where);
      b.assign(element.element(group[i]->target, group[i]->indices), values[i]);
    }
  });
}

}  // namespace

void lower_scalar(Declared& declared, const plan::ScalarKernel& scalar) {
  Builder& b = declared.b;
  std::vector<std::vector<const sema::Assignment*>> groups;
  Int most = 0;
  for (const sema::Assignment& assignment : declared.kernel.assignments) {
    // Outputs over the same indices share their loads; Y[i,j] and Z[j,i] do as well.
    const auto same = [&](const auto& group) {
      return sorted(group[0]->indices) == sorted(assignment.indices);
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end())
      group = groups.insert(groups.end(), std::vector<const sema::Assignment*>{});
    group->push_back(&assignment);
    const Int count = elements(declared, assignment.indices);
    // One grid for all groups, as large as the largest needs: each group has a guard of its own.
    most = most.is(0) ? count : max(most, count);
  }
  b.kernel.launch = {{ceil_div(most, scalar.threads), 1, 1}, {1, 1, 1}, scalar.threads, 1};
  b.role("all", 0, scalar.threads, [&] {
    const Term block = b.cast(b.special(Builtin::block_x), ElementType::s64);
    const Term thread = b.cast(b.special(Builtin::thread), ElementType::s64);
    const Term linear = b.let(declared.name("linear"), block * scalar.threads + thread);
    for (const auto& group : groups) lower_group(declared, group, linear);
  });
}

}  // namespace lay::ir
