// CuTe DSL: the Python expression that makes the layout inside a @cute.jit function.
#include "frontend/algebra/support/overloaded.h"
#include "frontend/export/dims.h"
#include "frontend/export/export.h"
#include "frontend/export/int_code.h"

namespace lay::exports {
namespace {

std::string leaf(const Tuple& t) {
  const std::string value = code_of(t.value(), Code::python);
  if (!t.is_basis()) return value;
  std::string path;
  for (const int mode : t.path()) path += (path.empty() ? "" : ", ") + std::to_string(mode);
  if (t.path().size() > 1) path = "[" + path + "]";
  return t.value().is(1) ? "cute.E(" + path + ")" : "cute.ScaledBasis(" + value + ", " + path + ")";
}

std::string python(const Tuple& t) {
  if (t.is_leaf()) return leaf(t);
  std::string text = "(";
  for (const Tuple& mode : t.modes()) text += (text.size() > 1 ? ", " : "") + python(mode);
  return text + (t.rank() == 1 ? ",)" : ")");
}

std::string python(const Layout& l) {
  return "cute.make_layout(" + python(l.shape) + ", stride=" + python(l.stride) + ")";
}
std::string python(const Swizzle& s) {
  return "cute.make_swizzle(" + std::to_string(s.b) + ", " + std::to_string(s.m) + ", " +
         std::to_string(s.s) + ")";
}
std::string python(const Composed& c) {
  const auto part = [](const auto& f) { return python(f); };
  return "cute.make_composed_layout(" + std::visit(part, c.outer) + ", " + python(c.offset) + ", " +
         std::visit(part, c.inner) + ")";
}

}  // namespace

std::string to_cute_dsl(const Exported& x) {
  std::string notes = sizes_note(dims_of(x.value), Code::python);
  if (!notes.empty()) notes = "# " + notes + "\n";
  const auto* c = std::get_if<Composed>(&x.value);
  if (c && std::holds_alternative<Swizzle>(c->inner))
    notes +=
        "# cannot be said in the CuTe DSL: an innermost swizzle has no shape, and "
        "make_composed_layout wants a layout "
        "there\n";
  for (const std::string& guard : x.guards)
    notes += "# cannot be said in the CuTe DSL: it holds only where " + guard + "\n";
  const std::string value = std::visit([](const auto& v) { return python(v); }, x.value);
  return "import cutlass.cute as cute\n" + notes + x.name + " = " + value + "\n";
}

}  // namespace lay::exports
