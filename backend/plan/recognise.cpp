#include "backend/plan/recognise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backend/plan/scales/multiplicands.h"
#include "backend/tile/coalesce_indices.h"
#include "backend/tile/match_indices.h"
#include "backend/tile/rename_indices.h"
#include "backend/tile/split_indices.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

using namespace sema;

std::optional<NodeId> load_under_casts(const Kernel& kernel, NodeId node) {
  const NodeId bare = without_casts(kernel, node);
  return std::holds_alternative<Load>(kernel.node(bare).what) ? std::optional(bare) : std::nullopt;
}

namespace {

struct Factor {
  NodeId value = -1, load = -1;
  std::vector<IndexId> indices;
  NodeId by_row = -1;  // a coordinate that is read from memory
  bool has(IndexId index) const {
    return std::find(indices.begin(), indices.end(), index) != indices.end();
  }
};

// The index of a coordinate that is an element of a tensor of one mode at that index, or at a place
// that is such an element itself; else -1.
IndexId index_of_row(const Kernel& kernel, NodeId coordinate) {
  const auto load = load_under_casts(kernel, coordinate);
  if (!load || kernel.load(*load).coordinate.size() != 1) return -1;
  const NodeId at = kernel.load(*load).coordinate[0];
  const IndexId bare = bare_index(kernel, at);
  return bare >= 0 ? bare : index_of_row(kernel, at);
}

// A factor whose coordinates are bare, distinct indices; but for one, where segments may be.
std::variant<Factor, NotGemm> factor(const Kernel& kernel, NodeId value, FurtherFactors further) {
  auto load = load_under_casts(kernel, value);
  if (!load) return NotGemm{"a factor of the product is not a plain element of a tensor"};
  Factor made{value, *load, {}};
  for (NodeId coordinate : std::get<Load>(kernel.nodes[*load].what).coordinate) {
    IndexId index = bare_index(kernel, coordinate);
    if (index < 0 && further == FurtherFactors::segments && made.by_row < 0 &&
        index_of_row(kernel, coordinate) >= 0) {
      made.by_row = coordinate;
      continue;
    }
    if (index < 0) return NotGemm{"a coordinate of a factor is not a bare index"};
    if (made.has(index)) return NotGemm{"a factor has one index twice"};
    made.indices.push_back(index);
  }
  return made;
}

bool same_indices(const Kernel& kernel) {
  auto sorted = [](std::vector<IndexId> indices) {
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  const auto first = sorted(kernel.assignments[0].indices);
  return std::all_of(kernel.assignments.begin(), kernel.assignments.end(),
                     [&](const Assignment& a) { return sorted(a.indices) == first; });
}

// The stride with which an index steps through a factor's memory.
Int step(const Kernel& kernel, const Factor& factor, IndexId index) {
  const auto& load = std::get<Load>(kernel.node(factor.load).what);
  const auto mode = std::find_if(load.coordinate.begin(), load.coordinate.end(),
                                 [&](NodeId each) { return bare_index(kernel, each) == index; }) -
                    load.coordinate.begin();
  const Layout& layout = kernel.tensor(load.tensor).layout;
  // A nested mode counts by its fastest leaf.
  return leaves(layout[static_cast<int>(mode)].stride)[0].value();
}

// Returns, among the target's indices that only `in` has, the one that steps least; where that is
// not known, the last.
IndexId own_index(const Kernel& kernel, const Facts& facts, const Factor& in, const Factor& out) {
  IndexId best = -1;
  for (IndexId index : kernel.assignments[0].indices) {
    if (!in.has(index) || out.has(index)) continue;
    // Among several own indices the one with the smallest stride becomes m or n, the others
    // batches: it is the index that vectors and TMA run along.
    const bool farther =
        best >= 0 && facts.proves(less_equal(step(kernel, in, best), step(kernel, in, index)));
    if (!farther) best = index;
  }
  return best;
}

std::variant<GemmForm, NotGemm> place_indices(const Kernel& kernel, const Facts& facts,
                                              GemmForm form, Factor left, Factor right) {
  const std::vector<IndexId>& target = kernel.assignments[0].indices;
  // sum[k](A[m,k] * x[m]) is x[m] times a sum, no GEMM.
  for (const Factor* f : {&left, &right}) {
    if (!f->has(form.k)) return NotGemm{"a factor does not depend on the summed index"};
  }
  // m and n are indices of one factor alone; indices of both are batches: C[b,m,n] = A[b,m,k]
  // B[b,n,k].
  const auto first = std::find_if(target.begin(), target.end(),
                                  [&](IndexId i) { return left.has(i) != right.has(i); });
  if (first == target.end()) return NotGemm{"no output index belongs to one factor alone"};
  // The factor with the output's first index is A, whichever stands first in the product.
  if (right.has(*first)) std::swap(left, right);
  form.m = own_index(kernel, facts, left, right);
  form.n = own_index(kernel, facts, right, left);
  if (form.n < 0)
    return NotGemm{"only one factor has an output index of its own: a matrix times a vector"};
  for (IndexId index : target) {
    if (index != form.m && index != form.n) form.batch.push_back(index);
  }
  form.a_value = left.value;
  form.a = left.load;
  form.b_value = right.value;
  form.b = right.load;
  // A tile has the rows of one segment, which selects a part of B.
  if (left.by_row >= 0 || (right.by_row >= 0 && index_of_row(kernel, right.by_row) != form.m))
    return NotGemm{"the rows that select a part of a factor are not those of the other one"};
  form.by_row = right.by_row;
  return form;
}

// The two operands among the factors, plain elements that depend on k itself; the others become
// scales.
std::variant<std::array<Factor, 2>, NotGemm> operands_among(const Kernel& kernel,
                                                            const std::vector<NodeId>& factors,
                                                            GemmForm& form) {
  std::vector<Factor> found;
  for (const NodeId each : factors) {
    if (auto scale = group_scale(kernel, each, form.k)) {
      form.scales.push_back(std::move(*scale));
      continue;
    }
    auto operand = factor(kernel, each, FurtherFactors::none);
    if (auto* no = std::get_if<NotGemm>(&operand)) return *no;
    found.push_back(std::get<Factor>(std::move(operand)));
  }
  // Two operands of which one is computed, or three, are products of other kinds: a launch before
  // stores what they are multiplied by.
  if (found.size() != 2 || form.scales.empty())
    return NotGemm{"its product is not of two operands and factors that are constant in groups"};
  return std::array{found[0], found[1]};
}

// The kernel whose indices have been joined, the given one where none has.
KernelPtr coalesced(const KernelPtr& kernel, Kernel coalesced) {
  KernelPtr joined = std::make_shared<const Kernel>(std::move(coalesced));
  // An index that is joined or split gives a tensor another layout.
  const auto same = [](const Tensor& a, const Tensor& b) { return a.layout == b.layout; };
  return std::equal(joined->tensors.begin(), joined->tensors.end(), kernel->tensors.begin(), same)
             ? kernel
             : joined;
}

// Why threads or tensor cores do not accumulate a reduction, if they do not.
std::optional<NotGemm> fault_of_sum(const Node& sum) {
  const auto& contraction = std::get<Reduce>(sum.what);
  if (contraction.function != ReduceFunction::sum)
    return NotGemm{"it reduces by `" + std::string(reduce_row(contraction.function).name) +
                   "`, not by `sum`"};
  // The types in which threads or tensor cores accumulate.
  if (sum.type != ElementType::f32 && sum.type != ElementType::f64 &&
      sum.type != ElementType::s32) {
    return NotGemm{"its sum is in " + std::string(element_name(sum.type)) +
                   ", not in f32, f64 or s32"};
  }
  return std::nullopt;
}

std::vector<NodeId> reductions_of(const Kernel& kernel) {
  std::vector<NodeId> found;
  const auto live = reachable(kernel);
  for (NodeId id = 0; id < static_cast<NodeId>(kernel.nodes.size()); ++id)
    if (live[id] && std::holds_alternative<Reduce>(kernel.nodes[id].what)) found.push_back(id);
  return found;
}

// The product that a sum of the kernel is.
std::variant<GemmForm, NotGemm> form_of(const Kernel& kernel, const Facts& facts, NodeId sum,
                                        FurtherFactors further) {
  GemmForm form;
  form.contraction = sum;
  const auto& contraction = std::get<Reduce>(kernel.nodes[form.contraction].what);
  // A sum over two indices is a product over their flattened pair, which layouts may not say.
  if (contraction.indices.size() != 1) return NotGemm{"its sum is over more than one index"};
  form.k = contraction.indices[0];
  const auto* product = std::get_if<Apply>(&kernel.nodes[contraction.body].what);
  if (!product || product->function != ElementFunction::mul)
    return NotGemm{"its sum is not of a product"};
  auto left = factor(kernel, product->operands[0], further),
       right = factor(kernel, product->operands[1], further);
  const bool plain = std::holds_alternative<Factor>(left) && std::holds_alternative<Factor>(right);
  if (!plain && further == FurtherFactors::scales) {
    auto both = operands_among(kernel, multiplicands(kernel, contraction.body), form);
    if (auto* no = std::get_if<NotGemm>(&both)) return *no;
    const auto& [one, other] = std::get<std::array<Factor, 2>>(both);
    return place_indices(kernel, facts, form, one, other);
  }
  if (auto* no = std::get_if<NotGemm>(&left)) return *no;
  if (auto* no = std::get_if<NotGemm>(&right)) return *no;
  return place_indices(kernel, facts, form, std::get<Factor>(left), std::get<Factor>(right));
}

// Returns true if two products are of one A, over the same indices, and of one type.
bool share_a(const Kernel& kernel, const GemmForm& one, const GemmForm& other) {
  return one.a == other.a && one.a_value == other.a_value && one.m == other.m && one.n == other.n &&
         one.k == other.k && one.batch == other.batch &&
         kernel.node(one.contraction).type == kernel.node(other.contraction).type &&
         kernel.loaded(one.b).element == kernel.loaded(other.b).element;
}

}  // namespace

std::vector<NodeId> GemmForm::contractions() const {
  std::vector<NodeId> all{contraction};
  for (const FurtherForm& each : further) all.push_back(each.contraction);
  return all;
}

GemmForm swapped(GemmForm form) {
  std::swap(form.m, form.n);
  std::swap(form.a, form.b);
  std::swap(form.a_value, form.b_value);
  std::swap(form.a_view, form.b_view);
  return form;
}

std::variant<NodeId, NotGemm> only_sum(const Kernel& kernel) {
  // Exactly one sum in the nodes that outputs reach.
  const std::vector<NodeId> found = reductions_of(kernel);
  if (found.size() > 1) return NotGemm{"it has more than one reduction"};
  if (found.empty()) return NotGemm{"it has no reduction"};
  if (auto fault = fault_of_sum(kernel.node(found[0]))) return *fault;
  if (!same_indices(kernel)) return NotGemm{"its outputs have different indices"};
  return found[0];
}

std::variant<GemmForm, NotGemm> recognise(const Kernel& kernel, const Facts& facts,
                                          FurtherFactors further) {
  const auto sum = only_sum(kernel);
  if (const auto* no = std::get_if<NotGemm>(&sum)) return *no;
  return form_of(kernel, facts, std::get<NodeId>(sum), further);
}

// The sums are made to run over one index first, so that what they share is one node.
std::variant<Gemm, NotGemm> recognise_fused(const KernelPtr& kernel, const Facts& facts) {
  constexpr std::size_t most = 4;  // sums that the registers of a thread might hold
  const Kernel split = tile::split_indices(*kernel, facts);
  const std::vector<NodeId> sums = reductions_of(split);
  if (sums.size() < 2 || sums.size() > most || !same_indices(split))
    return NotGemm{"it has not several sums with the same indices"};
  const auto indices = [&](NodeId sum) { return std::get<Reduce>(split.node(sum).what).indices; };
  std::map<IndexId, IndexId> to;
  for (const NodeId sum : sums) {
    if (auto fault = fault_of_sum(split.node(sum))) return *fault;
    if (!tile::match_indices(split, facts, indices(sum), indices(sums[0]), to))
      return NotGemm{"its sums are over other indices"};
  }
  const auto renamed = std::make_shared<const Kernel>(tile::rename_indices(split, to));
  const KernelPtr joined = coalesced(renamed, tile::coalesce_indices(*renamed, facts));
  std::vector<GemmForm> forms;
  for (const NodeId sum : reductions_of(*joined)) {
    auto form = form_of(*joined, facts, sum, FurtherFactors::none);
    if (auto* no = std::get_if<NotGemm>(&form)) return *no;
    forms.push_back(std::get<GemmForm>(std::move(form)));
  }
  // Sums of one product have become one node.
  if (forms.size() < 2) return NotGemm{"its products are one"};
  const auto share = [&] {
    return std::all_of(forms.begin(), forms.end(),
                       [&](const GemmForm& each) { return share_a(*joined, forms[0], each); });
  };
  // What they share may stand second: then the outputs are seen as their transposes.
  if (!share()) {
    for (GemmForm& each : forms) each = swapped(std::move(each));
    if (!share()) return NotGemm{"its products share no factor"};
  }
  GemmForm made = std::move(forms[0]);
  for (std::size_t i = 1; i < forms.size(); ++i)
    made.further.push_back({forms[i].contraction, forms[i].b_value, forms[i].b});
  return Gemm{joined, std::move(made)};
}

std::variant<Gemm, NotGemm> recognise_coalesced(const KernelPtr& kernel, const Facts& facts) {
  KernelPtr joined =
      coalesced(kernel, tile::coalesce_indices(tile::split_indices(*kernel, facts), facts));
  auto form = recognise(*joined, facts);
  if (auto* no = std::get_if<NotGemm>(&form)) return *no;
  return Gemm{std::move(joined), std::get<GemmForm>(std::move(form))};
}

std::variant<Gemm, NotGemm> recognise_scaled(const KernelPtr& kernel, const Facts& facts) {
  auto known = recognise_coalesced(kernel, facts);
  if (std::holds_alternative<Gemm>(known)) return known;
  KernelPtr apart = kernel;
  while (auto outside = with_factors_outside(*apart))
    apart = std::make_shared<const Kernel>(std::move(*outside));
  if (apart != kernel) {
    auto plain = recognise_coalesced(apart, facts);
    if (std::holds_alternative<Gemm>(plain)) return plain;
  }
  // An index is not split here: scales are recognised by the quotients of k. Where the script has
  // groups as an index of their own, they become quotients.
  for (const bool quotients : {false, true}) {
    KernelPtr joined = coalesced(apart, quotients ? tile::coalesce_with_quotients(*apart, facts)
                                                  : tile::coalesce_indices(*apart, facts));
    auto form = recognise(*joined, facts, FurtherFactors::scales);
    if (auto* found = std::get_if<GemmForm>(&form))
      return Gemm{std::move(joined), std::move(*found)};
  }
  return known;
}

int arithmetic_outside(const sema::Kernel& kernel, sema::NodeId value,
                       const std::vector<sema::NodeId>& contractions) {
  std::set<sema::NodeId> seen(contractions.begin(), contractions.end());
  std::vector<sema::NodeId> open{value};
  int count = 0;
  while (!open.empty()) {
    const sema::NodeId id = open.back();
    open.pop_back();
    const auto* apply = std::get_if<sema::Apply>(&kernel.node(id).what);
    if (!seen.insert(id).second || !apply) continue;
    using enum ElementFunction;
    // exp, log, tanh and the like cost about eight multiply-adds; casts are instructions that other
    // work hides.
    const bool elementary = apply->function >= exp && apply->function <= cos;
    count += apply->function == cast ? 0 : elementary ? 8 : 1;
    open.insert(open.end(), apply->operands.begin(), apply->operands.end());
  }
  return count;
}

std::vector<sema::NodeId> loads_outside(const sema::Kernel& kernel,
                                        const std::vector<sema::NodeId>& contractions) {
  // Starts behind the sums: what is inside them is the main loop's.
  std::set<sema::NodeId> seen(contractions.begin(), contractions.end());
  std::vector<sema::NodeId> open, found;
  for (const sema::Assignment& assignment : kernel.assignments) open.push_back(assignment.value);
  while (!open.empty()) {
    const sema::NodeId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const sema::Node& node = kernel.node(id);
    if (std::holds_alternative<sema::Load>(node.what)) {
      found.push_back(id);
    } else {
      for (const sema::NodeId operand : operands(node)) open.push_back(operand);
    }
  }
  // In the order of ids, so that plans do not depend on the order of the walk.
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace lay::plan
