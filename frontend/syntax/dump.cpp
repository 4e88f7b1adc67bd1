#include <string_view>

#include "frontend/syntax/format.h"
#include "frontend/syntax/strings.h"

namespace lay::syntax {
namespace {

std::string_view word(UnaryOperator op) {
  switch (op) {
    case UnaryOperator::minus:
      return "-";
    case UnaryOperator::logical_not:
      return "not";
  }
  return "";
}

std::string_view word(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::equal:
      return "==";
    case BinaryOperator::not_equal:
      return "!=";
    case BinaryOperator::less:
      return "<";
    case BinaryOperator::less_equal:
      return "<=";
    case BinaryOperator::greater:
      return ">";
    case BinaryOperator::greater_equal:
      return ">=";
    case BinaryOperator::colon:
      return ":";
  }
  return "";
}

std::string_view word(ChainOperator op) {
  switch (op) {
    case ChainOperator::logical_or:
      return "or";
    case ChainOperator::logical_and:
      return "and";
    case ChainOperator::compose:
      return "o";
    case ChainOperator::add:
      return "+";
    case ChainOperator::subtract:
      return "-";
    case ChainOperator::multiply:
      return "*";
    case ChainOperator::divide:
      return "/";
    case ChainOperator::floor_divide:
      return "//";
    case ChainOperator::modulo:
      return "%";
  }
  return "";
}

class Dumper {
 public:
  explicit Dumper(const Tree& tree) : tree_(tree) {}

  std::string text() {
    for (const Statement& statement : tree_.statements) {
      std::visit([this](const auto& node) { list(node); }, statement.node);
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  // (items separated by blanks)
  template <class... Items>
  void list(std::string_view head, const Items&... items) {
    out_ += '(';
    out_ += head;
    ((out_ += ' ', put(items)), ...);
    out_ += ')';
  }

  void put(std::string_view text) { out_ += text; }
  void put(const Identifier& name) { out_ += name.text; }
  void put(ExpressionId id) {
    std::visit([this](const auto& node) { leaf_or_list(node); }, tree_[id].node);
  }
  template <class T>
  void put(const std::optional<T>& item) {
    if (item) {
      put(*item);
    } else {
      out_ += "()";
    }
  }
  template <class T>
  void put(const std::vector<T>& items) {
    out_ += '(';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ' ';
      put(items[i]);
    }
    out_ += ')';
  }
  void put(const Argument& a) {
    if (a.name) {
      list("=", *a.name, a.value);
    } else {
      put(a.value);
    }
  }
  void put(const Link& l) {
    out_ += word(l.op);
    out_ += ' ';
    put(l.operand);
  }
  void put(const Parameter& p) { list(p.name.text, p.type); }
  void put(const KernelParameter& p) { list(p.inout ? "inout" : "in", p.name, p.type, p.layout); }
  void put(const Field& f) { list(f.name.text, f.value); }
  void put(const Entry& e) { list(e.name.text, e.operand, e.value); }
  void put(const BodyStatement& b) {
    std::visit([this](const auto& node) { list(node); }, b.node);
  }

  void leaf_or_list(const Integer& n) { out_ += (n.cute ? "_" : "") + std::to_string(n.value); }
  void leaf_or_list(const Float& n) { out_ += n.text; }
  void leaf_or_list(const String& n) { out_ += string_literal(n.value); }
  void leaf_or_list(const Boolean& n) { out_ += n.value ? "true" : "false"; }
  void leaf_or_list(const Name& n) { out_ += n.text; }
  void leaf_or_list(const Underscore&) { out_ += '_'; }
  void leaf_or_list(const Tuple& n) { list("tuple", n.elements); }
  void leaf_or_list(const Unary& n) { list(word(n.op), n.operand); }
  void leaf_or_list(const Binary& n) { list(word(n.op), n.left, n.right); }
  void leaf_or_list(const Chain& n) { list("chain", n.first, n.rest); }
  void leaf_or_list(const Path& n) { list("@", n.base, n.indices); }
  void leaf_or_list(const Call& n) { list("call", n.callee, n.arguments); }
  void leaf_or_list(const Index& n) { list("index", n.object, n.indices); }
  void leaf_or_list(const Range& n) { list("..", n.first, n.last); }
  void leaf_or_list(const Member& n) { list(".", n.object, n.name); }
  void leaf_or_list(const If& n) { list("if", n.condition, n.then, n.otherwise); }
  void leaf_or_list(const Comprehension& n) { list("for", n.variable, n.first, n.last, n.element); }
  void leaf_or_list(const Swizzle& n) { list("Sw", n.bits, n.base, n.shift); }
  void leaf_or_list(const Find& n) { list("find", n.what, n.arguments); }

  void list(const Let& n) {
    if (n.indices.empty()) {
      list("let", n.name, n.value);
    } else {
      list("let", n.name, n.indices, n.value);
    }
  }
  void list(const Def& n) {
    if (n.indices.empty()) {
      list("def", n.name, n.parameters, n.result, n.body);
    } else {
      list("def", n.name, n.indices, n.parameters, n.result, n.body);
    }
  }
  void list(const Dim& n) { list("dim", n.names); }
  void list(const Assume& n) { list("assume", n.condition); }
  void list(const Assert& n) { list("assert", n.condition, n.message); }
  void list(const Print& n) { list("print", n.values); }
  void list(const Show& n) { list("show", n.arguments); }
  void list(const Explain& n) { list("explain", n.value); }
  void list(const Prove& n) { list("prove", n.claim); }
  void list(const Use& n) {
    if (n.file) {
      list("use", string_literal(*n.file));
    } else {
      list("use", n.path);
    }
  }
  void list(const Record& n) { list("record", n.name, n.parameters, n.fields); }
  void list(const Assign& n) { list("assign", n.target, n.indices, n.value); }
  void list(const Kernel& n) {
    list("kernel", n.name, n.generics, n.parameters, n.outputs, n.where, n.body);
  }
  void list(const Schedule& n) { list("schedule", n.kernel, n.target, n.when, n.entries); }
  void list(const Sizes& n) { list("sizes", n.kernel, n.sizes); }
  void list(const Evaluate& n) { put(n.value); }

  const Tree& tree_;
  std::string out_;
};

}  // namespace

std::string dump(const Tree& tree) {
  return Dumper(tree).text();
}

}  // namespace lay::syntax
