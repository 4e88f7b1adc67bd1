#include "frontend/sema/apply.h"

#include <algorithm>

#include "frontend/sema/builtins/array_operations.h"
#include "frontend/sema/builtins/call_repair.h"
#include "frontend/sema/explain/derivation.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

std::vector<Span> spans_of(const std::vector<CallArgument>& arguments) {
  std::vector<Span> spans;
  for (const CallArgument& a : arguments) spans.push_back(a.span);
  return spans;
}

bool any_unknown(const std::vector<CallArgument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const CallArgument& a) { return a.value.is_unknown(); });
}

// Coordinates by the names of modes; `_` for the modes that are left out.
Tuple named_coordinate(const std::vector<CallArgument>& arguments, const Layout& layout) {
  std::vector<Tuple> modes(static_cast<std::size_t>(layout.rank()), Tuple::underscore());
  for (const CallArgument& a : arguments) {
    const auto mode = a.name.empty() ? std::nullopt : mode_named(layout, a.name);
    if (!mode) {
      fail("argument-name",
           a.name.empty() ? "a coordinate has a name for each index or for none"
                          : "no one mode of " + layout.to_string() + " is named " + a.name,
           a.span, {}, {{"help", "names(L, (\"m\",\"k\")) names modes"}});
    }
    const Tuple* t = a.value.as<Tuple>();
    if (!t)
      fail("argument-kind", "a coordinate is made of integers, not of " + kind_name(a.value),
           a.span);
    modes[static_cast<std::size_t>(*mode)] = *t;
  }
  return layout.shape.is_leaf() ? modes[0] : Tuple(std::move(modes));
}

// The coordinate that the arguments of a layout make. A tuple alone is the whole coordinate; where
// the shape is a tuple of one that it cannot be a coordinate of, it is the coordinate of that mode:
// ((4,2),):((1,4),) takes ((3,1)).
Tuple coordinate_of(const std::vector<CallArgument>& arguments, const Layout& layout, Span whole) {
  const Tuple& shape = layout.shape;
  if (!arguments.empty() && !arguments[0].name.empty()) return named_coordinate(arguments, layout);
  std::vector<Tuple> modes;
  for (const CallArgument& a : arguments) {
    if (!a.name.empty()) fail("argument-name", "a coordinate has no names", a.span);
    const Tuple* t = a.value.as<Tuple>();
    if (!t)
      fail("argument-kind", "a coordinate is made of integers, not of " + kind_name(a.value),
           a.span);
    modes.push_back(*t);
  }
  if (modes.empty()) fail("argument-count", "a layout takes a coordinate", whole);
  if (modes.size() > 1) return Tuple(std::move(modes));
  const bool of_mode =
      !shape.is_leaf() && shape.rank() == 1 && !modes[0].is_leaf() && modes[0].rank() != 1;
  return of_mode ? Tuple(std::move(modes)) : modes[0];
}

void note_past_the_end(Session& session, const Tuple& coordinate, const Tuple& shape, Span whole) {
  if (!session.outcome || session.kernel || !session.library.empty()) return;
  if (inside(session.facts, coordinate, shape) != Verdict::refuted) return;
  Diagnostic d;
  d.code = "past-the-end";
  d.message = coordinate.to_string() + " lies past the end of " + shape.to_string();
  d.primary = whole;
  d.severity = Severity::note;
  session.outcome->diagnostics.add(std::move(d));
}

Value apply_layout(Session& session, const Value& callee,
                   const std::vector<CallArgument>& arguments, Span whole) {
  if (any_unknown(arguments)) return Value(Unknown{});
  Facts& facts = session.facts;
  if (const Layout* l = callee.as<Layout>()) {
    const Tuple coordinate = coordinate_of(arguments, *l, whole);
    if (coordinate.has_underscore()) {
      Slice cut = slice_and_offset(facts, coordinate, *l);
      derive_slice(facts, *l, coordinate, cut.sub);
      return Value(cut.sub);
    }
    Value result(evaluate(facts, *l, coordinate));
    derive_value(facts, *l, coordinate);
    note_past_the_end(session, coordinate, l->shape, whole);
    return result;
  }
  const Composed& c = *callee.as<Composed>();
  const auto* inner = std::get_if<Layout>(&c.inner);
  const Tuple coordinate = coordinate_of(arguments, inner ? *inner : Layout(), whole);
  if (coordinate.has_underscore()) {
    Composed cut = slice(facts, coordinate, c);
    derive_slice(facts, c, coordinate, cut);
    return Value(std::move(cut));
  }
  derive_value(facts, c, coordinate);
  return Value(evaluate(facts, c, coordinate));
}

Value apply_swizzle(const Swizzle& s, const std::vector<CallArgument>& arguments, Span whole) {
  if (any_unknown(arguments)) return Value(Unknown{});
  if (arguments.size() != 1 || !arguments[0].value.is_int()) {
    fail("argument-kind", "a swizzle takes one integer", whole);
  }
  const Int& x = arguments[0].value.as<Tuple>()->value();
  if (x.is_literal() && x.value() < 0)
    fail("argument-kind", "a swizzle takes an integer that is at least 0", whole);
  derive_value(s, Tuple(x));
  return Value(s(x));
}

bool fits_type(const Value& value, const std::string& type) {
  std::string word = kind_word(value);
  if (word == "unknown" || type == "Any") return true;
  if (type == "Int") return word == "int";
  if (type == "Tuple") return word == "tuple" || word == "int";
  if (type == "Layout") return word == "layout" || word == "composed";
  if (type == "Bool") return word == "bool";
  if (type == "Real") return word == "real" || word == "int";
  if (type == "String") return word == "string";
  if (type == "Swizzle") return word == "swizzle";
  if (type == "Array") return word == "array";
  if (type == "Record") return word == "record";
  if (type == "Kernel") return word == "kernel";
  if (type == "Function") return word == "function";
  return type == "Type" && word == "type";
}

// The parameters of a def or record with their values.
std::vector<std::pair<std::string, Value>> bind(const std::string& callee,
                                                const std::vector<syntax::Parameter>& parameters,
                                                const std::vector<CallArgument>& arguments,
                                                Span whole) {
  std::vector<std::string> names;
  for (const syntax::Parameter& p : parameters) names.push_back(p.name.text);
  std::vector<std::pair<std::string, Value>> bound;
  for (const CallArgument* a : bind_arguments(callee, names, arguments, whole)) {
    const syntax::Parameter& p = parameters[bound.size()];
    if (p.type && !fits_type(a->value, p.type->text)) {
      fail("argument-kind",
           callee + " wants a " + p.type->text + " for " + p.name.text + ", not " +
               kind_name(a->value),
           a->span);
    }
    bound.emplace_back(p.name.text, a->value);
  }
  return bound;
}

// Counts the depth of calls and names the library while one of its defs runs.
class Entered {
 public:
  Entered(Session& session, Span where) : session_(session), library_(session.library) {
    if (++session_.call_depth > kCallDepth) {
      --session_.call_depth;
      fail("limit", "calls are nested deeper than " + std::to_string(kCallDepth), where);
    }
  }
  ~Entered() {
    --session_.call_depth;
    session_.library = library_;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  bool from_user() const { return library_.empty(); }

 private:
  Session& session_;
  std::string library_;
};

bool is_library(const Session& session, const Closure& closure) {
  return session.sources[closure.tree->file].name.starts_with("stdlib/");
}

// Shows an error inside a library's def at the user's call, its labels at the call's
// arguments.
[[noreturn]] void blame_call(Diagnostic d, const std::string& callee,
                             const std::vector<Span>& operands, Span whole) {
  std::vector<Label> labels;
  for (const Label& label : d.labels) {
    if (label.span.file == whole.file) {
      labels.push_back(label);
    } else {
      d.notes.insert(d.notes.begin(), Note{"", label.text});
    }
  }
  d.labels = std::move(labels);
  bool at_argument = std::find(operands.begin(), operands.end(), d.primary) != operands.end();
  if (!at_argument) d.primary = whole;
  if (!callee.empty()) d.notes.push_back({"", "in " + callee + " of the standard library"});
  throw DiagnosticError(std::move(d));
}

template <typename Body>
Value run_closure(Session& session, const Closure& closure, const std::string& name,
                  const std::vector<CallArgument>& arguments, Span whole, Body&& body) {
  Entered entered(session, whole);
  bool library = is_library(session, closure);
  session.library = library ? session.sources[closure.tree->file].name : "";
  try {
    return body();
  } catch (const DiagnosticError& error) {
    if (library && entered.from_user())
      blame_call(error.diagnostic, name, spans_of(arguments), whole);
    if (!library) {
      Diagnostic d = error.diagnostic;
      if (d.labels.size() < 3) d.labels.push_back({whole, "called here"});
      throw DiagnosticError(std::move(d));
    }
    throw;
  }
}

// How a derivation begins a call: the arguments by their names, and what the def says.
trace::Begin begin_of(const Session& session, const Function& f,
                      const std::vector<std::pair<std::string, Value>>& bound) {
  trace::Begin begin{f.def->name.text, {}, {}, {}};
  for (const auto& [name, value] : bound) {
    begin.parameters.push_back(name);
    begin.operands.push_back(item_of(value));
  }
  begin.definition = one_line(session.sources.text((*f.closure.tree)[f.def->body].span));
  return begin;
}

// A claim of the algebra that was refused: its repairs are about the operands inside the def, and
// give way to those of the call.
bool is_refused(const Diagnostic& d) {
  return !d.witness.empty() || d.code == "refuted" || d.code.starts_with("composition-") ||
         d.code.starts_with("complement-");
}

Value apply_function(Session& session, const FunctionPtr& f,
                     const std::vector<CallArgument>& arguments, Span whole,
                     const std::vector<Value>& indices = {});

// Runs the call; where it is refused, adds what else would have worked.
template <typename Run>
Value repaired(Session& session, const FunctionPtr& f, const std::vector<CallArgument>& arguments,
               Span whole, const std::vector<Value>& indices, const Run& run) {
  try {
    return run();
  } catch (DiagnosticError& error) {
    std::vector<Note>& notes = error.diagnostic.notes;
    if (!is_refused(error.diagnostic) || f->def->parameters.empty()) throw;
    std::erase_if(notes, [](const Note& note) { return note.kind == "works"; });
    const auto retry = [&](const std::vector<CallArgument>& other) {
      apply_function(session, f, other, whole, indices);
    };
    for (const std::string& repair :
         call_repairs(session, f->def->parameters.back().name.text, arguments, retry)) {
      notes.push_back({"works", repair});
    }
    throw;
  }
}

// The indices first, then the parameters.
Frame frame_of(const Function& f, const std::vector<CallArgument>& arguments, Span whole,
               const std::vector<Value>& indices) {
  const std::vector<syntax::Identifier>& names = f.def->indices;
  const std::string& name = f.def->name.text;
  if (indices.size() != names.size()) {
    std::string written = name;
    for (const syntax::Identifier& index : names)
      written += (written == name ? "[" : ",") + index.text;
    fail("argument-count",
         name + " takes " + std::to_string(names.size()) +
             (names.size() == 1 ? " index" : " indices") + " in brackets, not " +
             std::to_string(indices.size()),
         whole, {}, {{"help", names.empty() ? name + "(...)" : written + "](...)"}});
  }
  Frame frame{f.closure, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    frame.locals.emplace_back(names[i].text, indices[i]);
    frame.indices.push_back(names[i].text);
  }
  for (auto& bound : bind(name, f.def->parameters, arguments, whole))
    frame.locals.push_back(std::move(bound));
  return frame;
}

Value apply_function(Session& session, const FunctionPtr& f,
                     const std::vector<CallArgument>& arguments, Span whole,
                     const std::vector<Value>& indices) {
  const std::string& name = f->def->name.text;
  Frame frame = frame_of(*f, arguments, whole, indices);
  std::optional<trace::Operation> derived;
  if (trace::heard()) derived.emplace(begin_of(session, *f, frame.locals));
  const auto run = [&] {
    return run_closure(session, f->closure, name, arguments, whole,
                       [&] { return evaluate(session, frame, f->def->body); });
  };
  Value result = session.library.empty() && is_library(session, f->closure)
                     ? repaired(session, f, arguments, whole, indices, run)
                     : run();
  if (f->def->result && !fits_type(result, f->def->result->text)) {
    fail("argument-kind",
         name + " promises a " + f->def->result->text + " and gives " + kind_name(result), whole);
  }
  if (derived) derived->gives(item_of(result));
  return result;
}

Value make_record(Session& session, const RecordMakerPtr& maker,
                  const std::vector<CallArgument>& arguments, Span whole) {
  const std::string& name = maker->record->name.text;
  Frame frame{maker->closure, bind(name, maker->record->parameters, arguments, whole)};
  Record record{name, name + "(", {}, maker->library};
  for (std::size_t i = 0; i < frame.locals.size(); ++i) {
    record.head += (i ? ", " : "") + frame.locals[i].first + " = " + text(frame.locals[i].second);
  }
  record.head += ")";
  record.fields = frame.locals;
  return run_closure(session, maker->closure, name, arguments, whole, [&] {
    for (const syntax::Field& field : maker->record->fields) {
      Value value = evaluate(session, frame, field.value);
      frame.locals.emplace_back(field.name.text, value);
      record.fields.emplace_back(field.name.text, std::move(value));
    }
    return Value(std::make_shared<const Record>(std::move(record)));
  });
}

}  // namespace

Value apply_over(Session& session, const FunctionPtr& function, std::vector<Value> indices,
                 const std::vector<CallArgument>& arguments, Span whole) {
  session.charge(1, whole);
  try {
    return apply_function(session, function, arguments, whole, indices);
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, whole, spans_of(arguments)));
  }
}

Value apply(Session& session, const Operand& callee, std::vector<CallArgument> arguments,
            Span whole) {
  session.charge(1, whole);
  const Value& f = callee.value;
  try {
    if (const auto* builtin = f.as<const Builtin*>()) {
      if ((*builtin)->name == "reference") return apply_reference(session, arguments, whole);
      Arguments list(session, (*builtin)->name, whole, std::move(arguments));
      return call_builtin(**builtin, list);
    }
    if (const auto* function = f.as<FunctionPtr>())
      return apply_function(session, *function, arguments, whole);
    if (const auto* maker = f.as<RecordMakerPtr>())
      return make_record(session, *maker, arguments, whole);
    if (f.as<Layout>() || f.as<Composed>()) return apply_layout(session, f, arguments, whole);
    if (const auto* s = f.as<Swizzle>()) return apply_swizzle(*s, arguments, whole);
    if (const auto* family = f.as<KernelFamilyPtr>())
      return apply_kernel(session, *family, arguments, whole);
    if (const auto* type = f.as<ElementType>()) {
      arguments.push_back({"", Value(*type), callee.span});
      Arguments list(session, "cast", whole, std::move(arguments));
      return call_builtin(*find_builtin("cast"), list);
    }
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, whole, spans_of(arguments)));
  }
  if (f.is_unknown()) return f;
  std::vector<Note> notes;
  const Tuple* t = f.as<Tuple>();
  if (t && t->is_tuple())
    notes.push_back(
        {"help", "a mode of a tuple is x[0]; a layout is called in parentheses: ((4,2):(1,4))(7)"});
  if (f.as<RecordPtr>())
    notes.push_back({"help", "without parameters a record is written by its name alone"});
  fail("not-callable", kind_name(f) + " cannot be called", callee.span, {}, std::move(notes));
}

}  // namespace lay::sema
