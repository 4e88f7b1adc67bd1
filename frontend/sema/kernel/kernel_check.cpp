// A kernel statement as a checked kernel: signature, then body, then what must hold of both.

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/explain/refutation.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/kernel/schedule_entry.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

// Restores what checking a kernel changes for a while.
class KernelScope {
 public:
  KernelScope(Session& session, KernelBuilder& builder)
      : session_(session),
        facts_(session.facts),
        kernel_(std::exchange(session.kernel, &builder)) {}
  ~KernelScope() {
    session_.facts = std::move(facts_);
    session_.kernel = kernel_;
  }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  Session& session_;
  Facts facts_;
  KernelBuilder* kernel_;
};

class KernelCheck {
 public:
  KernelCheck(Session& session, const KernelFamily& family,
              const std::map<std::string, ElementType>& types)
      : session_(session),
        source_(*family.kernel),
        types_(types),
        builder_(session),
        kernel_(builder_.kernel) {
    frame_.closure = family.closure;
    kernel_.name = source_.name.text;
    kernel_.where = source_.name.span;
  }

  Kernel run() {
    KernelScope scope(session_, builder_);
    std::vector<Guard> raised;
    {
      GuardScope guards(session_.facts);
      generics();
      where();
      for (const syntax::KernelParameter& p : source_.parameters) parameter(p, false);
      for (const syntax::KernelParameter& p : source_.outputs) parameter(p, true);
      outputs_are_injective();
      indices();
      body();
      raised = guards.guards();
    }
    for (const Guard& guard : session_.facts.simplify(raised)) add_guard(guard);
    check_dims();
    return std::move(kernel_);
  }

 private:
  void declare(const syntax::Identifier& name) {
    for (const auto& [local, value] : frame_.locals) {
      if (local == name.text)
        fail("duplicate-name", "two things in the kernel are called " + name.text, name.span);
    }
  }

  void generics() {
    for (const syntax::Parameter& p : source_.generics) {
      declare(p.name);
      if (p.type && p.type->text == "type") {
        auto given = types_.find(p.name.text);
        frame_.locals.emplace_back(p.name.text,
                                   Value(given == types_.end() ? ElementType::f32 : given->second));
        continue;
      }
      if (p.type && p.type->text != "Int")
        fail("unknown-type", "a kernel takes sizes and types here", p.type->span, {},
             {{"help", "write <" + p.name.text + "> for a size, <" + p.name.text +
                           ": type> for an element type"}});
      Int symbol = session_.facts.dim(p.name.text);
      kernel_.dims.push_back({p.name.text, symbol, p.name.span});
      frame_.locals.emplace_back(p.name.text, Value(symbol));
    }
  }

  bool is_own(DimId id) const {
    return std::any_of(kernel_.dims.begin(), kernel_.dims.end(),
                       [&](const Dim& d) { return *d.symbol.dim_id() == id; });
  }

  void add_guard(Guard guard) {
    if (std::find(kernel_.guards.begin(), kernel_.guards.end(), guard) == kernel_.guards.end()) {
      kernel_.guards.push_back(std::move(guard));
    }
  }

  // Assumes what the caller promises, the signature's `where`, and makes it a guard of the launch.
  void where() {
    if (!source_.where) return;
    Span place = frame_.tree()[*source_.where].span;
    for (const Predicate& part :
         conjuncts(as_condition(evaluate(session_, frame_, *source_.where), place))) {
      try {
        session_.facts.assume(part);
      } catch (const Refusal& refusal) {
        throw DiagnosticError(to_diagnostic(refusal, place, {}));
      }
      add_guard({Predicate(true), part, "where", {}});
    }
  }

  ElementType element(const syntax::Identifier& name) {
    GuardScope ignored(session_.facts);
    Value value = look_up(session_, frame_, name.text, name.span);
    if (const auto* type = value.as<ElementType>()) return *type;
    fail("unknown-type", name.text + " is no element type", name.span, {},
         {{"help", "f32, f64, f16, bf16, s32, ..."}});
  }

  void parameter(const syntax::KernelParameter& p, bool output) {
    declare(p.name);
    ElementType type = element(p.type);
    if (!p.layout) return scalar(p, type, output);
    Span place = frame_.tree()[*p.layout].span;
    const Value value = tensor_layout(evaluate(session_, frame_, *p.layout), place);
    const Layout* layout = value.as<Layout>();
    Swizzle swizzle;
    if (const auto* composed = value.as<Composed>()) {
      const auto* outer = std::get_if<Swizzle>(&composed->outer);
      layout = std::get_if<Layout>(&composed->inner);
      if (!outer || !layout || !composed->offset.is_literal(0)) {
        fail("unsupported",
             "a tensor in global memory is a layout or a swizzled one that begins at 0, and not " +
                 composed->to_string(),
             place);
      }
      swizzle = *outer;
    }
    if (!layout) {
      fail("parameter-layout", p.name.text + " needs a layout, not " + kind_name(value), place, {},
           {{"help", "shape : stride, such as (M,K):(K,1)"}});
    }
    if (layout->has_basis())
      fail("parameter-layout", "the strides of a tensor are integers", place);
    require_in_elements(
        p.name.text + " is a tensor of " + std::string(element_name(type)) + ", and its layout",
        layout->units, type, place);
    Access access = p.inout ? Access::inout : output ? Access::output : Access::input;
    auto id = static_cast<TensorId>(kernel_.tensors.size());
    kernel_.tensors.push_back({p.name.text, type, *layout, access, p.span, swizzle});
    kernel_.signature.push_back({false, id});
    frame_.locals.emplace_back(p.name.text, Value(TensorName{id}));
    for (const Tuple& stride : leaves(layout->stride)) not_negative(p, stride.value(), place);
  }

  // Returns the layout of a parameter: a shape alone is row-major, (M,K) is (M,K):(K,1).
  static Value tensor_layout(Value value, Span place) {
    const auto* shape = value.as<Tuple>();
    const bool sizes = shape && [&] {
      for (const Tuple& leaf : leaves(*shape))
        if (!leaf.is_int()) return false;
      return true;
    }();
    if (!sizes) return value;
    try {
      return Value(make_layout_right(*shape));
    } catch (const Refusal& refusal) {
      throw DiagnosticError(to_diagnostic(refusal, place, {}));
    }
  }

  void scalar(const syntax::KernelParameter& p, ElementType type, bool output) {
    if (output || p.inout) {
      fail("parameter-layout", p.name.text + " is written and needs a layout", p.span, {},
           {{"help", "shape : stride, such as (M,N):(N,1)"}});
    }
    auto id = static_cast<ScalarId>(kernel_.scalars.size());
    kernel_.scalars.push_back({p.name.text, type, p.span});
    kernel_.signature.push_back({true, id});
    frame_.locals.emplace_back(p.name.text, builder_.scalar(id, p.span));
  }

  void not_negative(const syntax::KernelParameter& p, const Int& stride, Span place) {
    if (session_.facts.try_require(less_equal(0, stride), "stride")) return;
    fail("negative-stride",
         "the tensor " + p.name.text + " has the negative stride " + stride.to_string(), place);
  }

  void outputs_are_injective() {
    for (const Tensor& tensor : kernel_.tensors) {
      if (tensor.access == Access::input) continue;
      const std::vector<Predicate> conditions = injective_where(session_.facts, tensor.layout);
      const bool open = std::any_of(conditions.begin(), conditions.end(),
                                    [](const auto& p) { return p.is_never(); });
      if (open) {
        const Conclusion j = injective(session_.facts, tensor.layout);
        if (j.verdict == Verdict::proved) continue;
        fail("not-injective",
             tensor.name + " is written, and " + tensor.layout.to_string() +
                 " puts two elements in one place",
             tensor.where, {}, counterexample(j));
      }
      for (const Predicate& condition : conditions) {
        if (session_.facts.try_require(condition, "injective")) continue;
        fail("not-injective",
             tensor.name + " is written, and two elements of " + tensor.layout.to_string() +
                 " may share a place",
             tensor.where, {}, {{"", condition.to_string() + " does not hold"}});
      }
    }
  }

  // The indices are the names in the brackets on the left.
  void indices() {
    for (const syntax::BodyStatement& s : source_.body) {
      const auto* assign = std::get_if<syntax::Assign>(&s.node);
      if (!assign) continue;
      const Tensor& tensor = kernel_.tensor(target_of(*assign));
      if (static_cast<int>(assign->indices.size()) != tensor.layout.rank()) {
        fail("coordinate-rank",
             tensor.name + " takes " + std::to_string(tensor.layout.rank()) + " indices, not " +
                 std::to_string(assign->indices.size()),
             assign->target.span, {{tensor.where, tensor.layout.to_string()}});
      }
      std::vector<IndexId> ids;
      for (std::size_t k = 0; k < assign->indices.size(); ++k) {
        ids.push_back(left_index(tensor, static_cast<int>(k), assign->indices[k]));
        if (std::count(ids.begin(), ids.end(), ids.back()) > 1) {
          fail("left-index", "an index appears twice on the left",
               frame_.tree()[assign->indices[k]].span);
        }
      }
      left_.push_back(std::move(ids));
    }
  }

  TensorId target_of(const syntax::Assign& assign) {
    for (const auto& [name, value] : frame_.locals) {
      const auto* tensor = value.as<TensorName>();
      if (name != assign.target.text || !tensor) continue;
      if (kernel_.tensor(tensor->tensor).access != Access::input) return tensor->tensor;
      fail("input-assigned", name + " is an input", assign.target.span, {},
           {{"help", "outputs stand after ->, and what is read and written is inout"}});
    }
    std::vector<std::string> known;
    for (const Tensor& t : kernel_.tensors) known.push_back(t.name);
    std::vector<Note> notes;
    if (auto near = nearest(assign.target.text, known))
      notes.push_back({"help", "did you mean " + *near + "?"});
    fail("unknown-name", "no tensor is called " + assign.target.text, assign.target.span, {},
         std::move(notes));
  }

  IndexId left_index(const Tensor& tensor, int mode, syntax::ExpressionId id) {
    const syntax::Expression& e = frame_.tree()[id];
    const auto* name = std::get_if<syntax::Name>(&e.node);
    if (!name) {
      fail("left-index", "on the left an index is a bare name", e.span, {},
           {{"help",
             "index the tensors on the right instead; along a mode of one element any new name "
             "will do"}});
    }
    Int extent = KernelBuilder::extent(tensor, mode);
    for (const auto& [local, value] : frame_.locals) {
      if (local != name->text) continue;
      std::optional<IndexId> index;
      if (value.is_int()) index = builder_.index_of(value.as<Tuple>()->value());
      if (!index)
        fail("duplicate-name", name->text + " is already something else in this kernel", e.span);
      builder_.require_extent(*index, extent, e.span);
      return *index;
    }
    auto [index, symbol] = builder_.add_index(name->text, extent, false, e.span);
    frame_.locals.emplace_back(name->text, Value(symbol));
    return index;
  }

  // One error does not hide the next: a statement that fails leaves its name unknown.
  void body() {
    std::vector<Diagnostic> errors;
    std::size_t next = 0;
    for (const syntax::BodyStatement& s : source_.body) {
      const auto* let = std::get_if<syntax::Let>(&s.node);
      Value value(Unknown{});
      builder_.left.clear();
      try {
        if (let) {
          declare(let->name);
          value = let->indices.empty() ? evaluate(session_, frame_, let->value)
                                       : builder_.define(frame_, *let);
        } else {
          assign(std::get<syntax::Assign>(s.node), left_[next++], s.span);
        }
      } catch (const DiagnosticError& error) {
        errors.push_back(error.diagnostic);
      }
      if (let) frame_.locals.emplace_back(let->name.text, std::move(value));
    }
    if (!errors.empty()) {
      for (std::size_t i = 0; i + 1 < errors.size(); ++i)
        session_.outcome->diagnostics.add(errors[i]);
      throw DiagnosticError(errors.back());
    }
    for (const Assignment& a : kernel_.assignments) inout_reads(a.target, a.indices);
    for (std::size_t id = 0; id < kernel_.tensors.size(); ++id) {
      const Tensor& tensor = kernel_.tensors[id];
      bool assigned =
          std::any_of(kernel_.assignments.begin(), kernel_.assignments.end(),
                      [&](const Assignment& a) { return a.target == static_cast<TensorId>(id); });
      if (tensor.access != Access::input && !assigned) {
        fail("output-unassigned", "the output " + tensor.name + " is never assigned", tensor.where);
      }
    }
  }

  void assign(const syntax::Assign& s, const std::vector<IndexId>& indices, Span where) {
    TensorId target = target_of(s);
    for (const Assignment& before : kernel_.assignments) {
      if (before.target != target) continue;
      fail("output-twice", s.target.text + " is assigned twice", s.target.span,
           {{before.where, "the first time"}});
    }
    builder_.left = indices;
    Operand value{evaluate(session_, frame_, s.value), frame_.tree()[s.value].span};
    if (value.value.is_unknown()) return;  // an error that is reported already
    ElementType element = kernel_.tensor(target).element;
    bool own = value.value.as<Element>() || value.value.as<Predicate>();
    NodeId id =
        own ? builder_.node(value, std::nullopt) : builder_.node(value, weak_type(value, element));
    if (builder_.type_of(id) == ElementType::pred) {
      fail("operand-kind", "a condition is not a number", value.span, {},
           {{"help", "if ... then 1 else 0"}});
    }
    for (IndexId free : builder_.free_indices(id)) {
      if (std::find(indices.begin(), indices.end(), free) != indices.end()) continue;
      fail("index-unbound",
           "the value depends on " + kernel_.indices[static_cast<std::size_t>(free)].name +
               ", which does not stand on the left",
           value.span, {{s.target.span, "assigned here"}});
    }
    kernel_.assignments.push_back({target, indices, id, where});
  }

  // A number written in the text takes the type that the tensor computes in; an index is converted
  // to it.
  static ElementType weak_type(const Operand& value, ElementType element) {
    ElementType type = KernelBuilder::accumulator(element);
    return value.value.as<double>() && !is_float(type) ? ElementType::f32 : type;
  }

  // The nodes that outputs depend on: an intermediate that is used at other indices is not.
  std::vector<bool> live_nodes() const {
    std::vector<bool> live(kernel_.nodes.size());
    const auto mark = [&](NodeId id) { live[static_cast<std::size_t>(id)] = true; };
    for (const Assignment& assignment : kernel_.assignments) mark(assignment.value);
    for (std::size_t id = live.size(); id-- > 0;) {  // operands have smaller ids
      if (!live[id]) continue;
      const Node& node = kernel_.nodes[id];
      if (const auto* load = std::get_if<Load>(&node.what))
        std::for_each(load->coordinate.begin(), load->coordinate.end(), mark);
      if (const auto* apply = std::get_if<Apply>(&node.what))
        std::for_each(apply->operands.begin(), apply->operands.end(), mark);
      if (const auto* reduce = std::get_if<Reduce>(&node.what)) mark(reduce->body);
    }
    return live;
  }

  // An inout tensor is read only where it is written, whichever output the value goes to.
  void inout_reads(TensorId target, const std::vector<IndexId>& indices) {
    const std::vector<bool> live = live_nodes();
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const Node& node = kernel_.nodes[id];
      const auto* load = std::get_if<Load>(&node.what);
      if (!live[id] || !load || load->tensor != target) continue;
      bool same = load->coordinate.size() == indices.size();
      for (std::size_t k = 0; same && k < indices.size(); ++k) {
        const auto* index = std::get_if<IndexValue>(&kernel_.node(load->coordinate[k]).what);
        same = index && index->index == indices[k];
      }
      if (!same)
        fail("inout-elsewhere", "an inout tensor is read only at the element that is written",
             node.where);
    }
  }

  [[noreturn]] void foreign_dim(const std::string& name, Span where) const {
    const bool listed = std::any_of(kernel_.dims.begin(), kernel_.dims.end(),
                                    [&](const Dim& d) { return d.name == name; });
    if (listed) {
      fail("dim-not-listed",
           "this depends on the " + name + " of `dim " + name + "`, and the " + name +
               " of kernel " + kernel_.name + " is another size",
           where, {},
           {{"help", "write the layout in the kernel's header, in terms of the kernel's " + name}});
    }
    fail("dim-not-listed", "the size " + name + " does not stand in the kernel's angle brackets",
         where, {}, {{"works", "kernel " + kernel_.name + "<..., " + name + ">"}});
  }

  // Requires that every size the kernel depends on is one of its angle brackets.
  void check_dims() {
    auto check = [&](const std::map<DimId, std::string>& dims, Span where) {
      for (const auto& [id, name] : dims) {
        if (!is_own(id)) foreign_dim(name, where);
      }
    };
    for (const Tensor& tensor : kernel_.tensors) {
      std::map<DimId, std::string> dims;
      for (const Tuple& leaf : leaves(tensor.layout.shape)) leaf.value().collect_dims(dims);
      for (const Tuple& leaf : leaves(tensor.layout.stride)) leaf.value().collect_dims(dims);
      check(dims, tensor.where);
    }
    for (const Node& node : kernel_.nodes) {
      std::map<DimId, std::string> dims;
      if (const auto* size = std::get_if<SizeValue>(&node.what)) size->value.collect_dims(dims);
      check(dims, node.where);
    }
    for (const Guard& guard : kernel_.guards) {
      std::map<DimId, std::string> dims;
      guard.predicate.collect_dims(dims);
      check(dims, kernel_.where);
    }
  }

  Session& session_;
  const syntax::Kernel& source_;
  const std::map<std::string, ElementType>& types_;
  KernelBuilder builder_;
  Kernel& kernel_;
  Frame frame_;
  std::vector<std::vector<IndexId>> left_;  // of each assignment
};

}  // namespace

KernelPtr check_kernel(Session& session, const KernelFamily& family,
                       const std::map<std::string, ElementType>& types) {
  Kernel kernel = KernelCheck(session, family, types).run();
  for (const auto& [closure, schedule] : family.schedules) {
    kernel.schedules.push_back(check_schedule(session, closure, *schedule, kernel));
  }
  for (const auto& [closure, sizes] : family.stated_sizes)
    if (StatedSizes stated = check_sizes(session, closure, *sizes, kernel);
        !broken_guard(kernel, stated))
      kernel.stated_sizes.push_back(std::move(stated));
  return std::make_shared<const Kernel>(std::move(kernel));
}

}  // namespace lay::sema
