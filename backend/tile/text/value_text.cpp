#include "backend/tile/text/value_text.h"

#include <algorithm>
#include <map>

#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/values/value.h"

namespace lay::tile {

using sema::NodeId;

namespace {

// How tightly an operator holds its operands: the levels of Lay's grammar.
enum Level { selection, disjunction, conjunction, negation, comparison, sum, product, sign, whole };

struct OperatorRow {
  const char* text;
  Level level;
  ElementFunction function;
};

constexpr OperatorRow operators[] = {
    {" or ", disjunction, ElementFunction::or_}, {" and ", conjunction, ElementFunction::and_},
    {" < ", comparison, ElementFunction::lt},    {" <= ", comparison, ElementFunction::le},
    {" > ", comparison, ElementFunction::gt},    {" >= ", comparison, ElementFunction::ge},
    {" == ", comparison, ElementFunction::eq},   {" != ", comparison, ElementFunction::ne},
    {" + ", sum, ElementFunction::add},          {" - ", sum, ElementFunction::sub},
    {" * ", product, ElementFunction::mul},      {" / ", product, ElementFunction::div},
    {" % ", product, ElementFunction::rem},
};

const OperatorRow* operator_of(ElementFunction function) {
  const auto* found =
      std::find_if(std::begin(operators), std::end(operators),
                   [&](const OperatorRow& row) { return row.function == function; });
  return found == std::end(operators) ? nullptr : found;
}

std::string number_of(NodeId id) {
  return "%" + std::to_string(id);
}

// Returns true if a node is short enough to be written wherever it is used: a leaf, an element at
// bare indices, or a cast of one.
bool is_short(const sema::Kernel& kernel, NodeId id) {
  const sema::Node& node = kernel.node(id);
  if (std::holds_alternative<sema::Reduce>(node.what)) return false;
  if (const auto* apply = std::get_if<sema::Apply>(&node.what))
    return apply->function == ElementFunction::cast && is_short(kernel, apply->operands[0]);
  const auto inside = sema::operands(node);
  return std::all_of(inside.begin(), inside.end(),
                     [&](NodeId coordinate) { return sema::bare_index(kernel, coordinate) >= 0; });
}

}  // namespace

struct ValueText::Writer {
  const ValueText& text;
  const sema::Kernel& kernel;
  const HeldValues& held;
  NodeId root;
  std::map<NodeId, int> uses = {};  // of nodes below the root that no tile holds

  void count_uses() {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (++uses[id] > 1 || held.tile_of(id) >= 0) continue;
      for (const NodeId operand : sema::operands(kernel.node(id))) open.push_back(operand);
    }
  }

  // Returns true if the node stands as %6: a reduction, or a node that would be written twice.
  bool is_apart(NodeId id) const {
    if (id == root || !text.apart_[static_cast<std::size_t>(id)]) return false;
    return std::holds_alternative<sema::Reduce>(kernel.node(id).what) || uses.at(id) > 1;
  }

  struct Written {
    std::string text;
    Level level = whole;
  };

  Written write(NodeId id) const {
    if (const TileId tile = held.tile_of(id); tile >= 0) return {text.tile(tile)};
    if (is_apart(id)) return {number_of(id)};
    const sema::Node& node = kernel.node(id);
    if (const auto* x = std::get_if<sema::Literal>(&node.what)) return literal(*x);
    if (const auto* x = std::get_if<sema::IndexValue>(&node.what))
      return {kernel.index(x->index).name};
    if (const auto* x = std::get_if<sema::SizeValue>(&node.what))
      return {"[" + x->value.to_string() + "]"};
    if (const auto* x = std::get_if<sema::ScalarValue>(&node.what))
      return {kernel.scalars[static_cast<std::size_t>(x->scalar)].name};
    if (const auto* x = std::get_if<sema::Load>(&node.what))
      return {kernel.tensor(x->tensor).name + "[" + list(x->coordinate) + "]"};
    if (const auto* x = std::get_if<sema::Reduce>(&node.what)) {
      std::string names;
      for (const sema::IndexId index : x->indices)
        names += (names.empty() ? "" : ",") + kernel.index(index).name;
      return {std::string(sema::reduce_row(x->function).name) + "[" + names + "](" +
              write(x->body).text + ")"};
    }
    return apply(std::get<sema::Apply>(node.what), node.type);
  }

  static Written literal(const sema::Literal& x) {
    const auto* integer = std::get_if<std::int64_t>(&x.value);
    const std::string number =
        integer ? std::to_string(*integer) : sema::real_text(std::get<double>(x.value));
    return {number, number[0] == '-' ? sign : whole};
  }

  // In parentheses where it holds its operands less tightly.
  std::string at_least(Level level, NodeId id) const {
    const Written made = write(id);
    return made.level < level ? "(" + made.text + ")" : made.text;
  }

  std::string list(const std::vector<NodeId>& ids) const {
    std::string all;
    for (const NodeId id : ids) all += (all.empty() ? "" : ",") + write(id).text;
    return all;
  }

  Written apply(const sema::Apply& x, ElementType type) const {
    const auto& in = x.operands;
    if (const OperatorRow* row = operator_of(x.function)) {
      const auto level = row->level;
      const auto tighter = static_cast<Level>(level + 1);
      return {at_least(level == comparison ? tighter : level, in[0]) + row->text +
                  at_least(tighter, in[1]),
              level};
    }
    switch (x.function) {
      case ElementFunction::select:
        return {"if " + at_least(disjunction, in[0]) + " then " + at_least(disjunction, in[1]) +
                    " else " + at_least(selection, in[2]),
                selection};
      case ElementFunction::not_:
        return {"not " + at_least(negation, in[0]), negation};
      case ElementFunction::neg:
        return {"-" + at_least(whole, in[0]), sign};
      case ElementFunction::cast:
        return {std::string(element_name(type)) + "(" + write(in[0]).text + ")"};
      default:
        return {std::string(function_row(x.function).name) + "(" + list(in) + ")"};
    }
  }
};

ValueText::ValueText(const Program& program) : program_(program) {
  const sema::Kernel& kernel = *program.kernel;
  const auto live = sema::reachable(kernel);
  std::vector<int> uses(kernel.nodes.size(), 0);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    if (!live[id]) continue;
    for (const NodeId operand : sema::operands(kernel.nodes[id]))
      ++uses[static_cast<std::size_t>(operand)];
  }
  for (const sema::Assignment& assignment : kernel.assignments)
    ++uses[static_cast<std::size_t>(assignment.value)];
  std::vector<char> lines(kernel.nodes.size(), 0);
  apart_ = lines;
  for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (!live[n]) continue;
    const bool reduces = std::holds_alternative<sema::Reduce>(kernel.node(id).what);
    if (reduces || (uses[n] > 1 && !is_short(kernel, id))) apart_[n] = 1;
    if (apart_[n]) lines[n] = 1;
  }
  for (const Tile& tile : program.tiles)
    if (tile.value >= 0) lines[static_cast<std::size_t>(tile.value)] = 1;
  for (const Axis& axis : program.axes)
    if (axis.segments) lines[static_cast<std::size_t>(axis.segments->of)] = 1;
  for (std::size_t n = 0; n < lines.size(); ++n)
    if (lines[n]) written_.push_back(static_cast<NodeId>(n));
}

std::string ValueText::operator()(NodeId node, const HeldValues& held) const {
  Writer writer{*this, *program_.kernel, held, node};
  writer.count_uses();
  return writer.write(node).text;
}

std::string ValueText::tile(TileId id) const {
  const Tile& tile = program_.tile(id);
  std::string axes;
  for (const AxisId axis : tile.axes) axes += (axes.empty() ? "" : ",") + program_.axis(axis).name;
  return tile.name + "[" + axes + "]";
}

}  // namespace lay::tile
