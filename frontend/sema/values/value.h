// The value of an expression. One kind for each word of the language, in a variant that is visited
// without a catch-all; a value carries the guards it depends on.
//
//   (4,2)                  Tuple (an integer is a Tuple that is a leaf)
//   (4,2):(1,4)            Layout          Sw<3,3,3> o 0 o (8,64):(64,1)   Composed
//   M % 64 == 0            Predicate: a truth value, perhaps undecided
//   ((4,2):(1,4), 8)       List: a tuple that holds more than integers
//
// Three kinds exist only inside a kernel's body (TensorName, Element, Intermediate: see
// kernel_builder.h) and one only in a check (Unknown: what a run will know).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/kernel.h"
#include "frontend/sema/values/array.h"
#include "frontend/syntax/tree.h"

namespace lay::sema {

struct Value;
struct Builtin;
struct Intermediate;
class Module;

// The value of a statement.
struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
// A value that only a run can know.
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};

// A tuple of any values; together of a weight of at most 2^20, however they are shared.
struct List {
  std::vector<Value> elements;
  std::int64_t weight = 0;  // of the values
};

// The values of a record's fields, in order. `head` prints it back: `wgmma(n = 64)`, or the name of
// a library.
struct Record {
  std::string name, head;
  std::vector<std::pair<std::string, Value>> fields;
  std::string library{};  // of its maker

  const Value* find(const std::string& field) const;
};

// The names that a def or record may see: those that its file had when it was defined.
struct Closure {
  std::shared_ptr<const syntax::Tree> tree;
  std::shared_ptr<const Module> module;
  int generation = 0;
};

// A def.
struct Function {
  Closure closure;
  const syntax::Def* def = nullptr;
};
// A record with parameters.
struct RecordMaker {
  Closure closure;
  const syntax::Record* record = nullptr;
  // The name that it was used from: sm90.wgmma reads back where wgmma may be another one.
  std::string library{};
};

// A kernel, and its instances for element types if it has type parameters. Schedules and
// sizes given later make a new family.
struct KernelFamily {
  Closure closure;
  const syntax::Kernel* kernel = nullptr;
  std::vector<std::pair<Closure, const syntax::Schedule*>> schedules;
  std::vector<std::pair<Closure, const syntax::Sizes*>> stated_sizes;
  // The instance for f32, if the kernel has type parameters.
  KernelPtr checked;

  bool generic() const;  // has type parameters
};

// In a kernel's body: a tensor before its brackets, and a number that is known only on the device.
struct TensorName {
  TensorId tensor;
};
struct Element {
  NodeId node;
};

using IntermediatePtr = std::shared_ptr<const Intermediate>;
using ListPtr = std::shared_ptr<const List>;
using RecordPtr = std::shared_ptr<const Record>;
using FunctionPtr = std::shared_ptr<const Function>;
using RecordMakerPtr = std::shared_ptr<const RecordMaker>;
using KernelFamilyPtr = std::shared_ptr<const KernelFamily>;

struct Value {
  using Data =
      std::variant<Nothing, Unknown, Predicate, Tuple, double, std::string, Layout, Composed,
                   Swizzle, ElementType, Array, ListPtr, RecordPtr, FunctionPtr, RecordMakerPtr,
                   const Builtin*, KernelFamilyPtr, TensorName, Element, IntermediatePtr>;
  Data data;
  std::vector<Guard> guards;

  Value() = default;
  template <typename T>
  requires std::is_constructible_v<Data, T&&> Value(T&& value) : data(std::forward<T>(value)) {}
  Value(Int value) : data(Tuple(std::move(value))) {}

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  bool is_int() const { return as<Tuple>() && as<Tuple>()->is_int(); }
  bool is_unknown() const { return as<Unknown>() != nullptr; }
};

// In a kernel's body: `let s[m] = max[n](X[m,n])`, a value for each coordinate. The value depends
// on the indices; a use puts others in their place.
struct Intermediate {
  std::string name;
  std::vector<IndexId> indices;
  Value value;
  Span where;
};

// "a layout", "an integer", "a tuple": for messages.
std::string kind_name(const Value& value);
// "layout", "int", "tuple", ...: for tools.
std::string kind_word(const Value& value);

// The text that reads back to the same value. Predicates print as conditions, strings with quotes.
// Above a million characters it ends in "...".
std::string text(const Value& value);

// Returns how much a value holds: about one for each integer in it.
std::int64_t weight(const Value& value);

// A tuple of the values: a Tuple if all are integers, coordinates or `_`, else a List. Refusal
// "limit".
Value make_tuple(std::vector<Value> elements);

// A real number as Lay text: "0.5", "1.0", "1e-08".
std::string real_text(double value);
// The fewest digits that read back to the same f32.
std::string real_text(float value);
// The string between quotes, with escapes.
std::string quoted(std::string_view s);

}  // namespace lay::sema
