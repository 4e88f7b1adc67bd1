#include "backend/plan/launches/product.h"

#include <algorithm>
#include <set>

#include "backend/plan/launches/kernel_parts.h"
#include "backend/plan/scales/multiplicands.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

namespace {

using IndexSet = std::set<IndexId>;

bool has_all(const IndexSet& set, const std::vector<IndexId>& of) {
  return std::all_of(of.begin(), of.end(), [&](IndexId index) { return set.contains(index); });
}

bool has_any(const IndexSet& set, const std::vector<IndexId>& of) {
  return std::any_of(of.begin(), of.end(), [&](IndexId index) { return set.contains(index); });
}

// The indices of one factor that the other lacks, in the order of the outputs; not those of one
// value.
std::vector<IndexId> difference(const Kernel& kernel, const IndexSet& one, const IndexSet& other) {
  std::vector<IndexId> left;
  for (const IndexId index : in_order_of_outputs(kernel, one))
    if (!other.contains(index) && !kernel.index(index).extent.is(1)) left.push_back(index);
  return left;
}

// Multiplicands of a sum in two groups, and those that stand before the sum.
struct Groups {
  std::array<std::vector<NodeId>, 2> factors;
  std::vector<NodeId> outside;
};

// Nothing where the sum is a product as it is.
std::optional<Groups> groups_of(const Kernel& kernel, NodeId id,
                                const std::vector<IndexSet>& free) {
  const Reduce* found = accumulated_sum(kernel, id);
  if (!found) return std::nullopt;
  const Reduce& sum = *found;
  const auto indices = [&](NodeId of) -> const IndexSet& {
    return free[static_cast<std::size_t>(of)];
  };
  const std::vector<NodeId> all = multiplicands(kernel, sum.body);
  std::vector<NodeId> inside;
  if (all.size() < 3) return std::nullopt;
  // For alpha * s[m,k] * A[m,k] * B[n,k]: alpha stands outside, A and B are seeds, s goes with A.
  Groups made;
  for (const NodeId each : all)
    (has_any(indices(each), sum.indices) ? inside : made.outside).push_back(each);
  if (made.outside.empty() && product_at(kernel, id)) return std::nullopt;
  // Two that each have an index of their own, of those with most indices.
  std::optional<std::pair<NodeId, NodeId>> seeds;
  std::size_t most = 0;
  for (const NodeId a : inside) {
    for (const NodeId b : inside) {
      const bool apart = has_all(indices(a), sum.indices) && has_all(indices(b), sum.indices) &&
                         !difference(kernel, indices(a), indices(b)).empty() &&
                         !difference(kernel, indices(b), indices(a)).empty();
      const std::size_t count = indices(a).size() + indices(b).size();
      if (!apart || count <= most) continue;
      most = count;
      seeds = {a, b};
    }
  }
  if (!seeds) return std::nullopt;
  made.factors = {std::vector{seeds->first}, std::vector{seeds->second}};
  for (const NodeId each : inside) {
    if (each == seeds->first || each == seeds->second) continue;
    const auto within = [&](NodeId seed) {
      return std::includes(indices(seed).begin(), indices(seed).end(), indices(each).begin(),
                           indices(each).end());
    };
    if (!within(seeds->first) && !within(seeds->second)) return std::nullopt;
    made.factors[within(seeds->first) ? 0 : 1].push_back(each);
  }
  return made;
}

}  // namespace

std::optional<Product> product_at(const Kernel& kernel, NodeId sum) {
  const Reduce* reduce = accumulated_sum(kernel, sum);
  if (!reduce) return std::nullopt;
  const auto* multiply = std::get_if<Apply>(&kernel.node(reduce->body).what);
  if (!multiply || multiply->function != ElementFunction::mul) return std::nullopt;
  const auto free = free_indices(kernel);
  const auto of = [&](NodeId id) -> const IndexSet& { return free[static_cast<std::size_t>(id)]; };
  const NodeId a = multiply->operands[0], b = multiply->operands[1];
  if (!has_all(of(a), reduce->indices) || !has_all(of(b), reduce->indices)) return std::nullopt;
  Product made{sum, reduce->indices, {a, b}, {}, {}};
  made.own = {difference(kernel, of(a), of(b)), difference(kernel, of(b), of(a))};
  // A matrix times a vector uses an element of the matrix once: storing it would save nothing.
  if (made.own[0].empty() || made.own[1].empty()) return std::nullopt;
  const auto is_own = [&](IndexId index) {
    return std::any_of(made.own.begin(), made.own.end(), [&](const std::vector<IndexId>& own) {
      return std::find(own.begin(), own.end(), index) != own.end();
    });
  };
  for (const IndexId index : in_order_of_outputs(kernel, of(sum)))
    if (!is_own(index)) made.batch.push_back(index);
  return made;
}

std::optional<Product> first_product(const Kernel& kernel) {
  const auto live = reachable(kernel);
  // Operands have smaller ids: an inner product is met before the one around it.
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id)
    if (live[id])
      if (auto product = product_at(kernel, static_cast<NodeId>(id))) return product;
  return std::nullopt;
}

std::optional<Kernel> with_two_factors(const Kernel& kernel) {
  const auto live = reachable(kernel);
  const auto free = free_indices(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto groups = live[id] ? groups_of(kernel, static_cast<NodeId>(id), free) : std::nullopt;
    if (!groups) continue;
    return rebuilt(kernel, {static_cast<NodeId>(id)}, [&](Rebuilding& to, NodeId, Node node) {
      // Integers of an exact product get the sum's type, as their product had.
      const auto as_summed = [&](NodeId of) {
        if (kernel.node(of).type == node.type) return to.now(of);
        return to.add({Apply{ElementFunction::cast, {to.now(of)}}, node.type, node.where});
      };
      const auto multiplied = [&](const std::vector<NodeId>& of) {
        NodeId all = as_summed(of.front());
        for (std::size_t i = 1; i < of.size(); ++i)
          all =
              to.add({Apply{ElementFunction::mul, {all, as_summed(of[i])}}, node.type, node.where});
        return all;
      };
      const NodeId a = multiplied(groups->factors[0]), b = multiplied(groups->factors[1]);
      std::get<Reduce>(node.what).body =
          to.add({Apply{ElementFunction::mul, {a, b}}, node.type, node.where});
      NodeId made = to.add(node);
      for (const NodeId outside : groups->outside)
        made = to.add(
            {Apply{ElementFunction::mul, {as_summed(outside), made}}, node.type, node.where});
      return made;
    });
  }
  return std::nullopt;
}

bool is_plain(const Kernel& kernel, NodeId factor) {
  const Node* node = &kernel.node(factor);
  while (const auto* apply = std::get_if<Apply>(&node->what)) {
    if (apply->function != ElementFunction::cast) return false;
    node = &kernel.node(apply->operands[0]);
  }
  const auto* load = std::get_if<Load>(&node->what);
  if (!load || kernel.tensor(load->tensor).is_swizzled()) return false;
  std::set<IndexId> seen;
  return std::all_of(load->coordinate.begin(), load->coordinate.end(), [&](NodeId coordinate) {
    const IndexId index = bare_index(kernel, coordinate);
    return index >= 0 && seen.insert(index).second;
  });
}

namespace {

// Returns true if `type` has each value of `of`: 8 bits of significand hold every integer of up to
// 8 bits.
bool holds_all(ElementType of, ElementType type) {
  using enum ElementType;
  if (of == type) return true;
  const bool narrow = of == e4m3 || of == e5m2 || of == s8 || of == u8 || of == s4 || of == u4;
  if (type == s8 || type == u8) return of == u4 || (of == s4 && type == s8);
  if (type == f16 || type == bf16) return narrow;
  if (type == f32 || type == f64)
    return narrow || of == f16 || of == bf16 || of == s16 || of == u16 ||
           (type == f64 && (of == f32 || of == s32 || of == u32));
  return false;
}

}  // namespace

bool is_exact(const Kernel& kernel, NodeId id, ElementType type) {
  const Node& node = kernel.node(id);
  if (node.type == type) return true;
  if (const auto* literal = std::get_if<Literal>(&node.what)) {
    const auto* integer = std::get_if<std::int64_t>(&literal->value);
    const double value = integer ? static_cast<double>(*integer) : std::get<double>(literal->value);
    // 0 of a mask, -inf and powers of two stay what they are.
    return is_float(type) && decode(type, encode(type, value)) == value;
  }
  const auto* apply = std::get_if<Apply>(&node.what);
  if (!apply) return holds_all(node.type, type);
  const auto exact = [&](NodeId operand) { return is_exact(kernel, operand, type); };
  switch (apply->function) {
    case ElementFunction::cast: {
      // A cast to a wider type keeps the value; one to a narrower type makes it one of that type.
      const NodeId from = apply->operands[0];
      return holds_all(node.type, type) ||
             (holds_all(kernel.node(from).type, node.type) && exact(from));
    }
    // One of the operands, or a number without its sign: no new digits.
    case ElementFunction::select:
      return exact(apply->operands[1]) && exact(apply->operands[2]);
    case ElementFunction::min:
    case ElementFunction::max:
    case ElementFunction::min_nan:
    case ElementFunction::max_nan:
      return exact(apply->operands[0]) && exact(apply->operands[1]);
    case ElementFunction::neg:
    case ElementFunction::abs:
      return is_float(type) && exact(apply->operands[0]);
    default:
      return holds_all(node.type, type);
  }
}

std::optional<ElementType> stored_type(const Kernel& kernel, const Product& product) {
  using enum ElementType;
  const auto both = [&](ElementType type) {
    return std::all_of(product.factors.begin(), product.factors.end(),
                       [&](NodeId factor) { return is_exact(kernel, factor, type); });
  };
  for (const NodeId factor : product.factors) {
    if (!is_plain(kernel, factor)) continue;
    NodeId load = factor;
    while (const auto* apply = std::get_if<Apply>(&kernel.node(load).what))
      load = apply->operands[0];
    const ElementType type = kernel.node(load).type;
    if (bits(type) <= 16 && bits(type) >= 8 && both(type)) return type;
  }
  // Weights of a softmax in f16 by values in f16, and 8-bit numbers by each other.
  for (const ElementType type : {f16, bf16})
    if (both(type)) return type;
  return std::nullopt;
}

}  // namespace lay::plan
