#include "frontend/sema/kernel/reference.h"

#include <cmath>
#include <optional>

#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/element_arithmetic.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::sema {
namespace {

class Run {
 public:
  explicit Run(const KernelCall& call)
      : call_(call), kernel_(*call.kernel), at_(kernel_.indices.size(), 0) {
    for (const Index& index : kernel_.indices) extents_.push_back(size_of(index.extent));
    for (const Node& node : kernel_.nodes) {
      const auto* size = std::get_if<SizeValue>(&node.what);
      sizes_.push_back(size ? size_of(size->value) : 0);
    }
    for (const std::set<IndexId>& free : free_indices(kernel_))
      memory_.push_back({{free.begin(), free.end()}, {}, {}});
  }

  KernelResult run() {
    std::vector<Array> results = call_.tensors;
    for (const Assignment& a : kernel_.assignments) {
      auto target = static_cast<std::size_t>(a.target);
      Array out = Array::make(results[target].element, results[target].shape);
      for_each(a.indices, [&] {
        std::vector<std::int64_t> coordinate;
        for (IndexId index : a.indices) coordinate.push_back(at_[static_cast<std::size_t>(index)]);
        Computed v = value(a.value);
        bool real = is_float(kernel_.node(a.value).type);
        std::int64_t i = out.offset(coordinate);
        if (real) {
          out.set_real(i, v.real);
        } else {
          out.set_integer(i, v.integer);
        }
      });
      results[target] = out;
    }
    KernelResult result;
    for (std::size_t id = 0; id < kernel_.tensors.size(); ++id) {
      if (kernel_.tensors[id].access != Access::input) result.outputs.push_back(results[id]);
    }
    return result;
  }

 private:
  std::int64_t size_of(const Int& n) const {
    auto value = n.evaluate(call_.sizes);
    if (!value) throw refusal("overflow", n.to_string() + " has no value for these sizes");
    return *value;
  }

  template <typename F>
  void for_each(const std::vector<IndexId>& indices, F&& f, std::size_t from = 0) {
    if (from == indices.size()) return f();
    auto k = static_cast<std::size_t>(indices[from]);
    for (std::int64_t i = 0; i < extents_[k]; ++i) {
      at_[k] = i;
      for_each(indices, f, from + 1);
    }
  }

  const Node& node(NodeId id) const { return kernel_.node(id); }

  Computed value(NodeId id) {
    const Node& n = node(id);
    if (const auto* x = std::get_if<Literal>(&n.what)) return literal(*x);
    if (const auto* x = std::get_if<IndexValue>(&n.what))
      return {0, at_[static_cast<std::size_t>(x->index)]};
    if (std::holds_alternative<SizeValue>(n.what)) return {0, sizes_[static_cast<std::size_t>(id)]};
    if (const auto* x = std::get_if<ScalarValue>(&n.what)) return scalar(*x, n.type);
    if (const auto* x = std::get_if<Load>(&n.what)) return load(*x);
    if (const auto* x = std::get_if<Reduce>(&n.what)) return reduce(id, *x, n.type);
    return apply(std::get<Apply>(n.what), n.type);
  }

  static Computed literal(const Literal& x) {
    if (const auto* i = std::get_if<std::int64_t>(&x.value)) return {0, *i};
    return {std::get<double>(x.value), 0};
  }

  Computed scalar(const ScalarValue& x, ElementType type) const {
    const Number& number = call_.scalars[static_cast<std::size_t>(x.scalar)];
    double real = std::holds_alternative<double>(number)
                      ? std::get<double>(number)
                      : static_cast<double>(std::get<std::int64_t>(number));
    if (is_float(type)) return {rounded(type, real), 0};
    return {0, std::holds_alternative<double>(number) ? static_cast<std::int64_t>(real)
                                                      : std::get<std::int64_t>(number)};
  }

  Computed load(const Load& x) {
    const Array& array = call_.tensors[static_cast<std::size_t>(x.tensor)];
    std::int64_t at = 0;
    for (std::size_t k = 0; k < x.coordinate.size(); ++k) {
      std::int64_t i = value(x.coordinate[k]).integer;
      if (i < 0 || i >= array.shape[k]) {
        throw refusal("bounds", kernel_.tensor(x.tensor).name + " is read at " + std::to_string(i) +
                                    " in mode " + std::to_string(k) + " of " +
                                    std::to_string(array.shape[k]) + " elements");
      }
      at = at * array.shape[k] + i;
    }
    return is_float(array.element) ? Computed{array.real(at), 0} : Computed{0, array.integer(at)};
  }

  // What a reduction was worth the last time, and where its free indices stood then.
  struct Memory {
    std::vector<IndexId> free;
    std::vector<std::int64_t> at;
    std::optional<Computed> value;
  };

  Computed reduce(NodeId id, const Reduce& x, ElementType type) {
    Memory& memory = memory_[static_cast<std::size_t>(id)];
    std::vector<std::int64_t> at;
    for (const IndexId index : memory.free) at.push_back(at_[static_cast<std::size_t>(index)]);
    if (memory.value && memory.at == at) return *memory.value;
    const std::vector<std::int64_t> outer = at_;  // an index may be bound by a reduction around
    const Computed value = reduced(x, type);
    at_ = outer;
    memory.at = std::move(at);
    memory.value = value;
    return value;
  }

  Computed reduced(const Reduce& x, ElementType type) {
    const ElementType of_body = node(x.body).type;
    const auto first = identity(x.function, of_body);
    Computed total;
    if (const auto* real = std::get_if<double>(&first)) total.real = *real;
    if (const auto* integer = std::get_if<std::int64_t>(&first)) total.integer = *integer;
    if (x.function == ReduceFunction::sum) {
      add_up(x, type, total);
      return total;
    }
    const ElementFunction join = joining(x.function);
    const bool is_position = reduce_row(x.function).result == ReduceResult::position;
    std::int64_t position = 0;
    for_each(x.indices, [&] {
      const Computed a = value(x.body);
      if (is_position) {
        if (!comes_first(x.function, of_body, a, total)) return;
        total = a;
        position = at_[static_cast<std::size_t>(x.indices[0])];
      } else if (join == ElementFunction::or_ || join == ElementFunction::and_) {
        total.integer =
            join == ElementFunction::or_ ? total.integer | a.integer : total.integer & a.integer;
      } else {
        total = is_float(of_body) ? on_reals(join, of_body, {total, a})
                                  : on_integers(join, of_body, {total, a});
      }
    });
    return is_position ? Computed{0, position} : total;
  }

  // Whether a later value is the extreme in place of the one before: a NaN is, once.
  static bool comes_first(ReduceFunction function, ElementType type, const Computed& later,
                          const Computed& before) {
    const bool greatest = function == ReduceFunction::argmax;
    if (!is_float(type))
      return greatest ? later.integer > before.integer : later.integer < before.integer;
    if (std::isnan(later.real)) return !std::isnan(before.real);
    return greatest ? later.real > before.real : later.real < before.real;
  }

  // A product is added without rounding it first.
  void add_up(const Reduce& x, ElementType type, Computed& sum) {
    const auto* product = std::get_if<Apply>(&node(x.body).what);
    const bool fuse =
        product && product->function == ElementFunction::mul && node(x.body).type == type;
    for_each(x.indices, [&] {
      if (fuse) {
        const Computed a = value(product->operands[0]), b = value(product->operands[1]);
        if (is_float(type)) {
          sum.real = fused(type, a.real, b.real, sum.real);
        } else {
          sum.integer = fused(type, a.integer, b.integer, sum.integer);
        }
        return;
      }
      const Computed a = value(x.body);
      sum.real = rounded(type, sum.real + a.real);
      sum.integer = fused(type, a.integer, 1, sum.integer);
    });
  }

  Computed cast(NodeId from, ElementType to) {
    Computed x = value(from);
    bool real = is_float(node(from).type);
    if (is_float(to)) return {real ? rounded(to, x.real) : from_integer(to, x.integer), 0};
    return {0, real ? round_to_integer(to, x.real) : saturate(to, x.integer)};
  }

  bool truth(NodeId id) { return value(id).integer != 0; }

  Computed apply(const Apply& x, ElementType type) {
    const std::vector<NodeId>& operands = x.operands;
    switch (x.function) {
      case ElementFunction::select:
        return value(truth(operands[0]) ? operands[1] : operands[2]);
      case ElementFunction::and_:
        return {0, truth(operands[0]) && truth(operands[1])};
      case ElementFunction::or_:
        return {0, truth(operands[0]) || truth(operands[1])};
      case ElementFunction::not_:
        return {0, !truth(operands[0])};
      case ElementFunction::cast:
        return cast(operands[0], type);
      default:
        break;
    }
    std::vector<Computed> v;
    for (NodeId operand : operands) v.push_back(value(operand));
    ElementType operand_type = node(operands[0]).type;
    return is_float(operand_type) ? on_reals(x.function, type, v)
                                  : on_integers(x.function, type, v);
  }

  const KernelCall& call_;
  const Kernel& kernel_;
  std::vector<std::int64_t> at_, extents_, sizes_;
  std::vector<Memory> memory_;  // by NodeId, of the reductions
};

}  // namespace

KernelResult run_reference(const KernelCall& call) {
  return Run(call).run();
}

}  // namespace lay::sema
