#include <algorithm>
#include <limits>

#include "backend/ir/fold.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/types.h"
#include "backend/plan/recognise.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {

using namespace sema;

namespace {

// Larger arms become branches: a select evaluates both.
constexpr double largest_inline_arm = 16;  // nodes
// Deeper ones are cut by a variable: nested parentheses of emitted text stay readable, and
// compilers do not recurse far.
constexpr int deepest_expression = 10;
constexpr int deepest_range = 6;  // selections in selections whose arms are looked at

bool is_integer_division(const sema::Node& node) {
  const auto* apply = std::get_if<sema::Apply>(&node.what);
  return apply &&
         (apply->function == ElementFunction::div || apply->function == ElementFunction::rem) &&
         !is_float(node.type);
}

bool is_leaf(const sema::Node& node) {
  // A leaf is a node that costs no more to write twice than to name.
  return std::visit(overloaded{
                        [](const Literal&) { return true; },
                        [](const IndexValue&) { return true; },
                        [](const SizeValue&) { return true; },
                        [](const ScalarValue&) { return true; },
                        [](const sema::Load&) { return false; },
                        [](const Reduce&) { return false; },
                        [](const sema::Apply&) { return false; },
                    },
                    node.what);
}

// An index, a dim or a literal that needs no more than 32 bits: the launcher admits no larger
// sizes.
bool fits_s32(const sema::Kernel& kernel, NodeId id) {
  const sema::Node& node = kernel.node(id);
  if (std::holds_alternative<IndexValue>(node.what)) return true;
  if (const auto* size = std::get_if<SizeValue>(&node.what))
    return size->value.dim_id().has_value();
  // A literal is s32 only if its value is: 3000000000 is compared in 64 bits.
  const auto* literal = std::get_if<Literal>(&node.what);
  const auto* integer = literal ? std::get_if<std::int64_t>(&literal->value) : nullptr;
  return integer && !is_float(node.type) && fits(*integer, ElementType::s32);
}

struct IntegerRange {
  std::int64_t lower, upper;
};

// u64 ends where s64 does.
IntegerRange integers_of(ElementType type) {
  using Limits = std::numeric_limits<std::int64_t>;
  return {saturate(type, Limits::min()), saturate(type, Limits::max())};
}

// Where an integer node's values lie, as far as is plain.
IntegerRange integers_in(const sema::Kernel& kernel, NodeId id, int depth = 0) {
  const sema::Node& node = kernel.node(id);
  if (const auto* literal = std::get_if<Literal>(&node.what)) {
    if (const auto* integer = std::get_if<std::int64_t>(&literal->value))
      return {*integer, *integer};
  }
  // Indices and dims are never negative.
  if (fits_s32(kernel, id)) return {0, std::numeric_limits<std::int32_t>::max()};
  const auto* applied = std::get_if<sema::Apply>(&node.what);
  if (applied && applied->function == ElementFunction::select && depth < deepest_range) {
    const IntegerRange a = integers_in(kernel, applied->operands[1], depth + 1),
                       b = integers_in(kernel, applied->operands[2], depth + 1);
    return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
  }
  return integers_of(node.type);
}

}  // namespace

Term is_extreme(sema::ReduceFunction function, Term later, Term before) {
  const bool greatest = function == sema::ReduceFunction::argmax;
  if (!is_float(later.type())) return greatest ? later > before : later < before;
  // The negation holds where one of them is a NaN; the comparison after it wants none before.
  Builder& b = *later.builder;
  const Term not_behind = !(greatest ? later <= before : later >= before);
  return b.apply(ElementFunction::and_,
                 {not_behind, b.apply(ElementFunction::eq, {before, before})});
}

ElementLowering::ElementLowering(Declared& declared, const std::vector<NodeId>& given)
    : declared_(declared),
      b_(declared.b),
      kernel_(declared.kernel),
      indices_(declared.kernel.indices.size()),
      free_(sema::free_indices(declared.kernel)) {
  const size_t count = kernel_.nodes.size();
  // One pass in the order of ids, operands first: `written_` is the size of the expression as a
  // tree, which doubles at each shared node, hence a double and no integer.
  uses_.assign(count, 0);
  written_.assign(count, 1);
  effects_.assign(count, 0);
  sums_.assign(count, 0);
  depth_.assign(count, 0);
  const auto live = plan::reachable(kernel_);
  for (size_t id = 0; id < count; ++id) {
    const sema::Node& node = kernel_.nodes[id];
    // A given value is a leaf: what it was computed from is not read again.
    if (std::find(given.begin(), given.end(), static_cast<NodeId>(id)) != given.end()) continue;
    sums_[id] = std::holds_alternative<Reduce>(node.what);
    effects_[id] =
        sums_[id] || std::holds_alternative<sema::Load>(node.what) || is_integer_division(node);
    for (NodeId operand : plan::operands(node)) {
      const auto o = static_cast<size_t>(operand);
      if (live[id]) ++uses_[o];
      written_[id] += written_[o];
      effects_[id] |= effects_[o];
      sums_[id] |= sums_[o];
    }
  }
  for (const Assignment& assignment : kernel_.assignments)
    ++uses_[static_cast<size_t>(assignment.value)];
}

const Term* ElementLowering::known(NodeId node) const {
  // From the inmost arm outwards: a value made in an arm that is not always taken is no value
  // outside.
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto found = scope->find(node); found != scope->end()) return &found->second;
  }
  return nullptr;
}

Term ElementLowering::as(Term value, ElementType type) {
  return b_.cast(value, type);
}

Term ElementLowering::value(NodeId id) {
  if (const Term* already = known(id)) return *already;
  const auto i = static_cast<size_t>(id);
  Term made = lower(id);
  int depth = 0;
  for (NodeId operand : plan::operands(kernel_.nodes[i]))
    depth = std::max(depth, depth_[static_cast<size_t>(operand)]);
  depth_[i] = depth + 1;
  // Inside an inline arm there is no place for a statement: a `let` would be evaluated always.
  if (inline_ || is_leaf(kernel_.nodes[i])) return made;
  const bool named = std::holds_alternative<VarRef>(b_.kernel.expr(made.id).node);
  // A shared node becomes a variable once; both uses read it.
  if (!named && (uses_[i] > 1 || depth_[i] > deepest_expression)) {
    made = b_.let(declared_.fresh("t"), made);
    depth_[i] = 0;
  }
  know(id, made);
  return made;
}

// A cast of the language saturates between integers; one of the IR keeps the low bits of types
// wider than 8 bits.
Term ElementLowering::value(NodeId id, ElementType type) {
  const Term given = value(id);
  const ElementType from = given.type();
  if (from == ElementType::pred || is_float(from) || is_float(type) || bits(type) <= 8)
    return as(given, type);
  // Saturation is two comparisons, left out where the value's range shows that they do nothing: an
  // index as u16 needs the upper bound only.
  const IntegerRange held = integers_of(type), range = integers_in(kernel_, id);
  Term kept = computes(from) ? given : as(given, ElementType::s32);
  const auto bounded = [&](ElementFunction function, std::int64_t bound) {
    return b_.apply(function, {kept, b_.constant(bound, kept.type())});
  };
  if (range.lower < held.lower) kept = bounded(ElementFunction::max, held.lower);
  if (range.upper > held.upper) kept = bounded(ElementFunction::min, held.upper);
  return as(kept, type);
}

Term ElementLowering::lower(NodeId id) {
  const sema::Node& node = kernel_.node(id);
  return std::visit(
      overloaded{
          [&](const Literal& literal) {
            const auto* integer = std::get_if<std::int64_t>(&literal.value);
            return integer ? b_.constant(*integer, node.type)
                           : b_.constant(std::get<double>(literal.value), node.type);
          },
          [&](const IndexValue& value) { return as(index(value.index), node.type); },
          [&](const SizeValue& size) {
            if (size.value.is_literal()) return b_.constant(size.value.value(), node.type);
            return as(b_.size(size.value), node.type);
          },
          [&](const ScalarValue& value) {
            return as(declared_.scalars[static_cast<size_t>(value.scalar)], node.type);
          },
          [&](const sema::Load& load) { return as(b_.read(source(load)), node.type); },
          [&](const Reduce& reduction) { return reduce(node, reduction); },
          [&](const sema::Apply& applied) { return apply(node, applied); },
      },
      node.what);
}

// A coordinate, which lies inside a tensor's extent: s32.
Term ElementLowering::small(NodeId node) {
  if (const IndexId bare = plan::bare_index(kernel_, node); bare >= 0) return index(bare);
  // A wide integer from memory keeps lying outside where it does.
  const bool is_wide = bits(kernel_.node(node).type) > 32 && effects_[static_cast<size_t>(node)];
  if (is_wide && plan::reads_memory(kernel_, node)) return value(node, ElementType::s32);
  return as(value(node), ElementType::s32);
}

Ref ElementLowering::source(const sema::Load& load) {
  Ref from{declared_.tensors[static_cast<size_t>(load.tensor)], {}};
  for (NodeId coordinate : load.coordinate) from.coordinate.push_back(small(coordinate));
  return from;
}

Ref ElementLowering::source(NodeId load) {
  return source(std::get<sema::Load>(kernel_.node(load).what));
}

Ref ElementLowering::element(TensorId tensor, const std::vector<IndexId>& at) const {
  Ref made{declared_.tensors[static_cast<size_t>(tensor)], {}};
  for (IndexId i : at) made.coordinate.push_back(index(i));
  return made;
}

Term ElementLowering::apply(const sema::Node& node, const sema::Apply& applied) {
  const auto operand = [&](size_t i) { return applied.operands[i]; };
  switch (applied.function) {
    case ElementFunction::select:
      return choose(node, operand(0), operand(1), operand(2));
    case ElementFunction::and_:
    case ElementFunction::or_:
      return shortcut(applied.function, value(operand(0)), operand(1));
    case ElementFunction::cast:
      return value(operand(0), node.type);
    default:
      break;
  }
  std::vector<Term> operands;
  // `m < N` of an index and a dim is compared in 32 bits, as one would write it in CUDA by hand.
  const bool narrow = node.type == ElementType::pred &&
                      std::all_of(applied.operands.begin(), applied.operands.end(),
                                  [&](NodeId id) { return fits_s32(kernel_, id); });
  for (NodeId id : applied.operands) operands.push_back(narrow ? small(id) : value(id));
  ElementType common = node.type;
  if (node.type == ElementType::pred) {  // a comparison: the widest of the operands' types, a float
                                         // before an integer
    common = operands[0].type();
    for (const Term& term : operands) {
      const auto rank = [](ElementType type) { return (is_float(type) ? 1000 : 0) + bits(type); };
      if (rank(term.type()) > rank(common)) common = term.type();
    }
    // Storage types have no comparisons: two bf16 are compared as f32, which is exact.
    if (common != ElementType::pred && !computes(common)) common = ElementType::f32;
  }
  for (Term& term : operands) term = as(term, common);
  return b_.apply(applied.function, std::move(operands));
}

Term ElementLowering::arm(NodeId node, ElementType type) {
  return as(value(node), type);
}

bool ElementLowering::depends_on(NodeId node, const std::vector<IndexId>& indices) const {
  return std::any_of(indices.begin(), indices.end(), [&](IndexId index) {
    return free_[static_cast<size_t>(node)].contains(index);
  });
}

void ElementLowering::hoist(NodeId node, const std::vector<IndexId>& bound) {
  const auto i = static_cast<size_t>(node);
  // Small arms with a load become `c ? a : b`, of which C++ evaluates one: the law of effects holds
  // without a statement.
  if (inline_ || written_[i] > 1000) return;
  // A node with an effect may not be computed early, but its operands without one may.
  if (effects_[i]) {
    std::vector<IndexId> inside = bound;
    if (const auto* reduction = std::get_if<Reduce>(&kernel_.nodes[i].what))
      inside.insert(inside.end(), reduction->indices.begin(), reduction->indices.end());
    for (NodeId operand : plan::operands(kernel_.nodes[i])) hoist(operand, inside);
  } else if (uses_[i] > 1 && !is_leaf(kernel_.nodes[i]) && !depends_on(node, bound)) {
    value(node);
  }
}

Term ElementLowering::arm(NodeId node, ElementType type, Truth where) {
  truths_.push_back(std::move(where));
  Term made;
  scope([&] { made = arm(node, type); });
  truths_.pop_back();
  return made;
}

std::optional<bool> ElementLowering::decided(NodeId condition) const {
  // Inside the arm of `x == y`, a second `x == y` is true and `x != y` false: no second test.
  const Truth asked = truth(kernel_, condition, true);
  for (const Truth& known : truths_) {
    if (known == asked) return true;
    if (known.contradicts(asked)) return false;
  }
  return std::nullopt;
}

Term ElementLowering::choose(const sema::Node& node, NodeId test, NodeId then, NodeId otherwise) {
  if (const auto known = decided(test)) return arm(*known ? then : otherwise, node.type);
  const Term condition = value(test);
  const auto t = static_cast<size_t>(then), o = static_cast<size_t>(otherwise);
  hoist(then);
  hoist(otherwise);
  const bool sums = sums_[t] || sums_[o];
  const Truth holds = truth(kernel_, test, true), fails = truth(kernel_, test, false);
  // Both arms are plain arithmetic: computing both is cheaper than a branch, and does no harm.
  if (!effects_[t] && !effects_[o]) {
    const Term a = arm(then, node.type, holds), z = arm(otherwise, node.type, fails);
    return b_.select(condition, a, z);
  }
  if (inline_ ||
      (!sums && written_[t] <= largest_inline_arm && written_[o] <= largest_inline_arm)) {
    const bool outer = std::exchange(inline_, true);
    const Term a = arm(then, node.type, holds), z = arm(otherwise, node.type, fails);
    inline_ = outer;
    return b_.select(condition, a, z);
  }
  // Costly arms are a branch that assigns a variable.
  const BufferId chosen = b_.registers(declared_.fresh("chosen"), node.type, Layout(1, 0));
  const Ref to{chosen, {b_.constant(std::int64_t{0})}};
  b_.when(
      condition, [&] { b_.assign(to, arm(then, node.type, holds)); },
      [&] { b_.assign(to, arm(otherwise, node.type, fails)); });
  return b_.let(declared_.fresh("t"), b_.read(to));
}

// `second` is evaluated where `first` does not decide.
Term ElementLowering::shortcut(ElementFunction function, Term first, NodeId second) {
  const auto i = static_cast<size_t>(second);
  if (!effects_[i]) return b_.apply(function, {first, value(second)});
  if (inline_ || (!sums_[i] && written_[i] <= largest_inline_arm)) {
    const bool outer = std::exchange(inline_, true);
    const Term rest = value(second);
    inline_ = outer;
    return b_.apply(function, {first, rest});
  }
  // Registers hold numbers: a truth is 0 or 1.
  const auto number = [&](Term truth) {
    return b_.select(truth, b_.constant(std::int64_t{1}), b_.constant(std::int64_t{0}));
  };
  const Ref to{b_.registers(declared_.fresh("holds"), ElementType::s32, Layout(1, 0)),
               {b_.constant(std::int64_t{0})}};
  b_.assign(to, number(first));
  b_.when(function == ElementFunction::and_ ? first : !first,
          [&] { scope([&] { b_.assign(to, number(value(second))); }); });
  return b_.let(declared_.fresh("t"), b_.read(to) != 0);
}

// Reductions in the body that do not depend on its indices are computed before the loop, where that
// reads nothing that the body might not.
void ElementLowering::hoist_reductions(NodeId node, const Reduce& around) {
  const auto i = static_cast<size_t>(node);
  if (!sums_[i]) return;
  const bool depends = depends_on(node, around.indices);
  const bool is_reduction = std::holds_alternative<Reduce>(kernel_.node(node).what);
  if (is_reduction && !depends) {
    value(node);
    return;
  }
  const auto* applied = std::get_if<sema::Apply>(&kernel_.node(node).what);
  // Only the condition of a choice is certain to be evaluated.
  const bool chooses = applied && (applied->function == ElementFunction::select ||
                                   applied->function == ElementFunction::and_ ||
                                   applied->function == ElementFunction::or_);
  const std::vector<NodeId> operands = plan::operands(kernel_.node(node));
  if (is_reduction) return;
  for (size_t k = 0; k < (chooses ? 1 : operands.size()); ++k)
    hoist_reductions(operands[k], around);
}

// Forgets what is known of nodes and conditions that depend on the indices: a loop binds them anew.
void ElementLowering::forget(const std::vector<IndexId>& indices) {
  for (auto& scope : scopes_)
    std::erase_if(scope, [&](const auto& known) { return depends_on(known.first, indices); });
  truths_.clear();
}

Term ElementLowering::reduce(const sema::Node& node, const Reduce& reduction) {
  hoist_reductions(reduction.body, reduction);
  // A reduction that binds an index which one around it binds as well: what is known of the outer
  // one's element does not hold inside, and is restored afterwards.
  const bool is_bound_around =
      std::any_of(reduction.indices.begin(), reduction.indices.end(), [&](IndexId index) {
        return std::find(reduced_.begin(), reduced_.end(), index) != reduced_.end();
      });
  const auto outer_scopes = is_bound_around ? scopes_ : decltype(scopes_){};
  const auto outer_truths = is_bound_around ? truths_ : decltype(truths_){};
  if (is_bound_around) forget(reduction.indices);
  reduced_.insert(reduced_.end(), reduction.indices.begin(), reduction.indices.end());
  const Term result = reduce_by(node, reduction);
  reduced_.resize(reduced_.size() - reduction.indices.size());
  if (is_bound_around) {
    scopes_ = outer_scopes;
    truths_ = outer_truths;
  }
  return result;
}

// Loops over the indices; the total and, for argmax and argmin, the position in registers.
Term ElementLowering::reduce_by(const sema::Node& node, const Reduce& reduction) {
  const sema::ReduceRow& row = sema::reduce_row(reduction.function);
  const ElementType of_body = kernel_.node(reduction.body).type;
  const bool is_condition = row.result == sema::ReduceResult::condition;
  const bool is_position = row.result == sema::ReduceResult::position;
  const ElementType type = is_condition ? ElementType::s32 : of_body;
  const auto one = [&](const std::string& stem, ElementType held) {
    return Ref{b_.registers(declared_.fresh(stem), held, Layout(1, 0)),
               {b_.constant(std::int64_t{0})}};
  };
  // Starts at the identity (0 of a sum, -inf of a max of floats), which is also the value of no
  // elements.
  const Ref total = one(std::string(row.name), type);
  const auto first = sema::identity(reduction.function, of_body);
  b_.assign(total, std::visit([&](auto x) { return b_.constant(x, type); }, first));
  std::optional<Ref> position;
  if (is_position) {
    position = one("at", node.type);
    b_.assign(*position, b_.constant(std::int64_t{0}, node.type));
  }
  const auto join = [&] {
    if (reduction.function == sema::ReduceFunction::sum)
      return accumulate(total, reduction.body, type);
    const Term more = value(reduction.body);
    const Term before = b_.read(total);
    if (is_position) {
      const Term later = b_.let(declared_.fresh("t"), as(more, type));
      // Strictly better, so that the first of equal extremes keeps its place.
      const Term better = is_extreme(reduction.function, later, before);
      b_.when(better, [&] {
        b_.assign(total, later);
        b_.assign(*position, as(index(reduction.indices[0]), node.type));
      });
    } else if (is_condition) {
      const bool is_any = reduction.function == sema::ReduceFunction::any;
      const Term decided = b_.constant(std::int64_t{is_any}, type);
      // No early exit: every thread of a warp takes as many steps, and the result is the same.
      b_.assign(total,
                is_any ? b_.select(more, decided, before) : b_.select(more, before, decided));
    } else {
      b_.assign(total, b_.apply(sema::joining(reduction.function), {before, as(more, type)}));
    }
  };
  const auto loops = [&](auto&& self, size_t depth) -> void {
    // Nested loops, the last index inmost.
    if (depth == reduction.indices.size()) return join();
    const IndexId over = reduction.indices[depth];
    b_.loop(declared_.index_name(over), b_.constant(std::int64_t{0}), declared_.extent(over), {},
            [&](Term at) {
              scope([&] {
                bind(over, at);
                self(self, depth + 1);
              });
            });
  };
  loops(loops, 0);
  if (is_condition) return b_.let(declared_.fresh("t"), b_.read(total) != 0);
  return b_.let(declared_.fresh("t"), b_.read(is_position ? *position : total));
}

// A product is added without rounding it first, as in a tile.
void ElementLowering::accumulate(const Ref& into, NodeId body, ElementType type) {
  const auto* product = std::get_if<sema::Apply>(&kernel_.node(body).what);
  if (product && product->function == ElementFunction::mul && is_float(type)) {
    const Term a = as(value(product->operands[0]), type), z = as(value(product->operands[1]), type);
    b_.assign(into, b_.fma(a, z, b_.read(into)));
  } else {
    const Term more = as(value(body), type);
    b_.assign(into, b_.read(into) + more);
  }
}

}  // namespace lay::ir
