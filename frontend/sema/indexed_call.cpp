#include "frontend/sema/indexed_call.h"

#include <algorithm>

#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/prelude.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

const syntax::Index* brackets_of(const syntax::Tree& tree, const syntax::Call& call) {
  return std::get_if<syntax::Index>(&tree[call.callee].node);
}

const syntax::Name* name_of(const syntax::Tree& tree, const syntax::Index& brackets) {
  return std::get_if<syntax::Name>(&tree[brackets.object].node);
}

// The names in the brackets, and the type behind the last: sum[k, l : f64].
IndexList list_of(const syntax::Tree& tree, const syntax::Index& brackets,
                  const std::string& callee) {
  const auto name = [&](syntax::ExpressionId id) -> syntax::Identifier {
    if (const auto* bare = std::get_if<syntax::Name>(&tree[id].node))
      return {bare->text, tree[id].span};
    fail("reduction-form", callee + " runs over the name of an index here", tree[id].span, {},
         {{"help", "write " + callee + "[k](...)"}});
  };
  IndexList list;
  for (const syntax::ExpressionId id : brackets.indices) {
    const auto* typed = std::get_if<syntax::Binary>(&tree[id].node);
    const bool has_type =
        typed && typed->op == syntax::BinaryOperator::colon && id == brackets.indices.back();
    list.names.push_back(name(has_type ? typed->left : id));
    if (has_type) list.accumulator = name(typed->right);
  }
  return list;
}

std::vector<syntax::ExpressionId> values_of(const syntax::Call& call) {
  std::vector<syntax::ExpressionId> values;
  for (const syntax::Argument& argument : call.arguments) values.push_back(argument.value);
  return values;
}

Value reduce(Session& session, const Frame& frame, const ReduceRow& row, const IndexList& over,
             const syntax::Call& call, Span whole) {
  if (call.arguments.size() != 1 || call.arguments[0].name) {
    fail("reduction-form",
         std::string(row.name) + "[...](...) takes one expression, not " +
             std::to_string(call.arguments.size()),
         whole, {}, {{"help", "write " + std::string(row.name) + "[k](A[m,k] * B[n,k])"}});
  }
  return session.kernel->reduce(frame, row, over, call.arguments[0].value, whole);
}

// The arguments are evaluated for every value of the indices: what is known of them here, in an arm
// of `if n < 5`, says nothing inside a reduction over them.
Value call_def(Session& session, Frame frame, const FunctionPtr& def, const IndexList& over,
               const syntax::Call& call, Span whole) {
  if (over.accumulator) {
    fail("reduction-form", def->def->name.text + " takes no accumulator type",
         over.accumulator->span);
  }
  KernelBuilder& kernel = *session.kernel;
  const std::size_t known = frame.locals.size();
  const std::vector<IndexId> ids = kernel.call_indices(frame, over, values_of(call));
  std::vector<CallArgument> arguments;
  {
    std::optional<WithoutPath> everywhere;
    if (kernel.is_in_path(ids)) everywhere.emplace(session.facts);
    for (const syntax::Argument& argument : call.arguments) {
      const Span place = frame.tree()[argument.value].span;
      arguments.push_back({argument.name ? argument.name->text : "",
                           evaluate(session, frame, argument.value), place});
    }
  }
  std::vector<Value> indices;
  for (const IndexId id : ids) indices.emplace_back(kernel.symbol(id));
  Value result = apply_over(session, def, std::move(indices), arguments, whole);
  const std::set<IndexId> free = kernel.free_indices(result);
  for (std::size_t i = known; i < frame.locals.size(); ++i) {
    const auto id = kernel.index_of(frame.locals[i].second.as<Tuple>()->value());
    if (!id || !free.contains(*id)) continue;
    const std::string& name = frame.locals[i].first;
    fail("index-unbound",
         def->def->name.text + " has a value for each " + name + ", and " + name +
             " is no index here",
         whole, {}, {{"help", "an index is on the left, C[m,n] = ..., or is reduced over"}});
  }
  return result;
}

}  // namespace

std::optional<IndexedCallee> indexed_callee(Session& session, const Frame& frame,
                                            const syntax::Call& call) {
  const syntax::Index* brackets = brackets_of(frame.tree(), call);
  const syntax::Name* name = brackets ? name_of(frame.tree(), *brackets) : nullptr;
  if (!name) return std::nullopt;
  for (const auto& [local, value] : frame.locals)
    if (local == name->text) return std::nullopt;
  const ReduceRow* row = find_reduce(name->text);
  const Module::Entry* entry = frame.closure.module->find(name->text, frame.closure.generation);
  if (entry && !entry->value) throw Poisoned{};
  if (!entry && !row) entry = session.prelude().find(name->text);
  const auto* def = entry && entry->value ? entry->value->as<FunctionPtr>() : nullptr;
  if (def && (!row || !(*def)->def->indices.empty())) return *def;
  if (row && (!entry || def)) return row;
  return std::nullopt;
}

Value call_over(Session& session, Frame& frame, const IndexedCallee& callee,
                const syntax::Call& call, Span whole) {
  const syntax::Index& brackets = *brackets_of(frame.tree(), call);
  const std::string& name = name_of(frame.tree(), brackets)->text;
  const Span place = frame.tree()[brackets.object].span;
  if (!session.kernel) {
    std::vector<Note> notes;
    if (find_builtin(name)) notes.push_back({"help", "on the host " + name + "(X) takes an array"});
    fail("kernel-only", name + "[...] is allowed only in the body of a kernel", whole, {},
         std::move(notes));
  }
  const auto* def = std::get_if<FunctionPtr>(&callee);
  if (def && (*def)->def->indices.empty()) {
    fail("not-indexable", name + " is a function without indices", place, {},
         {{"help", "a def takes them in brackets: def " + name + "[n](x) = ..."}});
  }
  const IndexList over = list_of(frame.tree(), brackets, name);
  if (def) return call_def(session, frame, *def, over, call, whole);
  return reduce(session, frame, *std::get<const ReduceRow*>(callee), over, call, whole);
}

}  // namespace lay::sema
