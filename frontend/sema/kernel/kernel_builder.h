// Makes the nodes of a kernel while its body is evaluated. An index is an Int of its own, bounded
// by its extent, so that arithmetic on indices and sizes is the algebra's and conditions on them
// are Predicates, decided like any other; only what comes from memory is an Element. Integers
// become nodes where an element needs them. Internal to this folder.
//
//   C[m,n] = if n <= m then acc else 0      `n <= m` is a Predicate until the select node needs it
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/sema/values/operators.h"

namespace lay::sema {

class KernelBuilder {
 public:
  explicit KernelBuilder(Session& session) : session_(session) {}

  Kernel kernel;
  // The indices on the left side of the assignment that is being read.
  std::vector<IndexId> left;

  // A new index of this extent, and the Int that stands for it.
  std::pair<IndexId, Int> add_index(const std::string& name, const Int& extent, bool summed,
                                    Span where);
  // The index that the Int is, if it is nothing else.
  std::optional<IndexId> index_of(const Int& value) const;

  // tensor[indices]: an element. Bare indices must range over the mode; others must stay inside it.
  Value load(TensorId tensor, const std::vector<Operand>& indices, Span whole);
  Value sum(Frame& frame, const syntax::Sum& sum, Span whole);
  // A function of numbers, which are converted to one type first. `select` takes the condition
  // first.
  Value apply(ElementFunction function, const std::vector<Operand>& operands, Span whole);
  Value cast(const Operand& operand, ElementType to);
  Value scalar(ScalarId id, Span where);

  // The node of a number or condition, in the type given; nothing given keeps its own.
  NodeId node(const Operand& operand, std::optional<ElementType> type);
  ElementType type_of(NodeId id) const { return kernel.node(id).type; }

  // The type that an element computes in: f32 for 16-bit floats and less, s32 for 8-bit integers.
  static ElementType accumulator(ElementType type);

  // The size of a top-level mode of a tensor.
  static Int extent(const Tensor& tensor, int mode);
  // Raises that an index used bare on an extent covers it exactly.
  void require_extent(IndexId index, const Int& extent, Span where);

  // The indices that a node depends on and does not sum over itself.
  std::set<IndexId> free_indices(NodeId id) const;

 private:
  NodeId add(Node node);
  void require_new_index(const Frame& frame, const syntax::Identifier& name) const;
  NodeId lower(const Int& value, Span where);
  NodeId lower(const Predicate& condition, Span where);
  NodeId lower_atom(const lay::Atom& atom, Span where);
  NodeId integer_node(ElementFunction function, NodeId a, NodeId b, Span where);
  NodeId converted(NodeId id, ElementType type, Span where);
  NodeId computed_in(NodeId id, ElementType type, Span where);
  bool has_index(const Int& value) const;
  void require_inside(const Int& value, const Int& extent, const Operand& index);
  std::optional<Int> extreme(const Int& value, bool greatest) const;
  std::optional<ElementType> own_type(const Operand& operand) const;
  ElementType common_type(const std::vector<Operand>& operands, std::size_t from, Span whole) const;
  std::optional<Int> summed_extent(const Frame& frame, syntax::ExpressionId body,
                                   const std::string& name) const;
  static const TensorName* tensor_called(const Frame& frame, const std::string& name);
  bool is_scalar(NodeId id) const;
  bool reads_inout(NodeId id) const;

  Session& session_;
  std::map<DimId, IndexId> symbols_;  // of indices
  // Equal nodes are one.
  std::map<std::string, NodeId> interned_;
};

// A kernel statement (or its instance for given element types) as a checked kernel
// (kernel_check.cpp).
KernelPtr check_kernel(Session& session, const KernelFamily& family,
                       const std::map<std::string, ElementType>& types);
// Entries of a schedule, evaluated (schedule.cpp).
Schedule check_schedule(Session& session, const Closure& closure, const syntax::Schedule& schedule,
                        const Kernel& kernel);

}  // namespace lay::sema
