// Makes kernels. Expressions are written like arithmetic, statements go to the block that is open:
//
//   Kernel kernel;
//   Builder b(kernel);
//   Term m = b.size("M", M);
//   BufferId x = b.global("X", ElementType::f32, layout, {.written = false});
//   BarrierId all = b.block_barrier();
//   b.role("all", 0, 128, [&] {
//     Term i = b.let("i", b.special(Builtin::block_x) * 128 + b.special(Builtin::thread));
//     b.when(i < m, [&] { b.assign({y, {i}}, b.read({x, {i}}) * 2.0); });
//     b.sync(all);
//   });
//
// Equal expressions get one id. Constants, sums with 0 and products with 0 and 1 are folded, and
// arithmetic of sizes stays one Size. Operands of one operation have one type; a literal takes the
// type of the other side. Misuse is our bug: std::logic_error.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/ir/ir.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::ir {

class Builder;

// An expression and the builder that made it.
struct Term {
  Builder* builder = nullptr;
  ExprId id;
  operator ExprId() const { return id; }
  ElementType type() const;
};

// Builds a kernel statement by statement. Expressions are folded and shared: equal ones have one
// id. Statements go to the block that is open, with the origin given last.
class Builder {
 public:
  // Adds to what is there.
  explicit Builder(Kernel& into);

  Kernel& kernel;

  // ---- declarations
  Term size(std::string name, Int symbol);  // the dim as a parameter
  Term scalar(std::string name, ElementType type);

  struct Access {
    int alignment = 0;  // bytes; 0: of the element
    bool read = true, written = true, workspace = false;
    Int offset = 0;  // in workspace
  };
  // Buffers. Names are unique in the kernel; alignments are in bytes, 0 that of the element.
  BufferId global(std::string name, ElementType element, AnyLayout layout, Access access);
  BufferId shared(std::string name, ElementType element, AnyLayout layout, int alignment = 0);
  BufferId registers(std::string name, ElementType element, Layout layout);
  // The one barrier of all threads.
  BarrierId block_barrier();
  BarrierId barrier(Barrier declared);
  // A ring of stages, whose slot and phase `slot` and `phase` give.
  RingId ring(std::string name, int stages, int initial_phase = 0);

  // ---- expressions
  Term constant(std::int64_t value, ElementType type = ElementType::s32);
  Term constant(double value, ElementType type);
  Term special(Builtin which);
  // Over declared sizes.
  Term size(const Int& value, ElementType type = ElementType::s32);
  // The values of variables and rings where the expression stands.
  Term get(VarId var);
  Term slot(RingId ring);
  Term phase(RingId ring);
  // The layout's offset; its strides are integers.
  Term at(const Layout& layout, Term index);
  Term read(Ref from);
  // A function of elements, folded where its operands are constants (fold.h).
  Term apply(ElementFunction function, std::vector<Term> operands);
  Term cast(Term value, ElementType type);
  Term select(Term condition, Term then, Term otherwise);
  Term fma(Term a, Term b, Term c);
  Term min(Term a, Term b);
  Term max(Term a, Term b);
  Term term(ExprId id) { return {this, id}; }
  // The expression just so: unfolded and unchecked.
  Term node(Expr expr);

  // ---- statements
  // Where the statements that follow come from, until the next call; the note goes to the first of
  // them.
  void from(Origin origin) { origin_ = std::move(origin); }

  // A new variable; as uniform as its value. A name that is in scope already gets a number.
  Term let(const std::string& name, Term value);
  // A new variable with the value of lane `lane xor lane_mask`. Every lane of the warp is here.
  Term shuffle(const std::string& name, Term value, int lane_mask);
  // A new variable with the number that stood there before 1 was added to it.
  Term atomic_count(const std::string& name, Ref at);
  // A new variable that says whether the value is true in any of the threads that meet at the named
  // barrier, which are a warpgroup.
  Term sync_any(const std::string& name, Term value, BarrierId barrier, ExprId slot);
  // Stores one value; `fill` stores it in every element of registers.
  void assign(Ref to, Term value);
  void fill(BufferId buffer, Term value);
  // `count` elements along the modes; the reference is good until the next statement.
  PlainCopy& copy(Ref dst, Ref src, int count = 1, int dst_mode = 0, int src_mode = 0);
  // A copy of any kind; the reference is good until the next statement.
  template <class Kind>
  Kind& copy(Ref dst, Ref src, Kind how) {
    emit(Copy{std::move(dst), std::move(src), std::move(how)});
    return std::get<Kind>(std::get<Copy>(block_->back().node).how);
  }
  // The name of a copy's atom, which the kernel declares once.
  std::string atom(const sema::CopyInstruction& copy);
  // d += a * b; the reference is good until the next statement.
  Mma& mma(MmaKind kind, Ref d, Ref a, Ref b, std::string atom = "");
  // All threads of the barrier meet: of the block, of a named barrier, of the cluster.
  void sync(BarrierId barrier, ExprId slot = {});
  void sync(BarrierId barrier, ExprId slot, Sync::Operation operation);
  // Adds any statement to the open block.
  void emit(decltype(Stmt::node) node);

  // `step` from one round to the next; `unrolled`: the variable may index registers.
  struct LoopOptions {
    int step = 1;
    bool unrolled = false;
  };
  // A loop from `begin` to below `end`; the body takes the variable.
  template <std::invocable<Term> Body>
  void loop(const std::string& name, Term begin, Term end, LoopOptions options, Body body) {
    For made = open_loop(name, begin, end, options);
    inside(*made.body, [&] {
      names_.push_back(kernel.var(made.var).name);
      body(get(made.var));
    });
    emit(std::move(made));
  }
  // A branch, with or without an `otherwise`.
  template <std::invocable Then>
  void when(Term condition, Then then) {
    If made{condition, std::make_shared<Block>(), nullptr};
    inside(*made.then, then);
    emit(std::move(made));
  }
  template <std::invocable Then, std::invocable Otherwise>
  void when(Term condition, Then then, Otherwise otherwise) {
    If made{condition, std::make_shared<Block>(), std::make_shared<Block>()};
    inside(*made.then, then);
    inside(*made.otherwise, otherwise);
    emit(std::move(made));
  }
  // Emits statements that one lane of each warp executes.
  template <std::invocable Body>
  void elect(Body body) {
    Elect made{std::make_shared<Block>()};
    inside(*made.body, body);
    emit(std::move(made));
  }
  // The persistent loop; the body takes the tile's number.
  template <std::invocable<Term> Body>
  void tiles(const std::string& name, Term first, Term count, Term stride, Body body) {
    TileLoop made{variable(name, ElementType::s32, uniformity_of(first)), first, count, stride,
                  std::make_shared<Block>()};
    inside(*made.body, [&] {
      names_.push_back(kernel.var(made.tile).name);
      body(get(made.tile));
    });
    emit(std::move(made));
  }
  template <std::invocable Body>
  void role(std::string name, int first, int threads, Body body,
            std::optional<int> register_budget = {}) {
    Role made{std::move(name), first, threads, register_budget, {}};
    inside(made.body, body);
    kernel.roles.push_back(std::move(made));
  }
  // Statements that go to this block while the body runs; the origin is afterwards what it was
  // before, so that the statement around the block carries the note and those inside only their
  // own.
  template <std::invocable Body>
  void inside(Block& block, Body body) {
    Block* outer = std::exchange(block_, &block);
    Origin here = origin_;
    origin_.note.clear();
    const size_t names = names_.size();
    body();
    // Names that the prologue binds stay in scope for the roles.
    if (&block != &kernel.prologue) names_.resize(names);
    origin_ = std::move(here);
    block_ = outer;
  }

 private:
  // An expression as numbers, by which an equal one is found.
  std::vector<std::int64_t> key(const Expr& expr);
  Term fold(ElementFunction function, const std::vector<Term>& operands);
  // A variable under a name that none in scope has.
  VarId variable(const std::string& name, ElementType type, Uniformity uniformity);
  VarId variable_like(const std::string& name, Term value);  // in scope from here on
  Uniformity uniformity_of(Term term) const { return uniform_[static_cast<size_t>(term.id.index)]; }
  For open_loop(const std::string& name, Term begin, Term end, LoopOptions options);
  BufferId buffer(Buffer declared);

  std::vector<Uniformity> uniform_;  // of the expressions, by id
  std::string unused(const std::string& name) const;

  std::vector<std::string> names_;  // of the variables in scope
  Block* block_ = nullptr;
  Origin origin_;
  std::map<std::vector<std::int64_t>, ExprId> known_;
  std::map<std::string, int> layouts_;  // of LayoutOffset, by text
};

// A literal operand as a term of the other's type.
Term like(Term other, double value);
Term like(Term other, std::int64_t value);

template <class T>
Term operand(Term other, T value) {
  if constexpr (std::is_same_v<T, Term>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return like(other, static_cast<double>(value));
  } else {
    return like(other, static_cast<std::int64_t>(value));
  }
}

template <class T>
concept Operand = std::same_as<T, Term> || std::is_arithmetic_v<T>;

template <Operand T>
Term operator+(Term a, T b) {
  return a.builder->apply(ElementFunction::add, {a, operand(a, b)});
}
template <Operand T>
Term operator-(Term a, T b) {
  return a.builder->apply(ElementFunction::sub, {a, operand(a, b)});
}
template <Operand T>
Term operator*(Term a, T b) {
  return a.builder->apply(ElementFunction::mul, {a, operand(a, b)});
}
template <Operand T>
Term operator/(Term a, T b) {
  return a.builder->apply(ElementFunction::div, {a, operand(a, b)});
}
template <Operand T>
Term operator%(Term a, T b) {
  return a.builder->apply(ElementFunction::rem, {a, operand(a, b)});
}
template <Operand T>
Term operator<(Term a, T b) {
  return a.builder->apply(ElementFunction::lt, {a, operand(a, b)});
}
template <Operand T>
Term operator<=(Term a, T b) {
  return a.builder->apply(ElementFunction::le, {a, operand(a, b)});
}
template <Operand T>
Term operator>(Term a, T b) {
  return a.builder->apply(ElementFunction::gt, {a, operand(a, b)});
}
template <Operand T>
Term operator>=(Term a, T b) {
  return a.builder->apply(ElementFunction::ge, {a, operand(a, b)});
}
template <Operand T>
Term operator==(Term a, T b) {
  return a.builder->apply(ElementFunction::eq, {a, operand(a, b)});
}
template <Operand T>
Term operator!=(Term a, T b) {
  return a.builder->apply(ElementFunction::ne, {a, operand(a, b)});
}
Term operator-(Term a);
Term operator!(Term a);
// `b` is evaluated only where `a` holds.
Term operator&&(Term a, Term b);
Term operator||(Term a, Term b);

}  // namespace lay::ir
