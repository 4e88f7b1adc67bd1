// CuTe C++: the type, with static integers as types and sizes that are not known as int, and the
// expression.
#include <algorithm>
#include <array>
#include <limits>

#include "frontend/algebra/support/overloaded.h"
#include "frontend/export/dims.h"
#include "frontend/export/export.h"
#include "frontend/export/int_code.h"

namespace lay::exports {
namespace {

// The numbers N for which CuTe names the type Int<N> as _N.
bool has_short_name(std::int64_t n) {
  constexpr std::array<std::int64_t, 14> apart = {384,   512,   768,   1024,   2048,   4096,   8192,
                                                  16384, 32768, 65536, 131072, 262144, 524288, 12};
  if (n >= 0 && n <= 10) return true;
  if (n >= 16 && n <= 256 && n % 8 == 0) return true;
  return std::find(apart.begin(), apart.end(), n) != apart.end();
}

std::string literal_type(std::int64_t n) {
  if (has_short_name(n)) return "_" + std::to_string(n);
  const bool fits = n >= std::numeric_limits<int>::min() && n <= std::numeric_limits<int>::max();
  return (fits ? "Int<" : "C<") + std::to_string(n) + ">";
}

std::string integer_type(const Int& n) {
  return n.is_literal() ? literal_type(n.value()) : "int";
}
std::string integer_value(const Int& n) {
  return n.is_literal() ? literal_type(n.value()) + "{}" : code_of(n, Code::cpp);
}

std::string path_text(const Tuple& basis) {
  std::string text;
  for (const int mode : basis.path()) text += (text.empty() ? "" : ",") + std::to_string(mode);
  return text;
}

std::string leaf_type(const Tuple& t) {
  if (!t.is_basis()) return integer_type(t.value());
  if (t.value().is(1)) return "E<" + path_text(t) + ">";
  return "ScaledBasis<" + integer_type(t.value()) + "," + path_text(t) + ">";
}
std::string leaf_value(const Tuple& t) {
  if (!t.is_basis()) return integer_value(t.value());
  const std::string unit = "E<" + path_text(t) + ">{}";
  return t.value().is(1) ? unit : integer_value(t.value()) + " * " + unit;
}

// "Shape<_4,Shape<_2,int>>" or "make_shape(_4{}, make_shape(_2{}, M))".
std::string type_of(const Tuple& t, const std::string& word) {
  if (t.is_leaf()) return leaf_type(t);
  std::string text = word + "<";
  for (const Tuple& mode : t.modes()) text += (text.back() == '<' ? "" : ",") + type_of(mode, word);
  return text + ">";
}
std::string value_of(const Tuple& t, const std::string& maker) {
  if (t.is_leaf()) return leaf_value(t);
  std::string text = maker + "(";
  for (const Tuple& mode : t.modes())
    text += (text.back() == '(' ? "" : ", ") + value_of(mode, maker);
  return text + ")";
}

struct Text {
  std::string type, value;
};

Text text_of(const Swizzle& s) {
  const std::string type = "Swizzle<" + std::to_string(s.b) + "," + std::to_string(s.m) + "," +
                           std::to_string(s.s) + ">";
  return {type, type + "{}"};
}

Text text_of(const Layout& l) {
  return {"Layout<" + type_of(l.shape, "Shape") + "," + type_of(l.stride, "Stride") + ">",
          "make_layout(" + value_of(l.shape, "make_shape") + ", " +
              value_of(l.stride, "make_stride") + ")"};
}

Text text_of(const Composed& c) {
  const auto part = [](const auto& f) { return text_of(f); };
  const Text outer = std::visit(part, c.outer), inner = std::visit(part, c.inner);
  return {"ComposedLayout<" + outer.type + "," + type_of(c.offset, "ArithmeticTuple") + "," +
              inner.type + ">",
          "make_composed_layout(" + outer.value + ", " +
              value_of(c.offset, "make_arithmetic_tuple") + ", " + inner.value + ")"};
}

std::string units_note(const Exported& x) {
  const auto* l = std::get_if<Layout>(&x.value);
  if (!l || l->units == Units()) return "";
  std::string text = "// cannot be said in CuTe: what the layout counts (";
  if (l->units.domain.counts != Counts::none) text += "from " + l->units.domain.to_string();
  if (l->units.domain.counts != Counts::none && l->units.codomain.counts != Counts::none)
    text += " ";
  if (l->units.codomain.counts != Counts::none) text += "to " + l->units.codomain.to_string();
  return text + ")\n";
}

}  // namespace

std::string to_cute(const Exported& x) {
  const Text text = std::visit([](const auto& value) { return text_of(value); }, x.value);
  const auto dims = dims_of(x.value);
  std::string notes = units_note(x), sizes;
  for (const auto& [id, name] : dims)
    sizes += (sizes.empty() ? "" : ", ") + size_name(name, Code::cpp);
  if (!sizes.empty())
    notes += "// " + sizes_note(dims, Code::cpp) +
             "; int64_t where offsets pass 2^31\n"
             "// cannot be said in CuTe: what is known of " +
             sizes + "; nothing checks the sizes\n";
  for (const std::string& guard : x.guards)
    notes += "// cannot be said in CuTe: it holds only where " + guard + "\n";
  const bool needs_helper = text.value.find("floor_div(") != std::string::npos;
  std::string result =
      "#include <cute/layout.hpp>\n#include <cute/swizzle_layout.hpp>\nusing namespace cute;\n" +
      notes;
  if (needs_helper) result += floor_div_helper;
  if (!dims.empty())
    return result + "// type: " + text.type + "\nauto " + x.name + " = " + text.value + ";\n";
  return result + "using " + x.name + "_t = " + text.type + ";\nconstexpr auto " + x.name + " = " +
         text.value + ";\n";
}

}  // namespace lay::exports
