#include "frontend/sema/show/show_options.h"

#include <algorithm>

#include "frontend/source/text.h"

namespace lay::sema {
namespace {

const std::vector<std::string> kViews = {"grid", "threads", "banks", "line"};

class Reader {
 public:
  Reader(Session& session, Frame& frame) : session_(session), frame_(frame) {}

  void option(const syntax::Identifier& name, syntax::ExpressionId id) {
    const Span span = frame_.tree()[id].span;
    if (name.text == "view") {
      options_.view = word(id);
      if (std::find(kViews.begin(), kViews.end(), options_.view) != kViews.end()) return;
      const auto near = nearest(options_.view, kViews);
      fail("view", "there is no view called " + options_.view, span, {},
           {{"help", near ? "did you mean " + *near + "?"
                          : "the views are grid, threads, banks and line"}});
    }
    const Value value = evaluate(session_, frame_, id);
    const auto* t = value.as<Tuple>();
    if (name.text == "tile") {
      if (!t)
        fail("operand-kind", "a tile is a shape such as (16,8), not " + kind_name(value), span);
      options_.tile = *t;
    } else if (name.text == "all") {
      const auto* said = value.as<Predicate>();
      const auto on = said ? said->evaluate(options_.binding) : std::nullopt;
      if (!on) fail("operand-kind", "all is true or false, not " + text(value), span);
      if (*on) options_.draw.limits = picture::Limits::all();
    } else if (name.text == "bits") {
      const bool number = t && t->is_int() && t->value().is_literal() && t->value().value() > 0 &&
                          t->value().value() < 1024;
      if (!number) fail("operand-kind", "bits are a number such as 16, not " + text(value), span);
      options_.draw.bits = static_cast<int>(t->value().value());
    } else {
      set_size(name, value, span);
    }
  }

  ShowOptions take() { return std::move(options_); }

 private:
  // A word, not a name: view = line.
  std::string word(syntax::ExpressionId id) {
    const syntax::Expression& e = frame_.tree()[id];
    if (const auto* name = std::get_if<syntax::Name>(&e.node)) return name->text;
    if (const auto* string = std::get_if<syntax::String>(&e.node)) return string->value;
    fail("operand-kind", "a view is a word: grid, threads, banks or line", e.span);
  }

  // M = 8
  void set_size(const syntax::Identifier& name, const Value& value, Span span) {
    const auto dim = session_.dims.find(name.text);
    if (dim == session_.dims.end()) {
      std::vector<std::string> known = {"view", "tile", "bits", "all"};
      for (const auto& [other, symbol] : session_.dims) known.push_back(other);
      const auto near = nearest(name.text, known);
      fail("argument-name", "show has no option called " + name.text + ", and no dim is", name.span,
           {},
           {{"help",
             near ? "did you mean " + *near + "?" : "view, tile, bits, all, or a dim: M = 8"}});
    }
    const auto* t = value.as<Tuple>();
    if (!t || !t->is_int() || !t->value().is_literal() || t->value().value() < 1)
      fail("operand-kind", "a size is a number of at least 1, not " + text(value), span);
    const DimId id = *dim->second.dim_id();
    options_.sizes[id] = t->value();
    options_.binding[id] = t->value().value();
    for (const Predicate& fact : session_.facts.assumptions())
      if (fact.evaluate(options_.binding) == false)
        fail("contradiction",
             name.text + " = " + text(value) + " contradicts what is assumed: " + fact.to_string(),
             span);
  }

  Session& session_;
  Frame& frame_;
  ShowOptions options_;
};

}  // namespace

ShowOptions show_options(Session& session, Frame& frame, const syntax::Show& show) {
  Reader reader(session, frame);
  for (const syntax::Argument& argument : show.arguments)
    if (argument.name) reader.option(*argument.name, argument.value);
  return reader.take();
}

Value instantiated(Session& session, Frame& frame, const ShowOptions& options,
                   syntax::ExpressionId id) {
  GuardScope scope(session.facts);
  Value value = evaluate(session, frame, id);
  const std::vector<Guard> guards = scope.guards();
  scope.keep();
  if (options.sizes.empty()) return value;
  for (const Guard& guard : guards) {
    const bool applies = guard.path.evaluate(options.binding).value_or(false);
    if (applies && guard.predicate.evaluate(options.binding) == false)
      fail("guard", "this holds only where " + guard.to_string(), frame.tree()[id].span);
  }
  if (auto* l = std::get_if<Layout>(&value.data)) value.data = substitute(*l, options.sizes);
  if (auto* c = std::get_if<Composed>(&value.data)) value.data = substitute(*c, options.sizes);
  return value;
}

}  // namespace lay::sema
