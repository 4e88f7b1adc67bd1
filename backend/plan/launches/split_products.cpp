#include "backend/plan/launches/split_products.h"

#include <algorithm>
#include <map>
#include <set>

#include "backend/plan/launches/kernel_parts.h"
#include "backend/plan/launches/product.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/recognise.h"
#include "backend/plan/scales/multiplicands.h"
#include "backend/tile/rename_indices.h"
#include "backend/tile/split_indices.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

namespace {

using Indices = std::vector<IndexId>;

// A kernel of more products than this is rather a program: what is left of it is planned as it is.
constexpr std::size_t most_launches = 16;

class ProductSplitter {
 public:
  ProductSplitter(const Kernel& kernel, const Facts& facts)
      : kernel_(tile::split_indices(kernel, facts)), facts_(&facts), workspace_(kernel) {}

  std::optional<SplitProducts> run() {
    while (has_scaled_product() && (split_outputs() || store_scaled_product())) {
    }
    // The last product keeps its scales: its plan has launches that compute scaled factors where it
    // needs them.
    if (!made_.first.empty() && is_scaled(kernel_)) return made();
    while (auto grouped = with_two_factors(kernel_)) kernel_ = std::move(*grouped);
    if (made_.first.empty() && !first_product(kernel_)) return std::nullopt;
    while (made_.first.size() < most_launches && !is_gemm(kernel_) && step()) {
    }
    if (made_.first.empty()) return std::nullopt;
    return made();
  }

 private:
  SplitProducts made() {
    made_.last = std::make_shared<const Kernel>(std::move(kernel_));
    made_.tensors = workspace_.tensors();
    made_.workspace = workspace_.bytes();
    made_.stored = stored_;
    return std::move(made_);
  }

  // Returns true if the kernel is a product with scales, whatever surrounds it.
  bool is_scaled(const Kernel& kernel) const {
    const auto form = recognise_scaled(std::make_shared<const Kernel>(kernel), *facts_);
    const auto* gemm = std::get_if<Gemm>(&form);
    return gemm && !gemm->form.scales.empty();
  }

  // The indices of a sum's result, those of the outputs in their order.
  Indices indices_of_result(NodeId sum) const {
    return in_order_of_outputs(kernel_, free_indices(kernel_)[static_cast<std::size_t>(sum)]);
  }

  // Returns true if a node is a product with scales that a launch of its own can compute.
  bool is_scaled_product(NodeId id) const {
    const Reduce* sum = accumulated_sum(kernel_, id);
    if (!sum || multiplicands(kernel_, sum->body).size() < 3) return false;
    Workspace trial = workspace_;
    const Indices order = indices_of_result(id);
    return is_scaled(kernel_of(
        id, order, trial.add("product", type_of(id), extents_of(order), kernel_.node(id).where)));
  }

  std::optional<NodeId> first_scaled_product() const {
    const auto live = reachable(kernel_);
    for (std::size_t id = 0; id < live.size(); ++id)
      if (live[id] && is_scaled_product(static_cast<NodeId>(id))) return static_cast<NodeId>(id);
    return std::nullopt;
  }
  bool has_scaled_product() const { return first_scaled_product().has_value(); }

  // Moves the first product with scales to a launch of its own; the last one stays in the kernel.
  bool store_scaled_product() {
    if (made_.first.size() >= most_launches || is_scaled(kernel_)) return false;
    const NodeId sum = *first_scaled_product();
    kernel_ = store(sum, indices_of_result(sum), type_of(sum), "product");
    return true;
  }

  bool is_gemm(const Kernel& kernel) const {
    const auto form = recognise_coalesced(std::make_shared<const Kernel>(kernel), *facts_);
    return std::holds_alternative<Gemm>(form);
  }

  // Moves one value, or some of the outputs, into a kernel of its own; returns whether there was
  // one. Factors go before their product: a product of plain factors with a kernel around it that
  // is a GEMM's epilogue needs no launch, and the walk ends.
  bool step() {
    if (split_outputs()) return true;
    const auto product = first_product(kernel_);
    if (!product) return false;
    for (const int side : {0, 1})
      if (!is_plain(kernel_, product->factors[static_cast<std::size_t>(side)]))
        return store_factor(*product, side);
    // Plain factors may still lie so that no index of the sum is one: (m,k,r) by (r,n,k).
    if (!is_gemm(product_alone(*product))) return repack();
    kernel_ = store(product->sum, result_order(*product), type_of(product->sum), "product");
    return true;
  }

  ElementType type_of(NodeId id) const { return kernel_.node(id).type; }

  // Outputs of different products, as kernels that each have the outputs of one.
  bool split_outputs() {
    if (kernel_.assignments.size() < 2) return false;
    const auto last = static_cast<std::ptrdiff_t>(kernel_.assignments.size()) - 1;
    const std::set<NodeId> of_last = products_below(kernel_.assignments.back());
    const auto shares = [&](const Assignment& assignment) {
      const std::set<NodeId> products = products_below(assignment);
      return products.empty() || std::any_of(products.begin(), products.end(), [&](NodeId id) {
               return std::any_of(of_last.begin(), of_last.end(), [&](NodeId other) {
                 return same_but_for_indices(kernel_, id, other).has_value();
               });
             });
    };
    // A tensor that one launch writes no other may read: inout tensors stay with all outputs.
    Kernel apart = kernel_, rest = kernel_;
    apart.assignments.clear();
    rest.assignments.clear();
    for (const Assignment& assignment : kernel_.assignments) {
      const bool together =
          &assignment == &kernel_.assignments[static_cast<std::size_t>(last)] || shares(assignment);
      (together ? rest : apart).assignments.push_back(assignment);
    }
    if (apart.assignments.empty()) return false;
    for (const Assignment& assignment : kernel_.assignments)
      if (kernel_.tensor(assignment.target).access == Access::inout) return false;
    add_launch(std::move(apart), "outputs");
    kernel_ = tile::rename_indices(rest, {});
    return true;
  }

  std::set<NodeId> products_below(const Assignment& assignment) const {
    std::set<NodeId> found;
    const auto below = reachable(kernel_, {assignment.value});
    for (std::size_t id = 0; id < below.size(); ++id)
      if (below[id] && (product_at(kernel_, static_cast<NodeId>(id)) ||
                        is_scaled_product(static_cast<NodeId>(id))))
        found.insert(static_cast<NodeId>(id));
    return found;
  }

  // The index along which the last output lies goes last: what reads the product walks it as it
  // walks its output.
  Indices result_order(const Product& product) const {
    Indices order = product.batch;
    const IndexId fastest =
        kernel_.assignments.back().indices.empty() ? -1 : kernel_.assignments.back().indices.back();
    const auto has = [&](const Indices& own) {
      return std::find(own.begin(), own.end(), fastest) != own.end();
    };
    const int second = has(product.own[0]) ? 0 : 1;
    for (const int side : {1 - second, second}) {
      const Indices& own = product.own[static_cast<std::size_t>(side)];
      order.insert(order.end(), own.begin(), own.end());
    }
    return order;
  }

  // Summed indices go last, in the order in which the other factor's memory has them.
  Indices factor_order(const Product& product, int side) const {
    Indices order = product.batch, k = product.k;
    const Indices& own = product.own[static_cast<std::size_t>(side)];
    order.insert(order.end(), own.begin(), own.end());
    NodeId other = product.factors[static_cast<std::size_t>(1 - side)];
    if (is_plain(kernel_, other)) {
      while (const auto* apply = std::get_if<Apply>(&kernel_.node(other).what))
        other = apply->operands[0];
      Indices there;
      for (const NodeId coordinate : kernel_.load(other).coordinate)
        there.push_back(bare_index(kernel_, coordinate));
      // Both factors then walk the sum in one order, and its indices become one.
      std::sort(k.begin(), k.end(), [&](IndexId a, IndexId b) {
        return std::find(there.begin(), there.end(), a) < std::find(there.begin(), there.end(), b);
      });
    }
    order.insert(order.end(), k.begin(), k.end());
    // A batch that the factor does not depend on is not stored with it.
    const auto free = free_indices(kernel_);
    const auto& needed =
        free[static_cast<std::size_t>(product.factors[static_cast<std::size_t>(side)])];
    std::erase_if(order, [&](IndexId index) { return !needed.contains(index); });
    return order;
  }

  bool store_factor(const Product& product, int side) {
    const NodeId factor = product.factors[static_cast<std::size_t>(side)];
    kernel_ = store(factor, factor_order(product, side),
                    stored_type(kernel_, product).value_or(type_of(factor)), "factor");
    return true;
  }

  // Factors that no layout makes a GEMM of are stored in an order that does: one of them where that
  // is enough.
  bool repack() {
    for (const std::vector<int>& sides : {std::vector{1}, std::vector{0}, std::vector{0, 1}}) {
      ProductSplitter trial = *this;
      for (const int side : sides)
        if (const auto now = first_product(trial.kernel_)) trial.store_factor(*now, side);
      const auto now = first_product(trial.kernel_);
      if (!now || !is_gemm(trial.product_alone(*now))) continue;
      *this = trial;
      return true;
    }
    return false;
  }

  // The kernel that computes a node's value, at all values of these indices, as its only output.
  Kernel kernel_of(NodeId node, const Indices& order, const Tensor& result) const {
    return storing(kernel_, result, order, node);
  }

  // The result of a product alone, to ask whether that is a GEMM.
  Kernel product_alone(const Product& product) const {
    Workspace trial = workspace_;
    const Indices order = result_order(product);
    return kernel_of(product.sum, order,
                     trial.add("product", type_of(product.sum), extents_of(order),
                               kernel_.node(product.sum).where));
  }

  std::vector<Int> extents_of(const Indices& order) const {
    std::vector<Int> extents;
    for (const IndexId index : order) extents.push_back(kernel_.index(index).extent);
    return extents;
  }

  // The kernel with the node loaded from workspace, into which a launch before stores it.
  Kernel store(NodeId node, const Indices& order, ElementType type, const std::string& wish) {
    Tensor tensor = workspace_.add(wish, type, extents_of(order), kernel_.node(node).where);
    Kernel stage = kernel_of(node, order, tensor);
    stored_ += size(tensor.layout) * tensor.element_bytes();
    add_launch(std::move(stage), "");
    // The same value at other indices, such as those of a reduction over the result, is loaded too.
    std::map<NodeId, std::map<IndexId, IndexId>> loaded_at;
    // Each is loaded at its own indices: h[m,j] of max[j](h[m,j]) beside h[m,n].
    std::set<NodeId> nodes;
    const auto live = reachable(kernel_);
    for (std::size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (!live[n]) continue;
      if (auto indices = same_but_for_indices(kernel_, node, id)) {
        loaded_at[id] = std::move(*indices);
        nodes.insert(id);
      }
    }
    Kernel rest = rebuilt(kernel_, nodes, [&](Rebuilding& to, NodeId id, const Node& was) {
      Indices at;
      for (const IndexId index : order) at.push_back(loaded_at.at(id).at(index));
      return to.add_load(was, static_cast<TensorId>(kernel_.tensors.size()), type, at);
    });
    add_input(rest, std::move(tensor));
    return rest;
  }

  void add_launch(Kernel stage, const std::string& suffix) {
    if (!suffix.empty()) stage.name += "_" + suffix + std::to_string(made_.first.size() + 1);
    made_.first.push_back(as_launch(std::move(stage)));
  }

  Kernel kernel_;
  const Facts* facts_;
  Workspace workspace_;
  Int stored_ = 0;  // bytes of its tensors
  SplitProducts made_;
};

}  // namespace

std::optional<SplitProducts> split_products(const KernelPtr& kernel, const Facts& facts) {
  return ProductSplitter(*kernel, facts).run();
}

}  // namespace lay::plan
