#include "frontend/syntax/parse.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "frontend/syntax/build.h"
#include "frontend/syntax/foreign.h"
#include "frontend/syntax/recovery.h"
#include "frontend/syntax/words.h"
#include "grammar/LayParser.h"

namespace lay::syntax {
namespace {

using generated::LayParser;

// Hands the words to the generated parser. A token's start and stop are bytes of the text.
class WordSource : public antlr4::TokenSource {
 public:
  WordSource(const std::vector<Word>& words, std::uint32_t end) : words_(words), end_(end) {}

  std::unique_ptr<antlr4::Token> nextToken() override {
    const bool more = next_ < words_.size();
    const Word word = more ? words_[next_++] : Word{antlr4::Token::EOF, end_, end_, false};
    auto token = std::make_unique<antlr4::CommonToken>(word.type);
    token->setStartIndex(word.begin);
    token->setStopIndex(std::size_t{word.end} - 1);
    return token;
  }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream* getInputStream() override { return nullptr; }
  std::string getSourceName() override { return {}; }
  antlr4::TokenFactory<antlr4::CommonToken>* getTokenFactory() override {
    return antlr4::CommonTokenFactory::DEFAULT.get();
  }

 private:
  const std::vector<Word>& words_;
  std::uint32_t end_;
  std::size_t next_ = 0;
};

Diagnostic too_deep(int file, std::uint32_t begin, std::string message) {
  Diagnostic d;
  d.code = "nesting-too-deep";
  d.message = std::move(message);
  d.primary = {file, begin, begin + 1};
  d.notes.push_back({"help", "name parts of it with let"});
  return d;
}

Diagnostic too_many_words(int file, std::size_t words, const Limits& limits) {
  Diagnostic d;
  d.code = "source-too-large";
  d.message = "this text has " + std::to_string(words) + " words; the limit is " +
              std::to_string(limits.words);
  d.primary = {file, 0, 1};
  d.notes.push_back({"help", "split it into files and take them in with use"});
  return d;
}

// The names that the statement defines which begins with the word: let a, dim M, N.
std::vector<Identifier> defined_names(int file, std::string_view text,
                                      const std::vector<Word>& words, std::size_t begin) {
  std::vector<Identifier> names;
  if (begin >= words.size()) return names;
  const std::size_t head = words[begin].type;
  const bool list = head == LayParser::DIM;
  if (!list && head != LayParser::LET && head != LayParser::DEF && head != LayParser::RECORD &&
      head != LayParser::KERNEL) {
    return names;
  }
  for (std::size_t i = begin + 1; i < words.size() && words[i].type == LayParser::NAME; i += 2) {
    const Span span{file, words[i].begin, words[i].end};
    names.push_back({std::string(text.substr(span.begin, span.end - span.begin)), span});
    if (!list || i + 1 >= words.size() || words[i + 1].type != LayParser::COMMA) break;
  }
  return names;
}

// Where the errors that were found before parsing stand.
std::vector<std::uint32_t> error_places(const Diagnostics& diagnostics) {
  std::vector<std::uint32_t> places;
  for (const Diagnostic& d : diagnostics.list()) {
    if (d.severity == Severity::error) places.push_back(d.primary.begin);
  }
  std::sort(places.begin(), places.end());
  return places;
}

Tree parse_words(int file, std::string_view text, const std::vector<Word>& words,
                 const Limits& limits, Diagnostics& diagnostics) {
  WordSource source(words, static_cast<std::uint32_t>(text.size()));
  antlr4::CommonTokenStream tokens(&source);
  LayParser parser(&tokens);
  auto recovery = std::make_shared<Recovery>(file, text, words, diagnostics);
  parser.removeErrorListeners();
  parser.setErrorHandler(recovery);
  parser.limit_depth(limits.height + 2 * limits.brackets);
  Builder builder(file, text, words, limits, diagnostics);
  const std::vector<std::uint32_t> wrong = error_places(diagnostics);
  while (tokens.LA(1) != antlr4::Token::EOF && !diagnostics.full()) {
    const std::size_t begin = tokens.index(), errors = diagnostics.errors();
    const std::size_t statements = builder.tree().statements.size();
    try {
      builder.line(parser.line());
      parser.getTreeTracker().reset();
    } catch (const TooDeep&) {
      diagnostics.add(too_deep(
          file, static_cast<std::uint32_t>(tokens.LT(1)->getStartIndex()),
          "this expression is nested deeper than " + std::to_string(limits.height) + " levels"));
      recovery->skip_statement(&parser);
    }
    const std::uint32_t from = words[begin].begin, to = words[tokens.index() - 1].end;
    const auto next = std::lower_bound(wrong.begin(), wrong.end(), from);
    if (diagnostics.errors() > errors || (next != wrong.end() && *next < to)) {
      builder.tree().statements.resize(statements);
      for (Identifier& name : defined_names(file, text, words, begin))
        builder.tree().broken.push_back(std::move(name));
    }
  }
  return builder.take();
}

// In the order of the text.
Diagnostics sorted(std::string_view text, const Diagnostics& found, const Limits& limits) {
  std::vector<Diagnostic> list = found.list();
  std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.primary.begin < b.primary.begin;
  });
  advise_on_cute(text, list);
  Diagnostics result(limits.errors);
  for (Diagnostic& d : list) result.add(std::move(d));
  return result;
}

}  // namespace

Parsed parse(const Sources& sources, int file, const Limits& limits) {
  const std::string_view text = sources[file].text;
  Diagnostics diagnostics(limits.errors);
  Tree tree;
  tree.file = file;
  if (check_text(file, text, limits, diagnostics)) {
    std::vector<Word> words = lex(text);
    check_words(file, text, words, diagnostics);
    const Filtered filtered = filter_newlines(words, limits.brackets);
    words = {};
    if (filtered.words.size() > limits.words) {
      diagnostics.add(too_many_words(file, filtered.words.size(), limits));
    } else if (filtered.too_deep) {
      diagnostics.add(
          too_deep(file, filtered.too_deep->begin,
                   "brackets are nested deeper than " + std::to_string(limits.brackets)));
    } else {
      tree = parse_words(file, text, filtered.words, limits, diagnostics);
    }
  }
  return {std::make_shared<const Tree>(std::move(tree)), sorted(text, diagnostics, limits)};
}

bool needs_more(std::string_view text) {
  Diagnostics diagnostics;
  const Limits limits;
  if (!check_text(0, text, limits, diagnostics)) return false;
  const Filtered filtered = filter_newlines(lex(text), limits.brackets);
  if (filtered.mismatch || filtered.too_deep) return false;
  return !filtered.open.empty() || filtered.wants_more;
}

}  // namespace lay::syntax
