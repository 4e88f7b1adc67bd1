// The REPL on a terminal, and from a pipe.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/command/process.h"
#include "tests/command/terminal.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

TEST_CASE("on a terminal results are numbered and can be used") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("(4,2):(1,4)\r");
  terminal.wait_for("r1 = (4,2):(1,4)");
  terminal.wait_for("lay> ");
  terminal.type("size(r1)\r");
  terminal.wait_for("r2 = 8");
  terminal.wait_for("lay> ");
  terminal.type("\x04");
  CHECK(terminal.finish() == 0);
}

TEST_CASE("a statement may have several lines") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("size((2,\r");
  terminal.wait_for("   > ");
  terminal.type("3))\r");
  terminal.wait_for("r1 = 6");
}

TEST_CASE("an error ends nothing, and neither does Ctrl-C") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("nothing_of_that_name\r");
  terminal.wait_for("unknown-name");
  terminal.wait_for("lay> ");
  terminal.type("half a statement\x03");
  terminal.wait_for("lay> ");
  terminal.type("1 + 1\r");
  terminal.wait_for("r1 = 2");
}

TEST_CASE("names of builtins are completed") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("coal\t((2,2):(1,2))\r");
  terminal.wait_for("r1 = 4:1");
}

TEST_CASE("Tab shows signatures") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("complem\t\t");
  terminal.wait_for("complement(L [, cotarget])");
  terminal.type("(\t");
  terminal.wait_for("what L leaves out of the cotarget");
  terminal.type("4:2)\r");
  terminal.wait_for("r1 = 2:1");
  terminal.wait_for("lay> ");
  terminal.type("zip\t\t");
  for (const char* signature : {"zip(A, B)", "zip2_by(L, T)", "zipped_divide(L, T)"})
    terminal.wait_for(signature);
  terminal.type("\x03?composition-c\t\r");
  terminal.wait_for("This fails:");
}

TEST_CASE("Tab knows fields, libraries, targets and files") {
  Terminal terminal({});
  const auto ask = [&](const std::string& line, const std::string& answer) {
    terminal.wait_for("lay> ");
    terminal.type(line);
    terminal.wait_for(answer);
  };
  ask("use atoms.sm8\t\t", "atoms.sm89");
  ask("0\r", "\r\n");
  ask("sm80.cp_a\t(16).zer\t\x15sm80.cp_a\t(16).threads\r", "r1 = 1:0");
  ask("let zebras = 3\r", "\r\n");
  ask("sum([i for i in 0..zebr\t])\r", "r2 = 3");
  ask("record found { read = sm80 }\r", "\r\n");
  ask("found.read.ldmatrix_t\t(4).registers\r", "r3 = ");
  ask(":export cuted\t 4:1\r", "cute.make_layout(4, stride=1)");
  const TemporaryFolder folder;
  put(folder / "pieces.lay", "let piece = 41\n");
  ask(":load " + (folder / "pie") + "\t\r", "\r\n");
  ask("piece + 1\r", "r4 = 42");
}

TEST_CASE("the REPL explains, tells of operations and of errors, and guesses what was meant") {
  Terminal terminal({});
  const auto ask = [&](const std::string& line, const std::string& answer) {
    terminal.wait_for("lay> ");
    terminal.type(line + "\r");
    terminal.wait_for(answer);
  };
  ask("(6,2):(8,2) o 4:3", "r1 = (2,2):(24,2)");
  ask(":explain r1", "3 divides 6, and 6/3 = 2 divides 4");
  ask("explain (6,2):(1,7) o (3,2):(2,3)", "they carry into the next mode");
  terminal.wait_for("composition-carry");  // after the derivation
  terminal.wait_for("?composition-carry tells more");
  ask("?coalesce", "lay> coalesce((2,(1,6)):(1,(6,2)))");
  ask("?coalesc", "did you mean coalesce?");
  ask(":hlep", "did you mean :help?");
  ask("coalese(r1)", "did you mean coalesce?");
  ask(":type r1", "a layout of rank 2 and depth 1");
}

TEST_CASE("what CuTe prints can be pasted") {
  Terminal terminal({});
  const auto paste = [&](const std::string& text, const std::string& answer) {
    terminal.wait_for("lay> ");
    terminal.type("\x1b[200~" + text + "\x1b[201~\r");
    terminal.wait_for(answer);
  };
  paste("(_4,(_2,_8)):(_1,(_4,_8))", "r1 = (4,(2,8)):(1,(4,8))");
  paste("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", "r2 = Sw<3,4,3> o 0 o (8,64):(64,1)");
  paste("(_4,3):(_1@0,_1@1)", "r3 = (4,3):(1@0,1@1)");
  paste("(_4)", "r4 = (4,)");
  paste("cute(\"smem_ptr[16b](0x7f0000000400) o (_8,4):(_1,8)\")", "r5 = (8,4):(1,8)");
}

TEST_CASE("Ctrl-C ends an evaluation, and the session lives") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("let a = 7\r");
  terminal.wait_for("lay> ");
  for (const char* lengthy : {"[sum([i * j for j in 0..3000]) for i in 0..3000]",
                              "size([left_inverse((6,8):(1,6)) for i in 0..1000000])"}) {
    terminal.type(lengthy + std::string("\r"));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));  // until it runs
    terminal.type("\x03");
    terminal.wait_for("error[interrupted]");
    terminal.wait_for("lay> ");
  }
  terminal.type("a + 1\r");
  terminal.wait_for("r1 = 8");
}

TEST_CASE("colours are for those who want them") {
  Terminal colourless({}, {"NO_COLOR=1"});
  colourless.wait_for("lay> ");
  colourless.type("(2,2):(1,2)\r");
  CHECK(colourless.wait_for("r1 = (2,2):(1,2)").find("\x1b[36m") == std::string::npos);
  Terminal dumb({}, {"TERM=dumb"});
  dumb.wait_for("lay> ");
  dumb.type("size((2,2))\n");
  CHECK(dumb.wait_for("r1 = 4").find('\x1b') == std::string::npos);
  dumb.wait_for("lay> ");
  dumb.type("\x04");
  CHECK(dumb.finish() == 0);
}

TEST_CASE("from a pipe there are results and nothing else") {
  const auto fine = run_lay({}, {"let a = (2,\n 3)\nsize(a)\na\n", ".", {}, 60, 0});
  CHECK(fine.out == "6\n(2,3)\n");
  CHECK(fine.error == "");
  CHECK(fine.code == 0);
  const auto wrong = run_lay({}, {"b\n7", ".", {}, 60, 0});
  CHECK(wrong.out == "7\n");
  CHECK(wrong.error.find("unknown-name") != std::string::npos);
  CHECK(wrong.code == 1);
  CHECK(run_lay({}, {"1\n:quit\n2\n", ".", {}, 60, 0}).out == "1\n");
}

TEST_CASE("from a pipe a question is one line, whatever it asks for") {
  for (const char* asked : {"?o", "?if", "?+", ":type (4"}) {
    INFO(asked);
    const auto answered = run_lay({}, {std::string(asked) + "\n40 + 2\n", ".", {}, 60, 0});
    CHECK(answered.out.ends_with("42\n"));
  }
}

TEST_CASE("a session is saved as a script that gives the same results") {
  TemporaryFolder folder;
  const Setting here{
      "let a = 4:2\nsize(a)\n(2,\n3)\n:save s.lay\n", folder.path().string(), {}, 60, 0};
  CHECK(run_lay({}, here).code == 0);
  CHECK(slurp(folder / "s.lay") == "let a = 4:2\nsize(a)\n(2,\n3)\n");
  CHECK(run_lay({"run", "s.lay"}, {"", folder.path().string(), {}, 60, 0}).code == 0);
  const auto loaded = run_lay({}, {":load s.lay\nsize(a)\n", folder.path().string(), {}, 60, 0});
  CHECK(loaded.out.ends_with("4\n"));
  // A statement that was only looked at is no part of the script, nor one that failed.
  const Setting looked{
      "let a = 4:2\n:explain a o 2:1\n:show a\n:export numpy a\n:type a\nb\na o 2:1\n:save "
      "looked.lay\n",
      folder.path().string(),
      {},
      60,
      0};
  CHECK(run_lay({}, looked).code == 1);
  CHECK(slurp(folder / "looked.lay") == "let a = 4:2\na o 2:1\n");
  CHECK(run_lay({}, {":load absent.lay\n", folder.path().string(), {}, 60, 0})
            .error.find("no such file") != std::string::npos);
}

TEST_CASE("Ctrl-C ends what runs, and the session lives") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type(
      "kernel gemm<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1) { C[m,n] "
      "= sum[k](A[m,k] * "
      "B[n,k]) }\r");
  terminal.wait_for("lay> ");
  terminal.type("let A = random(f32, (3000,3000))\r");
  terminal.wait_for("lay> ");
  terminal.type("let C = gemm(A, A)\r");
  terminal.wait_for("blocks");  // the progress of a long run
  terminal.type("\x03");
  terminal.wait_for("error[stopped]");
  terminal.wait_for("lay> ");
  terminal.type("size((6,7))\r");
  terminal.wait_for("r1 = 42");
}

TEST_CASE("a session ends with the words that people type") {
  for (const char* word : {"exit", "quit", "exit()", "quit()", ":q", ":quit", ":exit"}) {
    INFO(word);
    Terminal terminal({});
    terminal.wait_for("lay> ");
    terminal.type(word + std::string("\r"));
    CHECK(terminal.finish() == 0);
  }
}

TEST_CASE("Ctrl-C on an empty line says how to leave") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type("\x03");
  terminal.wait_for("Ctrl-D or `exit` ends the session");
  terminal.wait_for("lay> ");
  terminal.type("1 + 1\x03");
  CHECK(terminal.wait_for("lay> ").find("Ctrl-D") == std::string::npos);
  terminal.type("\x04");
  CHECK(terminal.finish() == 0);
}

// In a terminal's own mode Ctrl-D typed then would be a null byte by the time it is read, and the
// session would not end.
TEST_CASE("keys typed while a statement runs, or between two, are read as typed") {
  const std::string lengthy = "sum([sum([i * j for j in 0..1000]) for i in 0..300])\r";
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type(lengthy);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it runs
  terminal.type("6 * 7\r\x04");
  terminal.wait_for("r1 = ");
  terminal.wait_for("r2 = 42");
  CHECK(terminal.finish() == 0);

  for (int i = 0; i < 30; ++i) {
    Terminal burst({}, {"NO_COLOR=1"});
    burst.wait_for("lay> ");
    burst.type("1 + 1\x03");
    burst.wait_for("1 + 1");
    for (int repeat = 0; repeat < i % 5; ++repeat) burst.type("\x03");
    burst.type("\x04");
    CHECK(burst.finish() == 0);
  }
}

TEST_CASE("a session copied with its prompts and answers can be pasted") {
  Terminal terminal({});
  terminal.wait_for("lay> ");
  terminal.type(
      "\x1b[200~lay> let a = (4,2):(1,4)\nlay> a(3,\n   > 1)\nr1 = 7\nlay> :type a\x1b[201~\r");
  terminal.wait_for("r1 = 7");
  terminal.wait_for("a layout of rank 2 and depth 1");
  terminal.wait_for("lay> ");
  terminal.type("?rank\r");
  terminal.wait_for("rank(L [, path...])");
}
