// One formatting: idempotent, keeps comments and meaning, refuses what it cannot read.

#include "frontend/syntax/format.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "frontend/syntax/parse.h"
#include "tests/syntax/snippets.h"

using namespace lay;

namespace {

std::string formatted(std::string_view text) {
  Sources sources;
  const syntax::Formatted result = syntax::format(sources, sources.add("t.lay", text));
  return result.ok() ? result.text : render(sources, result.diagnostics);
}

bool parses(std::string_view text) {
  Sources sources;
  return syntax::parse(sources, sources.add("t.lay", text)).ok();
}

void check_idempotent(const std::string& text) {
  const std::string once = formatted(text);
  INFO(text);
  REQUIRE(once.find("error[") == std::string::npos);
  CHECK(formatted(once) == once);
}

}  // namespace

TEST_CASE("blanks") {
  CHECK(formatted("let   a=( 4 , 2 ) : ( 1,4 )") == "let a = (4,2):(1,4)\n");
  CHECK(formatted("f( a ,b= 2 )(3) [ 0 , 1 ] . x") == "f(a, b = 2)(3)[0,1].x\n");
  CHECK(formatted("a+b*-c  -( d-e )@ 0") == "a + b * -c - (d - e)@0\n");
  CHECK(formatted("(M / 128,K-1):(128*K , 1)") == "(M/128,K-1):(128*K,1)\n");
  CHECK(formatted("M/128 : 1") == "M / 128 : 1\n");
  CHECK(formatted("a o Sw< 3 , 4 , - 3 >(i)==b") == "a o Sw<3,4,-3>(i) == b\n");
  CHECK(formatted("a<b and not(c>=d)") == "a < b and not (c >= d)\n");
  CHECK(formatted("7//2") == "7 // 2\n");
  CHECK(formatted("(7 // 2,1)") == "(7//2,1)\n");
  CHECK(formatted("def f( l:Layout,t )->Layout=l") == "def f(l: Layout, t) -> Layout = l\n");
  CHECK(formatted("[ f(i) for i in 0 .. 4 ]") == "[f(i) for i in 0..4]\n");
  CHECK(formatted("sum [k:f16] (A[ m,k ])") == "sum[k : f16](A[m,k])\n");
  CHECK(formatted("max [ r , c:f64 ] (A[ r,c ])") == "max[r,c : f64](A[r,c])\n");
  CHECK(formatted("def  mean [ n ] ( x:Any ) = sum [n] (x)/extent( n )") ==
        "def mean[n](x: Any) = sum[n](x) / extent(n)\n");
  CHECK(formatted("kernel f <T:type,M>(A:T(M,1):(1,M),B:inout f32 M:1)->C:f32 M:1{C[m]=1}") ==
        "kernel f<T: type, M>(A: T (M,1):(1,M), B: inout f32 M:1) -> C: f32 M:1 { C[m] = 1 }\n");
  CHECK(formatted("record r{a=1,b=2}") == "record r { a = 1, b = 2 }\n");
  CHECK(formatted("let a=1;;let b=2;") == "let a = 1;; let b = 2\n");
  CHECK(formatted(";;a;\n;;\n// c\n;") == ";; a\n\n// c\n");
}

TEST_CASE("lines and comments") {
  CHECK(formatted("\n\n//x\n\n\n\nlet a = 1 \n\n") == "//x\n\nlet a = 1\n");
  CHECK(formatted("a   // one  \nabc    // two\n\nb  // three") ==
        "a    // one\nabc  // two\n\nb  // three\n");
  CHECK(formatted("f(1, // one\n2,\n// two\n3\n)") == "f(1,  // one\n  2,\n  // two\n  3\n)\n");
  CHECK(formatted("let a = b +\nc +\nd\nlet e = 1") == "let a = b +\n    c +\n    d\nlet e = 1\n");
  CHECK(formatted("schedule f for simt {\n\n// all\ntile = (1,2)\nsmem A=3  // three\n\n}\n") ==
        "schedule f for simt {\n  // all\n  tile   = (1,2)\n  smem A = 3  // three\n}\n");
  CHECK(formatted("schedule   f for M=4096,N = 14336  // up\nlet a = 1\n") ==
        "schedule f for M = 4096, N = 14336  // up\nlet a = 1\n");
}

TEST_CASE("entries line up where each has a line of its own") {
  CHECK(formatted("record r {\n a = 1\n bcd = 2\n}") == "record r {\n  a   = 1\n  bcd = 2\n}\n");
  const std::string commas =
      "record r {\n  a = 1,  // one\n  // two\n  bcd = (1,\n    2),\n  e = 3\n}\n";
  CHECK(formatted("record r {\na = 1, // one\n // two\nbcd = (1,\n2),\n e = 3\n}") == commas);
  CHECK(formatted(commas) == commas);
  const std::string lines = "record r { a = 1, bcd = 2 }\nrecord s { bcd = 2 }\n";
  CHECK(formatted(lines) == lines);
}

TEST_CASE("the tour and its pieces are formatted once and for all") {
  const std::string text = tour();
  check_idempotent(text);
  CHECK(formatted(text).find("// rows") != std::string::npos);
  std::size_t checked = 0;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    if (!parses(text.substr(0, i))) continue;
    check_idempotent(text.substr(0, i));
    ++checked;
  }
  CHECK(checked > 50);
}

TEST_CASE("any spelling of the blanks comes out the same") {
  // Between two words of the tour a blank may become several and a newline inside brackets may
  // move.
  const std::string text = tour(), once = formatted(text);
  std::string spread;
  bool string = false;
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (once[i] == '"' && once[i - 1] != '\\') string = !string;
    if (once.compare(i, 2, "//") == 0 && !string) {
      const std::size_t end = once.find('\n', i);
      spread += once.substr(i, end - i);
      i = end;
    }
    spread += once[i];
    if (once[i] == ' ' && !string && once[i + 1] != '/') spread += ' ';
  }
  CHECK(formatted(spread) == once);
}

TEST_CASE("a newline or a comment in place of any blank or behind any comma") {
  const char* const between[] = {"\n", "  // c\n", "\n\n\n//c\n\n", "; "};
  const std::string text = tour();
  int valid = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != ' ' && text[i - 1] != ',' && text[i - 1] != '(' && text[i] != ')') continue;
    const std::string changed = text.substr(0, i) + between[i % 4] + text.substr(i);
    if (!parses(changed)) continue;
    ++valid;
    const std::string once = formatted(changed);
    if (once.find("error[") != std::string::npos || formatted(once) != once) FAIL(changed);
  }
  CHECK(valid > 100);
}

TEST_CASE("random programs of valid pieces") {
  const std::vector<std::string> atoms = {"a",
                                          "1",
                                          "_4",
                                          "(1,2)",
                                          "(a,)",
                                          "f(x, y = 2)",
                                          "-1@0",
                                          "x[0,1]",
                                          "a.b",
                                          "()",
                                          "[i*2 for i in 0..n]",
                                          "Sw<3,4,3>",
                                          "\"s  t\"",
                                          "0.5",
                                          "(\n1,\n2)",
                                          "(a + // c\nb)",
                                          "(if a then b else c)"};
  const std::vector<std::string> operators = {" + ", "-",    " *", "/ ", "//",    " % ",   " o ",
                                              ":",   " == ", ">=", "<",  " and ", " or\n "};
  std::mt19937 random(7);
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  int valid = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = "let v = " + pick(atoms);
    for (unsigned i = 0; i < random() % 5; ++i) text += pick(operators) + pick(atoms);
    text += pick({"\n", "  // end\n", ";\n", "; print v\n"});
    if (!parses(text)) continue;
    ++valid;
    check_idempotent(text);
  }
  CHECK(valid > 500);
}

TEST_CASE("a text with errors is refused with them") {
  CHECK(formatted("let = 1").find("error[syntax]") == 0);
}
