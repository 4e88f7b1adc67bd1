// The values of a kernel's nodes at given indices, by the meaning of reference.h: what the
// reference and the interpreter of tile programs (backend/tile/interpret.h) compute with.
//
//   NodeValues values(call);
//   values.set(m, 3);
//   values.value(node)      of f32[M,K] A and f32 x[K], sum[k](A[m,k] * x[k]) of row 3
//
// A caller that has values of nodes already gives them by `know`; they are used, not computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/kernel/element_arithmetic.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::sema {

// A reduction in progress: the values joined so far. For argmax and argmin `total` is the extreme.
struct Joined {
  Computed total;
  std::int64_t position = 0;
};

class NodeValues {
 public:
  // The call outlives the values.
  explicit NodeValues(const KernelCall& call);

  void set(IndexId index, std::int64_t coordinate) {
    at_[static_cast<std::size_t>(index)] = coordinate;
  }
  std::int64_t at(IndexId index) const { return at_[static_cast<std::size_t>(index)]; }
  std::int64_t extent(IndexId index) const { return extents_[static_cast<std::size_t>(index)]; }

  // Throws Refusal "bounds" where an element outside of its tensor is read.
  Computed value(NodeId id);

  // The node has this value until it is forgotten.
  void know(NodeId id, const Computed& value) { known_[static_cast<std::size_t>(id)] = value; }
  void forget(NodeId id) {
    known_[static_cast<std::size_t>(id)] = constants_[static_cast<std::size_t>(id)];
  }

  // Writes a value of a node of this type into an element of the tensor's array, which rounds it to
  // the tensor's type.
  void write(const Tensor& tensor, Array& array, std::int64_t element, const Computed& value,
             ElementType type) const;

  // Returns the reduction over no values.
  Joined start(const Reduce& reduce) const;
  // Joins the value of the body at the indices as they stand. `type` is the reduction's.
  void join(const Reduce& reduce, ElementType type, Joined& joined);
  static Computed result(const Reduce& reduce, const Joined& joined);
  // Returns the sum of two values of this type.
  Computed added(const Computed& a, const Computed& b, ElementType type) const {
    return function(ElementFunction::add, type, type, {a, b});
  }
  // Returns the product of the values of nodes, each converted to this type.
  Computed product(const std::vector<NodeId>& factors, ElementType type);
  Computed multiplied(const Computed& a, const Computed& b, ElementType type) const {
    return function(ElementFunction::mul, type, type, {a, b});
  }
  // Returns sum * exp(before - after), of floats of this type.
  Computed rescaled(const Computed& sum, const Computed& before, const Computed& after,
                    ElementType type) const;
  // A number of a floating-point type.
  Computed real(ElementType type, double value) const;
  bool is_minus_infinity(const Computed& value) const;

  // Calls f() for all coordinates of the indices, the last of them fastest.
  template <typename F>
  void for_each(const std::vector<IndexId>& indices, F&& f, std::size_t from = 0) {
    if (from == indices.size()) return f();
    for (std::int64_t i = 0; i < extent(indices[from]); ++i) {
      set(indices[from], i);
      for_each(indices, f, from + 1);
    }
  }

 private:
  // The last value of a reduction, and where its free indices stood then.
  struct Memory {
    std::vector<IndexId> free;
    std::vector<std::int64_t> at;
    std::optional<Computed> value;
  };

  const Node& node(NodeId id) const { return kernel_.node(id); }
  std::int64_t size_of(const Int& n) const;
  bool in_field() const { return call_.arithmetic == Arithmetic::field; }
  // The value of a node that is the same everywhere.
  std::optional<Computed> constant(const Node& node) const;
  Computed literal(const Literal& x, ElementType type) const;
  Computed scalar(const ScalarValue& x, ElementType type) const;
  Computed load(const Load& x);
  Computed reduce(NodeId id, const Reduce& x, ElementType type);
  void add(const Reduce& x, ElementType type, Computed& sum);
  Computed converted(const Computed& x, ElementType from, ElementType to) const;
  // Applies `f` to operands that all have the type `operands`.
  Computed function(ElementFunction f, ElementType operands, ElementType type,
                    const Operands& v) const;
  // Returns true if a later value replaces the one before as the extreme: a NaN does, once.
  bool comes_first(ReduceFunction function, ElementType type, const Computed& later,
                   const Computed& before) const;
  bool truth(NodeId id) { return value(id).integer != 0; }
  Computed apply(NodeId id, const Apply& x, ElementType type);
  std::string indices_text(NodeId id) const;

  const KernelCall& call_;
  const Kernel& kernel_;
  std::vector<std::int64_t> at_, extents_;
  // By NodeId: of the reductions; of literals, sizes and scalars; of these and what a caller knows.
  std::vector<Memory> memory_;
  std::vector<std::optional<Computed>> constants_, known_;
};

}  // namespace lay::sema
