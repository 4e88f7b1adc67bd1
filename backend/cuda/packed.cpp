#include <algorithm>
#include <array>

#include "backend/cuda/emitter.h"
#include "backend/ir/walk.h"

namespace lay::cuda {
namespace {

using enum ElementType;

// Functions that convert several neighbours at once, all exact. Of two for the same types the one
// of more neighbours stands first.
struct Packed {
  ElementType from, to;
  int at_once;  // elements
  std::string_view helper;
  std::string_view of_pairs = {};  // that it is made of
};
constexpr std::array packed{
    Packed{s8, bf16, 4, "bf16x4_from_s8x4", "bf16x2_from_s8x2"},
    Packed{u8, bf16, 4, "bf16x4_from_u8x4", "bf16x2_from_u8x2"},
    Packed{s8, f16, 4, "f16x4_from_s8x4"},
    Packed{u8, f16, 4, "f16x4_from_u8x4"},
    Packed{s4, bf16, 8, "bf16x8_from_s4x8", "bf16x2_from_s4x2"},
    Packed{s4, bf16, 4, "bf16x4_from_s4x4", "bf16x2_from_s4x2"},
    Packed{u4, bf16, 8, "bf16x8_from_u4x8", "bf16x2_from_u4x2"},
    Packed{u4, bf16, 4, "bf16x4_from_u4x4", "bf16x2_from_u4x2"},
    Packed{s4, f16, 8, "f16x8_from_s4x8", "f16x2_from_s4x2"},
    Packed{s4, f16, 4, "f16x4_from_s4x4", "f16x2_from_s4x2"},
    Packed{u4, f16, 8, "f16x8_from_u4x8", "f16x2_from_u4x2"},
    Packed{u4, f16, 4, "f16x4_from_u4x4", "f16x2_from_u4x2"},
};

// The element that casts begin with, where none of them loses a bit of an integer of 8 bits; null
// for any other value.
const ir::Read* read_under_casts(const ir::Kernel& kernel, ir::ExprId value) {
  const ir::Expr& expr = kernel.expr(value);
  if (const auto* read = std::get_if<ir::Read>(&expr.node)) return read;
  const auto* apply = std::get_if<ir::Apply>(&expr.node);
  const bool holds = expr.type == f32 || expr.type == f64 || expr.type == tf32 ||
                     expr.type == f16 || expr.type == bf16;
  if (!apply || apply->function != ElementFunction::cast || !holds) return nullptr;
  return read_under_casts(kernel, apply->operands.at(0));
}

bool mentions(const ir::Kernel& kernel, ir::ExprId value, ir::VarId var) {
  const ir::Expr& expr = kernel.expr(value);
  if (const auto* read = std::get_if<ir::VarRef>(&expr.node)) return read->var == var;
  const auto operands = ir::operands(expr);
  return std::any_of(operands.begin(), operands.end(),
                     [&](ir::ExprId each) { return mentions(kernel, each, var); });
}

}  // namespace

// for v: to[v,...] = cast(from[v,...]), both in registers and side by side.
bool Emitter::convert_run(const ir::For& loop, int line) {
  if (!loop.unrolled || loop.step != 1 || loop.body->size() != 1) return false;
  const auto* assign = std::get_if<ir::Assign>(&loop.body->front().node);
  const ir::Read* read = assign ? read_under_casts(kernel_, assign->value) : nullptr;
  if (!read) return false;
  const ElementType from = buffer(read->from.buffer).element,
                    to = buffer(assign->to.buffer).element;
  return std::any_of(packed.begin(), packed.end(), [&](const Packed& each) {
    const bool converts = each.from == from && each.to == to &&
                          convert_run(loop, *read, *assign, each.helper, each.at_once, line);
    if (converts && !each.of_pairs.empty()) helpers_.names.insert(each.of_pairs);
    return converts;
  });
}

bool Emitter::convert_run(const ir::For& loop, const ir::Read& read, const ir::Assign& assign,
                          std::string_view helper, int at_once, int line) {
  const auto first = expression(loop.begin).known, last = expression(loop.end).known;
  if (!first || !last || *first % at_once != 0 || *last % at_once != 0 || *last <= *first)
    return false;
  const std::int64_t before = var_multiples_[loop.var.index];
  var_multiples_[loop.var.index] = at_once;
  // The variable, or a sum of it and what it does not change.
  const auto counts = [&](ir::ExprId at) {
    const auto is_variable = [&](ir::ExprId each) {
      const auto* var = std::get_if<ir::VarRef>(&kernel_.expr(each).node);
      return var && var->var == loop.var;
    };
    const auto* apply = std::get_if<ir::Apply>(&kernel_.expr(at).node);
    if (!apply || apply->function != ElementFunction::add) return is_variable(at);
    const auto& [a, b] = std::pair(apply->operands.at(0), apply->operands.at(1));
    return (is_variable(a) && !mentions(kernel_, b, loop.var)) ||
           (is_variable(b) && !mentions(kernel_, a, loop.var));
  };
  const auto runs_along = [&](const ir::Ref& ref) {
    if (buffer(ref.buffer).space != ir::Space::registers || !counts(ref.coordinate.at(0)))
      return false;
    for (std::size_t i = 1; i < ref.coordinate.size(); ++i)
      if (mentions(kernel_, ref.coordinate[i], loop.var)) return false;
    return is_vector_access(ref, 0, at_once);
  };
  if (!runs_along(read.from) || !runs_along(assign.to)) {
    var_multiples_[loop.var.index] = before;
    return false;
  }
  helpers_.names.insert(helper);
  const auto vector = [&](const ir::Ref& ref) {
    const ElementType type = buffer(ref.buffer).element;
    return *vector_type(type, at_once * bits(type) / 8);
  };
  const std::string& var = declare(loop.var);
  out_.line("#pragma unroll", line);
  out_.open("for (int " + var + " = " + std::to_string(*first) + "; " + var + " < " +
                std::to_string(*last) + "; " + var + " += " + std::to_string(at_once) + ") {",
            line);
  out_.line(vector_access(assign.to, vector(assign.to), false) + " = " + std::string(helper) + "(" +
                vector_access(read.from, vector(read.from), true) + ");",
            line);
  names_.release(var);
  in_scope_.pop_back();
  out_.close();
  return true;
}

}  // namespace lay::cuda
