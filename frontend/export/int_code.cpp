#include "frontend/export/int_code.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "frontend/algebra/integers/predicate.h"

namespace lay::exports {
namespace {

constexpr std::array<std::string_view, 74> kCppWords = {
    "alignas", "alignof",   "and",     "asm",      "auto",     "bool",     "break",    "case",
    "catch",   "char",      "class",   "concept",  "const",    "continue", "default",  "delete",
    "do",      "double",    "else",    "enum",     "explicit", "export",   "extern",   "false",
    "float",   "for",       "friend",  "goto",     "if",       "inline",   "int",      "long",
    "mutable", "namespace", "new",     "noexcept", "not",      "nullptr",  "operator", "or",
    "private", "protected", "public",  "register", "requires", "return",   "short",    "signed",
    "sizeof",  "static",    "struct",  "switch",   "template", "this",     "throw",    "true",
    "try",     "typedef",   "typeid",  "typename", "union",    "unsigned", "using",    "virtual",
    "void",    "volatile",  "wchar_t", "while",    "xor",      "cute",     "Int",      "C",
    "E",       "Shape"};
constexpr std::array<std::string_view, 39> kPythonWords = {
    "False",   "None",     "True",     "and",    "as",   "assert", "async",  "await",
    "break",   "class",    "continue", "def",    "del",  "elif",   "else",   "except",
    "finally", "for",      "from",     "global", "if",   "import", "in",     "is",
    "lambda",  "nonlocal", "not",      "or",     "pass", "raise",  "return", "try",
    "while",   "with",     "yield",    "cute",   "np",   "gl",     "x"};

class Writer {
 public:
  explicit Writer(Code code) : code_(code) {}

  std::string integer(const Int& value) const {
    if (value.is_literal()) return std::to_string(value.value());
    const Polynomial& p = value.polynomial();
    std::string sum;
    for (const Term& t : p.terms) {
      const bool negative = t.coefficient < 0;
      sum += sum.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
      sum += term(t);
    }
    if (p.denominator == 1) return sum;
    return (p.terms.size() > 1 ? "(" + sum + ")" : sum) + " " + quotient() + " " +
           std::to_string(p.denominator);
  }

 private:
  // In parentheses where it would not bind as an operand of a quotient.
  std::string operand(const Int& value) const {
    const bool simple = value.is_literal() ? value.value() >= 0 : value.dim_id().has_value();
    return simple ? integer(value) : "(" + integer(value) + ")";
  }

  // Where C++ divides as Lay does.
  static bool is_positive(const Int& value) { return seen_not_negative(value); }

  std::string quotient() const { return code_ == Code::cpp ? "/" : "//"; }

  // Without its sign. -floor_div(-a, b) is the quotient rounded up.
  std::string term(const Term& t) const {
    std::string text;
    const std::int64_t size = t.coefficient < 0 ? -t.coefficient : t.coefficient;
    if (size != 1 || t.factors.empty()) text = std::to_string(size);
    for (const Factor& f : t.factors)
      for (int k = 0; k < f.exponent; ++k) text += (text.empty() ? "" : " * ") + atom(*f.atom);
    return text;
  }

  std::string atom(const Atom& a) const {
    switch (a.kind) {
      case AtomKind::dim:
        return size_name(a.name, code_);
      case AtomKind::floor_div:
        if (code_ == Code::cpp && !(is_positive(a.a) && is_positive(a.b)))
          return "floor_div(" + integer(a.a) + ", " + integer(a.b) + ")";
        return "(" + operand(a.a) + " " + quotient() + " " + operand(a.b) + ")";
      case AtomKind::min:
      case AtomKind::max: {
        const std::string word = a.kind == AtomKind::min ? "min" : "max";
        return (code_ == Code::cpp ? "cute::" : "") + word + "(" + integer(a.a) + ", " +
               integer(a.b) + ")";
      }
      case AtomKind::select: {
        const std::string condition = predicate(*a.condition);
        if (code_ == Code::cpp)
          return "(" + condition + " ? " + integer(a.a) + " : " + integer(a.b) + ")";
        return "(" + integer(a.a) + " if " + condition + " else " + integer(a.b) + ")";
      }
    }
    return "";
  }

  std::string predicate(const PredicateNode& n) const {
    const auto compared = [&](const char* op) {
      return "(" + integer(n.a) + ") " + op + " (" + integer(n.b) + ")";
    };
    const auto remainder = [&](const char* op) {
      return "(" + integer(n.a) + ") % (" + integer(n.b) + ") " + op + " 0";
    };
    const auto joined = [&](const char* cpp, const char* python) {
      return "(" + predicate(*n.left) + " " + (code_ == Code::cpp ? cpp : python) + " " +
             predicate(*n.right) + ")";
    };
    switch (n.kind) {
      case PredicateKind::always:
        return code_ == Code::cpp ? "true" : "True";
      case PredicateKind::never:
        return code_ == Code::cpp ? "false" : "False";
      case PredicateKind::equal:
        return compared("==");
      case PredicateKind::not_equal:
        return compared("!=");
      case PredicateKind::less:
        return compared("<");
      case PredicateKind::less_equal:
        return compared("<=");
      case PredicateKind::divides:
        return remainder("==");
      case PredicateKind::not_divides:
        return remainder("!=");
      case PredicateKind::both:
        return joined("&&", "and");
      case PredicateKind::either:
        return joined("||", "or");
    }
    return "";
  }

  Code code_;
};

}  // namespace

const char* const floor_div_helper =
    "auto floor_div = [](auto a, auto b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); "
    "};\n";

bool seen_not_negative(const Int& value) {
  if (value.is_literal()) return value.value() >= 0;
  const auto& terms = value.polynomial().terms;
  return std::all_of(terms.begin(), terms.end(), [](const Term& t) {
    return t.coefficient > 0 &&
           std::all_of(t.factors.begin(), t.factors.end(), [](const Factor& f) {
             return f.atom->kind == AtomKind::dim ||
                    (seen_not_negative(f.atom->a) && seen_not_negative(f.atom->b));
           });
  });
}

std::string code_of(const Int& value, Code code) {
  return Writer(code).integer(value);
}

std::string size_name(const std::string& name, Code code) {
  const bool taken =
      code == Code::cpp
          ? std::find(kCppWords.begin(), kCppWords.end(), name) != kCppWords.end()
          : std::find(kPythonWords.begin(), kPythonWords.end(), name) != kPythonWords.end();
  return taken ? name + "_" : name;
}

}  // namespace lay::exports
