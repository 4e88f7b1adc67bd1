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

#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {

// The brackets of sum[k, l : f64](...).
struct IndexList {
  std::vector<syntax::Identifier> names;
  std::optional<syntax::Identifier> accumulator;
};

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
  // row.name[over](body). Over an index that the frame's def has as a parameter it runs over a copy
  // of it, which takes its place in the body and in all that the def was given.
  Value reduce(const Frame& frame, const ReduceRow& row, const IndexList& over,
               syntax::ExpressionId body, Span whole);
  // The indices of a call f[over](arguments): those that the frame has, or new ones, which get
  // their extents from the arguments and are put into the frame.
  std::vector<IndexId> call_indices(Frame& frame, const IndexList& over,
                                    const std::vector<syntax::ExpressionId>& arguments);
  // Returns true if a condition that is in force says something about one of them.
  bool is_in_path(const std::vector<IndexId>& indices) const;
  const Int& symbol(IndexId index) const { return symbol_of_[static_cast<std::size_t>(index)]; }
  // let s[indices] = value.
  Value define(const Frame& frame, const syntax::Let& let);
  // s[indices]: its value with these in place of its own.
  Value use(const Intermediate& intermediate, const std::vector<Operand>& indices, Span whole);
  // A function of numbers, which are converted to one type first. `select` takes the condition
  // first.
  Value apply(ElementFunction function, const std::vector<Operand>& operands, Span whole);
  // The quotient of integers rounded down, or the remainder that belongs to it.
  Value floor_divided(bool remainder, const Operand& a, const Operand& b, Span whole);
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

  // The indices that a node depends on and does not reduce over itself.
  const std::set<IndexId>& free_indices(NodeId id) const {
    return free_[static_cast<std::size_t>(id)];
  }
  std::set<IndexId> free_indices(const Value& value) const;

 private:
  NodeId add(Node node);
  // Reductions and intermediates (kernel_reduce.cpp).
  // The values that replace an index: an integer, or a node that is read from memory.
  using Replacement = std::map<IndexId, std::variant<Int, NodeId>>;
  void require_new_index(const Frame& frame, const syntax::Identifier& name) const;
  std::optional<Int> extent_in(const Frame& frame, syntax::ExpressionId body,
                               const std::string& name) const;
  Int required_extent(const Frame& frame, const std::vector<syntax::ExpressionId>& bodies,
                      const syntax::Identifier& name) const;
  std::set<IndexId> mentioned_in_path() const;
  std::set<IndexId> free_in_locals(const Frame& frame) const;
  IndexId bound_index(const std::string& name, const Int& extent, const std::set<IndexId>& taken,
                      Span where);
  std::optional<IndexId> local_index(const Frame& frame, const std::string& name) const;
  std::pair<std::vector<IndexId>, Frame> bind(const Frame& frame, const IndexList& over,
                                              syntax::ExpressionId body);
  ElementType accumulated_type(const ReduceRow& row, const IndexList& over, const Operand& body,
                               Span whole) const;
  std::map<DimId, Int> by_dim(const Replacement& replacement) const;
  Value replaced(const Value& value, const Replacement& replacement);
  NodeId replaced(NodeId id, const Replacement& replacement);
  NodeId replaced(NodeId id, const Replacement& replacement, std::map<NodeId, NodeId>& done);
  // Makes a node that depends on an index from memory again, operand by operand: the value that the
  // node was made from says nothing of such an index.
  NodeId replaced_by_operands(const Node& node, const Replacement& replacement,
                              std::map<NodeId, NodeId>& done);
  NodeId replaced_index(const IndexValue& index, const Replacement& replacement, Span where);
  bool is_gathered(const std::set<IndexId>& free, const Replacement& replacement) const;
  NodeId replaced_select(const Node& node, const Replacement& replacement,
                         std::map<NodeId, NodeId>& done);
  NodeId replaced_reduce(const Node& node, Replacement replacement);

  NodeId lower(const Int& value, Span where);
  NodeId lower(const Predicate& condition, Span where);
  NodeId lowered(const Int& value, Span where);
  NodeId lowered(const Predicate& condition, Span where);
  NodeId lower_atom(const lay::Atom& atom, Span where);
  NodeId integer_node(ElementFunction function, NodeId a, NodeId b, Span where);
  NodeId converted(NodeId id, ElementType type, Span where);
  NodeId computed_in(NodeId id, ElementType type, Span where);
  // An integer as a coordinate that runs to the extent. A bare index must range over it, anything
  // else must stay inside it.
  Int place(const Operand& index, const Int& extent);
  NodeId gathered(const Element& element, Span where) const;
  bool has_index(const Int& value) const;
  void require_inside(const Int& value, const Int& extent, const Operand& index);
  std::optional<Int> extreme(const Int& value, bool greatest) const;
  std::optional<ElementType> own_type(const Operand& operand) const;
  ElementType common_type(const std::vector<Operand>& operands, std::size_t from, Span whole) const;
  // Returns true if an integer node is at least 0 for every input.
  bool is_natural(NodeId id) const;
  bool is_scalar(NodeId id) const;
  bool reads_inout(NodeId id) const;

  Session& session_;
  std::map<DimId, IndexId> symbols_;        // of indices
  std::vector<Int> symbol_of_;              // by IndexId
  std::map<std::string, NodeId> interned_;  // equal nodes are one
  std::vector<std::set<IndexId>> free_;     // by NodeId
  // The integers and conditions that nodes were made from.
  std::map<NodeId, Int> integers_;
  std::map<NodeId, Predicate> conditions_;
};

// A kernel statement (or its instance for given element types) as a checked kernel
// (kernel_check.cpp).
KernelPtr check_kernel(Session& session, const KernelFamily& family,
                       const std::map<std::string, ElementType>& types);
// Entries of a schedule, evaluated (schedule.cpp).
Schedule check_schedule(Session& session, const Closure& closure, const syntax::Schedule& schedule,
                        const Kernel& kernel);
// Sizes that a script states, evaluated (kernel_statement.cpp); they may break guards.
StatedSizes check_sizes(Session& session, const Closure& closure, const syntax::Sizes& sizes,
                        const Kernel& kernel);
// Returns the first guard that no launch of these sizes keeps beside those before it; nothing where
// the guards allow them, as far as facts tell.
std::optional<Guard> broken_guard(const Kernel& kernel, const StatedSizes& stated);

}  // namespace lay::sema
