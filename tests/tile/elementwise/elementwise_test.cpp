// Elementwise programs: each pass of moves.lay as a golden (LAY_BLESS=1 rewrites them; `git diff`
// is the review), texts that read back, rules that are broken once, and what a launch costs.
// tests/plan/permute.cpp and tests/plan/permute_random.cpp run them against the reference.
#include "backend/tile/elementwise/elementwise.h"

#include <functional>

#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/tile/bind.h"
#include "backend/tile/interpret.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "runtime/commands/tile_dump.h"
#include "tests/tile/calls.h"

namespace lay::test {

namespace {

using tile::Copy;
using tile::For;
using tile::Program;
using tile::Tile;
using tile::TileId;

std::vector<sema::KernelPtr> all_kernels() {
  auto kernels = kernels_of(source("tests/tile/elementwise/moves.lay"));
  for (const char* script : {"tests/agreement/permute.lay", "tests/bench/permute.lay"})
    for (const auto& kernel : kernels_of(source(script))) kernels.push_back(kernel);
  // Outputs of one value.
  kernels.push_back(kernels_in("narrowed.lay", R"(
kernel narrowed<N>(X: s64 N:1) -> (S: s32 N:1, B: s8 N:1) { S[i] = X[i]; B[i] = X[i] }
)")
                        .front());
  return kernels;
}

plan::Plan plan_of(const sema::KernelPtr& kernel) {
  plan::Plan plan = plan::make_plan(kernel);
  REQUIRE(plan.problems.empty());
  return plan;
}

// Of the first kernel of moves.lay, a transpose, with wide accesses.
Program transpose() {
  const auto kernels = kernels_of(source("tests/tile/elementwise/moves.lay"));
  return plan_of(kernels.front()).variants.front().programs.front();
}
Program formed_transpose() {
  return tile::formed_of(transpose());
}
// With two outputs, of which each is computed.
Program mixed() {
  const auto kernels = kernels_of(source("tests/tile/elementwise/moves.lay"));
  return plan_of(kernels.back()).variants.front().programs.front();
}

tile::Block& innermost(Program& program) {
  tile::Block* block = &program.body;
  while (auto* loop = std::get_if<For>(&block->front().node)) block = &loop->body;
  return *block;
}

Copy& copy_to(Program& program, const std::string& name) {
  for (tile::Stmt& stmt : innermost(program))
    if (auto* copy = std::get_if<Copy>(&stmt.node); copy && program.tile(copy->dst).name == name)
      return *copy;
  throw std::logic_error("no copy to " + name);
}

Tile& tile_named(Program& program, const std::string& name) {
  for (Tile& tile : program.tiles)
    if (tile.name == name) return tile;
  throw std::logic_error("no tile " + name);
}

TileId id_of(Program& program, const std::string& name) {
  return static_cast<TileId>(&tile_named(program, name) - program.tiles.data());
}

struct BrokenRule {
  const char* code;
  const char* message;  // part of it
  Program (*make)();
  std::function<void(Program&)> change;
};

std::vector<BrokenRule> broken_rules() {
  return {
      {"axis-index", "of an elementwise program has 0 indices", formed_transpose,
       [](Program& p) { p.axes[0].indices.clear(); }},
      {"grid", "there are threads and no blocks", transpose, [](Program& p) { p.grid.reset(); }},
      {"grid", "there are blocks and no threads", formed_transpose,
       [](Program& p) {
         p.grid = tile::Grid{Layout(1, 0), 32};
       }},
      {"grid", "have no tile of these axes", transpose,
       [](Program& p) { p.grid->order = Layout(4, Tuple::basis(1, {2})); }},
      {"grid", "expected at most 1024 threads of a block, got 2048", transpose,
       [](Program& p) { p.grid->threads = 2048; }},
      {"threads", "the threads are more than the 32 of a block", transpose,
       [](Program& p) { p.grid->threads = 32; }},
      {"threads", "do not cover the tile", transpose,
       [](Program& p) {
         auto stride = p.threads->layout.stride;
         p.threads->layout = Layout(p.threads->layout.shape,
                                    transform(stride, [](const Tuple&) { return Tuple(0); }));
         p.threads->vector = 1;
         p.threads->layout = Layout(tuple(256, tuple(1, 1)), tuple(0, tuple(0, 0)));
       }},
      {"threads", "values side by side along an axis", transpose,
       [](Program& p) { p.threads->along = 0; }},
      {"threads", "are no layout (thread, (element, access)) -> coordinate", transpose,
       [](Program& p) { p.threads->layout = Layout(tuple(2, 2), tuple(1, 2)); }},
      {"threads", "the threads of `X_ahead` do not cover the tile", transpose,
       [](Program& p) {
         const int along = tile_named(p, "X_ahead").threads->along;
         tile_named(p, "X_ahead").threads = tile::Distribution{
             Layout(tuple(32, tuple(1, 1)), tuple(Tuple::basis(1, {0}), tuple(0, 0))), 1, along};
         copy_to(p, "X_ahead").vector = 1;
       }},
      {"threads", "goes to shared memory and has no threads", transpose,
       [](Program& p) { tile_named(p, "X_ahead").threads.reset(); }},
      {"threads", "has threads of its own and is not shared", mixed,
       [](Program& p) { tile_named(p, "Z_ahead").threads = p.threads; }},
      {"tile-space", "has threads of its own", transpose,
       [](Program& p) { tile_named(p, "X_shared").threads = p.threads; }},
      {"shared", "has no layout that threads write", transpose,
       [](Program& p) { tile_named(p, "X_shared").shared.reset(); }},
      {"shared", "is no tile of these axes", transpose,
       [](Program& p) {
         tile_named(p, "X_shared").shared->layout = Layout(tuple(2, 2), tuple(1, 2));
       }},
      {"shared", "has one place for two elements", transpose,
       [](Program& p) {
         tile_named(p, "X_shared").shared->layout =
             Layout(tuple(p.axes[0].tile, p.axes[1].tile), tuple(1, 1));
       }},
      {"shared", "has a place before its beginning", transpose,
       [](Program& p) {
         tile_named(p, "X_shared").shared->layout =
             Layout(tuple(p.axes[0].tile, p.axes[1].tile), tuple(-1, p.axes[0].tile));
       }},
      {"access", "expected a divisor of the 8 values side by side, got an access of 16", transpose,
       [](Program& p) { copy_to(p, "Y").vector = 16; }},
      {"access", "mode 0 is not the one", transpose,
       [](Program& p) { copy_to(p, "Y").vector_mode = 0; }},
      {"access", "mode 0 is not the one", transpose,
       [](Program& p) { copy_to(p, "X_ahead").vector_mode = 0; }},
      {"access", "expected a divisor of the 8 values side by side, got an access of 3", transpose,
       [](Program& p) { copy_to(p, "X_here").vector = 3; }},
      {"read", "is read where other threads have its elements", transpose,
       [](Program& p) { copy_to(p, "Y").src = id_of(p, "X_shared"); }},
      {"read", "`X_shared` is copied and not written before", transpose,
       [](Program& p) { std::swap(innermost(p)[1], innermost(p)[2]); }},
      {"read", "`X_shared` is written and never read", transpose,
       [](Program& p) { innermost(p).erase(innermost(p).begin() + 2); }},
      {"store", "is computed after an output is stored", mixed,
       [](Program& p) {
         tile::Block& body = innermost(p);
         std::swap(body[body.size() - 3], body[body.size() - 2]);
       }},
      {"output", "the output `Y` is stored 0 times", transpose,
       [](Program& p) { innermost(p).pop_back(); }},
  };
}

}  // namespace

TEST_CASE("golden elementwise programs after each pass") {
  Sources sources;
  const auto script = source("tests/tile/elementwise/moves.lay");
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run("moves.lay", contents(script)))
    REQUIRE(outcome.ok());
  REQUIRE(evaluator.kernels().size() == 3);
  for (const auto& kernel : evaluator.kernels()) {
    const auto plan = plan_of(kernel);
    for (const std::string pass : {"form", "bind", "expand"}) {
      const std::string variant = pass == "form" ? "" : plan.variants.front().name;
      check_golden(runtime::tile_dump(sources, plan, pass, variant),
                   source("tests/tile/elementwise/" + kernel->name + "." + pass));
    }
  }
}

TEST_CASE("elementwise programs read back as they were and keep the rules") {
  int count = 0;
  for (const auto& kernel : all_kernels()) {
    for (const plan::Variant& variant : plan_of(kernel).variants) {
      const Program* program = plan::elementwise(variant);
      if (!program) continue;  // of a product
      for (const Program& one : {*program, tile::formed_of(*program)}) {
        const std::string text = tile::print(one);
        INFO(text);
        CHECK(tile::verify(one).empty());
        CHECK(tile::parse(text, one.kernel) == one);
        ++count;
      }
    }
  }
  CHECK(count >= 60);
}

TEST_CASE("each rule of elementwise programs is broken once") {
  for (const BrokenRule& row : broken_rules()) {
    INFO(row.code << ": " << row.message);
    Program program = row.make();
    REQUIRE(tile::verify(program).empty());
    row.change(program);
    bool found = false;
    for (const tile::Problem& problem : tile::verify(program)) {
      UNSCOPED_INFO(problem.code << ": " << problem.message << " in " << problem.statement);
      found = found ||
              (problem.code == row.code && problem.message.find(row.message) != std::string::npos);
    }
    CHECK(found);
  }
}

TEST_CASE("an order that leaves a tile out, or takes it twice, is found by the interpreter") {
  const std::string call = "\ntranspose(random(bf16, (600,600)))";
  const auto messages = for_each_call(
      contents(source("tests/tile/elementwise/moves.lay")) + call,
      [](const sema::KernelCall& given) {
        Program program = plan_of(given.kernel).variants.front().programs.front();
        CHECK_NOTHROW(tile::interpret(program, given));
        const Int rows = ceil_div(program.axes[0].extent, program.axes[0].tile);
        const Int columns = ceil_div(program.axes[1].extent, program.axes[1].tile);
        for (const int step : {0, 2}) {
          program.grid->order =
              Layout(tuple(rows, columns), tuple(Tuple::basis(step, {0}), Tuple::basis(1, {1})));
          CHECK_THROWS_WITH(tile::interpret(program, given),
                            Catch::Contains(step == 0 ? "stored twice" : "never stored"));
        }
      });
  CHECK(messages == "");
}

// Threads, blocks, bytes and registers of each variant, and how each statement's accesses fell on
// the banks of shared memory and the sectors of global memory.
TEST_CASE("what launches of elementwise programs cost is as the golden says") {
  std::string text;
  for (const auto& kernel : all_kernels()) {
    const auto plan = plan_of(kernel);
    if (!kernel->scalars.empty()) continue;
    for (const plan::Variant& variant : plan.variants) {
      const Program* program = plan::elementwise(variant);
      if (!program) continue;
      constexpr std::int64_t bytes = 1 << 24;
      Binding sizes;
      std::vector<interpret::Argument> arguments;
      for (const sema::Dim& dim : kernel->dims) {
        const bool is_batch = kernel->dims.size() > 2 && arguments.empty();
        sizes[*dim.symbol.dim_id()] = is_batch ? 16 : 80;
        arguments.emplace_back(sizes[*dim.symbol.dim_id()]);
      }
      if (!holds(variant.when, sizes)) continue;
      std::vector<std::vector<std::byte>> memory;
      for (const sema::Tensor& tensor : kernel->tensors) {
        memory.emplace_back(static_cast<std::size_t>(bytes), std::byte{1});
        arguments.emplace_back(
            interpret::Memory{memory.back().data(), bytes, tensor.access == sema::Access::input});
      }
      const ir::Kernel lowered = ir::lower(plan, variant);
      const auto report = interpret::run(lowered, arguments, {.bank_conflicts = true});
      if (report.fault) FAIL(kernel->name + ": " + report.fault->message);
      text += kernel->name + " " + variant.name + ": " + std::to_string(report.blocks) +
              " blocks of " + std::to_string(lowered.launch.threads) + " threads, " +
              std::to_string(program->blocks_per_sm) + " an SM, " +
              std::to_string(tile::shared_bytes(*program)) + " bytes shared, " +
              std::to_string(report.lane_operations) + " lane operations\n";
      for (const auto& each : report.banks)
        text += "  " + each.buffer + ": " + std::to_string(each.accesses) + " accesses, " +
                std::to_string(each.wavefronts) + " wavefronts, least " +
                std::to_string(each.least) + "\n";
      for (const auto& each : report.sectors)
        text += "  " + each.buffer + ": " + std::to_string(each.accesses) + " accesses, " +
                std::to_string(each.sectors) + " sectors, least " + std::to_string(each.least) +
                "\n";
    }
  }
  check_golden(text, source("tests/tile/elementwise/costs.txt"));
}

}  // namespace lay::test
