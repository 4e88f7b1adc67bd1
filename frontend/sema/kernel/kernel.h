// A checked kernel: what a `kernel` statement means once names, types and layouts are known. The
// planner lowers it, the reference (reference.h) evaluates it, and nothing here mentions a thread.
//
//   kernel linear<M, N, K>(A: f32 (M,K), W: f32 (N,K), bias: f32 N) -> C: f32 (M,N)
//   {
//     let acc = sum[k](A[m,k] * W[n,k])
//     C[m,n] = max(acc + bias[n], 0)
//   }
//
// has dims M N K; tensors A W bias (input) and C (output); index variables m: M, n: N, k: K; and
// one assignment whose value is a node:
//   max(add(reduce sum[k](mul(load A[m,k], load W[n,k])), load bias[n]), 0)
//
// Nodes form a DAG in `nodes`: a node's operands have smaller ids. Types are the accumulator's
// inside an epilogue; a load of a narrower element converts where it is used (an Apply of cast), a
// store converts to the tensor's element.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/element.h"
#include "frontend/sema/kernel/atom.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/source/span.h"

namespace lay::sema {

using TensorId = int;  // into Kernel::tensors
using ScalarId = int;  // into Kernel::scalars
using IndexId = int;   // into Kernel::indices
using NodeId = int;    // into Kernel::nodes

// A size of the kernel's signature.
struct Dim {
  std::string name;
  Int symbol;
  Span where;
};

// How a kernel uses a tensor; inout: an output that is read before it is written.
enum class Access { input, output, inout };

// Elements in the caller's memory. The layout maps the coordinate that stands in brackets to an
// offset in elements; it has one top-level mode an index. Elements of 4 bits lie two to a byte.
struct Tensor {
  std::string name;
  ElementType element = ElementType::f32;
  Layout layout;
  Access access = Access::input;
  Span where;
  Swizzle swizzle{};  // of the layout's offsets; B = 0 without

  // Of the bytes that an element lies in: 1 where two share a byte.
  int element_bytes() const { return is_half_byte(element) ? 1 : bits(element) / 8; }
  bool is_swizzled() const { return swizzle.b > 0; }
  // Coordinate -> offset in elements.
  AnyLayout memory() const {
    return is_swizzled() ? AnyLayout(Composed{swizzle, Tuple(0), layout}) : AnyLayout(layout);
  }
};

// A number that is given at launch.
struct Scalar {
  std::string name;
  ElementType type = ElementType::f32;
  Span where;
};

// A parameter or output in the order of the signature: a ScalarId or a TensorId. Arguments of a
// call come in this order, without the outputs that are not inout.
struct SignatureEntry {
  bool is_scalar = false;
  int id = 0;
};

// An index ranges over 0 .. extent - 1; `summed` ones belong to reductions, the others to outputs.
//
// Reductions may run over one index: max[n](X[m,n]) and sum[n](exp(X[m,n] - max[n](X[m,n]))) then
// share their loads. One may stand inside the other, as here, and never depends on the value that
// the outer one gives the index: it binds it anew.
struct Index {
  std::string name;
  Int extent;
  bool summed = false;
  Span where;
};

// The kinds of nodes. Nodes form a DAG: operands have smaller ids.
struct Literal {
  std::variant<std::int64_t, double> value;
};
struct IndexValue {
  IndexId index;
};
// A dim, or arithmetic on dims, in an epilogue.
struct SizeValue {
  Int value;
};
struct ScalarValue {
  ScalarId scalar;
};
// An element of a tensor. Each coordinate is a node of integer type; a bare index is an IndexValue.
struct Load {
  TensorId tensor;
  std::vector<NodeId> coordinate;
};
// The functions that join the values of a reduction. Each is associative and commutative but for
// rounding. argmax and argmin give the position of the extreme, the first where several are equal.
enum class ReduceFunction : std::uint8_t { sum, prod, max, min, any, all, argmax, argmin };

// The body's values joined over the indices, in an order that the plan fixes. The node's type is
// the accumulator's; of argmax and argmin it is s32, and the body has the type that is compared.
// Over no values it is the identity of the function (reduce_function.h).
struct Reduce {
  ReduceFunction function = ReduceFunction::sum;
  std::vector<IndexId> indices;
  NodeId body = -1;
};
// `select` takes (condition, then, otherwise) and evaluates only the arm it takes.
struct Apply {
  ElementFunction function;
  std::vector<NodeId> operands;
};

// One value of a kernel's body.
struct Node {
  std::variant<Literal, IndexValue, SizeValue, ScalarValue, Load, Reduce, Apply> what;
  ElementType type = ElementType::f32;
  Span where;
};

// target[indices] = value, for every value of the indices: each output is assigned exactly once
// everywhere.
struct Assignment {
  TensorId target;
  std::vector<IndexId> indices;
  NodeId value;
  Span where;
};

// An entry of a schedule: `tile = (128,128,8)`, `smem A = ...` (key "smem", argument "A"). An
// integer is a Tuple leaf, the value of `mma` an Atom, that of `copies` one copy or several.
struct ScheduleEntry {
  std::string key, argument;
  std::variant<Tuple, Layout, Composed, std::string, Atom, std::vector<CopyInstruction>> value;
  Span where;
};

// A schedule for one family of GPUs, under conditions on the sizes.
struct Schedule {
  std::string target;  // "simt", "sm90", ...
  // Over the kernel's dims; empty: always.
  std::vector<Predicate> when;
  std::vector<ScheduleEntry> entries;
  Span where;
};

// Sizes that a script states for a kernel, by its dims' names, each from 1 to 2^31 - 1 and together
// such as the guards allow; dims without one are open. Plans search schedules for them.
struct StatedSizes {
  std::map<std::string, std::int64_t> sizes;
  Span where;
};

// A checked kernel. Its `nodes` and `assignments` say its meaning (reference.h); everything behind
// it, plans and CUDA, is held to that.
struct Kernel {
  std::string name;
  std::vector<Dim> dims;
  // Parameters in order, then the outputs that are not inout.
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<SignatureEntry> signature;
  std::vector<Index> indices;
  std::vector<Node> nodes;
  std::vector<Assignment> assignments;
  // The conditions that the launcher checks before every launch: the signature's `where`, equal
  // extents of an index, outputs that are injective, coordinates in bounds.
  std::vector<Guard> guards;
  std::vector<Schedule> schedules;
  std::vector<StatedSizes> stated_sizes;
  Span where;

  // Returns what an id stands for; the id is of this kernel.
  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  const Index& index(IndexId id) const { return indices[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  // Returns the load that a node is, and the tensor that it reads.
  const Load& load(NodeId id) const { return std::get<Load>(node(id).what); }
  const Tensor& loaded(NodeId id) const { return tensor(load(id).tensor); }
};

using KernelPtr = std::shared_ptr<const Kernel>;

// The indices that a node depends on and does not reduce over itself, by those of its operands.
std::set<IndexId> free_indices(const Node& node, const std::vector<std::set<IndexId>>& of_operands);
// The same of all nodes, by NodeId.
std::vector<std::set<IndexId>> free_indices(const Kernel& kernel);

}  // namespace lay::sema
