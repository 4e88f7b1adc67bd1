// Text -> tree, shown by dump(): each construct, precedence, the newline rule, CuTe's own text.

#include "frontend/syntax/parse.h"

#include <catch2/catch.hpp>
#include <string>

#include "frontend/syntax/format.h"
#include "frontend/syntax/walk.h"
#include "tests/syntax/snippets.h"

using namespace lay;
using syntax::Parsed;

namespace {

// The dump without the final newline; the rendered errors if there are any.
std::string tree(std::string_view text) {
  Sources sources;
  const Parsed parsed = syntax::parse(sources, sources.add("t.lay", text));
  if (!parsed.ok()) return render(sources, parsed.diagnostics);
  std::string result = syntax::dump(*parsed.tree);
  if (!result.empty()) result.pop_back();
  return result;
}

}  // namespace

TEST_CASE("layouts, tuples and groups") {
  CHECK(tree("(4,2):(1,4)") == "(: (tuple (4 2)) (tuple (1 4)))");
  CHECK(tree("(2,)") == "(tuple (2))");
  CHECK(tree("(2)") == "2");
  CHECK(tree("()") == "(tuple ())");
  CHECK(tree("(1,2,)") == "(tuple (1 2))");
  CHECK(tree("((4,2):(1,4))(7)") == "(call (: (tuple (4 2)) (tuple (1 4))) (7))");
  CHECK(tree("x[0,1]") == "(index x (0 1))");
  CHECK(tree("a(_, (1,0))") == "(call a (_ (tuple (1 0))))");
}

TEST_CASE("precedence, from loose to tight") {
  CHECK(tree("a or b and not c == d") == "(chain a (or (chain b (and (not (== c d))))))");
  CHECK(tree("a o b == c o 2:1") == "(== (chain a (o b)) (chain c (o (: 2 1))))");
  CHECK(tree("a ∘ b o c") == "(chain a (o b o c))");
  CHECK(tree("a + 1:b * 2") == "(: (chain a (+ 1)) (chain b (* 2)))");
  CHECK(tree("a - b + c") == "(chain a (- b + c))");
  CHECK(tree("(a - b) + c") == "(chain (chain a (- b)) (+ c))");
  CHECK(tree("a - (b + c)") == "(chain a (- (chain b (+ c))))");
  CHECK(tree("a * b + c * d") == "(chain (chain a (* b)) (+ (chain c (* d))))");
  CHECK(tree("a / b // c % d") == "(chain a (/ b // c % d))");
  CHECK(tree("-a * b") == "(chain (- a) (* b))");
  CHECK(tree("-1@0") == "(- (@ 1 (0)))");
  CHECK(tree("1@0@1") == "(@ 1 (0 1))");
  CHECK(tree("(M/2)@0") == "(@ (chain M (/ 2)) (0))");
  CHECK(tree("(1@0)@1") == "(@ (@ 1 (0)) (1))");
  CHECK(tree("x.a.b(1)[2]") == "(index (call (. (. x a) b) (1)) (2))");
  CHECK(tree("if a then b else c or d") == "(if a b (chain c (or d)))");
  CHECK(tree("1 + f(x)(y) - 2") == "(chain 1 (+ (call (call f (x)) (y)) - 2))");
}

TEST_CASE("Sw< begins a swizzle and >= is two words") {
  CHECK(tree("Sw<3,4,3>==x") == "(== (Sw 3 4 3) x)");
  CHECK(tree("Sw<3,4,-3>(i)") == "(call (Sw 3 4 (- 3)) (i))");
  CHECK(tree("Sw<b,m+1,s> o 0 o L") == "(chain (Sw b (chain m (+ 1)) s) (o 0 o L))");
  CHECK(tree("a >= b") == "(>= a b)");
  CHECK(tree("a > b") == "(> a b)");
  CHECK(tree("Sw < 3") == "(< Sw 3)");
}

TEST_CASE(
    "CuTe's prints: a group of numerals with an underscore is a tuple even with one element") {
  CHECK(tree("(_4,_8):(_1,_4)") == "(: (tuple (_4 _8)) (tuple (_1 _4)))");
  CHECK(tree("(_4)") == "(tuple (_4))");
  CHECK(tree("((_4),8)") == "(tuple ((tuple (_4)) 8))");
  CHECK(tree("((4),(_8))") == "(tuple ((tuple (4)) (tuple (_8))))");
  CHECK(tree("((4),8)") == "(tuple (4 8))");
  CHECK(tree("_8:_1") == "(: _8 _1)");
  CHECK(tree("(_1@0,_-1@1)") == "(tuple ((@ _1 (0)) (@ _-1 (1))))");
  CHECK(tree("f((_4))") == "(call f ((tuple (_4))))");
  CHECK(tree("(x,(_4))") == "(tuple (x (tuple (_4))))");
  CHECK(tree("Sw<3,4,3> o _0 o (_8):(_1)") ==
        "(chain (Sw 3 4 3) (o _0 o (: (tuple (_8)) (tuple (_1)))))");
}

TEST_CASE("integers at the edge of 64 bits") {
  CHECK(tree("9223372036854775807") == "9223372036854775807");
  CHECK(tree("-9223372036854775808") == "-9223372036854775808");
  CHECK(tree("9223372036854775808").find("error[overflow]") == 0);
  CHECK(tree("-9223372036854775809").find("error[overflow]") == 0);
  CHECK(tree("18446744073709551616").find("error[overflow]") == 0);
  CHECK(tree("-(9223372036854775808)").find("error[overflow]") == 0);
  CHECK(tree(std::string(1000000, '9')).find("error[overflow]") == 0);
  CHECK(tree("1e400").find("error[overflow]") == 0);
  CHECK(tree("1e-3 + 0.5") == "(chain 1e-3 (+ 0.5))");
  CHECK(tree("[i for i in 0..4]") == "(for i 0 4 i)");
}

TEST_CASE("statements") {
  CHECK(tree("let a = 1; let b = 2\n\n;") == "(let a 1)\n(let b 2)");
  CHECK(tree("def f(x, y: int) -> Layout = x") == "(def f ((x ()) (y int)) Layout x)");
  CHECK(tree("def f() = 1") == "(def f () () 1)");
  CHECK(tree("dim M, N") == "(dim (M N))");
  CHECK(tree("assert a == b, \"no\"") == "(assert (== a b) \"no\")");
  CHECK(tree("use atoms.sm90\nuse \"a b.lay\"") == "(use (atoms sm90))\n(use \"a b.lay\")");
  CHECK(tree("record r(n) { a = 1, b = n\n c = 2 }") == "(record r ((n ())) ((a 1) (b n) (c 2)))");
  CHECK(tree("record r { }") == "(record r () ())");
  CHECK(tree("find layout(read = (8,4):(1,8))") ==
        "(find layout ((= read (: (tuple (8 4)) (tuple (1 8))))))");
  CHECK(tree("schedule f for simt when M >= 2 { tile = (1,2); smem A = 3 }") ==
        "(schedule f simt (>= M 2) ((tile () (tuple (1 2))) (smem A 3)))");
  CHECK(tree("schedule f for M = 4096, N = 2 * 7168,") ==
        "(sizes f ((M 4096) (N (chain 2 (* 7168)))))");
}

TEST_CASE("kernels") {
  CHECK(tree("kernel f<M>(A: f32 M:1, s: f32) -> C: f32 M:1 { C[m] = s * A[m] }") ==
        "(kernel f ((M ())) ((in A f32 (: M 1)) (in s f32 ())) ((in C f32 (: M 1))) () "
        "((assign C (m) (chain s (* (index A (m)))))))");
  CHECK(tree("kernel f<T: type, M>(A: inout T M:1) -> (C: f32 M:1, D: f32 1:0)\nwhere M >= 2\n{\n "
             "let a = 1\n\n D[0] = "
             "a\n}") ==
        "(kernel f ((T type) (M ())) ((inout A T (: M 1))) ((in C f32 (: M 1)) (in D f32 (: 1 0))) "
        "(>= M 2) "
        "((let a 1) (assign D (0) a)))");
  CHECK(tree("sum[k](a[k] * b[k])") ==
        "(call (index sum (k)) ((chain (index a (k)) (* (index b (k))))))");
  CHECK(tree("sum[k, l : f16](x)") == "(call (index sum (k (: l f16))) (x))");
  CHECK(tree("def mean[n](x) = sum[n](x)") ==
        "(def mean (n) ((x ())) () (call (index sum (n)) (x)))");
  CHECK(tree("sum(x)") == "(call sum (x))");
}

TEST_CASE("a newline ends a statement unless something is open or wanted") {
  CHECK(tree("let a = (1,\n\n 2)\nlet b = a +\n 1") ==
        "(let a (tuple (1 2)))\n(let b (chain a (+ 1)))");
  CHECK(tree("let s = Sw<3,4,3>\nprint s") == "(let s (Sw 3 4 3))\n(print (s))");
  CHECK(tree("let s = Sw<3,\n4,\n3>\nprint s") == "(let s (Sw 3 4 3))\n(print (s))");
  CHECK(tree("let a =\n 1\nlet b = if c\n then 1\n else\n 2") == "(let a 1)\n(let b (if c 1 2))");
  CHECK(tree("let a = x o // comment\n y") == "(let a (chain x (o y)))");
  CHECK(tree("dim M,\n N") == "(dim (M N))");
  CHECK(tree("a\n(1,2)") == "a\n(tuple (1 2))");
  CHECK(tree("\r\nlet a = 1\rlet b = 2\r\n") == "(let a 1)\n(let b 2)");
  CHECK(tree("\xEF\xBB\xBFlet a = 1") == "(let a 1)");
}

TEST_CASE("// divides between operands and begins a comment elsewhere") {
  CHECK(tree("7 // 2") == "(chain 7 (// 2))");
  CHECK(tree("7//2") == "(chain 7 (// 2))");
  CHECK(tree("(a)// b") == "(chain a (// b))");
  CHECK(tree("7  // 2") == "7");
  CHECK(tree("7\t// 2") == "7");
  CHECK(tree("// 2\n7 //\n") == "7");
  CHECK(tree("(7, // seven\n 8)") == "(tuple (7 8))");
  CHECK(tree("7 // 2 // 3  // 4") == "(chain 7 (// 2 // 3))");
}

TEST_CASE("needs_more: an open bracket, a wanted operand, a block that has not come") {
  for (const char* text :
       {"(", "let a = (1,", "let a =", "a o", "a +\n", "f(1, // one\n", "let x = [a for i in 0..3",
        "kernel f<M>(A: f32 M:1) -> C: f32 M:1", "kernel f<M>(A: f32 M:1) -> C: f32 M:1\n",
        "kernel f<M>(A: f32 M:1) -> C: f32 M:1 {\n C[m] = 1\n", "schedule f for simt",
        "schedule f for simt when r(n = 4).a == 4", "record r(n)", "let a = if b",
        "let a = if b then 1", "Sw<3,4", "def f(x) =", "dim M,"}) {
    INFO(text);
    CHECK(syntax::needs_more(text));
  }
  for (const char* text :
       {"", "a", "let a = (1,2)\n", ")", "(]", "let a = (1,\nlet b = 2", "Sw<3,4,3>", "\0", "\xff",
        "kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = 1 }", "// a comment +", "let a = \"(",
        "let a = if b then 1 else 2", "schedule f for M = 4, N = 8"}) {
    INFO(text);
    CHECK_FALSE(syntax::needs_more(text));
  }
}

TEST_CASE("a statement with an error is left out, and its names are known") {
  Sources sources;
  const int file = sources.add(
      "t.lay",
      "let a = 1\nlet b = 9223372036854775808\nlet c = \"\\q\"\ndim M, N,\nlet d = (\nlet e = 2\n"
      "kernel k<K>(A: f32 K:1) -> C: f32 K:1 {\n  C[k] = \n  let x = 1\n}\ndef f(x) = +\nf(1))\n");
  const Parsed parsed = syntax::parse(sources, file);
  CHECK(syntax::dump(*parsed.tree) == "(let a 1)\n(let e 2)\n");
  std::string broken;
  for (const auto& name : parsed.tree->broken) broken += name.text + " ";
  CHECK(broken == "b c M N d k f ");
}

TEST_CASE("the whole tour: every span lies inside its parent's and reads as it should") {
  Sources sources;
  const int file = sources.add("tour.lay", tour());
  const Parsed parsed = syntax::parse(sources, file);
  INFO(render(sources, parsed.diagnostics));
  REQUIRE(parsed.ok());
  CHECK(parsed.tree->statements.size() == 25);
  for (const auto& e : parsed.tree->expressions) {
    REQUIRE(e.span.file == file);
    REQUIRE(e.span.begin < e.span.end);
    if (const auto* name = std::get_if<syntax::Name>(&e.node))
      CHECK(sources.text(e.span) == name->text);
    syntax::for_each_child(e, [&](syntax::ExpressionId id) {
      const Span& child = (*parsed.tree)[id].span;
      CHECK(child.begin >= e.span.begin);
      CHECK(child.end <= e.span.end);
    });
  }
}
