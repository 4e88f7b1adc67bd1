#pragma once
// The children of an expression, in the order of the text: for_each_child(tree[id], [](ExpressionId
// child) { ... }).

#include <variant>

#include "frontend/syntax/tree.h"

namespace lay::syntax {

// Calls f for each child; a new kind of expression does not compile until it is enumerated here.
template <class Function>
struct ChildWalk {
  Function& f;

  void operator()(const Integer&) const {}
  void operator()(const Float&) const {}
  void operator()(const String&) const {}
  void operator()(const Boolean&) const {}
  void operator()(const Name&) const {}
  void operator()(const Underscore&) const {}
  void operator()(const Tuple& node) const {
    for (const ExpressionId id : node.elements) f(id);
  }
  void operator()(const Unary& node) const { f(node.operand); }
  void operator()(const Binary& node) const {
    f(node.left);
    f(node.right);
  }
  void operator()(const Chain& node) const {
    f(node.first);
    for (const Link& link : node.rest) f(link.operand);
  }
  void operator()(const Path& node) const {
    f(node.base);
    for (const ExpressionId id : node.indices) f(id);
  }
  void operator()(const Call& node) const {
    f(node.callee);
    for (const Argument& argument : node.arguments) f(argument.value);
  }
  void operator()(const Index& node) const {
    f(node.object);
    for (const ExpressionId id : node.indices) f(id);
  }
  void operator()(const Range& node) const {
    f(node.first);
    f(node.last);
  }
  void operator()(const Member& node) const { f(node.object); }
  void operator()(const If& node) const {
    f(node.condition);
    f(node.then);
    f(node.otherwise);
  }
  void operator()(const Comprehension& node) const {
    f(node.element);
    f(node.first);
    f(node.last);
  }
  void operator()(const Swizzle& node) const {
    f(node.bits);
    f(node.base);
    f(node.shift);
  }
  void operator()(const Find& node) const {
    for (const Argument& argument : node.arguments) f(argument.value);
  }
};

template <class Function>
void for_each_child(const Expression& expression, Function&& f) {
  std::visit(ChildWalk<std::remove_reference_t<Function>>{f}, expression.node);
}

}  // namespace lay::syntax
