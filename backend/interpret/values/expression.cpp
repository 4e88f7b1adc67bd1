#include "backend/interpret/values/expression.h"

#include <algorithm>
#include <bit>

#include "backend/interpret/access.h"
#include "backend/interpret/control.h"
#include "backend/interpret/placement.h"
#include "backend/interpret/values/arithmetic.h"
#include "backend/interpret/values/codec.h"
#include "backend/interpret/warp.h"
#include "backend/ir/fold.h"
#include "backend/ir/text/print.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::interpret {
namespace {

using F = ElementFunction;

Lanes everywhere(std::int64_t value) {
  Lanes lanes{};
  std::fill_n(lanes.integer, kLanes, value);
  return lanes;
}

// The number as the slot of its type holds it.
Lanes everywhere(double value, ElementType type, Arithmetic arithmetic) {
  Lanes lanes{};
  const LaneType held = lane_type(type, arithmetic);
  if (held == LaneType::number) {
    std::fill_n(lanes.number, kLanes, field::embed(decode(type, encode(type, value))));
  } else if (held == LaneType::real) {
    std::fill_n(lanes.real, kLanes, value);
  } else {
    std::fill_n(lanes.single, kLanes, static_cast<float>(decode(type, encode(type, value))));
  }
  return lanes;
}

bool faults(const ir::Apply& apply, ElementType operand) {
  if (is_float(operand) || operand == ElementType::pred) return false;
  switch (apply.function) {
    case F::lt:
    case F::le:
    case F::gt:
    case F::ge:
    case F::eq:
    case F::ne:
    case F::min:
    case F::max:
    case F::min_nan:
    case F::max_nan:
    case F::cast:
      return false;
    default:
      return true;
  }
}

}  // namespace

ExpressionCompiler::ExpressionCompiler(Program& program, const Binding& sizes,
                                       const std::vector<Argument>& arguments)
    : program_(program),
      sizes_(sizes),
      arguments_(arguments),
      variables_(program.kernel->vars.size(), -1) {
  for (int& slot : program_.builtin_slot) slot = fresh();
  find_traits();
}

void ExpressionCompiler::find_traits() {
  const auto all = [&](const std::vector<ir::ExprId>& operands) {
    Traits sum{true, true};
    for (const ir::ExprId id : operands) {
      sum.total = sum.total && traits_[id.index].total;
      sum.lasting = sum.lasting && traits_[id.index].lasting;
    }
    return sum;
  };
  for (const ir::Expr& expr : program_.kernel->exprs) {
    traits_.push_back(std::visit(overloaded{
                                     [&](const ir::Apply& apply) {
                                       const ElementType type =
                                           program_.kernel->expr(apply.operands.back()).type;
                                       Traits made = all(apply.operands);
                                       made.total = made.total && !faults(apply, type);
                                       return made;
                                     },
                                     [&](const ir::LayoutOffset& at) { return all({at.index}); },
                                     [](const ir::Read&) {
                                       return Traits{false, false};
                                     },
                                     [](const ir::RingSlot&) {
                                       return Traits{true, false};
                                     },
                                     [](const ir::RingPhase&) {
                                       return Traits{true, false};
                                     },
                                     [](const auto&) {
                                       return Traits{true, true};
                                     },
                                 },
                                 expr.node));
  }
}

void ExpressionCompiler::refuse(FaultCode code, const std::string& what) const {
  Fault fault;
  fault.code = code;
  fault.message = what;
  if (!program_.statements.empty()) {
    const ir::Stmt& stmt = *program_.statements.back();
    fault.line = stmt.origin.line;
    fault.statement = ir::print_first_line(*program_.kernel, stmt);
  }
  throw Stopped{std::move(fault)};
}

void ExpressionCompiler::statement(const ir::Stmt& stmt) {
  program_.statements.push_back(&stmt);
  for (Scope& scope : scopes_) scope.passing.clear();
}

int ExpressionCompiler::emit(Instruction instruction) {
  instruction.statement = static_cast<int>(program_.statements.size()) - 1;
  program_.code.push_back(instruction);
  return next() - 1;
}

int ExpressionCompiler::bank_count(int buffer) {
  if (!program_.bank_conflicts || program_.buffers[buffer].space == ir::Space::registers) return -1;
  program_.banks.push_back({static_cast<int>(program_.statements.size()) - 1, buffer});
  return static_cast<int>(program_.banks.size()) - 1;
}

int ExpressionCompiler::value(ir::ExprId id) {
  const bool lasting = traits_[id.index].lasting;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto& known = lasting ? scope->lasting : scope->passing;
    if (const auto found = known.find(id.index); found != known.end()) return found->second;
  }
  const int slot = compute(id);
  Scope& scope = scopes_.back();
  (lasting ? scope.lasting : scope.passing)[id.index] = slot;
  return slot;
}

int ExpressionCompiler::compute(ir::ExprId id) {
  const ir::Expr& expr = program_.kernel->expr(id);
  return std::visit(overloaded{
                        [&](const ir::Constant& c) { return literal(c, expr.type); },
                        [&](const ir::Special& s) { return special(s); },
                        [&](const ir::Size& s) { return size(s, expr.type); },
                        [&](const ir::Scalar& s) { return scalar(s, expr.type); },
                        [&](const ir::VarRef& v) { return variables_[v.var.index]; },
                        [&](const ir::RingSlot& r) { return ring(r.ring, false); },
                        [&](const ir::RingPhase& r) { return ring(r.ring, true); },
                        [&](const ir::LayoutOffset& a) { return at(a); },
                        [&](const ir::Apply& a) { return apply(a, expr.type); },
                        [&](const ir::Read& r) { return read(r, expr.type); },
                    },
                    expr.node);
}

// ---- leaves

int ExpressionCompiler::constant(const Lanes& lanes) {
  const auto [known, is_new] =
      constants_.try_emplace({lanes.integer[0], lanes.integer[kLanes / 2]}, -1);
  if (is_new) {
    known->second = fresh();
    program_.constants.emplace_back(known->second, lanes);
  }
  return known->second;
}

int ExpressionCompiler::constant(std::int64_t value) {
  return constant(everywhere(value));
}

int ExpressionCompiler::literal(const ir::Constant& c, ElementType type) {
  const auto* integer = std::get_if<std::int64_t>(&c.value);
  if (is_float(type)) {
    return constant(everywhere(integer ? static_cast<double>(*integer) : std::get<double>(c.value),
                               type, program_.arithmetic));
  }
  return constant(
      everywhere(integer ? *integer : static_cast<std::int64_t>(std::get<double>(c.value))));
}

int ExpressionCompiler::special(const ir::Special& s) {
  return program_.builtin_slot[static_cast<size_t>(s.which)];
}

int ExpressionCompiler::size(const ir::Size& size, ElementType type) {
  const auto value = size.value.evaluate(sizes_);
  if (!value || !ir::fits(*value, type)) {
    refuse(FaultCode::overflow, "the size " + size.value.to_string() +
                                    (value ? " = " + std::to_string(*value) : "") +
                                    " does not fit " + std::string(element_name(type)));
  }
  return constant(*value);
}

int ExpressionCompiler::scalar(const ir::Scalar& scalar, ElementType type) {
  const Argument& argument = arguments_[scalar.param.index];
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    return is_float(type)
               ? constant(everywhere(static_cast<double>(*integer), type, program_.arithmetic))
               : constant(*integer);
  }
  return constant(everywhere(std::get<double>(argument), type, program_.arithmetic));
}

int ExpressionCompiler::ring(ir::RingId ring, bool phase) {
  const ir::Ring& declared = program_.kernel->ring(ring);
  const int start = constant(std::int64_t{declared.initial_phase});
  Instruction made;
  made.run = phase ? control::ring_phase : control::ring_slot;
  made.dst = fresh();
  made.a = start;
  made.detail = ring.index;
  made.value = declared.stages;
  emit(made);
  return made.dst;
}

int ExpressionCompiler::at(const ir::LayoutOffset& at) {
  const auto placed = place(at.layout, sizes_);
  if (!placed)
    refuse(FaultCode::unsupported, "the layout " + at.layout.to_string() + " gives no integers");
  const int index = value(at.index);
  program_.placements.push_back(one_mode(*placed));
  Instruction made;
  made.run = control::at_layout;
  made.dst = fresh();
  made.a = index;
  made.detail = static_cast<int>(program_.placements.size()) - 1;
  emit(made);
  return made.dst;
}

// ---- functions

void ExpressionCompiler::move(int dst, int src, ElementType type) {
  Instruction made;
  made.run = control::move(lane_type(type, program_.arithmetic));
  made.dst = dst;
  made.a = src;
  emit(made);
}

int ExpressionCompiler::apply(const ir::Apply& apply, ElementType type) {
  if (apply.function == F::select) {
    if (!total(apply.operands[1]) || !total(apply.operands[2])) return selection(apply, type);
  }
  if ((apply.function == F::and_ || apply.function == F::or_) && !total(apply.operands[1]))
    return short_circuit(apply);
  std::vector<int> slots;
  for (const ir::ExprId operand : apply.operands) slots.push_back(value(operand));
  Instruction made;
  const ElementType from = program_.kernel->expr(apply.operands.back()).type;
  made.type = from;
  if (apply.function == F::cast) {
    made.run = conversion(from, type, program_.arithmetic);
    made.value = static_cast<std::int64_t>(type);
  } else {
    made.run = arithmetic(apply.function, from, program_.arithmetic, program_.checks);
  }
  made.dst = fresh();
  made.a = slots[0];
  if (slots.size() > 1) made.b = slots[1];
  if (slots.size() > 2) made.c = slots[2];
  emit(made);
  return made.dst;
}

// Each arm in the lanes that take it.
int ExpressionCompiler::selection(const ir::Apply& apply, ElementType type) {
  const int dst = fresh();
  Instruction made;
  made.run = control::branch;
  made.a = value(apply.operands[0]);
  const int branch = emit(made);
  for (const int arm : {1, 2}) {
    open();
    move(dst, value(apply.operands[arm]), type);
    close();
    if (arm == 2) break;
    made.run = control::otherwise;
    program_.code[branch].target = emit(made);
  }
  const int otherwise = program_.code[branch].target;
  made.run = control::join;
  program_.code[otherwise].target = emit(made);
  return dst;
}

// `and` decides where its left side is false, `or` where it is true; the right side decides
// elsewhere.
int ExpressionCompiler::short_circuit(const ir::Apply& apply) {
  const int dst = fresh();
  const int left = value(apply.operands[0]);
  move(dst, left, ElementType::pred);
  Instruction made;
  made.run = control::branch;
  made.a = left;
  made.value = apply.function == F::or_ ? 1 : 0;
  const int branch = emit(made);
  open();
  move(dst, value(apply.operands[1]), ElementType::pred);
  close();
  made.run = control::join;
  program_.code[branch].target = emit(made);
  return dst;
}

// ---- memory

Access ExpressionCompiler::access(const ir::Ref& ref, int first_mode) {
  Access made{ref.buffer.index, first_mode, {}};
  for (const ir::ExprId coordinate : ref.coordinate) made.coordinate.push_back(value(coordinate));
  return made;
}

int ExpressionCompiler::read(const ir::Read& read, ElementType type) {
  Access from = access(read.from);
  Instruction made;
  made.run = load(program_.buffers[from.buffer].space, type, program_.arithmetic);
  made.dst = fresh();
  made.value = bank_count(from.buffer);
  made.detail = static_cast<int>(program_.accesses.size());
  program_.accesses.push_back(std::move(from));
  emit(made);
  return made.dst;
}

}  // namespace lay::interpret
