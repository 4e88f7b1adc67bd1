// An error is said in words that name the place and the next step; one mistake is one error.

#include <catch2/catch.hpp>
#include <string>

#include "frontend/syntax/parse.h"

using namespace lay;

namespace {

std::string errors(std::string_view text) {
  Sources sources;
  const syntax::Parsed parsed = syntax::parse(sources, sources.add("t.lay", text));
  return render(sources, parsed.diagnostics);
}

// "code: message" of each, one a line.
std::string heads(std::string_view text) {
  Sources sources;
  const syntax::Parsed parsed = syntax::parse(sources, sources.add("t.lay", text));
  std::string result;
  for (const Diagnostic& d : parsed.diagnostics.list()) {
    result += d.code + ": " + d.message + '\n';
  }
  return result;
}

}  // namespace

TEST_CASE("what is expected, after what, and what stands there") {
  CHECK(heads("let a = ") ==
        "syntax: expected an expression after `=`, found the end of the text\n");
  CHECK(heads("let a 3") == "syntax: expected `=` after `a`, found `3`\n");
  CHECK(heads("let 3 = a") == "syntax: expected a name after `let`, found `3`\n");
  CHECK(heads("let a = 1 2") == "syntax: expected the end of the statement after `1`, found `2`\n");
  CHECK(heads("f(1 2)") == "syntax: expected `,` or `)` after `1`, found `2`\n");
  CHECK(heads("let a = b +\n* 2") == "syntax: expected an expression after `+`, found `*`\n");
  CHECK(heads("Sw<1,2>") == "syntax: expected `,` after `2`, found `>`\n");
  CHECK(heads("let a = if b then c") ==
        "syntax: expected `else` after `c`, found the end of the text\n");
  CHECK(heads("[a for i in 0]") == "syntax: expected `..` after `0`, found `]`\n");
}

TEST_CASE("one mistake does not hide the next, and is not repeated") {
  CHECK(heads("let = 1\nlet b = )\nlet c = 3\nlet d = 4 4\n") ==
        "syntax: expected a name after `let`, found `=`\n"
        "unmatched-bracket: `)` closes nothing\n"
        "syntax: expected the end of the statement after `4`, found `4`\n");
  CHECK(heads("let a = (1,\nlet b = 2\nlet c = [3\nprint 1 2") ==
        "unclosed-bracket: `(` is not closed\n"
        "unclosed-bracket: `[` is not closed\n"
        "syntax: expected the end of the statement after `1`, found `2`\n");
  CHECK(heads("kernel f<M>(A: f32 M:1) -> C: f32 M:1 {\n let = 1\n print 1\n C[m] = A[m\n C[m] = 3 "
              "3\n}\nlet = 2") ==
        "syntax: expected a name after `let`, found `=`\n"
        "syntax: `print` cannot begin a line of a kernel\n"
        "unclosed-bracket: `[` is not closed\n"
        "syntax: expected a name after `let`, found `=`\n");
  CHECK(heads("schedule f for simt {\n tile = \n }\nrecord r { 3 = 4, a = 1, b 2 }") ==
        "syntax: expected an expression after `=`, found the end of the line\n"
        "syntax: `3` cannot begin an entry\n"
        "syntax: expected `=` after `b`, found `2`\n");
}

TEST_CASE("words and names") {
  CHECK(heads("let o = 3") ==
        "reserved-name: `o` cannot be a name: it composes layouts, as in a o b\n");
  CHECK(heads("let show = 3") ==
        "reserved-name: `show` cannot be a name: it is a word of the language\n");
  CHECK(heads("lte a = 3") == "unknown-statement: `lte` does not begin a statement\n");
  CHECK(errors("lte a = 3").find("help: did you mean `let`?") != std::string::npos);
  CHECK(errors("let a = if b thn 1 else 2").find("did you mean `then`?") != std::string::npos);
  CHECK(errors("x = 3").find("write `let x = ...`") != std::string::npos);
  CHECK(errors("let a = b\n + c").find("end that line with the operator") != std::string::npos);
  CHECK(errors("let a = 1:2:3").find("`:` does not chain") != std::string::npos);
  CHECK(errors("print a // the layout").find("at least two blanks") != std::string::npos);
  CHECK(heads("let " + std::string(256, 'a') + " = 1") ==
        "name-too-long: this name has 256 letters; the limit is 255\n");
  CHECK(heads("let " + std::string(255, 'a') + " = 1").empty());
}

TEST_CASE("what the grammar cannot say") {
  CHECK(heads("a < b < c") == "comparison-chain: comparisons do not chain\n");
  CHECK(heads("(a < b) < c").empty());
  CHECK(heads("a > = b") == "syntax: `>` and `=` stand apart\n");
  CHECK(heads("(4,2):(1,4)(7)") == "call-of-literal: a tuple cannot be called\n");
  CHECK(errors("(4,2):(1,4)(7)").find("help: write ((4,2):(1,4))(7)") != std::string::npos);
  CHECK(heads("8:1(7)") == "call-of-literal: a number cannot be called\n");
  CHECK(heads("f(a = 1, 2)") == "argument-order: a positional argument follows `a = ...`\n");
}

TEST_CASE("characters, strings and numbers") {
  CHECK(heads(std::string("let a = 1\0", 10)) == "nul-byte: this text holds a NUL byte\n");
  CHECK(heads("let a = \"\xff\"") == "invalid-utf8: the byte \\xff here is not UTF-8\n");
  CHECK(heads("let a = \"\xc0\xaf\"") == "invalid-utf8: the byte \\xc0 here is not UTF-8\n");
  CHECK(heads("let a\u0430 = 1") ==
        "unexpected-character: the character `\u0430` has no meaning in Lay\n");
  CHECK(heads("let a = \"\u202e\"") ==
        "bidi-control: the character \\u{202e} reorders the text on the screen and may stand in "
        "comments only\n");
  CHECK(heads("// \u202e") ==
        "bidi-control: this comment holds the character \\u{202e}, which reorders the text on the "
        "screen\n");
  CHECK(heads("let a = \"b") == "unterminated-string: this string has no closing quote\n");
  CHECK(heads("let a = \"\\q\"") ==
        "bad-escape: a string knows the escapes \\\\ \\\" \\n and \\t only\n");
  CHECK(heads("let a = 0x10") == "bad-number: `0x10` is neither a number nor a name\n");
  CHECK(heads("let a = 3 & 4")
            .find("unexpected-character: the character `&` has no meaning in Lay\n") == 0);
}

TEST_CASE("the next step") {
  const auto helps = [](std::string_view text, const char* help) {
    INFO(errors(text));
    CHECK(errors(text).find(help) != std::string::npos);
  };
  helps("kernel f(A f32) -> C: f32 1:1 { C[0] = 1 }", "written NAME: TYPE layout");
  helps("kernel f(A: f32, 3) -> C: f32 1:1 { C[0] = 1 }", "expected a parameter or `)` after `,`");
  helps("kernel f() -> C: f32 1:1 { C[0] += 1 }", "assigned once, with =");
  helps("kernel f() -> C: f32 1:1 { C = 1 }", "a kernel assigns elements: C[m,n] = ...");
  helps("schedule f { tile = 1 }", "write schedule KERNEL for TARGET");
  helps("schedule f M = 4096", "or schedule KERNEL for M = 4096");
  helps("def f(x) { x }", "write def f(x, y) = expression");
  helps("let a = [1,2,3]", "a tuple is written in parentheses: (1,2,3)");
  helps("let a = [i for i in 4]", "runs over a range");
  helps("let a = 1,2", "a tuple is written in parentheses: (1,2)");
  helps("use atoms/sm90", "write use atoms.sm90");
  helps("import x", "did you mean `use`?");
  helps("for i in 0..3", "[a(i) for i in 0..4]");
  helps("let a = if b then c", "every `if a then b` has an `else c`");
  helps("Sw<3,4>", "Sw<bits,base,shift>");
  helps("(1, *)", "expected an expression or `)` after `,`");
}

TEST_CASE("what CuTe prints, and C++ for it, is one error that says how to have it read") {
  const auto is_one = [](std::string_view text, const std::string& help) {
    const std::string found = errors(text);
    INFO(found);
    CHECK(found.find("help: " + help) != found.npos);
    CHECK(found.find("error[") == found.rfind("error["));
    CHECK(found.find("help:") == found.rfind("help:"));
  };
  for (const char* text : {"smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
                           "let a = gmem_ptr[32b](0x7f0000000400) o (4,2):(1,4)",
                           "Sw<3,4,3>_smem_ptr[16b](0x7f0000000400) o (_8,_64):(_64,_1)",
                           "S<3,4,3> o 0 o (8,64):(64,1)", "Layout<Shape<_4,_2>,Stride<_1,_4>>{}",
                           "tensor<ptr<f16, smem, align<16>> o (8,64):(64,1)>"})
    is_one(text, "cute(\"...\") reads what CuTe prints");
  is_one("(?,?{div=8}):(?,1)", "a size that CuTe does not know has a name in Lay: dim N");
  is_one("make_layout(make_shape(_4{}, _2{}))", "numbers are static without {}");
  // Other lines keep all their errors.
  const std::string two = errors("let a = 1 +\nS<3,4,3>\nlet b = ?");
  CHECK(two.find("a condition is written") != two.npos);
}

TEST_CASE("a whole message") {
  CHECK(errors("let a = 1\nlet r = f((1,2),\n  3\nlet b = 2\n") ==
        "error[unclosed-bracket]: `(` is not closed\n"
        "  --> t.lay:2:10\n"
        "   |\n"
        " 2 | let r = f((1,2),\n"
        "   |          ^\n"
        " 3 |   3\n"
        "   |    - expected `)` after `3`\n");
}
