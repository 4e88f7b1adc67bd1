// The IR's text: printing then parsing then printing gives the same text; errors name their place.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "backend/ir/build.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "generated/tests/paths.h"

namespace {

using namespace lay;
using namespace lay::ir;

// Every kind of declaration, expression and statement once.
const std::string kEverything = R"(kernel everything from "all.lay" {
  header "tile = (128,128,8) \"quoted\""
  size M, N, `thread`
  scalar alpha : f32
  scalar `wait` : f64
  assume M % 4 == 0
  assume N <= M and (M == 3 or 7 <= M + N)
  global X : f32 (M,N):(N,1) read align 16  @2
  global Y : f32 (M,(2,N)):(2*N,(N,1)) write align 4
  global P : f16 (N,M,64):(64*M,64,1) read align 16
  global W : f16 N*ceil_div(M,128) + 1:1 workspace at 128*M read write align 16
  shared s : bf16 Sw<3,3,3> o 0 o (8,64):(64,1) align 1024  @3 "one stage"
  register acc : f32 (8,8):(1,8)  @4 "behind a stride"
  tensor_map x_map of X order (1,0) box (64,128) swizzle Sw<3,4,3>
  tensor_map p_map of P order (2,1,0) box (64,128,1) onto (1,0,0) im2col (-1,ceil_div(M,2),2)
  copy_atom "async16" thread global (1,128):(0,1) to shared (1,128):(0,1) ptx "cp.async.cg.shared.global [$to], [$from], 16, $bytes"
  copy_atom "box" cluster global (2,65536):(0,1) to shared (2,65536):(0,1) box 2 align 128 pitch 16 swizzles (128,16)
  copy_atom "pixels" thread global (1,65536):(0,1) to shared (1,65536):(0,1) box 3 align 128 pitch 16 swizzles (16) ptx "load.im2col [$to], [$map, {$coordinates}], [$barrier], {$offsets}"
  copy_atom "ldmatrix" warp shared ((8,4),128):((128,0),1) to register (32,32):(32,1)
  barrier all block
  barrier pair named count 64 id 1
  barrier full mbarrier slots 4 count 1
  barrier both cluster
  ring load stages 4 phase 1
  launch grid (ceil_div(M,128),N,1) cluster (2,1,1) threads 256 blocks_per_sm 2
  prologue {
    init full[0]
    fence mbarrier_init
    arrive both
  }
  role producer threads 0..128 registers 40 {
    let i : s32 thread = block_x * 128 + thread
    let j : s64 thread = s64(i) * s64[M*N] + s64(7)
    let k : s32 thread = at((4,8):(8,1), lane) - (i - 3) % 2 / N
    shuffle w : s32 thread = i * 2 from lane xor 16  @4 "half a warp away"
    let p : pred thread = not i < [thread] and (i == [M*N] or true)
    fill acc = -1.5
    for m : s32 grid in 0..8 step 2 unrolled {  @4
      for n : s32 thread in i..N {
        acc[m,n] = fma(f32(X[i,n]), select(p, alpha, -(2.0)), f32(s32(3)))  @5 "note"
      }
    }
    if p {
      copy acc[0,0] <- X[i,0] count 4 along 0, 1 when p else zero
    } else {
      elect {
        copy tma_load s[0,0] <- X[i,0] then mbarrier full[slot(load)] map x_map multicast 3 atom "box"
        copy tma_load s[0,0] <- P[0,i * 2 - 1,0] then mbarrier full[0] map p_map offset i + 1 atom "pixels"
      }
    }
    copy cp_async s[0,0] <- X[0,0] count 4 then group atom "async16"
    copy st_async s[0,0] <- acc[0,0] count 4 then mbarrier full[0] remote 1
    copy warp acc[0,0] <- s[0,0] count 4 atom "ldmatrix"
    mma simt acc[] += acc[0] * acc[1] zero m_done(X)
    tiles a : s32 block first block_x count 6 stride 132 {
      wait full[slot(load)] phase phase(load)
      arrive_expect_bytes full[slot(load)] bytes 49152
      arrive full[0] remote 1
      sync all
      advance load
    }
    commit wgmma
    wait_group bulk pending 1 read
    fence proxy_async
    invalidate full[0]
  }
  epilogue {
    sync all
  }
}
)";

std::string everything() {
  std::string text = kEverything;
  const std::string placeholder = "m_done(X)";
  return text.replace(text.find(placeholder), placeholder.size(), "i == 0");
}

}  // namespace

TEST_CASE("what is printed parses to what prints the same") {
  REQUIRE(print(parse(everything())) == everything());
}

TEST_CASE("the example at the top of ir.h is a kernel") {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/backend/ir/ir.h");
  std::string line, example;
  while (std::getline(file, line) && line.find("#pragma once") == std::string::npos) {
    if (line.starts_with("//   ")) example += line.substr(5) + "\n";
  }
  REQUIRE(example.starts_with("kernel scale"));
  REQUIRE(print(parse(example)) == example);
  REQUIRE(verify(parse(example)).empty());
}

TEST_CASE("expressions keep their tree with as few parentheses as it needs") {
  Kernel kernel;
  Builder b(kernel);
  const ir::Term i = b.special(Builtin::thread), j = b.special(Builtin::lane);
  const auto text = [&](ir::Term t) { return print(kernel, t); };
  REQUIRE(text((i + j) * i) == "(thread + lane) * thread");
  REQUIRE(text(i - (j - i)) == "thread - (lane - thread)");
  REQUIRE(text(i - j - i) == "thread - lane - thread");
  REQUIRE(text(i / (j % 3)) == "thread / (lane % 3)");
  REQUIRE(text(!(i < j) || (i == 1 && j != 2)) == "not thread < lane or thread == 1 and lane != 2");
  REQUIRE(text((i == 1 || j == 2) && i < j) == "(thread == 1 or lane == 2) and thread < lane");
  REQUIRE(text(i * -7) == "thread * -7");
  REQUIRE(text(-(i * j)) == "-(thread * lane)");
  REQUIRE(text(b.constant(0.1, ElementType::f32)) == "0.1");
  REQUIRE(text(b.constant(0.1, ElementType::f64)) == "f64(0.1)");
  REQUIRE(text(b.constant(1e30, ElementType::f32)) == "1e+30");
  REQUIRE(text(b.constant(-1.0 / 0.0, ElementType::f32)) == "f32(-inf)");
}

TEST_CASE("the builder folds what its operands already say") {
  Kernel kernel;
  Builder b(kernel);
  const ir::Term m = b.size("M", Int::dim("M")), i = b.special(Builtin::thread);
  const auto text = [&](ir::Term t) { return print(kernel, t); };
  REQUIRE(text(i + 0) == "thread");
  REQUIRE(text(b.constant(0) + i) == "thread");
  REQUIRE(text(i * 1) == "thread");
  REQUIRE(text(i * 0) == "0");
  REQUIRE(text(i % 1) == "0");
  REQUIRE(text(b.constant(6) * 7 - 2) == "40");
  REQUIRE(text(b.constant(3) < 4) == "true");
  REQUIRE(text((m + 127) / 128) == "[ceil_div(M,128)]");
  REQUIRE(text(m * 4 + i) == "[4*M] + thread");
  REQUIRE(text((i < 3) && (b.constant(1) < 2)) == "thread < 3");
  REQUIRE(text(b.select(b.constant(2) < 1, i, m)) == "M");
  REQUIRE((i + 1).id == (i + 1).id);
  // Floating-point sums are left alone: x + 0.0 is not x for x = -0.0.
  const ir::Term x = b.scalar("x", ElementType::f32);
  REQUIRE(text(x + 0.0) == "x + 0.0");
  // A sum that leaves s32 is left to the machine.
  REQUIRE(text(b.constant(2147483647) + 1) == "2147483647 + 1");
}

TEST_CASE("a name in scope is not bound again") {
  Kernel kernel;
  Builder b(kernel);
  b.role("all", 0, 32, [&] {
    const ir::Term i = b.let("i", b.special(Builtin::thread));
    b.loop("i", i, b.constant(8), {}, [&](ir::Term inner) { b.let("x", inner + 1); });
    b.loop("j", i, b.constant(8), {}, [&](ir::Term inner) { b.let("x", inner + 2); });
  });
  kernel.name = "k";
  kernel.launch.threads = 32;
  const std::string text = print(kernel);
  INFO(text);
  REQUIRE(text.find("for i_2 : s32 thread in i..8") != std::string::npos);
  REQUIRE(text.find("let x : s32 thread = j + 2") != std::string::npos);
  REQUIRE(print(parse(text)) == text);
}

TEST_CASE("an expression whose shared parts would fill the page is not written out") {
  Kernel kernel;
  Builder b(kernel);
  ir::Term x = b.scalar("x", ElementType::f32);
  for (int i = 0; i < 60; ++i) x = x * x + x;
  REQUIRE(print(kernel, x) == "<1000000 nodes>");
}

TEST_CASE("errors of the text name line and column") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const ParseError& e) {
      return e.what();
    }
    return "none";
  };
  const std::string head =
      "kernel k {\n size M\n global X : f32 M:1 read\n launch grid (1,1,1) cluster (1,1,1) threads "
      "32\n";
  REQUIRE(error("kernel k") == "1:9: expected `{`, found the end of the text");
  REQUIRE(error("kernel k {\n size M, M\n}") == "2:10: `M` is declared twice");
  REQUIRE(error("kernel k {\n size lane\n}") ==
          "2:7: `lane` is a word of the language: write it in backquotes");
  REQUIRE(error("kernel k {\n global X : f33 M:1\n}") ==
          "2:13: expected an element type, found `f33`");
  REQUIRE(error("kernel k {\n global X : f32 M:1\n}") == "2:17: `M` is no declared size");
  REQUIRE(error("kernel k {\n global X : f32 (2,3):1\n}").starts_with("2:17: "));
  REQUIRE(error(head + "role all threads 0..32 {\n let i : s32 thread = j\n}\n}") ==
          "6:23: `j` is no variable, scalar or size in scope");
  REQUIRE(error(head + "role all threads 0..32 {\n let i : s32 thread = lane + 1.5\n}\n}") ==
          "6:28: `add` takes operands of one type, not s32 and f32");
  REQUIRE(error(head + "role all threads 0..32 {\n Z[0] = 1.0\n}\n}") == "6:2: `Z` is no buffer");
  REQUIRE(error(head + "role all threads 0..32 {\n shuffle i : s32 thread = 1 xor 2\n}\n}") ==
          "6:29: expected `from`, found `xor`");
  REQUIRE(
      error(head + "role all threads 0..32 {\n let i : s32 thread = 99999999999999999999\n}\n}") ==
      "6:23: 99999999999999999999 does not fit 64 bits");
  REQUIRE(error("kernel k { header \"open\n\" }") == "1:24: this literal does not end on its line");
  REQUIRE(error(head + "role all threads 0..32 {\n let i : s32 thread = " + std::string(5000, '(') +
                "\n}\n}")
              .find("nested deeper than") != std::string::npos);
  REQUIRE(error(head + "assume " + std::string(5000, '(') + "M\n}").find("nested deeper") !=
          std::string::npos);
}

TEST_CASE("a copy takes the clauses of its kind and an operation a barrier of its kind") {
  const auto error = [](const std::string& from, const std::string& to) -> std::string {
    std::string text = everything();
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    try {
      parse(text.replace(at, from.size(), to));
    } catch (const ParseError& e) {
      return e.message;
    }
    return "none";
  };
  const std::string async = "X[0,0] count 4 then group",
                    load = "then mbarrier full[slot(load)] map";
  REQUIRE(error(async, "X[0,0] count 4") == "expected `then`, found `atom`");
  REQUIRE(error(async, "X[0,0] count 4 then mbarrier full[0]") ==
          "expected `group`, found `mbarrier`");
  REQUIRE(error(async, "X[0,0] count 4 then group remote 1") ==
          "expected the end of a cp_async copy, found `remote`");
  REQUIRE(error(load, "then group map") == "expected `mbarrier`, found `group`");
  REQUIRE(error("map x_map multicast 3", "map x_map remote 1") ==
          "expected the end of a tma_load copy, found `remote`");
  REQUIRE(error("map x_map multicast", "map X multicast") == "expected a tensor map, found `X`");
  REQUIRE(error("then mbarrier full[0] remote 1\n    copy warp",
                "then mbarrier full[0]\n    copy warp") == "expected `remote`, found `copy`");
  REQUIRE(error("count 4 atom \"ldmatrix\"", "count 4 when p") ==
          "expected the end of a warp copy, found `when`");
  REQUIRE(error("wait full[slot(load)] phase phase(load)", "wait full[slot(load)]") ==
          "expected `phase`, found `arrive_expect_bytes`");
  REQUIRE(error("wait full[slot(load)] phase phase(load)", "sync full[0]") ==
          "`sync` is no operation of `full`, a barrier of kind mbarrier");
  REQUIRE(error("      sync all", "      wait all") ==
          "`wait` is no operation of `all`, a barrier of kind block");
}

TEST_CASE("text cut off anywhere, or with a byte changed, is a kernel or an error with a place") {
  const std::string whole = everything();
  const auto parses = [](const std::string& text) {
    try {
      parse(text);
      return true;
    } catch (const ParseError& e) {
      REQUIRE(e.line >= 1);
      REQUIRE(e.column >= 1);
      return false;
    }
  };
  for (size_t cut = 0; cut + 2 < whole.size(); ++cut) REQUIRE(!parses(whole.substr(0, cut)));
  std::uint32_t state = 12345;
  for (int i = 0; i < 2000; ++i) {
    state = state * 1664525 + 1013904223;
    std::string text = whole;
    text[state % whole.size()] = static_cast<char>(state >> 24);
    parses(text);
  }
}
