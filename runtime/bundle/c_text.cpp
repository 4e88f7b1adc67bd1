#include "runtime/bundle/c_text.h"

#include <bit>

#include "frontend/algebra/layouts/inner_layout.h"

namespace lay::runtime {
namespace {

// Keywords of C and C++, and names that their headers or compilers define as macros; each between
// blanks.
constexpr std::string_view kWords =
    " NULL alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum explicit export extern false float for friend goto i386 if "
    "inline int linux long mutable namespace new noexcept not not_eq nullptr offsetof "
    "operator or or_eq private protected public register reinterpret_cast requires restrict "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof typeof_unqual union unix "
    "unsigned using va_arg va_copy va_end va_list va_start virtual void volatile wchar_t "
    "while xor xor_eq ";

class Writer {
 public:
  explicit Writer(const ArgumentNames& names) : names_(names) {}

  std::string integer(const Int& value) const {
    if (value.is_literal()) return literal(value.value());
    const Polynomial& p = value.polynomial();
    std::string sum;
    for (const Term& t : p.terms) sum = sum.empty() ? term(t) : call("lay_add", sum, term(t));
    if (p.denominator == 1) return sum;
    return call("lay_exact_div", sum, number(p.denominator));
  }

  std::string condition(const PredicateNode& n) const {
    const auto compared = [&](const char* function) {
      return call(function, integer(n.a), integer(n.b));
    };
    switch (n.kind) {
      case PredicateKind::always:
        return "1";
      case PredicateKind::never:
        return "0";
      case PredicateKind::equal:
        return compared("lay_equal");
      case PredicateKind::not_equal:
        return "lay_not(" + compared("lay_equal") + ")";
      case PredicateKind::less:
        return compared("lay_less");
      case PredicateKind::less_equal:
        return compared("lay_less_equal");
      case PredicateKind::divides:
        return compared("lay_divides");
      case PredicateKind::not_divides:
        return "lay_not(" + compared("lay_divides") + ")";
      case PredicateKind::both:
        return call("lay_both", condition(*n.left), condition(*n.right));
      case PredicateKind::either:
        return call("lay_either", condition(*n.left), condition(*n.right));
    }
    return "";
  }

  static std::string call(const std::string& function, const std::string& a, const std::string& b) {
    return function + "(" + a + ", " + b + ")";
  }

  static std::string literal(std::int64_t value) { return "lay_of(" + number(value) + ")"; }

 private:
  // INT64_MIN has no literal in C.
  static std::string number(std::int64_t value) {
    if (value == INT64_MIN) return "INT64_MIN";
    const bool is_int = value >= -2147483647 && value <= 2147483647;
    return is_int ? std::to_string(value) : "INT64_C(" + std::to_string(value) + ")";
  }

  std::string term(const Term& t) const {
    std::string product = t.coefficient == 1 && !t.factors.empty() ? "" : literal(t.coefficient);
    for (const Factor& f : t.factors)
      for (int k = 0; k < f.exponent; ++k)
        product = product.empty() ? atom(*f.atom) : call("lay_mul", product, atom(*f.atom));
    return product;
  }

  std::string atom(const Atom& a) const {
    switch (a.kind) {
      case AtomKind::dim:
        return "lay_of(a->" + names_.of(a.id) + ")";
      case AtomKind::floor_div:
        return call("lay_floor_div", integer(a.a), integer(a.b));
      case AtomKind::min:
        return call("lay_min", integer(a.a), integer(a.b));
      case AtomKind::max:
        return call("lay_max", integer(a.a), integer(a.b));
      case AtomKind::select:
        return "lay_select(" + condition(*a.condition) + ", " + integer(a.a) + ", " + integer(a.b) +
               ")";
    }
    return "";
  }

  const ArgumentNames& names_;
};

// Adds each leaf's extent to `elements` and what it adds to the last offset to `last`.
void add_leaves(const Tuple& shape, const Tuple& stride, const ArgumentNames& names,
                std::string& elements, std::string& last) {
  if (shape.is_tuple()) {
    for (int i = 0; i < shape.rank(); ++i) add_leaves(shape[i], stride[i], names, elements, last);
    return;
  }
  const std::string extent = c_number(shape.value(), names);
  elements = elements.empty() ? extent : Writer::call("lay_mul", elements, extent);
  const std::string reach =
      Writer::call("lay_mul", c_number(shape.value() - 1, names), c_number(stride.value(), names));
  last = last.empty() ? reach : Writer::call("lay_add", last, reach);
}

std::string quoted(std::string_view text, bool is_format) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '%' && is_format) made += '%';
    if (c == '?') made += '\\';  // no trigraphs
    made += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return made + "\"";
}

}  // namespace

ArgumentNames::ArgumentNames(const sema::Kernel& kernel) : used_{"size"} {
  for (const auto& dim : kernel.dims)
    if (const auto id = dim.symbol.dim_id()) dims_[*id] = unused(dim.name);
  for (const auto& scalar : kernel.scalars) named_[scalar.name] = unused(scalar.name);
  for (const auto& tensor : kernel.tensors) named_[tensor.name] = unused(tensor.name);
}

std::string ArgumentNames::unused(const std::string& name) {
  std::string made = name;
  while (kWords.find(" " + made + " ") != std::string_view::npos || used_.count(made) > 0)
    made += "_";
  used_.insert(made);
  return made;
}

std::string c_number(const Int& value, const ArgumentNames& names) {
  return Writer(names).integer(value);
}

std::string c_truth(const Predicate& condition, const ArgumentNames& names) {
  return Writer(names).condition(condition.node());
}

CSpan c_span(const AnyLayout& layout, ElementType element, const ArgumentNames& names) {
  const Layout& inner = *inner_layout(layout);
  CSpan span;
  std::string last;
  add_leaves(inner.shape, inner.stride, names, span.elements, last);
  if (span.elements.empty()) span.elements = Writer::literal(1), last = Writer::literal(0);
  std::int64_t block = 1;
  if (const auto* composed = std::get_if<Composed>(&layout)) {
    // The swizzle permutes whole blocks of offsets.
    const auto& swizzle = std::get<Swizzle>(composed->outer);
    const auto moved = static_cast<std::uint64_t>(swizzle.source_mask() | swizzle.target_mask());
    block = std::int64_t{1} << std::bit_width(moved);
  }
  span.bytes = Writer::call("lay_add", last, Writer::literal(block));
  if (block > 1)
    span.bytes =
        Writer::call("lay_mul", Writer::call("lay_floor_div", span.bytes, Writer::literal(block)),
                     Writer::literal(block));
  // Two elements share a byte: the last one may be half of it.
  if (is_half_byte(element)) {
    span.bytes =
        Writer::call("lay_floor_div", Writer::call("lay_add", span.bytes, Writer::literal(1)),
                     Writer::literal(2));
  } else {
    span.bytes = Writer::call("lay_mul", span.bytes, Writer::literal(bits(element) / 8));
  }
  return span;
}

std::string c_string(std::string_view text) {
  return quoted(text, false);
}

std::string c_format(std::string_view text) {
  return quoted(text, true);
}

CValues c_values(const std::map<DimId, std::string>& dims, const ArgumentNames& names) {
  CValues values;
  for (const auto& [id, name] : dims) {
    values.format += (values.format.empty() ? "" : ", ") + name + " = %lld";
    values.arguments += ", (long long)a->" + names.of(id);
  }
  return values;
}

std::string c_scalar_type(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "double";
    case ElementType::f32:
    case ElementType::tf32:
    case ElementType::f16:
    case ElementType::bf16:
      return "float";
    case ElementType::s8:
    case ElementType::s16:
    case ElementType::s32:
    case ElementType::s64:
      return "int" + std::to_string(bits(type)) + "_t";
    case ElementType::pred:
      return "uint8_t";
    default:
      return "uint" + std::to_string(bits(type)) + "_t";
  }
}

}  // namespace lay::runtime
