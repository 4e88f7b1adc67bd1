#include "backend/ir/text/print_expression.h"

#include <algorithm>
#include <cmath>

#include "backend/ir/text/print.h"
#include "backend/ir/text/text.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

constexpr int kLimit = 1'000'000;

// How tightly an expression binds, loosest first.
enum Level { kOr, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kPrimary };

struct Operator {
  std::string_view sign;
  Level level;
};

std::optional<Operator> infix(ElementFunction function) {
  switch (function) {
    case ElementFunction::or_:
      return Operator{"or", kOr};
    case ElementFunction::and_:
      return Operator{"and", kAnd};
    case ElementFunction::lt:
      return Operator{"<", kCompare};
    case ElementFunction::le:
      return Operator{"<=", kCompare};
    case ElementFunction::gt:
      return Operator{">", kCompare};
    case ElementFunction::ge:
      return Operator{">=", kCompare};
    case ElementFunction::eq:
      return Operator{"==", kCompare};
    case ElementFunction::ne:
      return Operator{"!=", kCompare};
    case ElementFunction::add:
      return Operator{"+", kSum};
    case ElementFunction::sub:
      return Operator{"-", kSum};
    case ElementFunction::mul:
      return Operator{"*", kProduct};
    case ElementFunction::div:
      return Operator{"/", kProduct};
    case ElementFunction::rem:
      return Operator{"%", kProduct};
    default:
      return std::nullopt;
  }
}

std::string constant(const Constant& constant, ElementType type, bool with_type) {
  std::string value;
  bool typed = with_type;
  if (const auto* integer = std::get_if<std::int64_t>(&constant.value)) {
    if (type == ElementType::pred && (*integer == 0 || *integer == 1))
      return *integer ? "true" : "false";
    value = std::to_string(*integer);
    typed |= type != ElementType::s32;
  } else {
    const double real = std::get<double>(constant.value);
    value = text::number(real, type);
    typed |= type != ElementType::f32 || !std::isfinite(real);
  }
  return typed ? std::string(element_name(type)) + "(" + value + ")" : value;
}

}  // namespace

struct ExpressionPrinter::Text {
  std::string text;
  Level level;
};

ExpressionPrinter::ExpressionPrinter(const Kernel& of) : kernel(of), written_(written(of)) {}

std::string ExpressionPrinter::operator()(ExprId id) const {
  if (id.index < 0 || id.index >= static_cast<int>(kernel.exprs.size())) return "<no expression>";
  const Written& size = written_[id.index];
  if (!size.readable()) return "<" + std::to_string(size.nodes) + " nodes>";
  return write(id).text;
}

std::string ExpressionPrinter::operator()(const Ref& ref) const {
  std::string out = buffer(ref.buffer) + "[";
  for (size_t i = 0; i < ref.coordinate.size(); ++i)
    out += (i ? "," : "") + (*this)(ref.coordinate[i]);
  return out + "]";
}

std::string ExpressionPrinter::buffer(BufferId id) const {
  return text::name(kernel.buffer(id).name);
}

std::string ExpressionPrinter::list(const std::vector<ExprId>& operands) const {
  std::string out;
  for (size_t i = 0; i < operands.size(); ++i) out += (i ? ", " : "") + (*this)(operands[i]);
  return out;
}

std::string ExpressionPrinter::size(const Size& size, ElementType type) const {
  const std::string value = size.value.to_string();
  if (type != ElementType::s32) return std::string(element_name(type)) + "[" + value + "]";
  if (size.value.dim_id() && !text::reserved(value)) return value;
  return "[" + value + "]";
}

// A cast's literal operand carries its type, so that f32(s32(7)) is a cast and f32(7) a literal.
ExpressionPrinter::Text ExpressionPrinter::cast(const Apply& apply, ElementType type) const {
  const Expr& operand = kernel.expr(apply.operands[0]);
  const auto* literal = std::get_if<Constant>(&operand.node);
  const std::string inner =
      literal ? constant(*literal, operand.type, true) : (*this)(apply.operands[0]);
  return {std::string(element_name(type)) + "(" + inner + ")", kPrimary};
}

ExpressionPrinter::Text ExpressionPrinter::apply(const Apply& apply, ElementType type) const {
  const auto bound = [&](ExprId id, int level) {
    Text operand = write(id);
    return operand.level >= level ? operand.text : "(" + operand.text + ")";
  };
  if (apply.function == ElementFunction::cast) return cast(apply, type);
  if (const auto op = infix(apply.function)) {
    const int left = op->level == kCompare ? kCompare + 1 : op->level;
    return {bound(apply.operands[0], left) + " " + std::string(op->sign) + " " +
                bound(apply.operands[1], op->level + 1),
            op->level};
  }
  if (apply.function == ElementFunction::not_)
    return {"not " + bound(apply.operands[0], kNot), kNot};
  if (apply.function == ElementFunction::neg) {
    const bool literal = std::holds_alternative<Constant>(kernel.expr(apply.operands[0]).node);
    const std::string operand = bound(apply.operands[0], kUnary);
    return {literal ? "-(" + operand + ")" : "-" + operand, kUnary};
  }
  return {std::string(function_row(apply.function).name) + "(" + list(apply.operands) + ")",
          kPrimary};
}

ExpressionPrinter::Text ExpressionPrinter::write(ExprId id) const {
  const Expr& expr = kernel.expr(id);
  const auto primary = [](std::string out) { return Text{std::move(out), kPrimary}; };
  return std::visit(
      overloaded{
          [&](const Constant& c) {
            std::string out = constant(c, expr.type, false);
            return Text{out, out[0] == '-' ? kUnary : kPrimary};
          },
          [&](const Special& s) { return primary(std::string(text::kBuiltins[s.which])); },
          [&](const Size& s) { return primary(size(s, expr.type)); },
          [&](const Scalar& s) { return primary(text::name(kernel.param(s.param).name)); },
          [&](const VarRef& v) { return primary(text::name(kernel.var(v.var).name)); },
          [&](const RingSlot& r) {
            return primary("slot(" + text::name(kernel.ring(r.ring).name) + ")");
          },
          [&](const RingPhase& r) {
            return primary("phase(" + text::name(kernel.ring(r.ring).name) + ")");
          },
          [&](const LayoutOffset& at) {
            return primary("at(" + at.layout.to_string() + ", " + (*this)(at.index) + ")");
          },
          [&](const Apply& a) { return apply(a, expr.type); },
          [&](const Read& read) { return primary((*this)(read.from)); },
      },
      expr.node);
}

std::vector<Written> written(const Kernel& kernel) {
  std::vector<Written> all;
  all.reserve(kernel.exprs.size());
  const auto sum = [&](const std::vector<ExprId>& operands) {
    Written total;
    for (const ExprId operand : operands) {
      const bool known = operand.index >= 0 && operand.index < static_cast<int>(all.size());
      const Written part = known ? all[operand.index] : Written{kLimit, kLimit};
      total.nodes = std::min(kLimit, total.nodes + part.nodes);
      total.depth = std::max(total.depth, part.depth + 1);
    }
    return total;
  };
  for (const Expr& expr : kernel.exprs) {
    all.push_back(std::visit(overloaded{
                                 [&](const Apply& apply) { return sum(apply.operands); },
                                 [&](const Read& read) { return sum(read.from.coordinate); },
                                 [&](const LayoutOffset& at) { return sum({at.index}); },
                                 [](const auto&) { return Written{}; },
                             },
                             expr.node));
  }
  return all;
}

std::string print(const Kernel& kernel, ExprId expr) {
  return ExpressionPrinter(kernel)(expr);
}

std::string print(const Kernel& kernel, const Ref& ref) {
  return ExpressionPrinter(kernel)(ref);
}

}  // namespace lay::ir
