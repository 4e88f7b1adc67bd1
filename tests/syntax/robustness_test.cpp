// Any bytes end in a tree or in diagnostics, quickly: no crash, no hang, no exhausted stack.

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>

#include "frontend/syntax/format.h"
#include "frontend/syntax/parse.h"
#include "tests/syntax/snippets.h"

using namespace lay;

namespace {

struct Outcome {
  std::string first_code;
  std::size_t errors;
  double milliseconds;
  std::shared_ptr<const syntax::Tree> tree;
};

Outcome parse(std::string_view text) {
  const auto start = std::chrono::steady_clock::now();
  Sources sources;
  syntax::Parsed parsed = syntax::parse(sources, sources.add("t.lay", text));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  const std::string rendered = render(sources, parsed.diagnostics, Colour::always);
  REQUIRE(rendered.empty() == parsed.diagnostics.list().empty());
  REQUIRE(parsed.diagnostics.list().size() <= 100);
  const auto& list = parsed.diagnostics.list();
  return {list.empty() ? "" : list.front().code, parsed.diagnostics.errors(), time.count(),
          parsed.tree};
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("nesting beyond the limit is one clear error, however deep") {
  for (const int depth : {257, 1000, 100000}) {
    for (const char* open : {"(", "[", "f(", "x[", "Sw<", "((1,", "(1,(", "{"}) {
      const Outcome outcome = parse("let a = " + repeated(open, depth));
      INFO(open << " x " << depth);
      CHECK(outcome.first_code == "nesting-too-deep");
      CHECK(outcome.errors == 1);
    }
  }
  CHECK(parse("let a = " + repeated("(", 100000) + "1" + repeated(")", 100000)).first_code ==
        "nesting-too-deep");
}

TEST_CASE("trees beyond the limit of height are one error each, and the next statement is read") {
  for (const int depth : {2000, 100000}) {
    for (const std::string& text : {repeated("-", depth) + "1", repeated("not ", depth) + "a",
                                    repeated("if a then b else ", depth) + "c",
                                    repeated("if ", depth), "f" + repeated("(1)", depth),
                                    "x" + repeated("[0]", depth), "x" + repeated(".a", depth)}) {
      const Outcome outcome = parse("let a = " + text + "\nlet b = 1 1\n");
      INFO(text.substr(0, 20) << " x " << depth);
      CHECK(outcome.first_code == "nesting-too-deep");
      CHECK(outcome.errors == 2);
    }
  }
}

TEST_CASE("nesting within the limits is read") {
  CHECK(parse("let a = " + repeated("(", 256) + "1" + repeated(")", 256)).errors == 0);
  CHECK(parse("let a = " + repeated("f(", 256) + "1" + repeated(")", 256)).errors == 0);
  CHECK(parse("let a = " + repeated("(1,", 256) + "1" + repeated(")", 256)).errors == 0);
  CHECK(parse("let a = " + repeated("x[", 256) + "1" + repeated("]", 256)).errors == 0);
  CHECK(parse("let a = " + repeated("-", 999) + "1").errors == 0);
  CHECK(parse("let a = f" + repeated("(1)", 990)).errors == 0);
  CHECK(parse("let a = 1" + repeated("@0", 20000)).errors == 0);
}

TEST_CASE("a sum of a million terms is one node") {
  const Outcome outcome = parse("let a = 1" + repeated("+1", 999999));
  REQUIRE(outcome.errors == 0);
  const auto& let = std::get<syntax::Let>(outcome.tree->statements.at(0).node);
  const auto& chain = std::get<syntax::Chain>((*outcome.tree)[let.value].node);
  CHECK(chain.rest.size() == 999999);
}

TEST_CASE("long texts of one kind take linear time") {
  for (const std::string& text :
       {repeated("\n", 1000000), repeated("let a = 1\n", 20000), repeated("let = 1\n", 100000),
        repeated("(", 256) + repeated("1,", 100000), repeated("; ", 500000), repeated(") ", 200000),
        repeated("// x\n", 200000), std::string(4 << 20, 'a'), repeated("} ", 200000),
        repeated("\"", 200001), repeated("\\", 100000), std::string(4 << 20, '9'),
        "let a = (" + repeated("1,", 200000) + ")"}) {
    INFO(text.substr(0, 20));
    CHECK(parse(text).milliseconds < 20000);
  }
  CHECK(parse(std::string((4 << 20) + 1, ' ')).first_code == "source-too-large");
  CHECK(parse("let a = (" + repeated("1,", 2000000) + ")").first_code == "source-too-large");
}

TEST_CASE("the tour cut off at any byte, without any byte, with any byte doubled") {
  const std::string text = tour();
  for (std::size_t i = 0; i < text.size(); ++i) {
    parse(text.substr(0, i));
    parse(text.substr(0, i) + text.substr(i + 1));
    parse(text.substr(0, i + 1) + text.substr(i));
  }
}

TEST_CASE("random bytes and random words") {
  std::mt19937 random(20261120);
  const char* const words[] = {"let", "a",   "=",   "(",     ")",      "[",      "]",        "{",
                               "}",   ",",   ":",   "o",     "1",      "@",      "Sw<",      ">",
                               "\n",  ";",   "-",   "//",    "+",      "kernel", "schedule", "for",
                               "->",  ".",   "if",  "then",  "else",   "\"",     "_4",       "in",
                               "..",  "def", "sum", "where", "record", "not",    "find",     "_",
                               "0.5", "∘",   "use", "<",     "dim",    " "};
  for (int round = 0; round < 2000; ++round) {
    std::string bytes, text;
    for (unsigned i = 0; i < random() % 60; ++i) bytes += static_cast<char>(random() % 256);
    for (unsigned i = 0; i < random() % 40; ++i)
      text += std::string(words[random() % std::size(words)]) + (random() % 3 ? " " : "");
    INFO(text);
    parse(bytes);
    parse(text);
    syntax::needs_more(text);
  }
}

TEST_CASE("a file of 5 KB is read in under 10 ms") {
  std::string text = tour();
  while (text.size() < 5000) text += tour();
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, parse(text).milliseconds);
#ifdef __SANITIZE_ADDRESS__
  CHECK(best < 200);
#else
  CHECK(best < 10);
#endif
}
