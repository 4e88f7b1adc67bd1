#include <algorithm>

#include "backend/ir/fold.h"
#include "backend/ir/text/print.h"
#include "backend/ir/types.h"
#include "backend/ir/verify/verifier.h"
#include "backend/ir/walk.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::ir {
namespace {

// The check that every id in a kernel points at something, made before anything is looked up.
class Ids {
 public:
  explicit Ids(const Kernel& kernel) : kernel_(kernel) {}

  bool good(BufferId id) const { return in(id.index, kernel_.buffers); }
  bool good(VarId id) const { return in(id.index, kernel_.vars); }
  bool good(ParamId id) const { return in(id.index, kernel_.params); }
  bool good(RingId id) const { return in(id.index, kernel_.rings); }
  bool good(BarrierId id) const { return in(id.index, kernel_.barriers); }
  bool good(ExprId id) const { return in(id.index, kernel_.exprs); }
  bool good(const Stmt& stmt) const {
    const Uses used = uses(stmt);
    const std::vector<const Block*> inside = bodies(stmt);
    const auto all = [&](const auto& ids) {
      return std::all_of(ids.begin(), ids.end(), [&](auto id) { return good(id); });
    };
    return all(used.exprs) && all(used.binds) && all(used.buffers) && all(used.barriers) &&
           all(used.rings) &&
           std::all_of(used.tensor_maps.begin(), used.tensor_maps.end(),
                       [&](int map) { return in(map, kernel_.tensor_maps); }) &&
           std::all_of(inside.begin(), inside.end(),
                       [&](const Block* block) { return block != nullptr && good(*block); });
  }
  bool good(const Block& block) const {
    return std::all_of(block.begin(), block.end(), [&](const Stmt& stmt) { return good(stmt); });
  }

 private:
  template <class T>
  static bool in(int index, const std::vector<T>& list) {
    return index >= 0 && index < static_cast<int>(list.size());
  }

  const Kernel& kernel_;
};

bool is_integer(ElementType type) {
  return computes(type) && !is_float(type);
}

}  // namespace

bool Verifier::ids() {
  const Ids ids(kernel_);
  for (size_t i = 0; i < kernel_.exprs.size(); ++i) {
    for (const ExprId operand : operands(kernel_.exprs[i])) {
      if (operand.index >= 0 && operand.index < static_cast<int>(i)) continue;
      problem("expression-order", "expression " + std::to_string(i) + " has operand " +
                                      std::to_string(operand.index) +
                                      ", which does not come before it");
      return false;
    }
    const bool known = std::visit(overloaded{
                                      [&](const VarRef& v) { return ids.good(v.var); },
                                      [&](const Scalar& s) { return ids.good(s.param); },
                                      [&](const RingSlot& r) { return ids.good(r.ring); },
                                      [&](const RingPhase& r) { return ids.good(r.ring); },
                                      [&](const Read& r) { return ids.good(r.from.buffer); },
                                      [](const auto&) { return true; },
                                  },
                                  kernel_.exprs[i].node);
    if (known) continue;
    problem("id", "expression " + std::to_string(i) + " names something that is not declared");
    return false;
  }
  const auto maps_good = std::all_of(kernel_.tensor_maps.begin(), kernel_.tensor_maps.end(),
                                     [&](const TensorMap& map) { return ids.good(map.tensor); });
  const auto roles_good = std::all_of(kernel_.roles.begin(), kernel_.roles.end(),
                                      [&](const Role& role) { return ids.good(role.body); });
  if (maps_good && roles_good && ids.good(kernel_.prologue) && ids.good(kernel_.epilogue))
    return true;
  problem("id", "a statement or tensor map names something that is not declared");
  return false;
}

bool Verifier::expressions() {
  const std::vector<Written> sizes = written(kernel_);
  for (size_t i = 0; i < kernel_.exprs.size(); ++i) {
    if (!sizes[i].readable()) {
      problem("expression-size", "an expression has " + std::to_string(sizes[i].nodes) +
                                     " nodes and depth " + std::to_string(sizes[i].depth) +
                                     " when its shared parts are written out: bind " +
                                     "parts of it with let");
      return false;
    }
    expression(i);
  }
  return problems_.empty();
}

void Verifier::expression(size_t index) {
  const Expr& expr = kernel_.exprs[index];
  const ExprId id{static_cast<int>(index)};
  const auto wrong = [&](const std::string& what) {
    problem("expression-type", "`" + print(kernel_, id) + "` " + what);
  };
  const auto of_type = [&](ElementType expected) {
    if (expr.type != expected) {
      wrong("is " + std::string(element_name(expected)) + ", not " +
            std::string(element_name(expr.type)));
    }
  };
  std::visit(overloaded{
                 [&](const Constant& c) {
                   const auto* integer = std::get_if<std::int64_t>(&c.value);
                   if (integer == nullptr && !is_float(expr.type))
                     wrong("is a real number of an integer type");
                   if (integer != nullptr && !is_float(expr.type) && !fits(*integer, expr.type)) {
                     wrong("does not fit " + std::string(element_name(expr.type)));
                   }
                 },
                 [&](const Special&) { of_type(ElementType::s32); },
                 [&](const Size& s) {
                   if (!is_integer(expr.type)) wrong("is a size and no integer");
                   std::map<DimId, std::string> dims;
                   s.value.collect_dims(dims);
                   for (const Param& param : kernel_.params) {
                     if (param.is_size && param.symbol.dim_id()) dims.erase(*param.symbol.dim_id());
                   }
                   for (const auto& [dim, name] : dims) {
                     problem("size", "`" + s.value.to_string() + "` has the size " + name +
                                         ", which is no parameter");
                   }
                 },
                 [&](const Scalar& s) { of_type(kernel_.param(s.param).type); },
                 [&](const VarRef& v) { of_type(kernel_.var(v.var).type); },
                 [&](const RingSlot&) { of_type(ElementType::s32); },
                 [&](const RingPhase&) { of_type(ElementType::s32); },
                 [&](const LayoutOffset& at) {
                   if (at.layout.has_basis()) wrong("takes a layout with integer strides");
                   if (!is_integer(kernel_.expr(at.index).type)) wrong("takes an integer");
                   of_type(kernel_.expr(at.index).type);
                 },
                 [&](const Apply& apply) {
                   std::vector<ElementType> types;
                   for (const ExprId operand : apply.operands)
                     types.push_back(kernel_.expr(operand).type);
                   const ResultType result = result_type(apply.function, types, expr.type);
                   if (!result.misfit.empty()) return wrong(result.misfit);
                   of_type(result.type);
                 },
                 [&](const Read& read) { of_type(kernel_.buffer(read.from.buffer).element); },
             },
             expr.node);
}

// ---- where an expression stands

void Verifier::visit(ExprId id, std::set<int>& seen) {
  if (!seen.insert(id.index).second) return;
  const Expr& expr = kernel_.expr(id);
  if (const auto* var = std::get_if<VarRef>(&expr.node);
      var != nullptr && !in_scope_[var->var.index]) {
    problem("variable-scope", quoted_name(kernel_.var(var->var).name) + " is not in scope here");
  }
  if (const auto* read = std::get_if<Read>(&expr.node)) ref(read->from, false);
  for (const ExprId operand : operands(expr)) visit(operand, seen);
}

void Verifier::use(ExprId id, std::string_view what) {
  if (!id) return problem("missing", std::string(what) + " is missing");
  std::set<int> seen;
  visit(id, seen);
}

void Verifier::use(ExprId id, std::string_view what, ElementType expected) {
  use(id, what);
  if (id && type(id) != expected) {
    problem("type", std::string(what) + " is " + std::string(element_name(type(id))) + ", not " +
                        std::string(element_name(expected)));
  }
}

void Verifier::use_integer(ExprId id, std::string_view what) {
  use(id, what);
  if (id && !is_integer(type(id))) {
    problem("type",
            std::string(what) + " is " + std::string(element_name(type(id))) + ", not an integer");
  }
}

void Verifier::no_reads(ExprId id, std::string_view what) {
  if (!id) return;
  const Expr& expr = kernel_.expr(id);
  if (std::holds_alternative<Read>(expr.node)) {
    return problem("loop-read", std::string(what) + " reads memory: bind it with let");
  }
  for (const ExprId operand : operands(expr)) no_reads(operand, what);
}

// A value that the emitted code knows when its loops are unrolled.
bool Verifier::is_static(ExprId id) const {
  return std::visit(overloaded{
                        [](const Constant&) { return true; },
                        [&](const VarRef& v) { return static_cast<bool>(static_[v.var.index]); },
                        [&](const LayoutOffset& at) { return is_static(at.index); },
                        [&](const Apply& a) {
                          return std::all_of(a.operands.begin(), a.operands.end(),
                                             [&](ExprId operand) { return is_static(operand); });
                        },
                        [](const Special&) { return false; },
                        [](const Size&) { return false; },
                        [](const Scalar&) { return false; },
                        [](const RingSlot&) { return false; },
                        [](const RingPhase&) { return false; },
                        [](const Read&) { return false; },
                    },
                    kernel_.expr(id).node);
}

Uniformity Verifier::uniform(ExprId id) const {
  return uniform_[id.index];
}

int Verifier::rank(BufferId buffer) const {
  const AnyLayout& layout = kernel_.buffer(buffer).layout;
  const auto* composed = std::get_if<Composed>(&layout);
  if (composed == nullptr) return std::get<Layout>(layout).rank();
  const auto* inner = std::get_if<Layout>(&composed->inner);
  return inner == nullptr ? 1 : inner->rank();
}

void Verifier::ref(const Ref& ref, bool written, int without) {
  const Buffer& buffer = buffer_of(ref);
  const int expected = std::max(0, rank(ref.buffer) - without);
  if (static_cast<int>(ref.coordinate.size()) != expected) {
    problem("coordinate-rank", quoted_name(buffer.name) + " takes " + std::to_string(expected) +
                                   " coordinates here, not " +
                                   std::to_string(ref.coordinate.size()));
  }
  for (const ExprId coordinate : ref.coordinate) {
    if (!is_integer(type(coordinate))) {
      problem("coordinate-type", "`" + print(kernel_, coordinate) + "` is no integer and indexes " +
                                     quoted_name(buffer.name));
    }
  }
  constant_coordinates(ref, without);
  if (written && !buffer.written)
    problem("access", quoted_name(buffer.name) + " is declared without `write`");
  if (!written && !buffer.read)
    problem("access", quoted_name(buffer.name) + " is declared without `read`");
  if (buffer.space == Space::registers) register_index(ref);
  if (buffer.space == Space::global && !grid_dependencies_done_)
    problem("fence", quoted_name(buffer.name) +
                         " is touched before the grids before this one are known to be done");
}

// A literal coordinate lies inside a literal extent; the others are the interpreter's.
void Verifier::constant_coordinates(const Ref& ref, int without) {
  const Buffer& buffer = buffer_of(ref);
  const Layout* known = inner_layout(buffer.layout);
  if (known == nullptr) return;
  const Layout& layout = *known;
  for (size_t i = 0; i < ref.coordinate.size() && static_cast<int>(i) + without < layout.rank();
       ++i) {
    const auto* constant = std::get_if<Constant>(&kernel_.expr(ref.coordinate[i]).node);
    const auto* value = constant == nullptr ? nullptr : std::get_if<std::int64_t>(&constant->value);
    const int mode = static_cast<int>(i) + without;
    const Int extent = size(layout.shape.is_tuple() ? layout.shape[mode] : layout.shape);
    if (value == nullptr || !extent.is_literal() || (*value >= 0 && *value < extent.value()))
      continue;
    problem("coordinate-range", "coordinate " + std::to_string(*value) + " of mode " +
                                    std::to_string(mode) + " of " + quoted_name(buffer.name) +
                                    " is outside 0.." + std::to_string(extent.value()));
  }
}

void Verifier::register_index(const Ref& ref) {
  for (const ExprId coordinate : ref.coordinate) {
    if (is_static(coordinate)) continue;
    problem("register-index",
            quoted_name(buffer_of(ref).name) + " is in registers and indexed by `" +
                print(kernel_, coordinate) +
                "`, which is neither constant nor made of unrolled loops' variables");
  }
}

}  // namespace lay::ir
