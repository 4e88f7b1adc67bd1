// The REPL's reading of typed and pasted text, before anything is evaluated.
#include <catch2/catch.hpp>

#include "runtime/repl/input.h"

using namespace lay::runtime;

namespace {

using Texts = std::vector<std::string>;

// The statements that a pipe with this text is evaluated as.
Texts collected(const std::string& text, bool drops_answers = true) {
  LineCollector lines(drops_answers);
  Texts statements;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (lines.add(text.substr(at, end - at))) {
      statements.push_back(lines.text());
      lines.clear();
    }
    at = end + 1;
  }
  return statements;
}

}  // namespace

TEST_CASE("prompts of a pasted session are removed, and the answers between them") {
  CHECK(without_prompts("lay> 1 + 1") == "1 + 1");
  CHECK(without_prompts("lay> let a = 4:1\nlay> a(2)\n2\n\nlay> size(a)\n4") ==
        "let a = 4:1\na(2)\nsize(a)");
  CHECK(without_prompts("lay> size((2,\n   > 3))\nr1 = 6") == "size((2,\n3))");
}

TEST_CASE("prompts may be indented, as on a help page, or cut at the end of the line") {
  CHECK(without_prompts("\n  lay> let a = (\n     > 4,2)\n  lay>\n  8\n") == "let a = (\n4,2)\n");
  CHECK(without_prompts("lay> kernel f<M>(X: f32 M:1)\n   >\n   > -> Y: f32 M:1") ==
        "kernel f<M>(X: f32 M:1)\n\n-> Y: f32 M:1");
}

TEST_CASE("a text without prompts stays as it is") {
  for (const char* text : {"", "\n\n", "a(3,1)", "let a = 1\nlay> 2", "lay>=3", "layout(4)",
                           "let r = (a\n   > b)", "f(\n  1)\n"})
    CHECK(without_prompts(text) == text);
}

TEST_CASE("a pasted text is split at its commands") {
  CHECK(split_commands("let a = 1\na\n:type a\n?o\na + 1") ==
        Texts{"let a = 1\na", ":type a", "?o", "a + 1"});
  CHECK(split_commands("(2,\n3)\n\n") == Texts{"(2,\n3)\n\n"});
  CHECK(split_commands(" \n").empty());
  // Inside brackets a colon belongs to the layout.
  CHECK(split_commands("f((4,2)\n:(1,4))") == Texts{"f((4,2)\n:(1,4))"});
}

TEST_CASE("whether more input is needed is asked of what stands behind the prompts") {
  CHECK(needs_more_input("lay> size((2,"));
  CHECK(needs_more_input("lay> 1\n1\nlay> size("));
  CHECK_FALSE(needs_more_input("lay> size((2,\n   > 3))\nr1 = 6"));
  CHECK_FALSE(needs_more_input(":explain (2,"));
  CHECK_FALSE(needs_more_input("?("));
}

TEST_CASE("a pipe is read by statements") {
  CHECK(collected("let a = (4,\n2)\na\n") == Texts{"let a = (4,\n2)", "a"});
  CHECK(collected("size((\n\n1\n") == Texts{"size((\n", "1"});  // an empty line gives up
}

TEST_CASE("a piped session is read without its answers") {
  const std::string session = "lay> let a = (4,\n   > 2)\nlay> a\n(4,2)\nlay> :names\na\n  1\n";
  CHECK(collected(session) == Texts{"let a = (4,\n2)", "a", ":names"});
  // On a terminal someone may paste one line and type the next.
  CHECK(collected("lay> 1\n2\n", false) == Texts{"1", "2"});
  // A script that only mentions a prompt later is no session.
  CHECK(collected("1\nlay> 2\n3\n") == Texts{"1", "2", "3"});
}
