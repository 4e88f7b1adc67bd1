// The one enumeration of what statements hold and use.
#include "backend/ir/walk.h"

#include <catch2/catch.hpp>

#include "backend/ir/passes.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"

using namespace lay;
using namespace lay::ir;

namespace {

// One statement of every kind, each body with an assignment of its own.
const char* const kKinds = R"(kernel k {
  size N
  global Y : f32 16:1 write align 16
  shared s : f32 16:1 align 16
  register a : f32 16:1
  barrier all block
  ring r stages 2
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    for k : s32 grid in 0..2 unrolled {
      Y[0] = 0.0
    }
    if N < 3 {
      Y[1] = 0.0
    } else {
      Y[2] = 0.0
    }
    elect {
      Y[3] = 0.0
    }
    tiles t : s32 block first block_x count 8 stride 1 {
      Y[4] = 0.0
    }
  }
  epilogue {
    Y[5] = 0.0
  }
}
)";

}  // namespace

TEST_CASE("every body is reached: loop, both arms, election, tile loop, epilogue") {
  const Kernel kernel = parse(kKinds);
  std::vector<std::int64_t> stored;
  for_each_statement(kernel, [&](const Stmt& stmt) {
    if (const auto* assign = std::get_if<Assign>(&stmt.node))
      stored.push_back(std::get<std::int64_t>(
          std::get<Constant>(kernel.expr(assign->to.coordinate[0]).node).value));
  });
  REQUIRE(stored == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a statement's uses: every expression and thing that it names") {
  const ExprId a{1}, b{2}, c{3}, d{4};
  const Ref to{BufferId{5}, {a}}, from{BufferId{6}, {b}};
  Uses used = uses({Copy{to, from, TmaLoad{7, {BarrierId{8}, c}, "", d}}, {}});
  REQUIRE(used.exprs == std::vector{a, b, c, d});
  REQUIRE(used.buffers == std::vector{BufferId{5}, BufferId{6}});
  REQUIRE(used.barriers == std::vector{BarrierId{8}});
  REQUIRE(used.tensor_maps == std::vector{7});
  used = uses({Copy{to, from, TmaLoad{7, {BarrierId{8}, c}, "", {}, {d, a}}}, {}});
  REQUIRE(used.exprs == std::vector{a, b, c, d, a});
  used = uses({Copy{to, from, RemoteStore{{}, {BarrierId{8}, c}, d}}, {}});
  REQUIRE(used.exprs == std::vector{a, b, c, d});
  used = uses({Copy{to, from, PlainCopy{{}, {c, true}}}, {}});
  REQUIRE(used.exprs == std::vector{a, b, c});
  used = uses({Sync{BarrierId{8}, a, ArriveMbarrier{b}}, {}});
  REQUIRE(used.exprs == std::vector{a, b});
  used = uses({TileLoop{VarId{9}, a, b, c, nullptr}, {}});
  REQUIRE(used.exprs == std::vector{a, b, c});
  REQUIRE(used.binds == std::vector{VarId{9}});
  used = uses({Shuffle{VarId{9}, a, 16}, {}});
  REQUIRE(used.exprs == std::vector{a});
  REQUIRE(used.binds == std::vector{VarId{9}});
  used = uses({AtomicCount{VarId{9}, to}, {}});
  REQUIRE(used.exprs == std::vector{a});
  REQUIRE(used.buffers == std::vector{BufferId{5}});
  REQUIRE(used.binds == std::vector{VarId{9}});
  used = uses({SyncAny{VarId{9}, a, BarrierId{8}, b}, {}});
  REQUIRE(used.exprs == std::vector{a, b});
  REQUIRE(used.barriers == std::vector{BarrierId{8}});
  REQUIRE(used.binds == std::vector{VarId{9}});
  used = uses({Advance{RingId{3}, a}, {}});
  REQUIRE(used.rings == std::vector{RingId{3}});
  REQUIRE(used.exprs == std::vector{a});
}

TEST_CASE("a shuffle whose variable nothing reads goes, and the value that only it needed") {
  std::string text = kKinds;
  const std::string from = "    elect {\n";
  text.replace(text.find(from), from.size(),
               "    let kept : s32 thread = lane + 1\n    let gone : s32 thread = lane + 2\n"
               "    shuffle used : s32 thread = kept from lane xor 1\n"
               "    shuffle unused : s32 thread = gone from lane xor 2\n"
               "    Y[used % 16] = 0.0\n    elect {\n");
  Kernel kernel = parse(text);
  drop_unused_variables(kernel);
  const std::string printed = print(kernel);
  REQUIRE(printed.find("let kept") != std::string::npos);
  REQUIRE(printed.find("shuffle used : s32 thread = kept from lane xor 1") != std::string::npos);
  REQUIRE(printed.find("unused") == std::string::npos);
  REQUIRE(printed.find("gone") == std::string::npos);
}

TEST_CASE("a variable that only an election reads is kept, one that nothing reads goes") {
  std::string text = kKinds;
  const std::string from = "    elect {\n      Y[3] = 0.0\n";
  text.replace(text.find(from), from.size(),
               "    let kept : s32 block = block_x + 1\n    let gone : s32 block = block_x + 2\n"
               "    elect {\n      let inner : s32 block = 7\n      Y[kept] = 0.0\n");
  Kernel kernel = parse(text);
  drop_unused_variables(kernel);
  const std::string printed = print(kernel);
  REQUIRE(printed.find("let kept") != std::string::npos);
  REQUIRE(printed.find("let gone") == std::string::npos);
  REQUIRE(printed.find("let inner") == std::string::npos);
}
