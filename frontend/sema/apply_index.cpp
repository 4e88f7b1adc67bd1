// Modes, elements and ranges x[i], fields r.f.

#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/array_operations.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

std::string count_text(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " mode" : " modes");
}

Value index_list(const List& list, const std::vector<Operand>& indices) {
  const Tuple* first = indices[0].value.as<Tuple>();
  if (!first || !first->is_int() || !first->value().is_literal()) {
    fail("argument-kind", "the number of a mode is written in the brackets", indices[0].span);
  }
  std::int64_t i = first->value().value();
  if (i < 0 || i >= static_cast<std::int64_t>(list.elements.size())) {
    fail("mode",
         "there is no mode " + std::to_string(i) + " in a tuple of " +
             count_text(list.elements.size()),
         indices[0].span);
  }
  return list.elements[static_cast<std::size_t>(i)];
}

// X[i,j] is an element, X[0..10] a part: ranges keep their axis, integers drop it, axes not named
// are whole.
Value index_array(const Array& array, const std::vector<Operand>& indices, Span whole) {
  if (static_cast<int>(indices.size()) > array.rank()) {
    fail("coordinate-rank",
         "an array of rank " + std::to_string(array.rank()) + " takes as many indices, not " +
             std::to_string(indices.size()),
         whole);
  }
  Array part = array;
  std::vector<bool> dropped(array.shape.size(), false);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Tuple* t = indices[k].value.as<Tuple>();
    const ListPtr* range = indices[k].value.as<ListPtr>();
    if (range && (*range)->elements.size() == 2 && (*range)->elements[0].is_int()) {
      auto end = [&](std::size_t i) { return (*range)->elements[i].as<Tuple>()->value().value(); };
      part = cut(part, k, end(0), end(1));
      continue;
    }
    if (!t || !t->is_int() || !t->value().is_literal()) {
      fail("argument-kind", "an index of an array is a known integer or a range", indices[k].span);
    }
    std::int64_t i = t->value().value();
    if (i < 0 || i >= array.shape[k]) {
      fail("bounds", std::to_string(i) + " lies outside 0.." + std::to_string(array.shape[k]),
           indices[k].span);
    }
    part = cut(part, k, i, i + 1);
    dropped[k] = true;
  }
  std::vector<std::int64_t> shape;
  for (std::size_t k = 0; k < part.shape.size(); ++k) {
    if (!dropped[k]) shape.push_back(part.shape[k]);
  }
  part.shape = shape;
  if (!shape.empty()) return Value(std::move(part));
  if (part.element == ElementType::pred) return Value(Predicate(part.integer(0) != 0));
  return is_float(part.element) ? Value(part.real(0)) : Value(Int(part.integer(0)));
}

}  // namespace

Value apply_index(Session& session, const Operand& object, const std::vector<Operand>& indices,
                  Span whole) {
  for (const Operand& index : indices) {
    if (index.value.is_unknown()) return index.value;
  }
  const Value& x = object.value;
  if (x.is_unknown()) return x;
  if (const auto* tensor = x.as<TensorName>())
    return session.kernel->load(tensor->tensor, indices, whole);
  if (const auto* intermediate = x.as<IntermediatePtr>())
    return session.kernel->use(**intermediate, indices, whole);
  if (const auto* array = x.as<Array>()) return index_array(*array, indices, whole);
  if (const auto* list = x.as<ListPtr>()) {
    Value element = index_list(**list, indices);
    if (indices.size() == 1) return element;
    return apply_index(session, {element, whole}, {indices.begin() + 1, indices.end()}, whole);
  }
  if (!x.as<Tuple>() && !x.as<Layout>() && !x.as<Composed>()) {
    fail("not-indexable", kind_name(x) + " has no modes", object.span);
  }
  std::vector<CallArgument> arguments{{"", x, object.span}};
  for (const Operand& index : indices) arguments.push_back({"", index.value, index.span});
  Arguments list(session, "get", whole, std::move(arguments));
  return call_builtin(*find_builtin("get"), list);
}

namespace {

// The mode of a layout with that name.
Value named_mode(const Operand& object, const Layout& layout, const std::string& name, Span where) {
  if (const auto mode = mode_named(layout, name)) return Value(layout[*mode]);
  std::string known;
  for (int k = 0; k < layout.rank(); ++k) {
    if (const auto number = only_name(layout[k]))
      known += (known.empty() ? "" : ", ") + name_of_number(number);
  }
  fail("no-field", "no one mode of " + layout.to_string() + " is named " + name, where,
       {{object.span, "this layout"}},
       {{"help",
         known.empty() ? "names(L, (\"m\",\"k\")) names modes" : "its modes are named " + known}});
}

}  // namespace

Value member(Session& session, const Operand& object, const std::string& name, Span where) {
  if (object.value.is_unknown()) return object.value;
  if (const auto* layout = object.value.as<Layout>())
    return named_mode(object, *layout, name, where);
  if (const auto* composed = object.value.as<Composed>()) {
    Composed part = *composed;
    part.inner = *named_mode(object, composed->layout(), name, where).as<Layout>();
    return Value(std::move(part));
  }
  const auto* record = object.value.as<RecordPtr>();
  if (!record) fail("no-field", kind_name(object.value) + " has no fields", object.span);
  if (const Value* field = (*record)->find(name)) {
    for (const Guard& guard : field->guards) session.facts.raise(guard);
    return *field;
  }
  std::vector<std::string> known;
  for (const auto& [field, value] : (*record)->fields) known.push_back(field);
  std::vector<Note> notes;
  if (auto near = nearest(name, known)) notes.push_back({"help", "did you mean " + *near + "?"});
  fail("no-field", (*record)->name + " has no field " + name, where, {}, std::move(notes));
}

}  // namespace lay::sema
