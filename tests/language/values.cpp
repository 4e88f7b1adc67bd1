// Values, operators and statements of the language, from text to text.

#include <catch2/catch.hpp>

#include "tests/language/script.h"

using lay::sema::test::errors;
using lay::sema::test::run;
using lay::sema::test::Script;

TEST_CASE("tuples: rank, depth, size, modes") {
  CHECK(run("print rank(6), depth(6), size(6)") == "1 0 6\n");
  CHECK(run("print rank((2,)), depth((2,)), size((2,))") == "1 1 2\n");
  CHECK(run("let d = (3,(6,2),8)\nprint rank(d), depth(d), size(d), rank(d,1), size(d,1,0)") ==
        "3 2 288 2 6\n");
  CHECK(run("let d = (3,(6,2),8)\nprint d[1], d[1,0], get(d,1,1), select(d,2,0)") ==
        "(6,2) 6 2 (8,3)\n");
}

TEST_CASE("layouts print as they read") {
  CHECK(run("print 8:1, (2,3):(3,1), ((2,2),2):((4,1),2)") ==
        "8:1 (2,3):(3,1) ((2,2),2):((4,1),2)\n");
  CHECK(run("print layout((4,2)), layout((4,2), right)") == "(4,2):(1,4) (4,2):(2,1)\n");
  CHECK(run("print \"e\", (4,3):(1@0,1@1)") == "e (4,3):(1@0,1@1)\n");
  CHECK(run("print 1@0@1, -1@0") == "1@0@1 -1@0\n");
}

TEST_CASE("a layout of rank 2 prints its table") {
  CHECK(run("print ((2,2),2):((4,1),2)") ==
        "((2,2),2):((4,1),2)\n"
        "         0  1\n"
        "  (0,0)  0  2\n"
        "  (1,0)  4  6\n"
        "  (0,1)  1  3\n"
        "  (1,1)  5  7\n");
}

TEST_CASE("layouts are functions of coordinates") {
  CHECK(run("let a = (4,2):(1,4)\nprint a(7), a(3,1), a((3,1))") == "7 7 7\n");
  CHECK(run("let b = ((2,2),2):((4,1),2)\nprint b((1,0),1), b(1,1), b(5)") == "6 6 6\n");
  CHECK(run("let b = ((2,2),2):((4,1),2)\nprint b(_,1), b((_,1),0)") ==
        "((2,2),):((4,1),) (2,):(4,)\n");
}

TEST_CASE("arithmetic is exact") {
  CHECK(run("print 7 // 2, -7 // 2, -7 % 2, 8 / 2, ceil_div(7,2)") == "3 -4 1 4 4\n");
  CHECK(run("print 1 + 2 * 3 - 4, (1,2) + (3,4), 2 * (1,2)") == "3 (4,6) (2,4)\n");
  CHECK(run("print 0.5 + 1, 1e-3, 1.5 * 2") == "1.5 0.001 3.0\n");
  CHECK(errors("print 7 / 2") == "not-exact");
  CHECK(errors("print 9223372036854775807 + 1") == "overflow");
  CHECK(errors("print 1 // 0") == "division-by-zero");
}

TEST_CASE("conditions") {
  CHECK(run("print 1 < 2, 2 <= 1, (1,2) == (1,2), 8:1 == 8:2, not true") ==
        "true false true false false\n");
  CHECK(run("print if 1 < 2 and 2 < 3 then 8 else 9") == "8\n");
  CHECK(run("print true or 1 // 0 == 1") == "true\n");
}

TEST_CASE("comprehensions make tuples") {
  CHECK(run("let a = (4,2):(2,1)\nprint [a(i, 0) for i in 0..4]") == "(0,2,4,6)\n");
  CHECK(run("print [8:i for i in 1..3]") == "(8:1,8:2)\n");
  CHECK(run("print [i for i in 0..0]") == "()\n");
  CHECK(errors("print [i for i in 0..1000000000000]") == "limit");
}

TEST_CASE("the coordinates of one layout in colexicographic order") {
  CHECK(run("print [idx2crd(i, (2,(2,2))) for i in 0..8]") ==
        "((0,(0,0)),(1,(0,0)),(0,(1,0)),(1,(1,0)),(0,(0,1)),(1,(0,1)),(0,(1,1)),(1,(1,1)))\n");
}

TEST_CASE("defs, records and lets") {
  CHECK(run("def twice(x) = 2 * x\nprint twice(twice(3))") == "12\n");
  CHECK(run("def f(a, b) = a - b\nprint f(b = 1, a = 5)") == "4\n");
  CHECK(run("let k = 2\ndef f(x) = x * k\nlet k = 3\nprint f(5)") == "10\n");
  CHECK(run("record pair(n) { a = n, b = a + 1 }\nlet p = pair(3)\nprint p.a, p.b, p") ==
        "3 4 pair(n = 3)\n");
  CHECK(errors("def f(x) = f(x)") == "recursion");
  CHECK(errors("def f(x) = g(x)") == "unknown-name");
  CHECK(errors("def f(x: Layuot) = x") == "unknown-type");
  CHECK(errors("def f(x: Layout) = x\nf(3)") == "argument-kind");
}

TEST_CASE("unknown names come with the nearest one") {
  CHECK(run("print colaesce(8:1)").find("did you mean coalesce?") != std::string::npos);
}

TEST_CASE("one error does not hide the next, and does not cascade") {
  CHECK(errors("let a = 1 / 0\nlet b = a + 1\nprint b\nlet c = 7 / 2") ==
        "division-by-zero not-exact");
}

TEST_CASE("assert and its message") {
  CHECK(errors("assert 1 == 1") == "");
  CHECK(errors("assert 1 == 2") == "assertion");
  CHECK(run("assert 1 + 1 == 3, \"sums\"").find("sums") != std::string::npos);
  CHECK(run("assert 1 + 1 == 3").find("the left side is 2") != std::string::npos);
}

TEST_CASE("symbols: sizes that are not known yet") {
  CHECK(run("dim M\nlet a = (2,M):(M,1)\nprint a, size(a), a(1,3)") == "(2,M):(M,1) 2*M M + 3\n");
  CHECK(run("dim M\nassume M % 128 == 0\nassert M % 64 == 0\nprint M // 128 * 128 == M") ==
        "true\n");
  CHECK(errors("dim M\nassume M > 4\nassume M < 3") == "contradiction");
  CHECK(run("dim M\nprint if M > 4 then M else 4") != "");
  CHECK(errors("dim M\nprint [i for i in 0..M]") == "symbolic");
}

TEST_CASE("guards travel with values and are printed as a comment") {
  CHECK(run("dim M\nlet n = M / 96\nprint n * 2") == "M/48  // guarded by M % 96 == 0\n");
  CHECK(run("dim M\nlet n = M / 96\nassume M % 192 == 0\nprint n") == "M/96\n");
}

TEST_CASE("swizzles") {
  CHECK(run("print Sw<3,4,3>, Sw<3,4,3>(128), Sw<2,0,3> o Sw<1,2,3>") ==
        "Sw<3,4,3> 144 Sw<3,0,3>\n");
  CHECK(run("print Sw<3,3,3> o 0 o (8,64,1):(64,1,0)") == "Sw<3,3,3> o 0 o (8,64,1):(64,1,0)\n");
  CHECK(run("print (Sw<3,3,3> o (8,64):(64,1))(1,0)") == "72\n");
  CHECK(errors("print Sw<3,0,2>") == "swizzle");
}

TEST_CASE("limits keep every script finite") {
  std::string doubling = "let a0 = (1,1)\n";
  for (int i = 0; i < 60; ++i)
    doubling += "let a" + std::to_string(i + 1) + " = (a" + std::to_string(i) + ",a" +
                std::to_string(i) + ")\n";
  CHECK(errors(doubling + "print size(a60)") != "");
  std::string calls = "def f0(x) = x + x\n";
  for (int i = 0; i < 60; ++i)
    calls += "def f" + std::to_string(i + 1) + "(x) = f" + std::to_string(i) + "(x) + f" +
             std::to_string(i) + "(x)\n";
  CHECK(errors(calls + "print f60(1)") == "limit");
  CHECK(errors("let l = (1000000000000000000,1000000000000000000):(1,1000000000000000000)\nprint "
               "size(l)") == "overflow");
  CHECK(run("print size((4611686018427387904,):(0,))") == "4611686018427387904\n");
}

TEST_CASE("use: files beside the script") {
  using lay::sema::test::Script;
  std::map<std::string, std::string> files = {
      {"tools.lay", "def twice(x) = 2 * x\nlet four = twice(2)\n"},
      {"a.lay", "use \"b.lay\"\n"},
      {"b.lay", "use \"a.lay\"\n"}};
  CHECK(Script("use \"tools.lay\"\nprint twice(four), tools.four", lay::sema::Mode::run, files)
            .printed == "8 4\n");
  CHECK(Script("use \"a.lay\"", lay::sema::Mode::run, files).errors == "use-cycle");
  for (const char* path :
       {"../x.lay", "/etc/x.lay", "x/../y.lay", "x.txt", "", ".lay/..", "a//b.lay"}) {
    CHECK(Script("use \"" + std::string(path) + "\"", lay::sema::Mode::run, files).errors ==
          "use-path");
  }
  CHECK(errors("use atoms.sm91") == "unknown-library");
  CHECK(run("use atoms.sm90\nlet w = sm90.wgmma(n = 256, ab = bf16, acc = f32)\nprint w.shape, "
            "w.C") ==
        "(64,256,16) ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))\n"
        "");
}

TEST_CASE("cute reads what CuTe prints") {
  CHECK(run("print cute(\"((_2,_2),4):((_4,_1),2)\") == ((2,2),4):((4,1),2)") == "true\n");
  CHECK(run("print cute(\"(4):(1)\"), cute(\"_4:_1\"), cute(\"(_3,(_2,4))\")") ==
        "(4,):(1,) 4:1 (3,(2,4))\n");
  CHECK(run("print text(cute(\"Sw<3,3,3> o _0 o (_8,_64):(_64,_1)\"))") ==
        "Sw<3,3,3> o 0 o (8,64):(64,1)\n");
  CHECK(run("print text(cute(\"Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)\"))") ==
        "Sw<3,3,3> o 0 o (8,64):(64,1)\n");
  CHECK(run("print text(cute(\"tensor<ptr<f16, smem, align<16>, S<2,4,3>> o (8,32):(32,1)>\"))") ==
        "Sw<2,3,3> o 0 o (8,32):(32,1)\n");
  CHECK(run("print text(cute(\"tensor(raw_ptr(0x0400: f8E4M3FN, smem, S<3,4,3>) o (8,128):(128,1), "
            "data=[[\"))") == "Sw<3,4,3> o 0 o (8,128):(128,1)\n");
  CHECK(run("print text(cute(\"tensor<ptr<bf16, gmem> o ((1,4)):((0,1))>\"))") ==
        "((1,4),):((0,1),)\n");
  CHECK(run("print text(cute(\"tensor<(0,3) o (8,4):(1@0,1@1)>\")(2))") == "(2,3)\n");
  for (const char* cut : {"tensor<", "tensor<ptr<f16", "tensor<ptr<f16, S<3",
                          "tensor<ptr<x> o 4:1>", "tensor(raw_ptr(", "tensor<ptr<f16> o (4):(1)",
                          "(?,2):(1,?)", "tensor<ptr<f16> o (8,?{div=8}):(?{i64},1)>"}) {
    INFO(cut);
    CHECK(errors("print text(cute(\"" + std::string(cut) + "\"))") == "cute-text");
  }
  CHECK(run("print text(cute(\"Sw<3,4,3>_smem_ptr[16b](0x7f0000000400) o (_8,_64):(_64,_1)\"))") ==
        "Sw<3,3,3> o 0 o (8,64):(64,1)\n");
  CHECK(run("print text(cute(\"gmem_ptr[32b](0x7f0000000400) o (_8,4):(_1,8)\"))") ==
        "(8,4):(1,8)\n");
  CHECK(run("print cute(\"(_8,_4,_2):(_1,_-8,_32)\"), cute(\"(4,3):(_1@0,_1@1)\")[1]") ==
        "(8,4,2):(1,-8,32) 3:1@1\n");
  for (const char* bad : {"", "(", "(1", "1:", "Sw<", "Sw<1,2", "1 2", "((1,2)", "Sw<3,4,3> o", "x",
                          "9999999999999999999"}) {
    CHECK(errors("cute(\"" + std::string(bad) + "\")") == "cute-text");
  }
}

TEST_CASE("claims are proved, refuted with sizes, or undecided") {
  using lay::Verdict;
  using lay::sema::test::Script;
  auto verdict = [](const std::string& text) {
    Script script(text);
    REQUIRE(!script.outcomes.back().findings.empty());
    return script.outcomes.back().findings.back().verdict;
  };
  CHECK(verdict("dim M\nprove M * 4 % 2 == 0") == Verdict::proved);
  CHECK(verdict("dim M\nprove M != 3") == Verdict::refuted);
  CHECK(run("dim M\nprove M != 3").find("M = 3") != std::string::npos);
  CHECK(verdict("dim M, N\nprove injective((M,N):(N,1))") == Verdict::proved);
  CHECK(verdict("dim M, N\nprove injective((M,N):(M,1))") == Verdict::refuted);
}

TEST_CASE("what lies past the end of a layout is noted") {
  lay::sema::test::Script script("let a = (3,4):(1,3)\nlet x = a(100)");
  CHECK(script.errors == "");
  REQUIRE(script.outcomes.back().diagnostics.list().size() == 1);
  CHECK(script.outcomes.back().diagnostics.list()[0].code == "past-the-end");
}

TEST_CASE("host arrays") {
  CHECK(run("let x = random(s32, (4,), 1, 0, 10)\nprint x[1..3] == x[1..3], all(x == x), any(x != "
            "x)") == "pred (2,) [true, true] true false\n");
  CHECK(run("print sum(zeros(f32, (2,3)) + 2, 1), mean(zeros(f32, (2,3)) + 0.5)") ==
        "f64 (2,) [6.0, 6.0] 0.5\n");
  CHECK(run("print max(abs(zeros(f32, (2,)) - 3)), argmax(zeros(f32, (2,3)), 1)") ==
        "3.0 s64 (2,) [0, 0]\n");
  CHECK(
      run("print shape(zeros(f32, (2,3))), shape(zeros(f32, (2,3))[1]), zeros(f32, (2,3))[1,2]") ==
      "(2,3) (3,) 0.0\n");
  CHECK(run("print cast(3.5, s8), cast(300, s8), cast(1e30, s64), u8(-1)") ==
        "4 127 9223372036854775807 0\n");
  // One more than the middle of two neighbours: doubles do not have it.
  CHECK(run("print cast(1152921573326323713, f32), bf16(-1157425104234217473), "
            "cast(1152921573326323713, f64)") ==
        "1152921642045800448.0 -1161928703861587968.0 1152921573326323712.0\n");
  CHECK(errors("zeros(f32, (2,3)) + zeros(f32, (3,2))") == "shape-mismatch");
  CHECK(errors("zeros(f32, (2,3))[0..4]") == "range");
  CHECK(errors("load(\"nothing.npy\")") == "file");
}

TEST_CASE("max, min and the functions made of them take arrays, element by element") {
  const std::string x = "let X = random(s32, (2,3), 1, 0, 10)\n";  // 5 9 0 5 1 8
  CHECK(run(x + "print max(X, 5)") == "s32 (2,3) [5, 9, 5, 5, 5, 8]\n");
  CHECK(run(x + "print min(5, X)") == "s32 (2,3) [5, 5, 0, 5, 1, 5]\n");
  CHECK(run(x + "print max(X - 6, 0, -X)") == "s32 (2,3) [0, 3, 0, 0, 0, 2]\n");
  CHECK(run(x + "print relu(X - 5)") == "s32 (2,3) [0, 4, 0, 0, 0, 3]\n");
  CHECK(run(x + "print clamp(X, 2, 6)") == "s32 (2,3) [5, 6, 2, 5, 2, 6]\n");
  CHECK(run("print max(zeros(f32, (2,1)), zeros(f32, (1,3)) + 1.5)") ==
        "f32 (2,3) [1.5, 1.5, 1.5, 1.5, 1.5, 1.5]\n");
  for (const char* f : {"relu", "silu", "gelu", "gelu_tanh", "sigmoid", "exp", "abs"})
    CHECK(errors("print " + std::string(f) + "(random(f32, (2,2)))") == "");
  CHECK(errors("max(zeros(f32, 2), zeros(f32, 3))") == "shape-mismatch");
  CHECK(errors("max(zeros(f32, 2), \"x\")") == "argument-kind");
}

TEST_CASE("a bound of random is never taken for its seed") {
  CHECK_THAT(Script("random(f32, (2,2), -1, 1)").messages,
             Catch::Contains("did you mean random(f32, (2,2), 1, -1, 1)?"));
  CHECK(errors("random(f32, (2,2), -1)") == "range");
  CHECK(errors("random(f32, (2,2), 1, -1, 1)") == "");
}

TEST_CASE("limits are asked before work begins, and nothing is nothing whatever its shape") {
  const std::string most = "9223372036854775807";
  for (const char* f : {"zeros", "random"}) {
    const std::string make = std::string(f) + "(s8, ";
    CHECK(errors(make + "1000000000)") == "limit");
    CHECK(errors(make + "(" + most + "," + most + "))") == "limit");
    CHECK(errors(make + "(" + most + ",0))") == "");
    CHECK(errors(make + "(" + most + ",2,0))") == "");
  }
  const std::string none = "let X = zeros(f32, (" + most + ",0))\n";
  CHECK(errors(none + "transpose(X)") == "");
  CHECK(errors(none + "sum(X, 0)") == "");
  CHECK(errors(none + "sum(X, 1)") == "limit");
  CHECK(errors(none + "X + 1") == "");
  CHECK(errors(none + "max(X, X)") == "");
  CHECK(errors(none + "X[0..5]") == "");
  CHECK(errors("zeros(s8, (30000,1)) + zeros(s8, (1,30000))") == "limit");
}

TEST_CASE("habits of C++ and Python are answered with what Lay writes") {
  const auto said = [](const std::string& text) { return Script(text).messages; };
  CHECK_THAT(said("print 2 ** 3"), Catch::Contains("no power operator"));
  CHECK_THAT(said("let x: int = 3"), Catch::Contains("let x = ..."));
  CHECK_THAT(said("int x = 3"), Catch::Contains("did you mean `let`?"));
  CHECK_THAT(said("x := 3"), Catch::Contains("let x = ..."));
  CHECK_THAT(said("let x = 3\nx += 1"), Catch::Contains("let b = a + 1"));
  CHECK_THAT(said("cute::size(4:1)"), Catch::Contains("there are no namespaces"));
  CHECK_THAT(said("/* one */ print 3"), Catch::Contains("a comment begins with //"));
  CHECK_THAT(said("if 1 < 2: print(3)"), Catch::Contains("if c then a else b"));
  CHECK_THAT(said("if 1 < 2: 3"), Catch::Contains("if c then a else b"));
  CHECK_THAT(said("return 3"), Catch::Contains("a function is one expression"));
  CHECK_THAT(said("lambda x: x"), Catch::Contains("did you mean `def`?"));
  CHECK_THAT(said("x: int = 3"), Catch::Contains("let x = ..."));
  CHECK_THAT(said("let x = True"), Catch::Contains("write true"));
  CHECK_THAT(said("let x = False"), Catch::Contains("write false"));
  CHECK_THAT(said("let x = None"), Catch::Contains("no None"));
  CHECK_THAT(said("let x = 0x10"), Catch::Contains("numbers are decimal: 16"));
  CHECK_THAT(said("let x = 0b101"), Catch::Contains("numbers are decimal: 5"));
  CHECK_THAT(said("let x = 1 if true else 2"), Catch::Contains("if c then a else b"));
  CHECK_THAT(said("let x = 1 if 2 == 2 else 3"), Catch::Contains("if c then a else b"));
  CHECK_THAT(said("1 if 2 >= 2 else 3"), Catch::Contains("if c then a else b"));
  CHECK_THAT(said("let t = int8"), Catch::Contains("the type is s8"));
  CHECK_THAT(said("let t = float"), Catch::Contains("the type is f32"));
  CHECK_THAT(said("let t = half"), Catch::Contains("the type is f16"));
  CHECK_THAT(said("let L = 4:1\nprint size<0>(L)"), Catch::Contains("size(L, 0)"));
  CHECK_THAT(said("let a = Step<_1,X>"), Catch::Contains("dice("));
  CHECK(run("print dice((1,_,1), (64,128,32))") == "(64,32)\n");
  const std::string head = "kernel f<M,K>(x: f32 (M,K):(K,1), w: f32 K:1) -> ";
  CHECK_THAT(said(head + "y: f32 M:1 { y[m] = sum(x*w) }"), Catch::Contains("sum[k]("));
  CHECK_THAT(said(head + "y: f32 M:1 { y[m] = sum(x[m,k]*w[k]) }"), Catch::Contains("sum[k]("));
  CHECK_THAT(said(head + "y: f32 M:1, z: f32 M:1 { y[m] = 1; z[m] = 1 }"),
             Catch::Contains("several outputs are written in parentheses"));
}
