#include "backend/ir/build.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "backend/ir/fold.h"
#include "backend/ir/types.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

template <class T, class Tag>
Id<Tag> add_to(std::vector<T>& list, T item) {
  list.push_back(std::move(item));
  return {static_cast<int>(list.size()) - 1};
}

std::vector<ExprId> ids(const std::vector<Term>& terms) {
  return {terms.begin(), terms.end()};
}

}  // namespace

ElementType Term::type() const {
  return builder->kernel.expr(id).type;
}

// ---- declarations

Builder::Builder(Kernel& into) : kernel(into), uniform_(uniformities(into)) {}

Term Builder::size(std::string name, Int symbol) {
  kernel.params.push_back({std::move(name), ElementType::s32, true, symbol});
  return size(symbol);
}

Term Builder::scalar(std::string name, ElementType type) {
  kernel.params.push_back({std::move(name), type, false, {}});
  const ParamId id{static_cast<int>(kernel.params.size()) - 1};
  return node({Scalar{id}, type});
}

BufferId Builder::buffer(Buffer declared) {
  if (declared.alignment == 0) declared.alignment = std::max(1, bits(declared.element) / 8);
  declared.origin = origin_;
  return add_to<Buffer, BufferTag>(kernel.buffers, std::move(declared));
}

BufferId Builder::global(std::string name, ElementType element, AnyLayout layout, Access access) {
  return buffer({std::move(name),
                 Space::global,
                 element,
                 std::move(layout),
                 access.alignment,
                 access.read,
                 access.written,
                 access.workspace,
                 {},
                 access.offset});
}

BufferId Builder::shared(std::string name, ElementType element, AnyLayout layout, int alignment) {
  return buffer({std::move(name),
                 Space::shared,
                 element,
                 std::move(layout),
                 alignment,
                 true,
                 true,
                 false,
                 {},
                 {}});
}

BufferId Builder::registers(std::string name, ElementType element, Layout layout) {
  return buffer({std::move(name),
                 Space::registers,
                 element,
                 std::move(layout),
                 0,
                 true,
                 true,
                 false,
                 {},
                 {}});
}

BarrierId Builder::block_barrier() {
  return barrier({"all", BarrierKind::block, 1, 0, 0});
}

BarrierId Builder::barrier(Barrier declared) {
  return add_to<Barrier, BarrierTag>(kernel.barriers, std::move(declared));
}

RingId Builder::ring(std::string name, int stages, int initial_phase) {
  return add_to<Ring, RingTag>(kernel.rings, {std::move(name), stages, initial_phase});
}

// ---- expressions

// Returns the numbers that tell expressions apart: the kind of node, its parts and its type. Empty
// for reads, which are never shared.
std::vector<std::int64_t> Builder::key(const Expr& expr) {
  using Numbers = std::vector<std::int64_t>;
  Numbers made = std::visit(
      overloaded{
          [](const Constant& c) {
            const auto* integer = std::get_if<std::int64_t>(&c.value);
            return integer ? Numbers{*integer, 0}
                           : Numbers{std::bit_cast<std::int64_t>(std::get<double>(c.value)), 1};
          },
          [](const Special& s) { return Numbers{static_cast<std::int64_t>(s.which)}; },
          [](const Size& s) {  // symbolic integers are interned
            if (s.value.is_literal()) return Numbers{s.value.value(), 0};
            return Numbers{reinterpret_cast<std::intptr_t>(&s.value.polynomial()), 1};
          },
          [](const Scalar& s) { return Numbers{s.param.index}; },
          [](const VarRef& v) { return Numbers{v.var.index}; },
          [](const RingSlot& r) { return Numbers{r.ring.index}; },
          [](const RingPhase& r) { return Numbers{r.ring.index}; },
          [&](const LayoutOffset& a) {
            const int next = static_cast<int>(layouts_.size());
            return Numbers{layouts_.emplace(a.layout.to_string(), next).first->second,
                           a.index.index};
          },
          [](const Apply& a) {
            Numbers numbers{static_cast<std::int64_t>(a.function)};
            for (const ExprId operand : a.operands) numbers.push_back(operand.index);
            return numbers;
          },
          [](const Read&) { return Numbers{}; },
      },
      expr.node);
  if (made.empty()) return made;
  made.push_back(static_cast<std::int64_t>(expr.node.index()));
  made.push_back(static_cast<std::int64_t>(expr.type));
  return made;
}

Term Builder::node(Expr expr) {
  std::vector<std::int64_t> known = key(expr);
  if (!known.empty()) {
    const auto found = known_.find(known);
    if (found != known_.end()) return {this, found->second};
  }
  uniform_.push_back(uniformity(kernel, expr, uniform_));
  const ExprId id = add_to<Expr, ExprTag>(kernel.exprs, std::move(expr));
  if (!known.empty()) known_.emplace(std::move(known), id);
  return {this, id};
}

Term Builder::constant(std::int64_t value, ElementType type) {
  if (is_float(type)) return constant(static_cast<double>(value), type);
  return node({Constant{value}, type});
}

Term Builder::constant(double value, ElementType type) {
  if (!is_float(type)) throw std::logic_error("a real constant of an integer type");
  if (type == ElementType::f32) value = static_cast<double>(static_cast<float>(value));
  return node({Constant{value}, type});
}

Term Builder::special(Builtin which) {
  return node({Special{which}, ElementType::s32});
}

Term Builder::size(const Int& value, ElementType type) {
  if (value.is_literal()) return constant(value.value(), type);
  return node({Size{value}, type});
}

Term Builder::get(VarId var) {
  return node({VarRef{var}, kernel.var(var).type});
}

Term Builder::slot(RingId ring) {
  return node({RingSlot{ring}, ElementType::s32});
}

Term Builder::phase(RingId ring) {
  return node({RingPhase{ring}, ElementType::s32});
}

Term Builder::at(const Layout& layout, Term index) {
  return node({LayoutOffset{layout, index}, index.type()});
}

Term Builder::read(Ref from) {
  const ElementType type = kernel.buffer(from.buffer).element;
  return node({Read{std::move(from)}, type});
}

Term Builder::apply(ElementFunction function, std::vector<Term> operands) {
  if (function == ElementFunction::cast) throw std::logic_error("a cast is made by Builder::cast");
  std::vector<ElementType> types;
  for (const Term& operand : operands) types.push_back(operand.type());
  const ResultType result = result_type(function, types, {});
  if (!result.misfit.empty()) {
    throw std::logic_error(std::string(function_row(function).name) + " " + result.misfit);
  }
  if (const Term folded = fold(function, operands); folded.builder != nullptr) return folded;
  return node({Apply{function, ids(operands)}, result.type});
}

Term Builder::fold(ElementFunction function, const std::vector<Term>& operands) {
  std::vector<const Expr*> nodes;
  for (const Term& operand : operands) nodes.push_back(&kernel.expr(operand.id));
  const Folded folded = ir::fold(function, nodes);
  return std::visit(
      overloaded{
          [](NotFolded) { return Term{}; },
          [&](IsOperand is) { return operands[is.index]; },
          [&](const Expr& expr) {
            return std::visit(
                overloaded{
                    [&](const Constant& c) {
                      const auto* integer = std::get_if<std::int64_t>(&c.value);
                      return integer ? constant(*integer, expr.type)
                                     : constant(std::get<double>(c.value), expr.type);
                    },
                    [&](const Size& s) { return size(s.value, expr.type); },
                    [](const auto&) -> Term { throw std::logic_error("folded to no constant"); },
                },
                expr.node);
          },
      },
      folded);
}

Term Builder::cast(Term value, ElementType type) {
  if (value.type() == type) return value;
  const Expr& expr = kernel.expr(value.id);
  if (const auto* size_node = std::get_if<Size>(&expr.node); size_node && !is_float(type)) {
    return size(size_node->value, type);
  }
  if (const auto* literal = std::get_if<Constant>(&expr.node); literal && computes(type)) {
    if (const auto* integer = std::get_if<std::int64_t>(&literal->value))
      return constant(*integer, type);
    if (is_float(type)) return constant(std::get<double>(literal->value), type);
  }
  return node({Apply{ElementFunction::cast, {value}}, type});
}

Term Builder::select(Term condition, Term then, Term otherwise) {
  return apply(ElementFunction::select, {condition, then, otherwise});
}

Term Builder::fma(Term a, Term b, Term c) {
  return apply(ElementFunction::fma, {a, b, c});
}

Term Builder::min(Term a, Term b) {
  return apply(ElementFunction::min, {a, b});
}

Term Builder::max(Term a, Term b) {
  return apply(ElementFunction::max, {a, b});
}

// ---- statements

void Builder::emit(decltype(Stmt::node) node) {
  if (block_ == nullptr) throw std::logic_error("a statement outside any block");
  block_->push_back({std::move(node), origin_});
  origin_.note.clear();
}

// Neither that of a variable in scope nor one that the script gave.
std::string Builder::unused(const std::string& name) const {
  const auto is_used = [&](const std::string& wish) {
    const auto has_it = [&](const auto& declared) { return declared.name == wish; };
    return std::find(names_.begin(), names_.end(), wish) != names_.end() ||
           std::any_of(kernel.params.begin(), kernel.params.end(), has_it) ||
           std::any_of(kernel.buffers.begin(), kernel.buffers.end(), has_it);
  };
  std::string free = name;
  for (int i = 2; is_used(free); ++i) free = name + "_" + std::to_string(i);
  return free;
}

Term Builder::let(const std::string& name, Term value) {
  const VarId var = variable_like(name, value);
  emit(Let{var, value});
  return get(var);
}

Term Builder::shuffle(const std::string& name, Term value, int lane_mask) {
  const VarId var = variable_like(name, value);
  emit(Shuffle{var, value, lane_mask});
  return get(var);
}

Term Builder::atomic_count(const std::string& name, Ref at) {
  const VarId var = variable(name, ElementType::s32, Uniformity::thread);
  names_.push_back(kernel.var(var).name);
  emit(AtomicCount{var, std::move(at)});
  return get(var);
}

Term Builder::sync_any(const std::string& name, Term value, BarrierId barrier, ExprId slot) {
  const VarId var = variable(name, ElementType::pred, Uniformity::warpgroup);
  names_.push_back(kernel.var(var).name);
  emit(SyncAny{var, value, barrier, slot});
  return get(var);
}

void Builder::assign(Ref to, Term value) {
  emit(Assign{std::move(to), value});
}

void Builder::fill(BufferId buffer, Term value) {
  emit(Fill{buffer, value});
}

PlainCopy& Builder::copy(Ref dst, Ref src, int count, int dst_mode, int src_mode) {
  return copy(std::move(dst), std::move(src), PlainCopy{{count, dst_mode, src_mode}, {}});
}

std::string Builder::atom(const sema::CopyInstruction& copy) {
  if (copy_atom(kernel, copy.name)) return copy.name;
  const auto space = [&](sema::CopySpace of) {
    switch (of) {
      case sema::CopySpace::global:
        return Space::global;
      case sema::CopySpace::shared:
        return Space::shared;
      case sema::CopySpace::registers:
        return Space::registers;
      case sema::CopySpace::any:
        break;
    }
    throw std::logic_error("internal: " + copy.name + " says no space");
  };
  CopyAtom made{copy.name,
                copy.kind == "warp"      ? CopyScope::warp
                : copy.kind == "cluster" ? CopyScope::cluster
                                         : CopyScope::thread,
                space(copy.from),
                space(copy.to),
                copy.source,
                copy.destination,
                {},
                copy.instruction};
  if (copy.is_box()) made.box = {copy.modes, copy.alignment, copy.pitch, copy.swizzle_widths};
  kernel.copy_atoms.push_back(std::move(made));
  return copy.name;
}

Mma& Builder::mma(MmaKind kind, Ref d, Ref a, Ref b, std::string atom) {
  emit(Mma{kind, std::move(atom), std::move(d), std::move(a), std::move(b), {}});
  return std::get<Mma>(block_->back().node);
}

void Builder::sync(BarrierId barrier, ExprId slot) {
  switch (kernel.barrier(barrier).kind) {
    case BarrierKind::block:
      return sync(barrier, slot, SyncBlock{});
    case BarrierKind::named:
      return sync(barrier, slot, SyncNamed{});
    case BarrierKind::cluster:
      return sync(barrier, slot, SyncCluster{});
    case BarrierKind::mbarrier:
      throw std::logic_error("an mbarrier has no operation that arrives and waits at once");
  }
}

void Builder::sync(BarrierId barrier, ExprId slot, Sync::Operation operation) {
  emit(Sync{barrier, slot, operation});
}

VarId Builder::variable(const std::string& name, ElementType type, Uniformity uniformity) {
  return add_to<Var, VarTag>(kernel.vars, {unused(name), type, uniformity});
}

VarId Builder::variable_like(const std::string& name, Term value) {
  const VarId made = variable(name, value.type(), uniformity_of(value));
  names_.push_back(kernel.var(made).name);
  return made;
}

For Builder::open_loop(const std::string& name, Term begin, Term end, LoopOptions options) {
  const Uniformity uniform = std::min(uniform_[begin.id.index], uniform_[end.id.index]);
  return {variable(name, begin.type(), uniform),
          begin,
          end,
          options.step,
          options.unrolled,
          std::make_shared<Block>()};
}

// ---- operators

Term like(Term other, double value) {
  return other.builder->constant(value, other.type());
}

Term like(Term other, std::int64_t value) {
  return other.builder->constant(value, other.type());
}

Term operator-(Term a) {
  return a.builder->apply(ElementFunction::neg, {a});
}

Term operator!(Term a) {
  return a.builder->apply(ElementFunction::not_, {a});
}

Term operator&&(Term a, Term b) {
  return a.builder->apply(ElementFunction::and_, {a, b});
}

Term operator||(Term a, Term b) {
  return a.builder->apply(ElementFunction::or_, {a, b});
}

}  // namespace lay::ir
