// Calling a kernel in a script: arguments to parameters, types and sizes from the arrays, execution
// by the host.

#include <algorithm>

#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/kernel/reference.h"

namespace lay::sema {
namespace {

struct Slot {
  const syntax::KernelParameter* parameter;
  const CallArgument* argument = nullptr;
};

// The parameters in the order of a call, with their arguments: the signature's, then the outputs
// that are also read.
std::vector<Slot> bind(const syntax::Kernel& kernel, const std::vector<CallArgument>& arguments,
                       Span whole) {
  std::vector<Slot> slots;
  for (const auto& p : kernel.parameters) slots.push_back({&p});
  for (const auto& p : kernel.outputs) {
    if (p.inout) slots.push_back({&p});
  }
  std::vector<std::string> names;
  for (const Slot& s : slots) names.push_back(s.parameter->name.text);
  std::vector<const CallArgument*> bound =
      bind_arguments(kernel.name.text, names, arguments, whole);
  for (std::size_t k = 0; k < slots.size(); ++k) slots[k].argument = bound[k];
  return slots;
}

// A tensor takes an array, a scalar a number; what only a run knows may be either.
void check_kinds(const std::vector<Slot>& slots) {
  for (const Slot& s : slots) {
    const Value& v = s.argument->value;
    bool tensor = s.parameter->layout.has_value();
    if (v.is_unknown() || (tensor ? v.as<Array>() != nullptr : v.as<double>() || v.is_int()))
      continue;
    const std::string& name = s.parameter->name.text;
    fail("argument-kind",
         name + (tensor ? " is a tensor: it takes an array, not " : " is a number, not ") +
             kind_name(v),
         s.argument->span, {{s.parameter->span, "declared here"}});
  }
}

// The types that the arrays give to the kernel's type parameters.
std::map<std::string, ElementType> types_of(const KernelFamily& family,
                                            const std::vector<Slot>& slots) {
  std::map<std::string, ElementType> types;
  for (const syntax::Parameter& p : family.kernel->generics) {
    if (!p.type || p.type->text != "type") continue;
    for (const Slot& s : slots) {
      const auto* array = s.argument->value.as<Array>();
      if (!array || s.parameter->type.text != p.name.text) continue;
      auto [at, fresh] = types.emplace(p.name.text, array->element);
      if (!fresh && at->second != array->element) {
        fail("argument-kind",
             p.name.text + " is " + std::string(element_name(at->second)) +
                 " elsewhere, and here " + std::string(element_name(array->element)),
             s.argument->span);
      }
    }
  }
  return types;
}

void note(Session& session, std::string code, std::string message, Span where) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.primary = where;
  d.severity = Severity::note;
  session.outcome->diagnostics.add(std::move(d));
}

// " has 9", of the first element of the array that is no integer of the 4 bits.
std::string outside_of(ElementType element, const Array& array) {
  if (!is_half_byte(element) || is_float(array.element)) return "";
  for (std::int64_t i = 0; i < array.size(); ++i)
    if (saturate(element, array.integer(i)) != array.integer(i))
      return " has " + std::to_string(array.integer(i));
  return "";
}

// The array in the tensor's element type. NumPy has no name for narrow floats: f32 stands in for
// them.
Array converted(Session& session, const Array& array, const Tensor& tensor, Span where) {
  if (auto given = as_elements(array, tensor.element)) {
    if (is_rounded(array, *given)) {
      note(session, "rounded",
           tensor.name + " is rounded from " + std::string(element_name(array.element)) + " to " +
               std::string(element_name(tensor.element)),
           where);
    }
    return *given;
  }
  fail("argument-kind",
       tensor.name + " is of " + std::string(element_name(tensor.element)) +
           ", and this array of " + std::string(element_name(array.element)) +
           outside_of(tensor.element, array),
       where, {{tensor.where, "declared here"}},
       {{"works", "cast(X, " + std::string(element_name(tensor.element)) + ")"}});
}

Number number_of(const Value& value, const Scalar& scalar, Span where) {
  const Tuple* t = value.as<Tuple>();
  if (t && t->is_int() && t->value().is_literal()) {
    std::int64_t n = t->value().value();
    if (is_float(scalar.type)) return from_integer(scalar.type, n);
    if (round_to(scalar.type, static_cast<double>(n)) != static_cast<double>(n)) {
      fail("argument-kind",
           std::to_string(n) + " does not fit " + std::string(element_name(scalar.type)), where);
    }
    return n;
  }
  const double* x = value.as<double>();
  if (x && is_float(scalar.type)) return round_to(scalar.type, *x);
  fail("argument-kind",
       scalar.name + " is a number of " + std::string(element_name(scalar.type)) + ", not " +
           kind_name(value),
       where, {{scalar.where, "declared here"}});
}

}  // namespace

namespace {

Value call_kernel(Session& session, const KernelFamilyPtr& family,
                  const std::vector<CallArgument>& arguments, Span whole,
                  const std::function<KernelResult(const KernelCall&)>& run) {
  if (session.kernel) fail("kernel-only", "a kernel cannot call a kernel", whole);
  std::vector<Slot> slots = bind(*family->kernel, arguments, whole);
  check_kinds(slots);
  if (!session.running()) return Value(Unknown{});
  for (const CallArgument& a : arguments) {
    if (a.value.is_unknown()) return a.value;
  }
  KernelCall call;
  call.kernel = family->generic() ? check_kernel(session, *family, types_of(*family, slots))
                                  : family->checked;
  const Kernel& kernel = *call.kernel;
  call.tensors.resize(kernel.tensors.size());
  call.scalars.resize(kernel.scalars.size());
  std::vector<std::optional<std::vector<std::int64_t>>> shapes(kernel.tensors.size());
  std::size_t next = 0;
  for (const SignatureEntry& entry : kernel.signature) {
    auto id = static_cast<std::size_t>(entry.id);
    if (!entry.is_scalar && kernel.tensors[id].access == Access::output) continue;
    const CallArgument& a = *slots[next++].argument;
    if (entry.is_scalar) {
      call.scalars[id] = number_of(a.value, kernel.scalars[id], a.span);
      continue;
    }
    const auto* array = a.value.as<Array>();
    shapes[id] = array->shape;
    call.tensors[id] = converted(session, *array, kernel.tensors[id], a.span);
  }
  call.sizes = solve_sizes(kernel, shapes, session.options.sizes);
  check_guards(kernel, call.sizes);
  for (std::size_t id = 0; id < kernel.tensors.size(); ++id) {
    if (kernel.tensors[id].access != Access::output) {
      check_shared_places(kernel.tensors[id], call.sizes, call.tensors[id]);
      continue;
    }
    call.tensors[id] =
        Array::make(kernel.tensors[id].element, array_shape(kernel.tensors[id], call.sizes));
  }
  if (!run) throw refusal("unavailable", "kernels cannot be run here");
  KernelResult result = run(call);
  for (const std::string& text : result.notes) note(session, "ran", text, whole);
  if (result.outputs.size() == 1) return Value(std::move(result.outputs.front()));
  std::vector<Value> outputs;
  for (Array& array : result.outputs) outputs.emplace_back(std::move(array));
  return make_tuple(std::move(outputs));
}

}  // namespace

Value apply_kernel(Session& session, const KernelFamilyPtr& family,
                   const std::vector<CallArgument>& arguments, Span whole) {
  ++session.kernel_calls;
  return call_kernel(session, family, arguments, whole, session.host.call);
}

Value apply_reference(Session& session, std::vector<CallArgument> arguments, Span whole) {
  const auto* family = arguments.empty() ? nullptr : arguments[0].value.as<KernelFamilyPtr>();
  if (!family) fail("argument-kind", "reference takes a kernel and its arguments", whole);
  KernelFamilyPtr kernel = *family;
  arguments.erase(arguments.begin());
  return call_kernel(session, kernel, arguments, whole, run_reference);
}

}  // namespace lay::sema
