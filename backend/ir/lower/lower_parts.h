// The parts of lowering (lower.h): what a kernel declares, expressions at one element, and the two
// families of plans.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/ir/build.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/truth.h"

namespace lay::ir {

// The checked kernel's dims, scalars and tensors as the IR kernel's parameters and buffers, by id,
// and names that do not collide with theirs.
class Declared {
 public:
  Declared(Builder& builder, const plan::Plan& plan, const plan::Variant& variant,
           const LowerOptions& options);

  Builder& b;
  const sema::Kernel& kernel;
  std::vector<Term> scalars;
  std::vector<BufferId> tensors;
  std::vector<sema::CopyInstruction> copies;  // of the program, before the library's

  // One of several launches of a variant, which no schedule describes.
  bool is_stage() const { return variant_.is_stage; }
  // `wish`, or a longer name if the script uses that one.
  std::string name(const std::string& wish) const;
  // The stem with a number that it had in no earlier call.
  std::string fresh(const std::string& stem) {
    return name(stem + std::to_string(++numbers_[stem]));
  }
  int line(const Span& span) const { return options_.line_of ? options_.line_of(span) : 0; }
  // The statements that follow come from there.
  void from(const Span& span, std::string note = "") { b.from({line(span), std::move(note)}); }
  Term extent(sema::IndexId index) {
    return b.size(kernel.indices[static_cast<size_t>(index)].extent);
  }
  // The variable that an index becomes.
  const std::string& index_name(sema::IndexId index) const {
    return index_names_[static_cast<size_t>(index)];
  }
  const sema::Tensor& tensor(sema::TensorId id) const { return kernel.tensor(id); }
  // Declares a buffer in the variant's workspace that is no tensor of the kernel, and that the
  // launch reads and writes. It has a place there under this name.
  BufferId workspace(const std::string& name, ElementType element, const Layout& layout);

 private:
  const LowerOptions& options_;
  const plan::Variant& variant_;
  std::set<std::string> taken_;
  std::vector<std::string> index_names_;
  std::map<std::string, int> numbers_;
};

// The value of a node of the checked kernel at one element: where the indices have the bound
// values. Statements that it needs (shared parts as variables, sums as loops, selections with
// costly arms as `if`) go to the open block.
//
// Law: a load, a sum or an integer division in an arm of a selection, `and` or `or` that is not
// taken does not happen.
class ElementLowering {
 public:
  // `given`: nodes whose values will be known, for instance the sum that a tile has computed.
  explicit ElementLowering(Declared& declared, const std::vector<sema::NodeId>& given = {});

  void bind(sema::IndexId index, Term value) { indices_[static_cast<size_t>(index)] = value; }
  void know(sema::NodeId node, Term value) { scopes_.back()[node] = value; }
  // Everything bound or known from here on is forgotten at the end.
  template <class Body>
  void scope(Body body) {
    scopes_.emplace_back();
    const auto indices = indices_;
    body();
    indices_ = indices;
    scopes_.pop_back();
  }

  Term value(sema::NodeId node);
  // As a number of another type.
  Term value(sema::NodeId node, ElementType type);
  Term index(sema::IndexId index) const { return indices_[static_cast<size_t>(index)]; }
  // The element of a tensor at the bound indices.
  Ref element(sema::TensorId tensor, const std::vector<sema::IndexId>& at) const;
  // The element that a load reads.
  Ref source(sema::NodeId load);

 private:
  const Term* known(sema::NodeId node) const;
  Term lower(sema::NodeId node);
  Term apply(const sema::Node& node, const sema::Apply& apply);
  Term choose(const sema::Node& node, sema::NodeId condition, sema::NodeId then,
              sema::NodeId otherwise);
  Term shortcut(ElementFunction function, Term first, sema::NodeId second);
  Term arm(sema::NodeId node, ElementType type);
  // An arm that is evaluated only where the truth stands.
  Term arm(sema::NodeId node, ElementType type, Truth where);
  // Returns the truth of a condition as far as the arms around decide it.
  std::optional<bool> decided(sema::NodeId condition) const;
  bool depends_on(sema::NodeId node, const std::vector<sema::IndexId>& indices) const;
  // Hoists nodes that are shared in an arm and may be computed whether the arm is taken or not.
  // Those that depend on indices of reductions around them, `bound`, have no value outside.
  void hoist(sema::NodeId node, const std::vector<sema::IndexId>& bound = {});
  Term small(sema::NodeId node);
  Ref source(const sema::Load& load);
  Term reduce(const sema::Node& node, const sema::Reduce& reduction);
  Term reduce_by(const sema::Node& node, const sema::Reduce& reduction);
  void hoist_reductions(sema::NodeId node, const sema::Reduce& around);
  void forget(const std::vector<sema::IndexId>& indices);
  void accumulate(const Ref& into, sema::NodeId body, ElementType type);
  Term as(Term value, ElementType type);

  Declared& declared_;
  Builder& b_;
  const sema::Kernel& kernel_;
  std::vector<Term> indices_;
  std::vector<std::map<sema::NodeId, Term>> scopes_{1};
  std::vector<int> uses_;                      // of each node
  std::vector<double> written_;                // nodes of the expression as a tree
  std::vector<char> effects_;                  // a load, a sum or an integer division is in it
  std::vector<char> sums_;                     // a sum is in it
  std::vector<int> depth_;                     // of the expression that stands for the node
  std::vector<Truth> truths_;                  // of the arms around
  std::vector<std::set<sema::IndexId>> free_;  // indices of each node
  std::vector<sema::IndexId> reduced_;         // by the reductions around
  bool inline_ = false;  // inside an arm that stays an expression: no statements
};

// Returns the condition that a later value takes the place of the extreme before it, for argmax and
// argmin: a NaN does, once.
Term is_extreme(sema::ReduceFunction function, Term later, Term before);

}  // namespace lay::ir
