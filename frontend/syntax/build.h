#pragma once
// The generated parser's contexts -> the tree. Errors that the grammar cannot say are found here:
// numbers out of range, comparisons in a chain, a call of a tuple literal, trees that are too high.

#include <string_view>
#include <typeinfo>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "frontend/syntax/tree.h"
#include "frontend/syntax/words.h"
#include "grammar/LayParser.h"

namespace lay::syntax {

// The context as one of its alternatives, if it is that one.
template <class Context>
Context* as(antlr4::tree::ParseTree* tree) {
  return typeid(*tree) == typeid(Context) ? static_cast<Context*>(tree) : nullptr;
}

// Builds the tree of one file, statement by statement, in the order of the text.
class Builder {
 public:
  Builder(int file, std::string_view text, const std::vector<Word>& words, const Limits& limits,
          Diagnostics& diagnostics);

  // Adds the statement of the line, if it has one.
  void line(generated::LayParser::LineContext* context);

  Tree& tree() { return tree_; }
  Tree take() { return std::move(tree_); }

 private:
  using P = generated::LayParser;

  // Statements (build_statements.cpp).
  // One function for each kind of statement.
  Statement statement(P::StatementContext* context);
  Let let(P::Let_Context* context);
  Def def(P::DefContext* context);
  Record record(P::RecordContext* context);
  Kernel kernel(P::KernelContext* context);
  Schedule schedule(P::ScheduleContext* context);
  Sizes sizes(Identifier kernel, P::SizesContext* context);
  std::vector<Identifier> index_names(P::Index_namesContext* context);
  std::vector<Parameter> parameters(P::ParametersContext* context);
  KernelParameter kernel_parameter(P::Kernel_parameterContext* context);

  // Expressions: operators (build_expressions.cpp) and what stands between them
  // (build_operands.cpp).
  class ChainMaker;
  // One function for each rule of the grammar; children are added before their parents.
  BinaryOperator comparison_operator(P::ComparisonContext* context);
  ExpressionId expression(P::ExpressionContext* context);
  ExpressionId subscript(P::SubscriptContext* context);
  std::vector<ExpressionId> expressions(const std::vector<P::ExpressionContext*>& contexts);
  ExpressionId operand(P::ExpressionContext* context);
  ExpressionId layout(P::LayoutContext* context);
  ExpressionId arithmetic(P::ArithmeticContext* context);
  ExpressionId primary(P::ArithmeticContext* context);
  ExpressionId atom(P::AtomContext* context);
  ExpressionId tuple(P::TupleContext* context);
  ExpressionId minus(P::MinusContext* context);
  ExpressionId call(P::CallContext* context, ExpressionId callee);
  ExpressionId path_index(const antlr4::Token* token);
  std::vector<Argument> arguments(P::ArgumentsContext* context);
  // Error `call-of-literal`: (4,2)(1) is a forgotten operator.
  void check_callee(P::CallContext* context, ExpressionId callee);
  // Returns true if a tuple is CuTe's, as (_4,_2), in which (_4) is a tuple of one.
  bool is_cute_text(antlr4::ParserRuleContext* context) const;
  std::int64_t integer(const Span& span, std::string_view digits, bool negative);
  // Reports; the tree goes on with what can be built.
  void error(const Span& span, std::string code, std::string message, std::string help = "");

  // Adds the node; `nesting-too-deep` if the tree below it is too high.
  ExpressionId add(const Span& span, decltype(Expression::node) node);
  const Span& span(ExpressionId id) const { return tree_[id].span; }

  Identifier identifier(antlr4::tree::TerminalNode* node) const;
  Span span(const antlr4::ParserRuleContext* context) const;
  Span span(const antlr4::Token* token) const;
  std::string_view spelling(const Span& span) const {
    return text_.substr(span.begin, span.end - span.begin);
  }

  int file_;
  std::string_view text_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  Tree tree_;
  std::vector<int> heights_;  // of the tree below each expression
  // For each word, how many before it are CuTe's _8, and how many can stand in no CuTe text; empty
  // if there is no _8.
  std::vector<std::uint32_t> cute_before_, other_before_;
  bool inside_cute_ = false;
  bool reported_height_ = false;  // of the statement that is being built
};

}  // namespace lay::syntax
