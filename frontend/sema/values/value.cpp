#include "frontend/sema/values/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

constexpr std::size_t kLongest = 1'000'000;
constexpr std::int64_t kHeaviest = std::int64_t{1} << 20;

std::string kernel_text(const KernelFamily& family) {
  std::string s = "kernel " + family.kernel->name.text + "(";
  bool first = true;
  for (const auto& p : family.kernel->parameters) {
    s += (first ? "" : ", ") + p.name.text + ": " + p.type.text;
    first = false;
  }
  s += ") -> (";
  first = true;
  for (const auto& p : family.kernel->outputs) {
    s += (first ? "" : ", ") + p.name.text + ": " + p.type.text;
    first = false;
  }
  return s + ")";
}

std::string list_text(const List& list) {
  std::string s = "(";
  for (std::size_t i = 0; i < list.elements.size() && s.size() < kLongest; ++i) {
    if (i) s += ",";
    s += text(list.elements[i]);
  }
  if (s.size() >= kLongest) return s + "...";
  return s + (list.elements.size() == 1 ? ",)" : ")");
}

}  // namespace

const Value* Record::find(const std::string& field) const {
  for (const auto& [label, value] : fields) {
    if (label == field) return &value;
  }
  return nullptr;
}

bool KernelFamily::generic() const {
  return std::any_of(kernel->generics.begin(), kernel->generics.end(),
                     [](const syntax::Parameter& p) { return p.type && p.type->text == "type"; });
}

std::string kind_name(const Value& value) {
  auto named = [](std::string_view word) { return std::string(word); };
  return std::visit(Overloaded{
                        [&](const Nothing&) { return named("nothing"); },
                        [&](const Unknown&) { return named("a value that only a run knows"); },
                        [&](const Predicate&) { return named("a condition"); },
                        [&](const Tuple& t) {
                          return named(t.is_int()          ? "an integer"
                                       : t.is_underscore() ? "`_`"
                                       : t.is_basis()      ? "a basis element"
                                                           : "a tuple");
                        },
                        [&](double) { return named("a real number"); },
                        [&](const std::string&) { return named("a string"); },
                        [&](const Layout&) { return named("a layout"); },
                        [&](const Composed&) { return named("a composed layout"); },
                        [&](const Swizzle&) { return named("a swizzle"); },
                        [&](const ElementType&) { return named("an element type"); },
                        [&](const Array&) { return named("an array"); },
                        [&](const ListPtr& list) {
                          for (const Value& item : list->elements) {
                            if (!item.as<Tuple>()) return "a tuple that holds " + kind_name(item);
                          }
                          return named("a tuple");
                        },
                        [&](const RecordPtr&) { return named("a record"); },
                        [&](const FunctionPtr&) { return named("a function"); },
                        [&](const RecordMakerPtr&) { return named("a record with parameters"); },
                        [&](const Builtin* const&) { return named("a builtin function"); },
                        [&](const KernelFamilyPtr&) { return named("a kernel"); },
                        [&](const TensorName&) { return named("a tensor"); },
                        [&](const Element&) { return named("a number in the kernel"); },
                        [&](const IntermediatePtr&) { return named("an intermediate"); },
                    },
                    value.data);
}

std::string kind_word(const Value& value) {
  auto named = [](std::string_view word) { return std::string(word); };
  return std::visit(Overloaded{
                        [&](const Nothing&) { return named("unit"); },
                        [&](const Unknown&) { return named("unknown"); },
                        [&](const Predicate&) { return named("bool"); },
                        [&](const Tuple& t) { return named(t.is_int() ? "int" : "tuple"); },
                        [&](double) { return named("real"); },
                        [&](const std::string&) { return named("string"); },
                        [&](const Layout&) { return named("layout"); },
                        [&](const Composed&) { return named("composed"); },
                        [&](const Swizzle&) { return named("swizzle"); },
                        [&](const ElementType&) { return named("type"); },
                        [&](const Array&) { return named("array"); },
                        [&](const ListPtr&) { return named("tuple"); },
                        [&](const RecordPtr&) { return named("record"); },
                        [&](const FunctionPtr&) { return named("function"); },
                        [&](const RecordMakerPtr&) { return named("function"); },
                        [&](const Builtin* const&) { return named("function"); },
                        [&](const KernelFamilyPtr&) { return named("kernel"); },
                        [&](const TensorName&) { return named("tensor"); },
                        [&](const Element&) { return named("element"); },
                        [&](const IntermediatePtr&) { return named("intermediate"); },
                    },
                    value.data);
}

std::string text(const Value& value) {
  return std::visit(Overloaded{
                        [](const Nothing&) { return std::string(); },
                        [](const Unknown&) { return std::string("(known in a run)"); },
                        [](const Predicate& p) {
                          if (p.is_always()) return std::string("true");
                          return p.is_never() ? std::string("false") : p.to_string();
                        },
                        [](const Tuple& t) { return t.to_string(); },
                        [](double x) { return real_text(x); },
                        [](const std::string& s) { return quoted(s); },
                        [](const Layout& l) { return l.to_string(); },
                        [](const Composed& c) { return c.to_string(); },
                        [](const Swizzle& s) { return s.to_string(); },
                        [](const ElementType& e) { return std::string(element_name(e)); },
                        [](const Array& a) { return a.to_string(); },
                        [](const ListPtr& l) { return list_text(*l); },
                        [](const RecordPtr& r) { return r->head; },
                        [](const FunctionPtr& f) { return f->def->name.text; },
                        [](const RecordMakerPtr& r) { return r->record->name.text; },
                        [](const Builtin* const& b) { return std::string(b->name); },
                        [](const KernelFamilyPtr& k) { return kernel_text(*k); },
                        [](const TensorName&) { return std::string("(a tensor)"); },
                        [](const Element&) { return std::string("(a number in the kernel)"); },
                        [](const IntermediatePtr& i) { return i->name; },
                    },
                    value.data);
}

std::int64_t weight(const Value& value) {
  if (const auto* t = value.as<Tuple>()) return t->leaf_count();
  if (const auto* l = value.as<Layout>()) return 2 * l->shape.leaf_count();
  if (const auto* list = value.as<ListPtr>()) return (*list)->weight;
  return 4;
}

Value make_tuple(std::vector<Value> elements) {
  bool plain =
      std::all_of(elements.begin(), elements.end(), [](const Value& v) { return v.as<Tuple>(); });
  if (!plain) {
    List list{std::move(elements)};
    for (const Value& v : list.elements) list.weight += weight(v);
    if (list.weight > kHeaviest)
      throw refusal("limit", "a tuple that holds more than 2^20 integers");
    return Value(std::make_shared<const List>(std::move(list)));
  }
  std::vector<Tuple> modes;
  modes.reserve(elements.size());
  for (const Value& v : elements) modes.push_back(*v.as<Tuple>());
  return Value(Tuple(std::move(modes)));
}

namespace {

template <typename Real>
std::string shortest(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string s(buffer.data(), end);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

}  // namespace

std::string real_text(double value) {
  return shortest(value);
}

std::string real_text(float value) {
  return shortest(value);
}

std::string quoted(std::string_view s) {
  std::string result = "\"";
  for (char c : s) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace lay::sema
