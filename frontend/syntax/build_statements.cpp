#include "frontend/syntax/build.h"
#include "frontend/syntax/strings.h"

namespace lay::syntax {
namespace {

// The words that may stand in a parenthesised group of CuTe's text beside its _8.
bool belongs_to_cute(std::size_t type) {
  using L = generated::LayParser;
  return type == L::CUTE || type == L::INTEGER || type == L::AT || type == L::COMMA ||
         type == L::LEFT_PAREN || type == L::RIGHT_PAREN || type == L::MINUS;
}

// A line whose words were wrong was reported and left half read.
bool is_broken(const antlr4::ParserRuleContext* context) {
  return context->exception != nullptr;
}

}  // namespace

Builder::Builder(int file, std::string_view text, const std::vector<Word>& words,
                 const Limits& limits, Diagnostics& diagnostics)
    : file_(file), text_(text), limits_(limits), diagnostics_(diagnostics) {
  tree_.file = file;
  tree_.expressions.reserve(
      words.size());  // more than there will be; what is not used is never touched
  heights_.reserve(words.size());
  std::uint32_t cute = 0, other = 0;
  for (const Word& word : words) {
    cute_before_.push_back(cute);
    other_before_.push_back(other);
    cute += word.type == P::CUTE ? 1 : 0;
    other += belongs_to_cute(word.type) ? 0 : 1;
  }
  cute_before_.push_back(cute);
  other_before_.push_back(other);
}

Span Builder::span(const antlr4::Token* token) const {
  return {file_, static_cast<std::uint32_t>(token->getStartIndex()),
          static_cast<std::uint32_t>(token->getStopIndex() + 1)};
}

Span Builder::span(const antlr4::ParserRuleContext* context) const {
  return join(span(context->start), span(context->stop));
}

Identifier Builder::identifier(antlr4::tree::TerminalNode* node) const {
  const Span where = span(node->getSymbol());
  return {std::string(spelling(where)), where};
}

void Builder::error(const Span& where, std::string code, std::string message, std::string help) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.primary = where;
  if (!help.empty()) d.notes.push_back({"help", std::move(help)});
  diagnostics_.add(std::move(d));
}

void Builder::line(P::LineContext* context) {
  if (is_broken(context) || context->statement() == nullptr) return;
  reported_height_ = false;
  tree_.statements.push_back(statement(context->statement()));
}

Statement Builder::statement(P::StatementContext* context) {
  const Span where = span(context);
  if (auto* c = context->let_()) return {where, let(c)};
  if (auto* c = context->def()) return {where, def(c)};
  if (auto* c = context->dim()) {
    Dim dim;
    for (auto* name : c->NAME()) dim.names.push_back(identifier(name));
    return {where, std::move(dim)};
  }
  if (auto* c = context->assume()) return {where, Assume{expression(c->expression())}};
  if (auto* c = context->assertion()) {
    Assert assertion{expression(c->expression(0)), std::nullopt};
    if (c->expression(1) != nullptr) assertion.message = expression(c->expression(1));
    return {where, assertion};
  }
  if (auto* c = context->print()) return {where, Print{expressions(c->expression())}};
  if (auto* c = context->show()) return {where, Show{arguments(c->arguments())}};
  if (auto* c = context->explain()) return {where, Explain{expression(c->expression())}};
  if (auto* c = context->prove()) return {where, Prove{expression(c->expression())}};
  if (auto* c = context->use()) {
    Use use;
    for (auto* name : c->NAME()) use.path.push_back(identifier(name));
    if (c->STRING() != nullptr) use.file = string_value(spelling(span(c->STRING()->getSymbol())));
    return {where, std::move(use)};
  }
  if (auto* c = context->record()) return {where, record(c)};
  if (auto* c = context->kernel()) return {where, kernel(c)};
  if (auto* c = context->schedule()) {
    if (c->sizes() != nullptr) return {where, sizes(identifier(c->NAME(0)), c->sizes())};
    return {where, schedule(c)};
  }
  return {where, Evaluate{expression(context->expression())}};
}

Let Builder::let(P::Let_Context* context) {
  return {identifier(context->NAME()), index_names(context->index_names()),
          expression(context->expression())};
}

std::vector<Identifier> Builder::index_names(P::Index_namesContext* context) {
  std::vector<Identifier> result;
  if (context == nullptr) return result;
  for (auto* name : context->NAME()) result.push_back(identifier(name));
  return result;
}

std::vector<Parameter> Builder::parameters(P::ParametersContext* context) {
  std::vector<Parameter> result;
  if (context == nullptr) return result;
  for (auto* c : context->parameter()) {
    Parameter parameter{identifier(c->NAME(0)), std::nullopt};
    if (c->NAME(1) != nullptr) parameter.type = identifier(c->NAME(1));
    result.push_back(std::move(parameter));
  }
  return result;
}

Def Builder::def(P::DefContext* context) {
  Def result{identifier(context->NAME(0)), index_names(context->index_names()),
             parameters(context->parameters()), std::nullopt, expression(context->expression())};
  if (context->NAME(1) != nullptr) result.result = identifier(context->NAME(1));
  return result;
}

Record Builder::record(P::RecordContext* context) {
  Record result{identifier(context->NAME()), parameters(context->parameters()), {}};
  for (auto* line : context->record_body()->field_line()) {
    auto* field = line->field();
    if (is_broken(line) || field == nullptr) continue;
    result.fields.push_back({identifier(field->NAME()), expression(field->expression())});
  }
  return result;
}

KernelParameter Builder::kernel_parameter(P::Kernel_parameterContext* context) {
  KernelParameter result;
  result.name = identifier(context->NAME(0));
  result.inout = context->INOUT() != nullptr;
  result.type = identifier(context->NAME(1));
  if (context->expression() != nullptr) result.layout = expression(context->expression());
  result.span = span(context);
  return result;
}

Kernel Builder::kernel(P::KernelContext* context) {
  Kernel result;
  result.name = identifier(context->NAME());
  result.generics = parameters(context->parameters());
  if (auto* list = context->kernel_parameters()) {
    for (auto* c : list->kernel_parameter()) result.parameters.push_back(kernel_parameter(c));
  }
  if (auto* outputs = context->outputs()) {
    if (auto* one = outputs->kernel_parameter()) result.outputs.push_back(kernel_parameter(one));
    if (auto* several = outputs->kernel_parameters()) {
      for (auto* c : several->kernel_parameter()) result.outputs.push_back(kernel_parameter(c));
    }
  }
  if (context->expression() != nullptr) result.where = expression(context->expression());
  for (auto* line : context->kernel_body()->body_line()) {
    if (is_broken(line)) continue;
    if (auto* c = line->let_()) result.body.push_back({span(c), let(c)});
    if (auto* c = line->assignment()) {
      std::vector<ExpressionId> all = expressions(c->expression());
      const ExpressionId value = all.back();
      all.pop_back();
      result.body.push_back({span(c), Assign{identifier(c->NAME()), std::move(all), value}});
    }
  }
  return result;
}

Schedule Builder::schedule(P::ScheduleContext* context) {
  Schedule result{identifier(context->NAME(0)), identifier(context->NAME(1)), std::nullopt, {}};
  if (context->expression() != nullptr) result.when = expression(context->expression());
  for (auto* line : context->schedule_body()->entry_line()) {
    auto* c = line->entry();
    if (is_broken(line) || c == nullptr) continue;
    Entry entry{identifier(c->NAME(0)), std::nullopt, expression(c->expression())};
    if (c->NAME(1) != nullptr) entry.operand = identifier(c->NAME(1));
    result.entries.push_back(std::move(entry));
  }
  return result;
}

Sizes Builder::sizes(Identifier kernel, P::SizesContext* context) {
  Sizes result{std::move(kernel), {}};
  for (auto* c : context->field())
    result.sizes.push_back({identifier(c->NAME()), expression(c->expression())});
  return result;
}

}  // namespace lay::syntax
