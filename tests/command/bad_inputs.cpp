// The contents that a script may hold, and must not bring down: each ends in the right answer or in
// an error with exit code 1.
#include <catch2/catch.hpp>
#include <string>

#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

struct Case {
  std::string name, text;
  std::string answer;  // what standard output must hold, where the text is legal
  std::string code;    // else the code of the error
};

const std::string big = "1000000000000000000";

const std::vector<Case> cases = {
    {"100,000 nested parentheses", "print " + repeated("(", 100000) + "1" + repeated(")", 100000),
     "", "nesting-too-deep"},
    {"100,000 open parentheses", "print " + repeated("(", 100000), "", "nesting-too-deep"},
    {"100,000 nested tuples", "print " + repeated("(1,", 100000) + "1" + repeated(")", 100000), "",
     "nesting-too-deep"},
    {"100,000 minus signs", "print " + repeated("- ", 100000) + "1", "", "nesting-too-deep"},
    {"100,000 nots", "print " + repeated("not ", 100000) + "true", "", "nesting-too-deep"},
    {"a sum of a million terms", "print " + repeated("1+", 999999) + "1", "1000000", ""},
    {"a product of a million factors", "print " + repeated("1*", 999999) + "1", "1\n", ""},
    {"a chain of 100,000 compositions", "print " + repeated("4:1 o ", 100000) + "4:1", "4:1", ""},
    {"a tuple of 300,000", "print size((" + repeated("1,", 300000) + "))", "1", ""},
    {"a layout of 10^18 x 10^18",
     "let l = (" + big + "," + big + "):(1," + big + ")\nprint size(l)", "", "overflow"},
    {"a large layout that is broadcast", "print cosize((4611686018427387904,1):(0,0))", "1", ""},
    {"an integer of a million digits", "print " + repeated("9", 1000000), "", ""},
    {"2^63", "print 9223372036854775808", "", ""},
    {"-2^63", "print -9223372036854775808", "-9223372036854775808", ""},
    {"an overflow", "print 9223372036854775807 + 1", "", "overflow"},
    {"a division by zero", "print 1 // 0", "", "division-by-zero"},
    {"an empty extent", "print 0:1", "", ""},
    {"a NUL", std::string("print 1\n\0print 2", 16), "", ""},
    {"bytes that are not UTF-8", "print \"\xff\xfe\"", "", ""},
    {"an overlong encoding", "print 1 // \xc0\xaf", "", ""},
    {"a character that turns the text around", "print 1 + \xe2\x80\xae 2", "", ""},
    {"a name of 3 MB", "let " + repeated("a", 3000000) + " = 1", "", ""},
    {"a string that does not end", "print \"abc", "", ""},
    {"recursion", "def f(x) = f(x)\nprint f(1)", "", ""},
    {"mutual recursion", "def f(x) = g(x)\ndef g(x) = f(x)\nprint f(1)", "", ""},
    {"tuples that double 60 times",
     "let a = (1,1)\n" + repeated("let a = (a,a)\n", 60) + "print size(a)", "", ""},
    {"functions that double 60 times",
     "def f0(x) = (x,x)\n" +
         [] {
           std::string text;
           for (int i = 1; i < 60; ++i)
             text += "def f" + std::to_string(i) + "(x) = (f" + std::to_string(i - 1) + "(x),f" +
                     std::to_string(i - 1) + "(x))\n";
           return text + "print f59(1)";
         }(),
     "", ""},
    {"a comprehension without end", "print [i for i in 0..1000000000000]", "", ""},
    {"nested comprehensions",
     "print [[[[i for i in 0..1000] for j in 0..1000] for k in 0..1000] for l in 0..1000]", "", ""},
    {"a picture of a large layout", "print (100000,100000):(1,100000)",
     "(100000,100000):(1,100000)", ""},
    {"a swizzle of 10^18", "print Sw<60,60,60>", "", ""},
    {"a carriage return alone", "print 1\rprint 2", "2", ""},
    {"a byte order mark", "\xef\xbb\xbfprint 7", "7", ""},
    {"no final newline", "print 7", "7", ""},
    {"nothing", "", "", "nothing"},
    {"sizes that branch again and again",
     "dim M, N\n"
     "let b = blocked_product(layout((3,((M,M+1),1)), right), layout(((6,2),M+1), right))\n"
     "let c = b o b\n"
     "print c o c",
     "", "limit"},
    {"quotients of quotients",
     "dim M, N\n"
     "let l = left_inverse(layout((M,M+1,8), right))\n"
     "let t = zipped_divide(l o l, _)\n"
     "print t o t",
     "", "limit"},
    {"10,000 errors", repeated("print )\n", 10000), "", ""},
};

}  // namespace

TEST_CASE("hostile scripts end in an answer or in an error") {
  TemporaryFolder folder;
  for (const auto& c : cases) DYNAMIC_SECTION(c.name) {
      put(folder / "script.lay", c.text);
      for (const std::string command : {"run", "check", "fmt"}) {
        const auto ended =
            run_lay({command, "script.lay"}, {"", folder.path().string(), {}, 120, 4096});
        INFO(command << ": " << ended.error.substr(0, 600));
        REQUIRE(ended.signal == 0);
        CHECK(ended.cpu_seconds < 20);
        CHECK(ended.error.size() < 100000);
        const bool legal = !c.answer.empty() || c.code == "nothing";
        if (command != "run") {
          CHECK((ended.code == 0 || ended.code == 1));
          put(folder / "script.lay", c.text);
          continue;
        }
        CHECK(ended.code == (legal ? 0 : 1));
        CHECK(ended.out.find(c.answer) != std::string::npos);
        if (legal)
          CHECK(ended.error == "");
        else
          CHECK(ended.error.find(c.code.empty() ? "error[" : "error[" + c.code + "]") !=
                std::string::npos);
      }
    }
}

TEST_CASE("a script cut off at any byte is run or refused") {
  TemporaryFolder folder;
  const std::string whole =
      "use atoms.sm90\n"
      "dim M, N\n"
      "assume M % 8 == 0\n"
      "let a = ((2,2),2):((4,1),2) o 4:1 // c\n"
      "def f(x, y) = if x == y then (x,) else Sw<3,4,3> o 0 o (8,8):(8,1)\n"
      "record r(n) { s = (n,2), t = \"a\\\"b\" }\n"
      "print [f(i, 2) for i in 0..4], 1.5e3, zipped_divide((M,N):(N,1), (2:1, 4))[0]\n"
      "kernel k<M, N>(A: f32 (M,N):(N,1), b: f32) -> C: f32 (M,N):(1,M) where N % 4 == 0 {\n"
      "  C[m,n] = if n <= m then A[m,n] * b else 0\n"
      "}\n"
      "schedule k for simt when M >= 4 { tile = (64,64,8) }\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    put(folder / "script.lay", whole.substr(0, length));
    const auto ended =
        run_lay({"check", "script.lay"}, {"", folder.path().string(), {}, 120, 4096});
    INFO(length << ": " << ended.error);
    REQUIRE(ended.signal == 0);
    CHECK((ended.code == 0 || ended.code == 1));
    if (ended.code == 1) CHECK(ended.error.find("error[") != std::string::npos);
  }
}
