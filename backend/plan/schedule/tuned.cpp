#include "backend/plan/schedule/tuned.h"

#include "backend/plan/make.h"
#include "backend/plan/mask.h"
#include "backend/tile/vectors.h"

namespace lay::plan {
namespace {

// 'm', 'n' or 'k': the index along which neighbours in memory lie; '-' for another, or none.
char along(Facts& facts, const GemmForm& form, const Layout& layout,
           const std::vector<sema::IndexId>& indices) {
  const int unit = tile::unit_mode(facts, layout);
  const sema::IndexId index = unit < 0 ? -1 : indices.at(static_cast<std::size_t>(unit));
  return index == -1       ? '-'
         : index == form.m ? 'm'
         : index == form.n ? 'n'
         : index == form.k ? 'k'
                           : '-';
}

std::vector<sema::IndexId> indices_of(const sema::Kernel& kernel, const sema::Load& load) {
  std::vector<sema::IndexId> indices;
  for (const sema::NodeId coordinate : load.coordinate)
    indices.push_back(bare_index(kernel, coordinate));
  return indices;
}

}  // namespace

std::optional<sema::TunedClass> tuned_class(const sema::Kernel& kernel, const GemmForm& form,
                                            const Target& target) {
  if (kernel.assignments.size() != 1) return std::nullopt;
  const sema::Assignment& assignment = kernel.assignments.front();
  const sema::Tensor& output = kernel.tensor(assignment.target);
  Facts facts = facts_of(kernel);
  sema::TunedClass made;
  // A class is what timings carry over within: the GPU, the types, how operands and output lie, a
  // mask. Sizes are conditions of the rows inside a class.
  made.gpu = target.name;
  made.a = kernel.loaded(form.a).element;
  made.b = kernel.loaded(form.b).element;
  made.acc = kernel.node(form.contraction).type;
  made.c = output.element;
  for (const sema::NodeId load : {form.a, form.b})
    made.along +=
        along(facts, form, kernel.loaded(load).layout, indices_of(kernel, kernel.load(load)));
  made.along += along(facts, form, output.layout, assignment.indices);
  made.masked = mask_of(kernel, form.contraction).has_value();
  // Tensors without a contiguous mode of the product's are in no class.
  return made.along.find('-') == std::string::npos ? std::optional(made) : std::nullopt;
}

std::vector<std::string> tuned_families(const Target& target) {
  std::vector<std::string> families;
  if (target.capability >= 90) families.emplace_back("sm90");
  if (target.capability >= 80) families.emplace_back("sm80");
  // Tuned rows of tensor cores first: where there are any, they were measured the faster ones.
  families.emplace_back("simt");
  return families;
}

std::vector<sema::TunedRow> tuned_rows(const std::string& family, const sema::TunedClass& of) {
  std::vector<sema::TunedRow> rows = sema::tuned_rows(family);
  std::erase_if(rows, [&](const sema::TunedRow& row) { return row.of != of; });
  return rows;
}

}  // namespace lay::plan
