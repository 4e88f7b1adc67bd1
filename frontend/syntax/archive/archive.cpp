#include "frontend/syntax/archive/archive.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace lay::syntax {
namespace {

// ---- The fields of every struct of tree.h, in order ----
//
// A binding names them all, so that a field which is added there does not compile here.

template <class A>
void fields(A& a, Identifier& x) {
  auto& [text, span] = x;
  a(text, span);
}

// Of expressions.
template <class A>
void fields(A& a, Integer& x) {
  auto& [value, cute] = x;
  a(value, cute);
}
template <class A>
void fields(A& a, Float& x) {
  auto& [value, text] = x;
  a(value, text);
}
template <class A>
void fields(A& a, String& x) {
  auto& [value] = x;
  a(value);
}
template <class A>
void fields(A& a, Boolean& x) {
  auto& [value] = x;
  a(value);
}
template <class A>
void fields(A& a, Name& x) {
  auto& [text] = x;
  a(text);
}
template <class A>
void fields(A&, Underscore&) {}
template <class A>
void fields(A& a, Tuple& x) {
  auto& [elements] = x;
  a(elements);
}
template <class A>
void fields(A& a, Unary& x) {
  auto& [op, operand] = x;
  a(op, operand);
}
template <class A>
void fields(A& a, Binary& x) {
  auto& [op, left, right] = x;
  a(op, left, right);
}
template <class A>
void fields(A& a, Link& x) {
  auto& [op, op_span, operand] = x;
  a(op, op_span, operand);
}
template <class A>
void fields(A& a, Chain& x) {
  auto& [first, rest] = x;
  a(first, rest);
}
template <class A>
void fields(A& a, Path& x) {
  auto& [base, indices] = x;
  a(base, indices);
}
template <class A>
void fields(A& a, Argument& x) {
  auto& [name, value] = x;
  a(name, value);
}
template <class A>
void fields(A& a, Call& x) {
  auto& [callee, arguments] = x;
  a(callee, arguments);
}
template <class A>
void fields(A& a, Index& x) {
  auto& [object, indices] = x;
  a(object, indices);
}
template <class A>
void fields(A& a, Range& x) {
  auto& [first, last] = x;
  a(first, last);
}
template <class A>
void fields(A& a, Member& x) {
  auto& [object, name] = x;
  a(object, name);
}
template <class A>
void fields(A& a, If& x) {
  auto& [condition, then, otherwise] = x;
  a(condition, then, otherwise);
}
template <class A>
void fields(A& a, Comprehension& x) {
  auto& [element, variable, first, last] = x;
  a(element, variable, first, last);
}
template <class A>
void fields(A& a, Swizzle& x) {
  auto& [bits, base, shift] = x;
  a(bits, base, shift);
}
template <class A>
void fields(A& a, Find& x) {
  auto& [what, arguments] = x;
  a(what, arguments);
}
template <class A>
void fields(A& a, Expression& x) {
  auto& [span, node] = x;
  a(span, node);
}

// Of statements.
template <class A>
void fields(A& a, Let& x) {
  auto& [name, indices, value] = x;
  a(name, indices, value);
}
template <class A>
void fields(A& a, Parameter& x) {
  auto& [name, type] = x;
  a(name, type);
}
template <class A>
void fields(A& a, Def& x) {
  auto& [name, indices, parameters, result, body] = x;
  a(name, indices, parameters, result, body);
}
template <class A>
void fields(A& a, Dim& x) {
  auto& [names] = x;
  a(names);
}
template <class A>
void fields(A& a, Assume& x) {
  auto& [condition] = x;
  a(condition);
}
template <class A>
void fields(A& a, Assert& x) {
  auto& [condition, message] = x;
  a(condition, message);
}
template <class A>
void fields(A& a, Print& x) {
  auto& [values] = x;
  a(values);
}
template <class A>
void fields(A& a, Show& x) {
  auto& [arguments] = x;
  a(arguments);
}
template <class A>
void fields(A& a, Explain& x) {
  auto& [value] = x;
  a(value);
}
template <class A>
void fields(A& a, Prove& x) {
  auto& [claim] = x;
  a(claim);
}
template <class A>
void fields(A& a, Use& x) {
  auto& [path, file] = x;
  a(path, file);
}
template <class A>
void fields(A& a, Field& x) {
  auto& [name, value] = x;
  a(name, value);
}
template <class A>
void fields(A& a, Record& x) {
  auto& [name, parameters, fields_of_record] = x;
  a(name, parameters, fields_of_record);
}
template <class A>
void fields(A& a, Assign& x) {
  auto& [target, indices, value] = x;
  a(target, indices, value);
}
template <class A>
void fields(A& a, BodyStatement& x) {
  auto& [span, node] = x;
  a(span, node);
}
template <class A>
void fields(A& a, KernelParameter& x) {
  auto& [name, inout, type, layout, span] = x;
  a(name, inout, type, layout, span);
}
template <class A>
void fields(A& a, Kernel& x) {
  auto& [name, generics, parameters, outputs, where, body] = x;
  a(name, generics, parameters, outputs, where, body);
}
template <class A>
void fields(A& a, Entry& x) {
  auto& [name, operand, value] = x;
  a(name, operand, value);
}
template <class A>
void fields(A& a, Schedule& x) {
  auto& [kernel, target, when, entries] = x;
  a(kernel, target, when, entries);
}
template <class A>
void fields(A& a, Sizes& x) {
  auto& [kernel, sizes] = x;
  a(kernel, sizes);
}
template <class A>
void fields(A& a, Evaluate& x) {
  auto& [value] = x;
  a(value);
}
template <class A>
void fields(A& a, Statement& x) {
  auto& [span, node] = x;
  a(span, node);
}

// ---- The two directions ----
//
// A number is written in groups of seven bits, least first; the eighth bit says that more follow.
// A string and a vector stand behind their size, an optional and a variant behind their index.

class Writer {
 public:
  std::string take() { return std::move(bytes_); }

  template <class... T>
  void operator()(T&... values) {
    (write(values), ...);
  }

 private:
  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) bytes_ += static_cast<char>((n & 0x7f) | 0x80);
    bytes_ += static_cast<char>(n);
  }
  void write(std::string& text) {
    number(text.size());
    bytes_ += text;
  }
  void write(std::int64_t& n) { number(std::bit_cast<std::uint64_t>(n)); }
  void write(double& value) { number(std::bit_cast<std::uint64_t>(value)); }
  void write(ExpressionId& id) { number(id.index); }
  void write(Span& span) {
    number(span.begin);
    number(span.end - span.begin);
  }
  template <class T>
  void write(T& value) {
    if constexpr (std::is_enum_v<T> || std::same_as<T, bool>)
      number(static_cast<std::uint64_t>(value));
    else
      fields(*this, value);
  }
  template <class T>
  void write(std::vector<T>& values) {
    number(values.size());
    for (T& value : values) write(value);
  }
  template <class T>
  void write(std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) write(*value);
  }
  template <class... T>
  void write(std::variant<T...>& value) {
    number(value.index());
    std::visit([&](auto& held) { write(held); }, value);
  }

  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string_view bytes, int file) : bytes_(bytes), file_(file) {}

  bool at_end() const { return bytes_.empty(); }

  template <class... T>
  void operator()(T&... values) {
    (read(values), ...);
  }

 private:
  std::uint64_t number() {
    std::uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      n |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return n;
    }
  }
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw std::logic_error("internal: an archive ends inside a tree");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  void read(std::string& text) { text = take(number()); }
  void read(std::int64_t& n) { n = std::bit_cast<std::int64_t>(number()); }
  void read(double& value) { value = std::bit_cast<double>(number()); }
  void read(ExpressionId& id) { id.index = static_cast<std::uint32_t>(number()); }
  void read(Span& span) {
    span.file = file_;
    span.begin = static_cast<std::uint32_t>(number());
    span.end = span.begin + static_cast<std::uint32_t>(number());
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_enum_v<T> || std::same_as<T, bool>)
      value = static_cast<T>(number());
    else
      fields(*this, value);
  }
  template <class T>
  void read(std::vector<T>& values) {
    const std::uint64_t count = number();
    if (count > bytes_.size()) throw std::logic_error("internal: an archive ends inside a list");
    values.resize(count);
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    if (number() != 0) read(value.emplace());
  }
  template <class... T>
  void read(std::variant<T...>& value) {
    const std::uint64_t index = number();
    if (index >= sizeof...(T)) throw std::logic_error("internal: an archive has no such node");
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((i == index ? read(value.template emplace<i>()) : void()), ...);
    }
    (std::index_sequence_for<T...>{});
  }

  std::string_view bytes_;
  int file_;
};

}  // namespace

std::string archive(const Tree& tree) {
  if (!tree.broken.empty()) throw std::logic_error("internal: a text with errors is archived");
  Tree written = tree;
  Writer writer;
  writer(written.statements, written.expressions);
  return writer.take();
}

Tree read_tree(std::string_view bytes, int file) {
  Tree tree;
  tree.file = file;
  Reader reader(bytes, file);
  reader(tree.statements, tree.expressions);
  if (!reader.at_end()) throw std::logic_error("internal: an archive goes on behind a tree");
  return tree;
}

}  // namespace lay::syntax
