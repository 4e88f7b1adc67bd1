#include "frontend/sema/values/names.h"

#include <algorithm>

namespace lay::sema {
namespace {

using syntax::ExpressionId;
using Parts = std::vector<ExpressionId>;

struct PartsOf {
  Parts operator()(const syntax::Integer&) const { return {}; }
  Parts operator()(const syntax::Float&) const { return {}; }
  Parts operator()(const syntax::String&) const { return {}; }
  Parts operator()(const syntax::Boolean&) const { return {}; }
  Parts operator()(const syntax::Name&) const { return {}; }
  Parts operator()(const syntax::Underscore&) const { return {}; }
  Parts operator()(const syntax::Tuple& e) const { return e.elements; }
  Parts operator()(const syntax::Unary& e) const { return {e.operand}; }
  Parts operator()(const syntax::Binary& e) const { return {e.left, e.right}; }
  Parts operator()(const syntax::Chain& e) const {
    Parts parts{e.first};
    for (const syntax::Link& link : e.rest) parts.push_back(link.operand);
    return parts;
  }
  Parts operator()(const syntax::Path& e) const { return after(e.base, e.indices); }
  Parts operator()(const syntax::Call& e) const {
    Parts parts{e.callee};
    for (const syntax::Argument& a : e.arguments) parts.push_back(a.value);
    return parts;
  }
  Parts operator()(const syntax::Index& e) const { return after(e.object, e.indices); }
  Parts operator()(const syntax::Range& e) const { return {e.first, e.last}; }
  Parts operator()(const syntax::Member& e) const { return {e.object}; }
  Parts operator()(const syntax::If& e) const { return {e.condition, e.then, e.otherwise}; }
  Parts operator()(const syntax::Comprehension& e) const { return {e.first, e.last, e.element}; }
  Parts operator()(const syntax::Swizzle& e) const { return {e.bits, e.base, e.shift}; }
  Parts operator()(const syntax::Find& e) const {
    Parts parts;
    for (const syntax::Argument& a : e.arguments) parts.push_back(a.value);
    return parts;
  }

  static Parts after(ExpressionId first, const Parts& rest) {
    Parts parts{first};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return parts;
  }
};

}  // namespace

Parts parts_of(const syntax::Expression& e) {
  return std::visit(PartsOf{}, e.node);
}

void for_each_free_name(const syntax::Tree& tree, ExpressionId id,
                        const std::vector<std::string>& bound, const NameVisitor& visit,
                        const OverIndices& over_indices) {
  const syntax::Expression& e = tree[id];
  if (const auto* name = std::get_if<syntax::Name>(&e.node)) {
    if (std::find(bound.begin(), bound.end(), name->text) == bound.end()) visit(name->text, e.span);
    return;
  }
  std::vector<std::string> inner = bound;
  Parts parts = parts_of(e);
  if (const auto* c = std::get_if<syntax::Comprehension>(&e.node))
    inner.push_back(c->variable.text);
  const auto* call = std::get_if<syntax::Call>(&e.node);
  const auto* brackets = call ? std::get_if<syntax::Index>(&tree[call->callee].node) : nullptr;
  const auto* callee = brackets ? std::get_if<syntax::Name>(&tree[brackets->object].node) : nullptr;
  if (callee && std::find(bound.begin(), bound.end(), callee->text) == bound.end() &&
      over_indices(*call)) {
    for (const ExpressionId index : brackets->indices)
      for_each_free_name(
          tree, index, {}, [&](const std::string& name, Span) { inner.push_back(name); },
          over_indices);
    parts.erase(parts.begin());  // the callee
  }
  for (const ExpressionId part : parts) for_each_free_name(tree, part, inner, visit, over_indices);
}

}  // namespace lay::sema
