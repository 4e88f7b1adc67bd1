#include "frontend/sema/show.h"

#include <algorithm>
#include <array>

#include "frontend/algebra/operations.h"
#include "frontend/picture/draw.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/builtins.h"
#include "frontend/sema/operators.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

const std::vector<std::string> kViews = {"grid", "threads", "banks", "line"};
constexpr std::int64_t kMostRecordFields = 16;

struct Options {
  std::string view;
  std::optional<Tuple> tile;
  picture::DrawOptions draw;
  std::map<DimId, Int> sizes;
  Binding binding;
};

std::optional<AnyLayout> layout_of(const Value& value) {
  if (const auto* l = value.as<Layout>()) return *l;
  if (const auto* c = value.as<Composed>()) return *c;
  return std::nullopt;
}

void collect_dims(const Tuple& t, std::map<DimId, std::string>& dims) {
  if (t.is_tuple()) {
    for (const Tuple& mode : t.modes()) collect_dims(mode, dims);
  } else if (!t.is_underscore()) {
    t.value().collect_dims(dims);
  }
}

void collect_dims(const Layout& l, std::map<DimId, std::string>& dims) {
  collect_dims(l.shape, dims);
  collect_dims(l.stride, dims);
}

std::map<DimId, std::string> dims_of(const AnyLayout& layout) {
  std::map<DimId, std::string> dims;
  if (const auto* l = std::get_if<Layout>(&layout)) {
    collect_dims(*l, dims);
  } else {
    const auto& c = std::get<Composed>(layout);
    if (const auto* outer = std::get_if<Layout>(&c.outer)) collect_dims(*outer, dims);
    if (const auto* inner = std::get_if<Layout>(&c.inner)) collect_dims(*inner, dims);
    collect_dims(c.offset, dims);
  }
  return dims;
}

// Words of the source in one line.
std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 120;
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (line.size() <= longest) return line;
  std::size_t end = longest;
  while (end > 0 && (line[end] & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

class Drawing {
 public:
  Drawing(Session& session, Frame& frame, const syntax::Show& show, Span where)
      : session_(session), frame_(frame), show_(show), where_(where) {}

  std::vector<picture::Picture> pictures() {
    for (const syntax::Argument& argument : show_.arguments)
      if (argument.name) option(*argument.name, argument.value);
    for (const syntax::Argument& argument : show_.arguments) {
      if (argument.name) continue;
      where_ = frame_.tree()[argument.value].span;
      const Value value = instantiated(argument.value);
      const std::string title = one_line(session_.sources.text(where_));
      try {
        draw_expression(argument.value, title, value);
      } catch (const Refusal& refusal) {
        throw DiagnosticError(to_diagnostic(refusal, where_, {}));
      }
    }
    return std::move(pictures_);
  }

 private:
  void option(const syntax::Identifier& name, syntax::ExpressionId id) {
    const Span span = frame_.tree()[id].span;
    if (name.text == "view") {
      options_.view = word(id);
      if (std::find(kViews.begin(), kViews.end(), options_.view) != kViews.end()) return;
      const auto near = nearest(options_.view, kViews);
      fail("view", "there is no view called " + options_.view, span, {},
           {{"help", near ? "did you mean " + *near + "?" : "the views are grid, threads, banks and line"}});
    }
    const Value value = evaluate(session_, frame_, id);
    const auto* t = value.as<Tuple>();
    if (name.text == "tile") {
      if (!t) fail("operand-kind", "a tile is a shape such as (16,8), not " + kind_name(value), span);
      options_.tile = *t;
    } else if (name.text == "bits") {
      const bool number =
          t && t->is_int() && t->value().is_literal() && t->value().value() > 0 && t->value().value() < 1024;
      if (!number) fail("operand-kind", "bits are a number such as 16, not " + text(value), span);
      options_.draw.bits = static_cast<int>(t->value().value());
    } else {
      set_size(name, value, span);
    }
  }

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
      std::vector<std::string> known = {"view", "tile", "bits"};
      for (const auto& [other, symbol] : session_.dims) known.push_back(other);
      const auto near = nearest(name.text, known);
      fail("argument-name", "show has no option called " + name.text + ", and no dim is", name.span, {},
           {{"help", near ? "did you mean " + *near + "?" : "view, tile, bits, or a dim: M = 8"}});
    }
    const auto* t = value.as<Tuple>();
    if (!t || !t->is_int() || !t->value().is_literal() || t->value().value() < 1)
      fail("operand-kind", "a size is a number of at least 1, not " + text(value), span);
    const DimId id = *dim->second.dim_id();
    options_.sizes[id] = t->value();
    options_.binding[id] = t->value().value();
    for (const Predicate& fact : session_.facts.assumptions())
      if (fact.evaluate(options_.binding) == false)
        fail("contradiction", name.text + " = " + text(value) + " contradicts what is assumed: " + fact.to_string(),
             span);
  }

  // The value at the sizes given; what it is guarded by must hold there.
  Value instantiated(syntax::ExpressionId id) {
    GuardScope scope(session_.facts);
    Value value = evaluate(session_, frame_, id);
    const std::vector<Guard> guards = scope.guards();
    scope.keep();
    if (options_.sizes.empty()) return value;
    for (const Guard& guard : guards) {
      const bool applies = guard.path.evaluate(options_.binding).value_or(false);
      if (applies && guard.predicate.evaluate(options_.binding) == false)
        fail("guard", "this holds only where " + guard.to_string(), where_);
    }
    if (auto* l = std::get_if<Layout>(&value.data)) value.data = substitute(*l, options_.sizes);
    if (auto* c = std::get_if<Composed>(&value.data)) value.data = substitute(*c, options_.sizes);
    return value;
  }

  void draw_expression(syntax::ExpressionId id, const std::string& title, const Value& value) {
    const auto result = layout_of(value);
    if (result && options_.view.empty() && !options_.tile) {
      if (auto operation = operation_of(id)) {
        operation->result = {title, *result};
        operation->origin = origin_of(id, *operation);
        bool known = ready(*result);
        for (const picture::Named& operand : operation->operands) known = known && ready(operand.layout);
        if (known) pictures_.push_back(draw_operation(*operation, options_.draw));
        return;
      }
    }
    draw_value(title, value);
  }

  void draw_value(const std::string& title, const Value& value) {
    if (value.is_unknown()) return;
    if (const auto layout = layout_of(value)) {
      if (ready(*layout)) pictures_.push_back(draw_layout_of({title, *layout}));
    } else if (const auto* s = value.as<Swizzle>()) {
      pictures_.push_back(picture::draw_swizzle(title, *s, options_.draw));
    } else if (const auto* record = value.as<RecordPtr>()) {
      draw_record(title, **record);
    } else if (const auto* list = value.as<ListPtr>()) {
      if ((*list)->elements.size() > kMostRecordFields)
        fail("view", "a picture of " + std::to_string((*list)->elements.size()) + " values is too much at once",
             where_);
      for (std::size_t i = 0; i < (*list)->elements.size(); ++i)
        draw_value(title + "[" + std::to_string(i) + "]", (*list)->elements[i]);
    } else {
      fail("operand-kind", "show draws layouts, swizzles, records of them and tuples of these, not " + kind_name(value),
           where_, {}, {{"help", "print writes any value"}});
    }
  }

  picture::Picture draw_layout_of(const picture::Named& value) {
    if (options_.view == "line") return picture::draw_line(value, options_.draw);
    if (options_.view == "banks") return picture::draw_banks(value, options_.draw);
    if (options_.view != "threads" && !options_.tile) return picture::draw_layout(value, options_.draw);
    if (options_.view == "grid") return picture::draw_layout(value, options_.draw);
    if (!options_.tile && !picture::domain_of(value.layout).has_basis())
      fail("view", "a thread-value layout gives numbers, and nothing says of which tile", where_, {},
           {{"help", "show ..., tile = (16,8)"}});
    return picture::draw_threads(value, options_.tile ? *options_.tile : covered(value.layout), options_.draw);
  }

  // The tile that a layout into coordinates covers.
  Tuple covered(const AnyLayout& layout) { return coshape(session_.facts, picture::domain_of(layout)); }

  // An atom's operands on their tiles, where the record says its shape as (m,n,k); else each layout by itself.
  void draw_record(const std::string& title, const Record& record) {
    const Value* shape = record.find("shape");
    const Tuple* mnk = shape ? shape->as<Tuple>() : nullptr;
    const bool atom = mnk && mnk->is_tuple() && mnk->rank() == 3 && mnk->is_known() && options_.view.empty() &&
                      record.find("C") != nullptr;
    std::size_t layouts = 0;
    for (const auto& [name, value] : record.fields) {
      const auto layout = layout_of(value);
      if (!layout || !ready(*layout)) continue;
      ++layouts;
      const picture::Named named{title + "." + name, *layout};
      const auto tile = atom ? operand_tile(name, *mnk) : std::nullopt;
      if (!atom)
        pictures_.push_back(draw_layout_of(named));
      else if (tile && !is_shared(picture::domain_of(*layout)))
        pictures_.push_back(picture::draw_threads(named, *tile, options_.draw));
    }
    if (layouts == 0) fail("operand-kind", "there is no layout in " + title, where_);
  }

  // Several threads that all see the same: an operand in shared memory, of which no thread holds a part.
  static bool is_shared(const Layout& tv) {
    if (tv.rank() != 2 || size(tv.shape[0]).is(1)) return false;
    const std::vector<Tuple> steps = leaves(tv[0].stride);
    return std::all_of(steps.begin(), steps.end(), [](const Tuple& d) { return d.is_literal(0); });
  }

  static std::optional<Tuple> operand_tile(const std::string& field, const Tuple& mnk) {
    if (field == "A") return tuple(mnk[0], mnk[2]);
    if (field == "B") return tuple(mnk[1], mnk[2]);
    if (field == "C") return tuple(mnk[0], mnk[1]);
    return std::nullopt;
  }

  // Whether all sizes are numbers. They may be missing in a check; a run names those that are.
  bool ready(const AnyLayout& layout) {
    const auto missing = dims_of(layout);
    if (missing.empty() || !session_.running()) return missing.empty();
    std::string names, sizes;
    for (const auto& [id, name] : missing) {
      names += (names.empty() ? "" : ", ") + name;
      sizes += ", " + name + " = 8";
    }
    fail("symbolic",
         to_string(layout) + " is drawn for numbers, and " + names + (missing.size() == 1 ? " is" : " are") +
             " not known",
         where_, {}, {{"help", "show ..." + sizes + "; or --set, where the dim stands in a script"}});
  }

  // a o b, f(a, ...): the operands that are layouts. Not for swizzles, which are drawn before and after.
  std::optional<picture::Operation> operation_of(syntax::ExpressionId id) {
    const syntax::Expression& e = frame_.tree()[id];
    if (const auto* chain = std::get_if<syntax::Chain>(&e.node)) {
      const bool composition = chain->rest.size() == 1 && chain->rest.front().op == syntax::ChainOperator::compose;
      if (!composition) return std::nullopt;
      return with_operands("o", {chain->first, chain->rest.front().operand});
    }
    const auto* call = std::get_if<syntax::Call>(&e.node);
    const auto* name = call ? std::get_if<syntax::Name>(&frame_.tree()[call->callee].node) : nullptr;
    if (!name || is_layout(call->callee)) return std::nullopt;
    std::vector<syntax::ExpressionId> operands;
    for (const syntax::Argument& argument : call->arguments) operands.push_back(argument.value);
    return with_operands(name->text == "composition" ? "o" : name->text, operands);
  }

  // The operation on the identity layout of its first operand. Nothing where the operation does not take it, or gives
  // something else than the result's coordinates in other places.
  std::optional<Layout> origin_of(syntax::ExpressionId id, const picture::Operation& operation) {
    const syntax::Expression& e = frame_.tree()[id];
    const Layout& domain = picture::domain_of(operation.operands.front().layout);
    try {
      GuardScope ignored(session_.facts);
      Value value;
      const Value identity(make_identity_layout(domain.shape));
      if (const auto* chain = std::get_if<syntax::Chain>(&e.node)) {
        value = compose(session_, {{identity, e.span}, operand(chain->rest.front().operand)}, e.span);
      } else {
        const auto& call = std::get<syntax::Call>(e.node);
        std::vector<CallArgument> arguments{{"", identity, e.span}};
        for (std::size_t i = 1; i < call.arguments.size(); ++i) {
          const auto [argument, span] = operand(call.arguments[i].value);
          arguments.push_back({call.arguments[i].name ? call.arguments[i].name->text : "", argument, span});
        }
        value = apply(session_, operand(call.callee), std::move(arguments), e.span);
      }
      const auto* origin = value.as<Layout>();
      const bool fits =
          origin && origin->is_known() && origin->shape == picture::domain_of(operation.result.layout).shape;
      return fits ? std::optional(*origin) : std::nullopt;
    } catch (const DiagnosticError&) {
      return std::nullopt;
    } catch (const Refusal&) {
      return std::nullopt;
    }
  }

  Operand operand(syntax::ExpressionId id) { return {instantiated(id), frame_.tree()[id].span}; }

  bool is_layout(syntax::ExpressionId id) {
    GuardScope ignored(session_.facts);
    return layout_of(evaluate(session_, frame_, id)).has_value();
  }

  std::optional<picture::Operation> with_operands(const std::string& name,
                                                  const std::vector<syntax::ExpressionId>& ids) {
    GuardScope ignored(session_.facts);
    picture::Operation operation{name, {}, 0, {}};
    for (const syntax::ExpressionId id : ids) {
      const Value value = instantiated(id);
      if (const auto layout = layout_of(value)) {
        const auto* simple = std::get_if<syntax::Name>(&frame_.tree()[id].node);
        operation.operands.push_back({simple ? simple->text : "", *layout});
      } else if (operation.operands.empty()) {
        return std::nullopt;
      }
      if (const auto* t = value.as<Tuple>(); t && t->is_tuple()) operation.tiler_modes = t->rank();
      if (const auto* list = value.as<ListPtr>()) operation.tiler_modes = static_cast<int>((*list)->elements.size());
    }
    if (operation.operands.empty()) return std::nullopt;
    return operation;
  }

  Session& session_;
  Frame& frame_;
  const syntax::Show& show_;
  Span where_;
  Options options_;
  std::vector<picture::Picture> pictures_;
};

}  // namespace

std::vector<picture::Picture> draw(Session& session, Frame& frame, const syntax::Show& show, Span where) {
  return Drawing(session, frame, show, where).pictures();
}

}  // namespace lay::sema
