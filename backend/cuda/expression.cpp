#include <cstdlib>
#include <numeric>

#include "backend/cuda/emitter.h"
#include "backend/ir/walk.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::cuda {
namespace {

// An expression is a DAG and its text a tree.
constexpr std::size_t longest_expression = 16384;

// The byte of an element of 4 bits. Offsets are not negative.
Code halved(const Code& offset) {
  if (offset.known) return integer(*offset.known / 2);
  return {inside(offset, Binding::unary) + " >> 1", Binding::shift, offset.wide};
}

}  // namespace

// Operands have smaller ids than what they are operands of: in the order of ids nothing recurses.
const Code& Emitter::expression(ir::ExprId id) {
  auto& slot = expressions_.at(static_cast<std::size_t>(id.index));
  if (slot) return *slot;
  std::set<int> needed;
  std::vector<ir::ExprId> open{id};
  while (!open.empty()) {
    const ir::ExprId next = open.back();
    open.pop_back();
    if (expressions_.at(static_cast<std::size_t>(next.index)) || !needed.insert(next.index).second)
      continue;
    for (ir::ExprId operand : ir::operands(kernel_.expr(next))) open.push_back(operand);
  }
  for (const int index : needed) {
    auto& made = expressions_[static_cast<std::size_t>(index)];
    made = make_expression(kernel_.exprs[static_cast<std::size_t>(index)]);
    if (made->text.size() > longest_expression)
      throw Problem{"text-limit", "an expression of the kernel is too long to emit", current_line_};
  }
  return *slot;
}

Code Emitter::make_expression(const ir::Expr& expr) {
  return std::visit(
      overloaded{
          [&](const ir::Constant& node) { return constant(node, expr.type); },
          [&](const ir::Special& node) {
            switch (node.which) {
              case ir::Builtin::thread:
                return name("thread");
              case ir::Builtin::lane:
                return name("lane");
              case ir::Builtin::warp:
                return name("warp");
              case ir::Builtin::warpgroup:
                return name("warpgroup");
              case ir::Builtin::block_x:
                return name("block_x");
              case ir::Builtin::block_y:
                return name("block_y");
              case ir::Builtin::block_z:
                return name("block_z");
              case ir::Builtin::cluster_rank:
                return name("cluster_rank");
              case ir::Builtin::grid_x:
                return name("grid_x");
              case ir::Builtin::cluster_count: {
                int blocks = 1;
                for (const int extent : kernel_.launch.cluster) blocks *= extent;
                return integer(blocks);
              }
            }
            return Code{};
          },
          [&](const ir::Size& node) {
            const Code code = size_code(node.value, sizes_);
            if (expr.type == ElementType::s64) return widened(code);
            return code.wide && !code.known
                       ? *converted(code, ElementType::s64, ElementType::s32, helpers_)
                       : code;
          },
          [&](const ir::Scalar& node) {
            return name(param_names_[static_cast<std::size_t>(node.param.index)]);
          },
          [&](const ir::VarRef& node) {
            Code code = name(var_name(node.var));
            code.wide = expr.type == ElementType::s64;
            return code;
          },
          [&](const ir::RingSlot& node) {
            return name(ring_names_[static_cast<std::size_t>(node.ring.index)] + "slot");
          },
          [&](const ir::RingPhase& node) {
            return name(ring_names_[static_cast<std::size_t>(node.ring.index)] + "phase");
          },
          [&](const ir::LayoutOffset& node) -> Code {
            // The layout at a 1-D index: as one mode.
            const Layout whole(tuple(node.layout.shape), tuple(node.layout.stride));
            return *offset_code(whole, {expression(node.index)}, expr.type == ElementType::s64,
                                sizes_);
          },
          [&](const ir::Apply& node) { return apply(node, expr.type); },
          [&](const ir::Read& node) { return value_at(node.from.buffer, offset(node.from)); },
      },
      expr.node);
}

Code Emitter::apply(const ir::Apply& apply, ElementType type) {
  std::vector<Code> operands;
  for (ir::ExprId id : apply.operands) operands.push_back(expression(id));
  const auto operand_type = [&](std::size_t i) { return kernel_.expr(apply.operands.at(i)).type; };
  std::optional<Code> code;
  if (apply.function == ElementFunction::cast)
    code = converted(operands.at(0), operand_type(0), type, helpers_);
  else
    code = applied(apply.function, operands.data(), operand_type(0), helpers_);
  if (!code)
    unsupported("`" + std::string(function_row(apply.function).name) + "` from " +
                std::string(element_name(operand_type(0))) + " to " +
                std::string(element_name(type)));
  return *code;
}

Code Emitter::constant(const ir::Constant& constant, ElementType type) {
  const auto* whole = std::get_if<std::int64_t>(&constant.value);
  if (type == ElementType::pred) return name(whole && *whole ? "true" : "false");
  if (const bool is_number = !is_float(type); whole && is_number) {
    Code code = integer(*whole);
    code.wide = code.wide || type == ElementType::s64;
    return code;
  }
  const double value = whole ? static_cast<double>(*whole) : std::get<double>(constant.value);
  const auto as_code = [&](ElementType of) {
    const std::string text = *literal(value, of);
    return Code{text, text.front() == '-' ? Binding::unary : Binding::postfix};
  };
  if (type == ElementType::f32 || type == ElementType::f64) return as_code(type);
  const auto narrow = converted(as_code(ElementType::f32), ElementType::f32, type, helpers_);
  if (!narrow) unsupported("a constant of " + std::string(element_name(type)));
  return *narrow;
}

std::vector<Code> Emitter::coordinate(const ir::Ref& ref) {
  std::vector<Code> codes;
  for (ir::ExprId id : ref.coordinate) codes.push_back(expression(id));
  return codes;
}

Code Emitter::offset(const ir::Ref& ref, WholeBlocks blocks) {
  return offset(ref.buffer, coordinate(ref), blocks);
}

Code Emitter::offset(ir::BufferId id, const std::vector<Code>& coordinate, WholeBlocks blocks) {
  const ir::Buffer& of = buffer(id);
  // Offsets into global memory are long long unless the whole tensor is known to be small.
  const auto extent = extent_in_elements(of.layout);
  const bool wide = of.space == ir::Space::global && !(extent && *extent < (1LL << 31));
  const auto code = offset_code(of.layout, coordinate, wide, sizes_, blocks);
  if (!code) unsupported("the layout of " + comment_text(of.name));
  return *code;
}

Code Emitter::value_at(ir::BufferId id, const Code& offset) {
  const ElementType type = buffer(id).element;
  if (!is_half_byte(type)) return place_at(id, offset);
  const std::string_view helper = is_signed(type) ? "s4_at" : "u4_at";
  helpers_.names.insert(helper);
  return call(helper, buffer_name(id) + ", " + offset.text);
}

Code Emitter::place_at(ir::BufferId id, const Code& offset) {
  return name(buffer_name(id) + "[" +
              (is_half_byte(buffer(id).element) ? halved(offset) : offset).text + "]");
}

std::string Emitter::assignment(ir::BufferId id, const Code& offset, const std::string& value) {
  if (!is_half_byte(buffer(id).element)) return place_at(id, offset).text + " = " + value;
  helpers_.names.insert("set_half_byte");
  return "set_half_byte(" + buffer_name(id) + ", " + offset.text + ", " + value + ")";
}

// Swizzled places that a loop over stages keeps in registers save 5 to 9 % of a product by
// mma.sync. A thread that shares the copies and the fragments of a tile with few others has too
// many of them: where a warp works alone, or roles have registers of their own, ptxas spilled.
Code Emitter::first_element(const ir::Ref& ref) {
  constexpr int least_threads = 128;
  const bool keeps_places = kernel_.roles.size() == 1 && kernel_.launch.threads >= least_threads;
  return place_at(ref.buffer,
                  offset(ref, keeps_places ? WholeBlocks::behind : WholeBlocks::inside));
}

// A number that divides the expression's value (0: all do, for it is 0).
std::int64_t Emitter::multiple_of(ir::ExprId id) const {
  const ir::Expr& expr = kernel_.expr(id);
  if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) {
    const auto* value = std::get_if<std::int64_t>(&constant->value);
    return value ? std::abs(*value) : 1;
  }
  if (const auto* var = std::get_if<ir::VarRef>(&expr.node)) {
    const auto found = var_multiples_.find(var->var.index);
    return found == var_multiples_.end() ? 1 : found->second;
  }
  const auto* apply = std::get_if<ir::Apply>(&expr.node);
  if (!apply || apply->operands.size() != 2) return 1;
  const std::int64_t a = multiple_of(apply->operands[0]), b = multiple_of(apply->operands[1]);
  std::int64_t result = 1;
  if (apply->function == ElementFunction::mul)
    return __builtin_mul_overflow(a, b, &result) ? 1 : result;
  if (apply->function == ElementFunction::add || apply->function == ElementFunction::sub)
    return std::gcd(a, b);
  return 1;
}

}  // namespace lay::cuda
