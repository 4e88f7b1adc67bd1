// Inside the compiler: instructions for expressions, and which slots hold their values.
#pragma once

#include <map>

#include "backend/interpret/program.h"

namespace lay::interpret {

// Compiles expressions to instructions. A value is computed once and kept in a slot of 32 lanes for
// as long as nothing that it depends on can have changed.
class ExpressionCompiler {
 public:
  ExpressionCompiler(Program& program, const Binding& sizes,
                     const std::vector<Argument>& arguments);

  // The slot that holds the value once the instructions emitted so far have run.
  int value(ir::ExprId id);
  // buffer[coordinate] with the slots of its coordinates.
  Access access(const ir::Ref& ref, int first_mode = 0);
  int constant(std::int64_t value);
  // A slot that nothing uses yet.
  int fresh() { return program_.slots++; }

  // Values computed inside a scope are forgotten at its end.
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

  // From here on, instructions belong to this statement; what was read from memory before is read
  // again.
  void statement(const ir::Stmt& stmt);

  // From here on the variable's value is in that slot.
  void bind(ir::VarId var, int slot) { variables_[var.index] = slot; }

  int emit(Instruction instruction);  // its index
  int next() const { return static_cast<int>(program_.code.size()); }
  const Binding& sizes() const { return sizes_; }
  // The number of a new entry in the statistics of banks and sectors; -1 where nothing is counted.
  int bank_count(int buffer);
  // Throws a fault that is certain before anything runs.
  [[noreturn]] void refuse(FaultCode code, const std::string& what) const;

 private:
  // Emits the instructions of one expression; the others are its kinds.
  int compute(ir::ExprId id);
  int constant(const Lanes& lanes);
  int literal(const ir::Constant& constant, ElementType type);
  int size(const ir::Size& size, ElementType type);
  int scalar(const ir::Scalar& scalar, ElementType type);
  int special(const ir::Special& special);
  int ring(ir::RingId ring, bool phase);
  int at(const ir::LayoutOffset& at);
  int apply(const ir::Apply& apply, ElementType type);
  int selection(const ir::Apply& apply, ElementType type);
  // `and`, `or`: the right side runs only for the lanes that need it.
  int short_circuit(const ir::Apply& apply);
  int read(const ir::Read& read, ElementType type);
  void move(int dst, int src, ElementType type);
  bool total(ir::ExprId id) const { return traits_[id.index].total; }
  // Finds for every expression whether it can fault and what it depends on.
  void find_traits();

  Program& program_;
  const Binding& sizes_;
  const std::vector<Argument>& arguments_;
  // Expression -> slot: for as long as the scope is open, and for the current statement.
  struct Scope {
    std::map<int, int> lasting, passing;
  };
  struct Traits {
    // Evaluating it can neither fault nor touch memory.
    bool total;
    // It depends on neither memory nor rings.
    bool lasting;
  };
  std::vector<Scope> scopes_{{}};
  std::vector<int> variables_;
  std::vector<Traits> traits_;
  // By the bits of the first lanes.
  std::map<std::pair<std::int64_t, std::int64_t>, int> constants_;
};

}  // namespace lay::interpret
