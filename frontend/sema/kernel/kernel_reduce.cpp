// Reductions and intermediates: which index a reduction runs over, and values with other indices in
// place of theirs.
//
//   def softmax[n](x) = exp(x - max[n](x)) / sum[n](exp(x - max[n](x)))
//   Y[m,n] = softmax[n](X[m,n])
//
// In the def x is X[m,n]. max[n](x) is max[n'](X[m,n']): n' is a copy of n, the same one in every
// reduction over n, so that equal loads are one node.

#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/values/names.h"

namespace lay::sema {
namespace {

const Value* local_called(const Frame& frame, const std::string& name) {
  const auto local = std::find_if(frame.locals.rbegin(), frame.locals.rend(),
                                  [&](const auto& each) { return each.first == name; });
  return local == frame.locals.rend() ? nullptr : &local->second;
}

void require_distinct(const std::vector<syntax::Identifier>& names) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    const auto same = std::find_if(names.begin(), name,
                                   [&](const auto& before) { return before.text == name->text; });
    if (same == name) continue;
    fail("duplicate-name", name->text + " appears twice in the brackets", name->span,
         {{same->span, "the first time"}});
  }
}

}  // namespace

// ---- Which index

std::optional<IndexId> KernelBuilder::local_index(const Frame& frame,
                                                  const std::string& name) const {
  const Value* local = local_called(frame, name);
  return local && local->is_int() ? index_of(local->as<Tuple>()->value()) : std::nullopt;
}

// An index of the left side, of a reduction around this one or of this one is not taken again.
void KernelBuilder::require_new_index(const Frame& frame, const syntax::Identifier& name) const {
  const auto id = local_index(frame, name.text);
  if (!id) return;
  const Index& index = kernel.index(*id);
  const bool is_left = std::find(left.begin(), left.end(), *id) != left.end();
  if (!is_left && !index.summed) return;
  fail("duplicate-name", name.text + " is an index here already", name.span,
       {{index.where, is_left ? "on the left side" : "reduced over here"}},
       {{"help", "another name for what this reduction runs over"}});
}

// The extent of the first mode that the index stands bare on, of a tensor or an intermediate.
std::optional<Int> KernelBuilder::extent_in(const Frame& frame, syntax::ExpressionId body,
                                            const std::string& name) const {
  const syntax::Expression& e = frame.tree()[body];
  if (const auto* index = std::get_if<syntax::Index>(&e.node)) {
    const auto* object = std::get_if<syntax::Name>(&frame.tree()[index->object].node);
    const Value* local = object ? local_called(frame, object->text) : nullptr;
    const auto* tensor = local ? local->as<TensorName>() : nullptr;
    const auto* intermediate = local ? local->as<IntermediatePtr>() : nullptr;
    for (std::size_t k = 0; k < index->indices.size(); ++k) {
      const auto* bare = std::get_if<syntax::Name>(&frame.tree()[index->indices[k]].node);
      if (!bare || bare->text != name) continue;
      const int mode = static_cast<int>(k);
      if (tensor && mode < kernel.tensor(tensor->tensor).layout.rank())
        return extent(kernel.tensor(tensor->tensor), mode);
      if (intermediate && k < (*intermediate)->indices.size())
        return kernel.index((*intermediate)->indices[k]).extent;
    }
  }
  for (const syntax::ExpressionId part : parts_of(e)) {
    if (auto found = extent_in(frame, part, name)) return found;
  }
  return std::nullopt;
}

Int KernelBuilder::required_extent(const Frame& frame,
                                   const std::vector<syntax::ExpressionId>& bodies,
                                   const syntax::Identifier& name) const {
  for (const syntax::ExpressionId body : bodies)
    if (auto found = extent_in(frame, body, name.text)) return *found;
  fail("index-extent", "nothing says how far " + name.text + " runs", name.span, {},
       {{"help", "an index ranges over the modes where it is alone: A[m," + name.text + "]"}});
}

std::set<IndexId> KernelBuilder::mentioned_in_path() const {
  return free_indices(Value(session_.facts.path()));
}

bool KernelBuilder::is_in_path(const std::vector<IndexId>& indices) const {
  const std::set<IndexId> mentioned = mentioned_in_path();
  return std::any_of(indices.begin(), indices.end(),
                     [&](IndexId index) { return mentioned.contains(index); });
}

std::set<IndexId> KernelBuilder::free_in_locals(const Frame& frame) const {
  std::set<IndexId> free;
  for (const auto& [name, value] : frame.locals) free.merge(free_indices(value));
  return free;
}

std::set<IndexId> KernelBuilder::free_indices(const Value& value) const {
  if (const auto* element = value.as<Element>()) return free_indices(element->node);
  std::set<IndexId> free;
  std::map<DimId, std::string> dims;
  const auto collect = [&](const Tuple& tuple) {
    for (const Tuple& leaf : leaves(tuple))
      if (!leaf.is_underscore()) leaf.value().collect_dims(dims);
  };
  if (const auto* predicate = value.as<Predicate>()) predicate->collect_dims(dims);
  if (const auto* tuple = value.as<Tuple>()) collect(*tuple);
  if (const auto* layout = value.as<Layout>()) {
    collect(layout->shape);
    collect(layout->stride);
  }
  if (const auto* list = value.as<ListPtr>())
    for (const Value& element : (*list)->elements) free.merge(free_indices(element));
  for (const auto& [dim, name] : dims)
    if (const auto at = symbols_.find(dim); at != symbols_.end()) free.insert(at->second);
  return free;
}

// A reduced index of that name and extent which is not taken: one that is there, or a new one.
IndexId KernelBuilder::bound_index(const std::string& name, const Int& extent,
                                   const std::set<IndexId>& taken, Span where) {
  for (IndexId id = 0; id < static_cast<IndexId>(kernel.indices.size()); ++id) {
    const Index& index = kernel.index(id);
    if (index.summed && index.name == name && equal(index.extent, extent).is_always() &&
        !taken.contains(id))
      return id;
  }
  return add_index(name, extent, true, where).first;
}

// The indices of a reduction, and the frame of its body. An index is taken while the frame depends
// on it, or a condition in force: under `n < 5` a reduction over n runs over all of n.
std::pair<std::vector<IndexId>, Frame> KernelBuilder::bind(const Frame& frame,
                                                           const IndexList& over,
                                                           syntax::ExpressionId body) {
  require_distinct(over.names);
  Frame inner = frame;
  const std::set<IndexId> path = mentioned_in_path();
  std::set<IndexId> taken = free_in_locals(frame);
  taken.insert(path.begin(), path.end());
  Replacement copies;
  std::vector<IndexId> ids;
  for (const syntax::Identifier& name : over.names) {
    const bool is_parameter =
        std::find(frame.indices.begin(), frame.indices.end(), name.text) != frame.indices.end();
    const auto current = is_parameter ? local_index(frame, name.text) : std::nullopt;
    if (current) {
      // A reduced index may be its own copy: what the frame has of it is about to be bound.
      std::set<IndexId> others = taken;
      if (!path.contains(*current)) others.erase(*current);
      const Index index = kernel.index(*current);
      ids.push_back(bound_index(index.name, index.extent, others, name.span));
      if (ids.back() != *current) copies.emplace(*current, symbol(ids.back()));
    } else {
      require_new_index(frame, name);
      const Int extent = required_extent(frame, {body}, name);
      ids.push_back(bound_index(name.text, extent, taken, name.span));
      inner.locals.emplace_back(name.text, Value(symbol(ids.back())));
    }
    taken.insert(ids.back());
  }
  for (auto& [name, value] : inner.locals) value = replaced(value, copies);
  return {std::move(ids), std::move(inner)};
}

std::vector<IndexId> KernelBuilder::call_indices(
    Frame& frame, const IndexList& over, const std::vector<syntax::ExpressionId>& arguments) {
  require_distinct(over.names);
  std::vector<IndexId> ids;
  for (const syntax::Identifier& name : over.names) {
    if (const auto known = local_index(frame, name.text)) {
      ids.push_back(*known);
      continue;
    }
    if (const Value* local = local_called(frame, name.text)) {
      fail("operand-kind", name.text + " is " + kind_name(*local) + ", not an index", name.span);
    }
    std::set<IndexId> taken = free_in_locals(frame);
    taken.merge(mentioned_in_path());
    const Int extent = required_extent(frame, arguments, name);
    ids.push_back(bound_index(name.text, extent, taken, name.span));
    frame.locals.emplace_back(name.text, Value(symbol(ids.back())));
  }
  return ids;
}

// ---- Reductions

ElementType KernelBuilder::accumulated_type(const ReduceRow& row, const IndexList& over,
                                            const Operand& body, Span whole) const {
  if (over.accumulator && row.result != ReduceResult::number) {
    fail("reduction-form", std::string(row.name) + " adds nothing up and takes no accumulator type",
         over.accumulator->span);
  }
  if (row.result == ReduceResult::condition) return ElementType::pred;
  const ElementType type = common_type({body}, 0, whole);
  if (!over.accumulator) return type;
  const auto asked = parse_element(over.accumulator->text);
  if (!asked) {
    fail("unknown-type", "there is no element type " + over.accumulator->text,
         over.accumulator->span);
  }
  return *asked;
}

Value KernelBuilder::reduce(const Frame& frame, const ReduceRow& row, const IndexList& over,
                            syntax::ExpressionId body_id, Span whole) {
  auto [ids, inner] = bind(frame, over, body_id);
  const Operand body{evaluate(session_, inner, body_id), frame.tree()[body_id].span};
  if (body.value.is_unknown()) return body.value;
  const ElementType type = accumulated_type(row, over, body, whole);
  const NodeId term =
      over.accumulator ? computed_in(node(body, std::nullopt), type, body.span) : node(body, type);
  if (row.result != ReduceResult::position)
    return Value(Element{add({Reduce{row.function, ids, term}, type, whole})});
  const std::string name(row.name);
  if (ids.size() != 1) {
    fail("unsupported", name + " over several indices has no one number for a position", whole, {},
         {{"help", name + " over one index, of a tensor whose layout joins the modes"}});
  }
  const Guard guard{Predicate(true), less_equal(1, kernel.index(ids[0]).extent), name, {}};
  if (guard.predicate.is_never()) {
    fail("empty", name + " over no values: " + over.names[0].text + " runs to 0", whole);
  }
  const bool known =
      std::find(kernel.guards.begin(), kernel.guards.end(), guard) != kernel.guards.end();
  if (!guard.predicate.is_always() && !known) kernel.guards.push_back(guard);
  return Value(Element{add({Reduce{row.function, ids, term}, ElementType::s32, whole})});
}

// ---- Intermediates

Value KernelBuilder::define(const Frame& frame, const syntax::Let& let) {
  require_distinct(let.indices);
  Frame inner = frame;
  left.clear();
  std::set<IndexId> taken = free_in_locals(frame);
  for (const syntax::Identifier& name : let.indices) {
    const Value* local = local_called(frame, name.text);
    const auto outer = local_index(frame, name.text);
    if (local && !outer) {
      fail("duplicate-name", name.text + " is " + kind_name(*local) + " in this kernel", name.span);
    }
    std::optional<Int> extent = extent_in(frame, let.value, name.text);
    if (!extent && outer) extent = kernel.index(*outer).extent;
    if (!extent) extent = required_extent(frame, {let.value}, name);
    const bool same = outer && equal(kernel.index(*outer).extent, *extent).is_always();
    left.push_back(same ? *outer : bound_index(name.text, *extent, taken, name.span));
    taken.insert(left.back());
    inner.locals.emplace_back(name.text, Value(symbol(left.back())));
  }
  const std::vector<IndexId> indices = left;
  Value value = evaluate(session_, inner, let.value);
  const Span place = frame.tree()[let.value].span;
  if (value.is_unknown()) return value;
  if (!value.as<Element>() && !value.as<Predicate>() && !value.as<double>() && !value.is_int())
    fail("operand-kind", "a number or a condition must stand here, not " + kind_name(value), place);
  for (const IndexId free : free_indices(value)) {
    if (std::find(indices.begin(), indices.end(), free) != indices.end()) continue;
    fail("index-unbound",
         "the value depends on " + kernel.index(free).name + ", which does not stand in the " +
             "brackets of " + let.name.text,
         place, {{let.name.span, "defined here"}});
  }
  return Value(std::make_shared<const Intermediate>(
      Intermediate{let.name.text, indices, std::move(value), let.name.span}));
}

Value KernelBuilder::use(const Intermediate& intermediate, const std::vector<Operand>& indices,
                         Span whole) {
  if (indices.size() != intermediate.indices.size()) {
    fail("coordinate-rank",
         intermediate.name + " takes " + std::to_string(intermediate.indices.size()) +
             " indices, not " + std::to_string(indices.size()),
         whole, {{intermediate.where, "defined here"}});
  }
  Replacement replacement;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const IndexId own = intermediate.indices[k];
    if (const auto* element = indices[k].value.as<Element>()) {
      replacement.emplace(own, gathered(*element, indices[k].span));
      continue;
    }
    const Int at = place(indices[k], kernel.index(own).extent);
    if (index_of(at) != own) replacement.emplace(own, at);
  }
  // A value that is no element yet becomes one where it is read at a place that memory gives.
  Value value = intermediate.value;
  const bool is_integer = value.is_int() || value.as<Predicate>();
  if (is_integer && is_gathered(free_indices(value), replacement))
    value = Value(Element{node({value, whole}, std::nullopt)});
  return replaced(value, replacement);
}

// ---- Other indices in place of those of a value

std::map<DimId, Int> KernelBuilder::by_dim(const Replacement& replacement) const {
  std::map<DimId, Int> dims;
  for (const auto& [index, by] : replacement)
    if (const auto* integer = std::get_if<Int>(&by))
      dims.emplace(*symbol(index).dim_id(), *integer);
  return dims;
}

bool KernelBuilder::is_gathered(const std::set<IndexId>& free,
                                const Replacement& replacement) const {
  return std::any_of(replacement.begin(), replacement.end(), [&](const auto& each) {
    return std::holds_alternative<NodeId>(each.second) && free.contains(each.first);
  });
}

Value KernelBuilder::replaced(const Value& value, const Replacement& replacement) {
  if (replacement.empty()) return value;
  if (const auto* element = value.as<Element>())
    return Value(Element{replaced(element->node, replacement)});
  const std::map<DimId, Int> dims = by_dim(replacement);
  const auto in_tuple = [&](const Tuple& tuple) {
    return transform(tuple, [&](const Tuple& leaf) {
      if (leaf.is_underscore()) return leaf;
      const Int by = leaf.value().substitute(dims);
      return leaf.is_basis() ? Tuple::basis(by, leaf.path()) : Tuple(by);
    });
  };
  if (const auto* predicate = value.as<Predicate>()) return Value(predicate->substitute(dims));
  if (const auto* tuple = value.as<Tuple>()) return Value(in_tuple(*tuple));
  if (const auto* layout = value.as<Layout>()) {
    Layout other = *layout;
    other.shape = in_tuple(layout->shape);
    other.stride = in_tuple(layout->stride);
    return Value(std::move(other));
  }
  if (const auto* list = value.as<ListPtr>()) {
    std::vector<Value> elements;
    for (const Value& element : (*list)->elements)
      elements.push_back(replaced(element, replacement));
    return make_tuple(std::move(elements));
  }
  return value;
}

NodeId KernelBuilder::replaced(NodeId id, const Replacement& replacement) {
  std::map<NodeId, NodeId> done;
  return replaced(id, replacement, done);
}

NodeId KernelBuilder::replaced(NodeId id, const Replacement& replacement,
                               std::map<NodeId, NodeId>& done) {
  const std::set<IndexId>& free = free_indices(id);
  if (std::none_of(replacement.begin(), replacement.end(),
                   [&](const auto& each) { return free.contains(each.first); }))
    return id;
  if (const auto known = done.find(id); known != done.end()) return known->second;
  const Node node = kernel.node(id);
  session_.charge(1, node.where);
  const auto operands = [&](std::vector<NodeId> ids) {
    for (NodeId& operand : ids) operand = replaced(operand, replacement, done);
    return ids;
  };
  const auto make = [&] {
    if (is_gathered(free, replacement)) return replaced_by_operands(node, replacement, done);
    if (const auto integer = integers_.find(id); integer != integers_.end())
      return lower(Int(integer->second).substitute(by_dim(replacement)), node.where);
    if (const auto condition = conditions_.find(id); condition != conditions_.end())
      return lower(Predicate(condition->second).substitute(by_dim(replacement)), node.where);
    if (const auto* load = std::get_if<Load>(&node.what))
      return add({Load{load->tensor, operands(load->coordinate)}, node.type, node.where});
    if (std::holds_alternative<Reduce>(node.what)) return replaced_reduce(node, replacement);
    const auto& apply = std::get<Apply>(node.what);
    if (apply.function == ElementFunction::select) return replaced_select(node, replacement, done);
    return add({Apply{apply.function, operands(apply.operands)}, node.type, node.where});
  };
  return done[id] = make();
}

NodeId KernelBuilder::replaced_by_operands(const Node& node, const Replacement& replacement,
                                           std::map<NodeId, NodeId>& done) {
  if (const auto* index = std::get_if<IndexValue>(&node.what))
    return replaced_index(*index, replacement, node.where);
  if (std::holds_alternative<Reduce>(node.what)) return replaced_reduce(node, replacement);
  if (const auto* load = std::get_if<Load>(&node.what)) {
    std::vector<NodeId> coordinate;
    for (const NodeId at : load->coordinate) coordinate.push_back(replaced(at, replacement, done));
    return add({Load{load->tensor, std::move(coordinate)}, node.type, node.where});
  }
  const auto& apply = std::get<Apply>(node.what);
  if (apply.function == ElementFunction::select) return replaced_select(node, replacement, done);
  std::vector<NodeId> operands;
  for (const NodeId operand : apply.operands)
    operands.push_back(
        converted(replaced(operand, replacement, done), type_of(operand), node.where));
  return add({Apply{apply.function, std::move(operands)}, node.type, node.where});
}

NodeId KernelBuilder::replaced_index(const IndexValue& index, const Replacement& replacement,
                                     Span where) {
  const auto& by = replacement.at(index.index);
  if (const auto* integer = std::get_if<Int>(&by)) return lower(*integer, where);
  return std::get<NodeId>(by);
}

// Replaces each arm under its condition: a dividend may be known not to be negative only there.
NodeId KernelBuilder::replaced_select(const Node& node, const Replacement& replacement,
                                      std::map<NodeId, NodeId>& done) {
  const auto& select = std::get<Apply>(node.what);
  const NodeId condition = replaced(select.operands[0], replacement, done);
  if (const auto* known = std::get_if<Literal>(&kernel.node(condition).what)) {
    const bool holds = std::get<std::int64_t>(known->value) != 0;
    return replaced(select.operands[holds ? 1 : 2], replacement, done);
  }
  const auto said = conditions_.find(condition);
  const auto arm = [&](std::size_t operand) {
    const NodeId id = select.operands[operand];
    const auto made = [&] {
      return converted(replaced(id, replacement, done), type_of(id), node.where);
    };
    if (said == conditions_.end()) return made();
    const Under under(session_.facts, operand == 1 ? said->second : negate(said->second));
    return made();
  };
  const NodeId then = arm(1), otherwise = arm(2);
  return add({Apply{select.function, {condition, then, otherwise}}, node.type, node.where});
}

// The reduction's own indices give way where what is put in depends on them.
NodeId KernelBuilder::replaced_reduce(const Node& node, Replacement replacement) {
  Reduce reduce = std::get<Reduce>(node.what);
  for (const IndexId index : reduce.indices) replacement.erase(index);
  const std::set<IndexId>& body = free_indices(reduce.body);
  std::erase_if(replacement, [&](const auto& each) { return !body.contains(each.first); });
  std::set<IndexId> put_in;
  for (const auto& [index, by] : replacement) {
    const auto* integer = std::get_if<Int>(&by);
    std::set<IndexId> of =
        integer ? free_indices(Value(*integer)) : free_indices(std::get<NodeId>(by));
    put_in.merge(of);
  }
  std::set<IndexId> taken = put_in;
  taken.insert(body.begin(), body.end());
  for (IndexId& index : reduce.indices) {
    if (!put_in.contains(index)) continue;
    const Index own = kernel.index(index);
    const IndexId other = bound_index(own.name, own.extent, taken, own.where);
    replacement.emplace(index, symbol(other));
    taken.insert(other);
    index = other;
  }
  reduce.body = converted(replaced(reduce.body, replacement), type_of(reduce.body), node.where);
  return add({std::move(reduce), node.type, node.where});
}

}  // namespace lay::sema
