// GEMMs whose K is shared by blocks of a cluster: what each block multiplies and adds up, and
// mistakes in how they give each other their parts, which the host finds.
#include <catch2/catch.hpp>
#include <regex>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "tests/agreement/script.h"
#include "tests/ir/mistakes.h"

namespace {

using namespace lay;
using test::Mistake;
using test::Product;

// Four blocks share K. One cluster takes all tiles, so that it uses its shared memory again.
std::string split_kernel() {
  test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "split") continue;
    const plan::Plan plan = plan::make_plan(kernel);
    ir::Kernel lowered = ir::lower(plan, plan.variants.front());
    lowered.launch.grid[0] = 4;
    // Without the notes at the ends of lines.
    static const std::regex note("  @[0-9]+( \"[^\"]*\")?\n");
    return std::regex_replace(ir::print(lowered), note, "\n");
  }
  FAIL("no kernel `split`");
  return "";
}

interpret::Report run(const std::string& text, Product& product, std::uint64_t seed = 0) {
  const ir::Kernel kernel = ir::parse(text);
  REQUIRE(ir::verify(kernel).empty());
  return product.run(kernel, {.seed = seed});
}

constexpr std::int64_t rows = 80, columns = 264;

}  // namespace

TEST_CASE("blocks that share K add up the same bits in any order of events") {
  const std::string text = split_kernel();
  // 4 blocks for 9, 4, 3 and 1 K tiles of 128.
  for (const std::int64_t depth : {1096, 512, 264, 64}) {
    for (std::uint64_t seed = 0; seed <= 3; ++seed) {
      INFO("K = " << depth << ", seed " << seed);
      Product product(rows, columns, depth);
      const interpret::Report report = run(text, product, seed);
      test::check_right(report, product);
    }
  }
}

TEST_CASE("planted faults of blocks that share K are found on the host") {
  using enum interpret::FaultCode;
  const Mistake mistakes[] = {
      {"the parts are not waited for", "wait given[0] phase phase(take)", "", uninitialised},
      {"the parts of the last tile are waited for", "wait given[0] phase phase(take)",
       "wait given[0] phase 1 - phase(take)", uninitialised},
      {"parts are given before those of the last tile are read", "wait taken[0] phase phase(give)",
       "", in_flight},
      {"nobody says what has been read", "arrive taken[0] remote lane", "", deadlock},
      {"the other blocks are not told what has been read", "arrive taken[0] remote lane",
       "arrive taken[0]", in_flight},
      {"an arrival too few is expected", "taken mbarrier count 16", "taken mbarrier count 15",
       race},
      {"an arrival too many is expected", "taken mbarrier count 16", "taken mbarrier count 17",
       deadlock},
      {"parts of all go to one block", "remote pass", "remote 0", in_flight},
      {"parts go to no block", "remote pass", "remote pass + 4", out_of_bounds},
      {"parts of two blocks go to one place", "select(part < pass, part, part - 1)", "0",
       in_flight},
      {"too few bytes are expected", "bytes 24576", "bytes 24560", bytes},
      {"nobody waits for the initialisation", "sync blocks", "", race},
      {"blocks leave before they are told", "wait taken[0] phase phase(give)\n    if warp % 4",
       "if warp % 4", block_ended},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    Product product(rows, columns, 1096);
    const interpret::Report report = run(test::with(split_kernel(), mistake), product);
    test::check_found(mistake, report, product);
  }
}

TEST_CASE("parts of K that overlap, and parts that go to another block, give wrong numbers") {
  const Mistake overlapping{
      "", "tiles_k * cluster_rank / 4", "tiles_k * cluster_rank / 5", {}, true};
  const Mistake astray{"", "remote pass", "remote (pass + 1) % 4", {}};
  for (const Mistake& mistake : {overlapping, astray}) {
    Product product(rows, columns, 1096);
    REQUIRE(!run(test::with(split_kernel(), mistake), product).fault);
    CHECK(product.wrong() > 1000);
  }
}
