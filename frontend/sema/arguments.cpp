#include <algorithm>

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/explain/derivation.h"
#include "frontend/source/text.h"

namespace lay::sema {

void Arguments::wrong_kind(std::size_t i, std::string_view wanted) const {
  if (i >= list_.size()) {
    fail("argument-count",
         std::string(callee_) + " needs " + std::string(wanted) + " as argument " +
             std::to_string(i + 1),
         whole_);
  }
  fail("argument-kind",
       std::string(callee_) + " takes " + std::string(wanted) + " as argument " +
           std::to_string(i + 1) + ", not " + kind_name(list_[i].value),
       list_[i].span);
}

const Layout& Arguments::layout(std::size_t i) const {
  if (const Layout* l = as<Layout>(i)) return *l;
  wrong_kind(i, "a layout");
}

AnyLayout Arguments::any_layout(std::size_t i) const {
  if (const Layout* l = as<Layout>(i)) return *l;
  if (const Composed* c = as<Composed>(i)) return *c;
  wrong_kind(i, "a layout");
}

const Layout& Arguments::inner_layout(std::size_t i) const {
  if (const Composed* c = as<Composed>(i)) return c->layout();
  return layout(i);
}

const Tuple& Arguments::tuple(std::size_t i) const {
  if (const Tuple* t = as<Tuple>(i)) return *t;
  wrong_kind(i, "an integer or a tuple of integers");
}

Int Arguments::integer(std::size_t i) const {
  const Tuple* t = as<Tuple>(i);
  if (t && t->is_int()) return t->value();
  wrong_kind(i, "an integer");
}

std::int64_t Arguments::literal(std::size_t i) const {
  Int n = integer(i);
  if (n.is_literal()) return n.value();
  fail("symbolic",
       std::string(callee_) + " needs a known integer here, and " + n.to_string() +
           " is not known yet",
       list_[i].span);
}

int Arguments::small(std::size_t i) const {
  std::int64_t n = literal(i);
  if (n < -1'000'000 || n > 1'000'000)
    fail("mode", "nothing has a mode or a rank " + std::to_string(n), list_[i].span);
  return static_cast<int>(n);
}

std::vector<int> Arguments::path(std::size_t from) const {
  std::vector<int> path;
  for (std::size_t i = from; i < list_.size(); ++i) path.push_back(small(i));
  return path;
}

Tiler Arguments::tiler(std::size_t i) const {
  if (i < list_.size()) {
    if (auto t = to_tiler(list_[i].value)) return *t;
  }
  wrong_kind(i, "a tiler (a layout, an integer, `_`, or a tuple of these)");
}

ElementType Arguments::type(std::size_t i) const {
  if (const ElementType* t = as<ElementType>(i)) return *t;
  wrong_kind(i, "an element type");
}

const Array& Arguments::array(std::size_t i) const {
  if (const Array* a = as<Array>(i)) return *a;
  wrong_kind(i, "an array");
}

const std::string& Arguments::string(std::size_t i) const {
  if (const std::string* s = as<std::string>(i)) return *s;
  wrong_kind(i, "a string");
}

std::optional<Tiler> to_tiler(const Value& value) {
  if (const Layout* l = value.as<Layout>()) return Tiler(*l);
  if (const Tuple* t = value.as<Tuple>()) return Tiler::of(*t);
  const auto* list = value.as<ListPtr>();
  if (!list) return std::nullopt;
  std::vector<Tiler> modes;
  for (const Value& element : (*list)->elements) {
    auto mode = to_tiler(element);
    if (!mode) return std::nullopt;
    modes.push_back(*mode);
  }
  return Tiler(std::move(modes));
}

Value to_value(AnyLayout layout) {
  AnyLayout plain = simplified(std::move(layout));
  if (auto* l = std::get_if<Layout>(&plain)) return Value(std::move(*l));
  return Value(std::get<Composed>(std::move(plain)));
}

namespace {

trace::Begin begin_of(const Builtin& builtin, const Arguments& arguments) {
  trace::Begin begin{std::string(builtin.name), {}, {}, {}};
  for (const CallArgument& a : arguments.list()) begin.operands.push_back(item_of(a.value));
  return begin;
}

}  // namespace

Value call_builtin(const Builtin& builtin, Arguments& arguments) {
  for (const CallArgument& a : arguments.list()) {
    if (!a.name.empty() && builtin.name != "load") {
      fail("argument-name", std::string(builtin.name) + " has no named parameters", a.span, {},
           {{"help", std::string(builtin.signature)}});
    }
  }
  if (arguments.count() < builtin.least || arguments.count() > builtin.most) {
    fail("argument-count",
         std::string(builtin.name) + " does not take " + std::to_string(arguments.count()) +
             (arguments.count() == 1 ? " argument" : " arguments"),
         arguments.whole(), {}, {{"help", std::string(builtin.signature)}});
  }
  for (const CallArgument& a : arguments.list()) {
    if (a.value.is_unknown()) return a.value;
  }
  std::vector<Span> spans;
  for (const CallArgument& a : arguments.list()) {
    spans.push_back(a.span);
    arguments.session.charge(work_of(a.value), arguments.whole());
  }
  try {
    std::optional<trace::Operation> derived;
    if (trace::heard()) derived.emplace(begin_of(builtin, arguments));
    Value result = builtin.function(arguments);
    if (derived) derived->gives(item_of(result));
    arguments.session.charge(work_of(result), arguments.whole());
    return result;
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, arguments.whole(), spans));
  }
}

std::vector<const CallArgument*> bind_arguments(const std::string& callee,
                                                const std::vector<std::string>& parameters,
                                                const std::vector<CallArgument>& arguments,
                                                Span whole) {
  std::vector<const CallArgument*> bound(parameters.size(), nullptr);
  const auto signature = [&] {
    std::string all;
    for (const std::string& parameter : parameters) all += (all.empty() ? "" : ", ") + parameter;
    return std::vector<Note>{{"help", callee + "(" + all + ")"}};
  };
  std::size_t position = 0;
  for (const CallArgument& a : arguments) {
    std::size_t k = position;
    if (a.name.empty()) {
      ++position;
    } else {
      auto at = std::find(parameters.begin(), parameters.end(), a.name);
      if (at == parameters.end()) {
        std::vector<Note> notes;
        if (auto near = nearest(a.name, parameters))
          notes.push_back({"help", "did you mean " + *near + "?"});
        fail("argument-name", callee + " has no parameter " + a.name, a.span, {}, std::move(notes));
      }
      k = static_cast<std::size_t>(at - parameters.begin());
    }
    if (k >= parameters.size()) {
      fail("argument-count",
           callee + " takes " + std::to_string(parameters.size()) +
               (parameters.size() == 1 ? " argument, not " : " arguments, not ") +
               std::to_string(arguments.size()),
           whole, {}, signature());
    }
    if (bound[k])
      fail("argument-name", "the parameter " + parameters[k] + " is given twice", a.span);
    bound[k] = &a;
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!bound[k])
      fail("argument-count", callee + " needs a value for " + parameters[k], whole, {},
           signature());
  }
  return bound;
}

const Builtin* find_builtin(const std::string& name) {
  static const std::map<std::string_view, const Builtin*> rows = [] {
    std::map<std::string_view, const Builtin*> result;
    for (const Builtin* row : all_builtins()) result.emplace(row->name, row);
    return result;
  }();
  auto at = rows.find(name);
  return at == rows.end() ? nullptr : at->second;
}

std::vector<const Builtin*> all_builtins() {
  std::vector<const Builtin*> rows;
  for (auto table :
       {tuple_builtins(), tuple_algorithm_builtins(), unit_builtins(), coordinate_builtins(),
        layout_builtins(), algebra_builtins(), proposition_builtins(), memory_builtins(),
        fit_builtins(), number_builtins(), array_builtins(), export_builtins()}) {
    for (const Builtin& row : table) rows.push_back(&row);
  }
  return rows;
}

}  // namespace lay::sema
