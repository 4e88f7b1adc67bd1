// Parts of the tile programs of products, and the rules that a program breaks.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "backend/target/target.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/evaluator.h"
#include "runtime/commands/tile_dump.h"
#include "tests/emitted/emitted.h"

namespace lay::test {

// The program of the first variant of a kernel of a script in tests/.
inline tile::Program first_program(const std::string& script, const std::string& name,
                                   const Target& target) {
  for (const auto& kernel : kernels_of(source(script)))
    if (kernel->name == name)
      return plan::make_plan(kernel, target).variants.front().programs.front();
  FAIL("no kernel " + name);
  return {};
}

// Checks the texts of the kernels' programs after these passes, of the first variant of each plan,
// with files beside the script.
inline void check_golden_programs(const std::string& script, const Target& target,
                                  const std::vector<std::string>& passes) {
  Sources sources;
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  const std::size_t name = script.rfind('/') + 1;
  for (const sema::Outcome& outcome : evaluator.run(script.substr(name), contents(source(script))))
    REQUIRE(outcome.ok());
  for (const auto& kernel : evaluator.kernels()) {
    const auto plan = plan::make_plan(kernel, target);
    REQUIRE(plan.problems.empty());
    for (const std::string& pass : passes)
      check_golden(runtime::tile_dump(sources, plan, pass, plan.variants.front().name),
                   source(script.substr(0, name) + kernel->name + "." + pass));
  }
}

// What a block does for its tile: the body of the loops over the grid.
inline tile::Block& body_of_grid(tile::Program& program) {
  tile::Block* block = &program.body;
  while (auto* loop = std::get_if<tile::For>(&block->front().node)) {
    if (loop->walk != tile::Walk::grid) break;
    block = &loop->body;
  }
  return *block;
}
// The loop over k, and the products at its end.
inline tile::For& sums(tile::Program& program) {
  return std::get<tile::For>(body_of_grid(program).front().node);
}
inline tile::Mma& mma(tile::Program& program) {
  return std::get<tile::Mma>(sums(program).body.back().node);
}
inline tile::Tile& named(tile::Program& program, const std::string& name) {
  for (tile::Tile& each : program.tiles)
    if (each.name == name) return each;
  FAIL("no tile " + name);
  return program.tiles.front();
}

// Requires a problem of this code whose message has these words.
inline void check_problem(const tile::Program& program, const std::string& code,
                          const std::string& what = "") {
  const auto problems = tile::verify(program);
  std::string all;
  for (const tile::Problem& each : problems) all += each.code + ": " + each.message + "\n";
  INFO(code << ": " << what << " is not among\n" << all << tile::print(program));
  CHECK(std::any_of(problems.begin(), problems.end(), [&](const tile::Problem& each) {
    return each.code == code && each.message.find(what) != std::string::npos;
  }));
}

}  // namespace lay::test
