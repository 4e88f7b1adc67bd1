// The builtin operations, one row each: its word, how it is called, its law in a line, and the
// function. An operation that can be said in Lay is a def in stdlib/ instead.
//
//   {"coalesce", "coalesce(L [, profile])", "the same values with the fewest modes", 1, 2,
//   coalesce_}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/session.h"

namespace lay::sema {

struct CallArgument {
  std::string name;  // of a named argument
  Value value;
  Span span;
};

// The arguments of one call, asked for by kind. An argument of another kind is an error
// `argument-kind` at its place.
class Arguments {
 public:
  Arguments(Session& s, std::string_view callee, Span whole, std::vector<CallArgument> list)
      : session(s), callee_(callee), whole_(whole), list_(std::move(list)) {}

  Session& session;
  Facts& facts() { return session.facts; }
  std::string_view callee() const { return callee_; }
  Span whole() const { return whole_; }
  std::size_t count() const { return list_.size(); }
  const std::vector<CallArgument>& list() const { return list_; }
  const CallArgument& operator[](std::size_t i) const { return list_.at(i); }

  template <typename T>
  const T* as(std::size_t i) const {
    return i < list_.size() ? list_[i].value.as<T>() : nullptr;
  }
  bool is_layout(std::size_t i) const { return as<Layout>(i) || as<Composed>(i); }

  const Layout& layout(std::size_t i) const;
  AnyLayout any_layout(std::size_t i) const;
  // A layout, or the one inside a composed layout.
  const Layout& inner_layout(std::size_t i) const;
  // An IntTuple.
  const Tuple& tuple(std::size_t i) const;
  // Literal or symbolic.
  Int integer(std::size_t i) const;
  std::int64_t literal(std::size_t i) const;
  // A literal that fits an int: a mode, a rank.
  int small(std::size_t i) const;
  // The trailing integers.
  std::vector<int> path(std::size_t from) const;
  Tiler tiler(std::size_t i) const;
  ElementType type(std::size_t i) const;
  const Array& array(std::size_t i) const;
  const std::string& string(std::size_t i) const;

  [[noreturn]] void wrong_kind(std::size_t i, std::string_view wanted) const;

 private:
  std::string_view callee_;
  Span whole_;
  std::vector<CallArgument> list_;
};

// The arguments in the order of the parameters: positional ones first, then by name, each exactly
// once.
std::vector<const CallArgument*> bind_arguments(const std::string& callee,
                                                const std::vector<std::string>& parameters,
                                                const std::vector<CallArgument>& arguments,
                                                Span whole);

// The most arguments of an operation that takes any number of them.
inline constexpr std::size_t kMany = 64;

// One row: the name, how it is called, its law, and the function behind it.
struct Builtin {
  std::string_view name, signature, law;
  std::size_t least, most;  // number of arguments
  Value (*function)(Arguments&);
};

// All rows, by subject.
std::span<const Builtin> tuple_builtins();
std::span<const Builtin> coordinate_builtins();
std::span<const Builtin> tuple_algorithm_builtins();
std::span<const Builtin> unit_builtins();
std::span<const Builtin> layout_builtins();
std::span<const Builtin> algebra_builtins();
std::span<const Builtin> proposition_builtins();
std::span<const Builtin> memory_builtins();
std::span<const Builtin> fit_builtins();
std::span<const Builtin> number_builtins();
std::span<const Builtin> array_builtins();
std::span<const Builtin> export_builtins();
// Returns the row of a name, null where there is none; and all rows.
const Builtin* find_builtin(const std::string& name);
std::vector<const Builtin*> all_builtins();

// Calls a row: counts the arguments, turns refusals into diagnostics with the places of the
// operands.
Value call_builtin(const Builtin& builtin, Arguments& arguments);

// Turns values of the algebra into values of the language.
Value to_value(AnyLayout layout);
// Returns a layout, an integer, `_` or a tuple of these as a tiler; nothing for another value.
std::optional<Tiler> to_tiler(const Value& value);

}  // namespace lay::sema
