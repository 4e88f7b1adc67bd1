#include "runtime/bundle/tvm_ffi_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::runtime {
namespace {

std::string call(const std::string& function, const std::vector<std::string>& arguments) {
  std::string text = function + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i > 0 ? ", " : "") + arguments[i];
  return text + ")";
}

// DLPack's type code of an element.
int dlpack_code(ElementType type) {
  constexpr int integer = 0, unsigned_integer = 1, real = 2, bfloat = 4, e4m3fn = 10, e5m2 = 12;
  if (type == ElementType::bf16) return bfloat;
  if (type == ElementType::e4m3) return e4m3fn;
  if (type == ElementType::e5m2) return e5m2;
  if (is_float(type)) return real;
  return is_signed(type) ? integer : unsigned_integer;
}

// The integers of a scalar that C takes as an integer.
struct Range {
  std::int64_t least, most;
};
Range range_of(ElementType type) {
  using Limits = std::numeric_limits<std::int64_t>;
  const int width = bits(type);
  if (is_signed(type) && !is_float(type))
    return {width == 64 ? Limits::min() : -(std::int64_t{1} << (width - 1)),
            width == 64 ? Limits::max() : (std::int64_t{1} << (width - 1)) - 1};
  return {0, width == 64 ? Limits::max() : (std::int64_t{1} << width) - 1};
}

std::string number(std::int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(value) + ")";
}

std::set<DimId> dims_of(const Int& value) {
  std::map<DimId, std::string> named;
  value.collect_dims(named);
  std::set<DimId> dims;
  for (const auto& [id, name] : named) dims.insert(id);
  return dims;
}

// An axis of a tensor, which an array has for each top-level mode: its extent, and the stride that
// a single mode has.
struct Axis {
  std::size_t tensor;
  int axis;
  Int extent;
  std::vector<Tuple> extents, steps;  // of its modes

  const Int* stride() const {
    return steps.size() == 1 && steps[0].is_int() ? &steps[0].value() : nullptr;
  }
};

class FunctionText {
 public:
  FunctionText(const std::string& name, const sema::Kernel& kernel, const ArgumentNames& names,
               bool has_workspace)
      : name_(name), kernel_(kernel), names_(names), has_workspace_(has_workspace) {
    for (std::size_t id = 0; id < kernel.tensors.size(); ++id) collect_axes(id);
  }

  std::string text() {
    solve_extents(true);
    solve_extents(false);
    solve_strides();
    solve_extents(false);
    collect_open();
    return parameters_text() + arguments_text() + function_text();
  }

 private:
  void collect_axes(std::size_t id) {
    const Layout& layout = kernel_.tensors[id].layout;
    const bool is_tuple = layout.shape.is_tuple();
    for (int k = 0; k < layout.rank(); ++k) {
      const Tuple& shape = is_tuple ? layout.shape[k] : layout.shape;
      const Tuple& stride = is_tuple ? layout.stride[k] : layout.stride;
      axes_.push_back({id, k, size(shape), leaves(shape), leaves(stride)});
    }
  }

  // The size that an expression fixes: the only one in it that is not known yet, linear in it.
  std::optional<DimId> solvable(const Int& value) const {
    if (value.is_literal()) return std::nullopt;
    std::optional<DimId> open;
    for (const DimId dim : dims_of(value)) {
      if (known_.contains(dim)) continue;
      if (open) return std::nullopt;
      open = dim;
    }
    if (!open) return std::nullopt;
    for (const Term& term : value.polynomial().terms)
      for (const Factor& factor : term.factors) {
        const Atom& atom = *factor.atom;
        const bool is_dim = atom.kind == AtomKind::dim;
        if (is_dim && atom.id == *open && factor.exponent > 1) return std::nullopt;
        if (!is_dim && dims_of(as_int(atom)).contains(*open)) return std::nullopt;
      }
    return open;
  }

  std::string member(DimId dim) const { return "a->" + names_.of(dim); }

  static std::string tensor(const Axis& axis) { return "t[" + std::to_string(axis.tensor) + "]"; }

  // Sets the size so that the expression has the value, a number of C (lay_number).
  std::string solved(const Int& expression, DimId dim, const std::string& value,
                     const std::string& indent) {
    const std::string to = member(dim);
    if (expression.dim_id()) return indent + to + " = " + value + ".value;\n";
    uses_ends_ = true;
    // Without its denominator the expression has a value at 0 and at 1.
    const Int denominator = expression.polynomial().denominator;
    const std::string whole = c_number(expression * denominator, names_);
    std::string scaled = value;
    if (!denominator.is(1)) scaled = call("lay_mul", {value, c_number(denominator, names_)});
    return indent + to + " = 0;\n" + indent + "at_0 = " + whole + ";\n" + indent + to + " = 1;\n" +
           indent + "at_1 = " + whole + ";\n" + indent + to + " = " +
           call("lay_ffi_solve", {scaled, "at_0", "at_1"}) + ";\n";
  }

  // Sizes that extents fix; `only_bare`: those that are an extent themselves.
  void solve_extents(bool only_bare) {
    for (bool found = true; found;) {
      found = false;
      for (const Axis& axis : axes_) {
        const auto dim = solvable(axis.extent);
        if (!dim || (only_bare && !axis.extent.dim_id())) continue;
        solving_ += solved(axis.extent, *dim,
                           call("lay_dl_extent", {tensor(axis), std::to_string(axis.axis)}), "  ");
        known_.insert(*dim);
        found = true;
      }
    }
  }

  // Returns true if an extent of a tensor depends on the size.
  bool is_in_a_shape(DimId dim) const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [&](const Axis& axis) { return dims_of(axis.extent).contains(dim); });
  }

  // Sizes that only strides say: an axis of one element says nothing, and then the size is the
  // least that the guards allow.
  void solve_strides() {
    for (const auto& dim : kernel_.dims) {
      const DimId id = *dim.symbol.dim_id();
      if (known_.contains(id) || is_in_a_shape(id)) continue;
      std::string cases;
      for (const Axis& axis : axes_) {
        const Int* stride = axis.stride();
        if (!stride || solvable(*stride) != id) continue;
        const std::string of = tensor(axis) + ", " + std::to_string(axis.axis);
        cases += std::string(cases.empty() ? "  " : " else ") + "if (lay_dl_is_strided(" + of +
                 ")) {\n" + solved(*stride, id, "lay_dl_stride(" + of + ")", "    ") + "  }";
      }
      if (cases.empty()) continue;
      solving_ +=
          cases + " else {\n    " + member(id) + " = " + least_allowed(id) + ".value;\n  }\n";
      known_.insert(id);
    }
  }

  std::string least_allowed(DimId dim) const {
    std::string least = "lay_of(1)";
    for (const Guard& guard : kernel_.guards) {
      const PredicateNode& node = guard.predicate.node();
      const bool is_less = node.kind == PredicateKind::less;
      if ((!is_less && node.kind != PredicateKind::less_equal) || node.b.dim_id() != dim) continue;
      const std::set<DimId> bound = dims_of(node.a);
      if (!std::includes(known_.begin(), known_.end(), bound.begin(), bound.end())) continue;
      least = call("lay_max", {least, c_number(is_less ? node.a + 1 : node.a, names_)});
    }
    return least;
  }

  void collect_open() {
    for (const auto& dim : kernel_.dims)
      if (!known_.contains(*dim.symbol.dim_id())) open_.push_back(*dim.symbol.dim_id());
  }

  // The table that the arguments are checked by.
  std::string parameters_text() const {
    std::string text = "\nstatic const lay_ffi_parameter " + name_ + "_ffi_parameters[] = {\n";
    const auto integer = [](const std::string& name, std::string_view type, Range range) {
      return "    {" + c_string(name) + ", " + c_string(type) +
             ", lay_ffi_takes_integer, 0, 0, 0, 0, " + number(range.least) + ", " +
             number(range.most) + "},\n";
    };
    for (const sema::SignatureEntry& entry : kernel_.signature) {
      const auto id = static_cast<std::size_t>(entry.id);
      if (entry.is_scalar) {
        const sema::Scalar& scalar = kernel_.scalars[id];
        if (is_real(scalar.type))
          text += "    {" + c_string(scalar.name) + ", " + c_string(element_name(scalar.type)) +
                  ", lay_ffi_takes_real, 0, 0, 0, 0, 0, 0},\n";
        else
          text += integer(scalar.name,
                          std::string(element_name(scalar.type)) +
                              (is_float(scalar.type) ? ", as its bits" : ""),
                          range_of(scalar.type));
        continue;
      }
      const sema::Tensor& tensor = kernel_.tensors[id];
      text += "    {" + c_string(tensor.name) + ", " + c_string(element_name(tensor.element)) +
              ", lay_ffi_takes_tensor, " + std::to_string(id) + ", " +
              std::to_string(tensor.layout.rank()) + ", " +
              std::to_string(dlpack_code(tensor.element)) + ", " +
              std::to_string(bits(tensor.element)) + ", 0, 0},\n";
    }
    for (const DimId dim : open_) text += integer(dim_name(dim), "", range_of(ElementType::s64));
    return text + "};\n";
  }

  // Floats that C has as numbers; narrow ones are their bits.
  static bool is_real(ElementType type) {
    const std::string c = c_scalar_type(type);
    return c == "float" || c == "double";
  }

  std::string dim_name(DimId id) const {
    const auto named = [&](const sema::Dim& dim) { return dim.symbol.dim_id() == id; };
    return std::find_if(kernel_.dims.begin(), kernel_.dims.end(), named)->name;
  }

  // Fills the struct of arguments, and holds shapes and strides to the kernel's.
  std::string arguments_text() const {
    std::string text = "\nstatic const char* " + name_ + "_ffi_arguments(" + name_ +
                       "_args* a, const lay_ffi_any* given,\n    const lay_dl_tensor* const* t, "
                       "lay_message* why) {\n  const char* kind = NULL;\n";
    if (uses_ends_) text += "  lay_number at_0, at_1;\n";
    text += "  (void)given;\n  (void)why;\n";
    std::size_t place = 0;
    for (const sema::SignatureEntry& entry : kernel_.signature) {
      const std::string at = "given[" + std::to_string(place++) + "]";
      const auto id = static_cast<std::size_t>(entry.id);
      if (!entry.is_scalar) {
        text += "  a->" + names_.of(kernel_.tensors[id].name) + " = lay_dl_address(t[" +
                std::to_string(id) + "]);\n";
        continue;
      }
      const sema::Scalar& scalar = kernel_.scalars[id];
      const std::string value = is_real(scalar.type)               ? "lay_ffi_real(&" + at + ")"
                                : scalar.type == ElementType::pred ? at + ".value.integer != 0"
                                                                   : at + ".value.integer";
      text += "  a->" + names_.of(scalar.name) + " = (" + c_scalar_type(scalar.type) + ")(" +
              value + ");\n";
    }
    for (const DimId dim : open_)
      text += "  " + member(dim) + " = given[" + std::to_string(place++) + "].value.integer;\n";
    text += solving_;
    for (const Axis& axis : axes_) text += checked("lay_ffi_check_extent", axis, axis.extent);
    for (const Axis& axis : axes_) text += stride_text(axis);
    return text + "  return kind;\n}\n";
  }

  std::string arguments_of(const Axis& axis) const {
    return tensor(axis) + ", " + c_string(kernel_.tensors[axis.tensor].name) + ", " +
           std::to_string(axis.axis);
  }

  static std::string refused(const std::string& made) {
    return "  kind = " + made + ";\n  if (kind) return kind;\n";
  }

  std::string checked(const std::string& function, const Axis& axis, const Int& expected) const {
    return refused(
        call(function, {arguments_of(axis), c_number(expected, names_),
                        c_string(expected.is_literal() ? "" : expected.to_string()), "why"}));
  }

  std::string stride_text(const Axis& axis) const {
    const sema::Tensor& of = kernel_.tensors[axis.tensor];
    const bool has_steps = std::all_of(axis.steps.begin(), axis.steps.end(),
                                       [](const Tuple& step) { return step.is_int(); });
    const std::string layout = c_string(to_string(of.memory()));
    if (of.is_swizzled() || !has_steps || axis.steps.empty())
      return refused(call("lay_ffi_check_single", {arguments_of(axis), layout, "why"}));
    if (const Int* stride = axis.stride()) return checked("lay_ffi_check_stride", axis, *stride);
    std::string extents, steps;
    for (std::size_t i = 0; i < axis.steps.size(); ++i) {
      extents += (i > 0 ? ", " : "") + c_number(axis.extents[i].value(), names_);
      steps += (i > 0 ? ", " : "") + c_number(axis.steps[i].value(), names_);
    }
    const std::string check = call(
        "lay_ffi_check_modes",
        {arguments_of(axis), "extents", "steps", std::to_string(axis.steps.size()), layout, "why"});
    return "  {\n    const lay_number extents[] = {" + extents + "}, steps[] = {" + steps +
           "};\n    kind = " + check + ";\n    if (kind) return kind;\n  }\n";
  }

  std::string function_text() const {
    const std::string head = "int __tvm_ffi_" + name_ +
                             "(void* self, const lay_ffi_any* given, int32_t count,\n"
                             "    lay_ffi_any* result)";
    std::string text =
        "\n/* For TVM-FFI's load_module. */\n__attribute__((visibility(\"default\")))\n" + head +
        ";\n" + head + " {\n  const lay_dl_tensor* tensors[" + name_ + "_tensor_count];\n  " +
        name_ +
        "_args args;\n  lay_ffi_call call;\n  lay_message why;\n  const char* kind;\n"
        "  int64_t workspace_bytes = 0;\n  (void)self;\n"
        "  if (!lay_ffi_find()) return -1; /* nobody to tell why */\n"
        "  memset(&args, 0, sizeof args);\n  args.size = sizeof args;\n  kind = lay_ffi_take(" +
        c_string(name_) + ", " + name_ + "_ffi_parameters, " +
        std::to_string(kernel_.signature.size() + open_.size()) +
        ", given, count, tensors, &why);\n  if (!kind) kind = " + name_ +
        "_ffi_arguments(&args, given, tensors, &why);\n";
    if (has_workspace_)
      text += "  if (!kind) kind = lay_ffi_kind(" + name_ +
              "_workspace(&args, &workspace_bytes, &why));\n";
    return text + "  if (!kind) {\n    kind = lay_ffi_begin(&call, " + c_string(name_) +
           ", tensors[0], workspace_bytes, &why);\n    if (!kind)\n      kind = lay_ffi_kind(" +
           name_ +
           "_launch(&args, call.workspace, workspace_bytes, call.stream, &why));\n"
           "    lay_ffi_end(&call);\n  }\n  return lay_ffi_return(kind, &why, result);\n}\n";
  }

  const std::string& name_;
  const sema::Kernel& kernel_;
  const ArgumentNames& names_;
  bool has_workspace_;
  std::vector<Axis> axes_;
  std::set<DimId> known_;    // sizes that tensors fix
  std::vector<DimId> open_;  // those that none does
  std::string solving_;
  bool uses_ends_ = false;
};

}  // namespace

std::string tvm_ffi_text(const std::string& name, const sema::Kernel& kernel,
                         const ArgumentNames& names, bool has_workspace) {
  if (name.front() == '_') return "";
  return FunctionText(name, kernel, names, has_workspace).text();
}

}  // namespace lay::runtime
