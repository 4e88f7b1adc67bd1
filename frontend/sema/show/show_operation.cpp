#include "frontend/sema/show/show_operation.h"

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/prelude.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {
namespace {

class Parts {
 public:
  Parts(Session& session, Frame& frame, const ShowOptions& options)
      : session_(session), frame_(frame), options_(options) {}

  std::optional<picture::Operation> operation_of(syntax::ExpressionId id) {
    const syntax::Expression& e = frame_.tree()[id];
    if (const auto* chain = std::get_if<syntax::Chain>(&e.node)) {
      const bool composition =
          chain->rest.size() == 1 && chain->rest.front().op == syntax::ChainOperator::compose;
      if (!composition) return std::nullopt;
      return with_operands("o", {chain->first, chain->rest.front().operand});
    }
    const auto* call = std::get_if<syntax::Call>(&e.node);
    if (!call) return std::nullopt;
    if (is_layout(call->callee)) return part_of("slice", call->callee);
    const auto* name = std::get_if<syntax::Name>(&frame_.tree()[call->callee].node);
    if (!name) return std::nullopt;
    if (name->text == "slice" && call->arguments.size() == 2) {
      return part_of("slice", call->arguments[1].value);
    }
    // local_tile forgets where its part begins, and local_tile_and_offset tells.
    if (session_.prelude().find(name->text + "_and_offset") && !call->arguments.empty()) {
      return part_of(name->text, call->arguments[0].value);
    }
    std::vector<syntax::ExpressionId> operands;
    for (const syntax::Argument& argument : call->arguments) operands.push_back(argument.value);
    return with_operands(name->text == "composition" ? "o" : name->text, operands);
  }

  // The operation on the identity layout of its first operand. Nothing where the operation does not
  // take it, or gives something else than the result's coordinates in other places.
  std::optional<AnyLayout> origin_of(syntax::ExpressionId id, const picture::Operation& operation) {
    const syntax::Expression& e = frame_.tree()[id];
    const Layout& domain = picture::domain_of(operation.operands.front().layout);
    try {
      GuardScope ignored(session_.facts);
      Value value;
      const Value identity(make_identity_layout(domain.shape));
      if (operation.name == "slice") {
        value = slice_of_coordinates(domain, std::get<syntax::Call>(e.node), e.span);
      } else if (const auto* chain = std::get_if<syntax::Chain>(&e.node)) {
        value =
            compose(session_, {{identity, e.span}, operand(chain->rest.front().operand)}, e.span);
      } else {
        const auto& call = std::get<syntax::Call>(e.node);
        std::vector<CallArgument> arguments{
            {"", operation.is_part ? coordinates_of(domain) : identity, e.span}};
        for (std::size_t i = 1; i < call.arguments.size(); ++i) {
          const auto [argument, span] = operand(call.arguments[i].value);
          arguments.push_back(
              {call.arguments[i].name ? call.arguments[i].name->text : "", argument, span});
        }
        value = apply(session_, operand(call.callee), std::move(arguments), e.span);
      }
      const auto origin = layout_of(value);
      if (!origin) return std::nullopt;
      const Layout& from = picture::domain_of(*origin);
      const bool fits =
          from.is_known() && from.shape == picture::domain_of(operation.result.layout).shape;
      return fits ? origin : std::nullopt;
    } catch (const DiagnosticError&) {
      return std::nullopt;
    } catch (const Refusal&) {
      return std::nullopt;
    }
  }

 private:
  // Its coordinates as a composed layout, whose parts keep what lies before them.
  static Value coordinates_of(const Layout& domain) {
    Layout coordinates = make_identity_layout(domain.shape);
    coordinates.names = domain.names;
    return Value(Composed{coordinates, repeat_like(domain.shape, 0), coordinates});
  }

  Value slice_of_coordinates(const Layout& domain, const syntax::Call& call, Span span) {
    const Value whole = coordinates_of(domain);
    std::vector<CallArgument> arguments;
    for (const syntax::Argument& argument : call.arguments) {
      const auto [value, at] = operand(argument.value);
      arguments.push_back({argument.name ? argument.name->text : "", value, at});
    }
    if (is_layout(call.callee)) return apply(session_, {whole, span}, std::move(arguments), span);
    arguments[1].value = whole;
    return apply(session_, operand(call.callee), std::move(arguments), span);
  }

  Operand operand(syntax::ExpressionId id) {
    return {instantiated(session_, frame_, options_, id), frame_.tree()[id].span};
  }

  bool is_layout(syntax::ExpressionId id) {
    GuardScope ignored(session_.facts);
    return layout_of(evaluate(session_, frame_, id)).has_value();
  }

  std::optional<picture::Operation> part_of(const std::string& name, syntax::ExpressionId whole) {
    auto operation = with_operands(name, {whole});
    if (operation) operation->is_part = true;
    return operation;
  }

  std::optional<picture::Operation> with_operands(const std::string& name,
                                                  const std::vector<syntax::ExpressionId>& ids) {
    GuardScope ignored(session_.facts);
    picture::Operation operation{name, {}, 0, {}};
    for (const syntax::ExpressionId id : ids) {
      const Value value = instantiated(session_, frame_, options_, id);
      if (const auto layout = layout_of(value)) {
        const auto* simple = std::get_if<syntax::Name>(&frame_.tree()[id].node);
        operation.operands.push_back({simple ? simple->text : "", *layout});
      } else if (operation.operands.empty()) {
        return std::nullopt;
      }
      if (const auto* t = value.as<Tuple>(); t && t->is_tuple()) operation.tiler_modes = t->rank();
      if (const auto* list = value.as<ListPtr>())
        operation.tiler_modes = static_cast<int>((*list)->elements.size());
    }
    if (operation.operands.empty()) return std::nullopt;
    return operation;
  }

  Session& session_;
  Frame& frame_;
  const ShowOptions& options_;
};

}  // namespace

namespace {

bool same_boxes(const AnyLayout& a, const AnyLayout& b) {
  return a == b && to_string(a) == to_string(b);
}

}  // namespace

std::optional<AnyLayout> layout_of(const Value& value) {
  if (const auto* l = value.as<Layout>()) return *l;
  if (const auto* c = value.as<Composed>()) return *c;
  return std::nullopt;
}

std::optional<picture::Operation> operation_of(Session& session, Frame& frame,
                                               const ShowOptions& options, syntax::ExpressionId id,
                                               const picture::Named& result) {
  Parts parts(session, frame, options);
  auto operation = parts.operation_of(id);
  if (!operation) return std::nullopt;
  // Names and units change no box.
  if (operation->operands.size() == 1 &&
      same_boxes(operation->operands.front().layout, result.layout))
    return std::nullopt;
  operation->result = result;
  operation->origin = parts.origin_of(id, *operation);
  return operation;
}

}  // namespace lay::sema
