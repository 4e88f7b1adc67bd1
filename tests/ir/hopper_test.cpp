// The kernel that the IR must be able to say from the first day: a persistent, warp-specialised
// Hopper GEMM with a cluster of two, a ring of mbarriers, wgmma, and an epilogue that overlaps the
// next tile.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "generated/tests/paths.h"
#include "tests/ir/mistakes.h"

namespace {

using namespace lay;
using test::Mistake;
using test::Product;
using test::with;

std::string golden() {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/tests/ir/hopper_persistent.ir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the persistent Hopper kernel parses, verifies and prints as it stands") {
  const std::string text = golden();
  REQUIRE(!text.empty());
  const ir::Kernel kernel = ir::parse(text);
  for (const ir::Problem& p : verify(kernel))
    FAIL(p.code + ": " + p.message + " in " + p.statement);
  REQUIRE(print(kernel) == text);
}

TEST_CASE("it fills the machine, and not more") {
  ir::Kernel kernel = ir::parse(golden());
  // 4 stages of 48 KiB, 32 KiB for the output, and 8 mbarriers.
  REQUIRE(verify(kernel, {.shared_bytes = 4 * 49152 + 32768 + 64}).empty());
  REQUIRE(verify(kernel, {.shared_bytes = 4 * 49152 + 32768 + 63})[0].code == "shared-memory");
  kernel.roles[1].registers = 240;
  REQUIRE(verify(kernel)[0].code == "role-registers");
  // 384 threads begin with 168 each: 48 and twice 232 are no more than 64 Ki together, and more
  // than that.
  kernel.roles[1].registers = 232;
  REQUIRE(verify(kernel).empty());
  kernel.roles[0].registers = 48;
  REQUIRE(verify(kernel)[0].code == "role-registers");
}

TEST_CASE("the persistent Hopper kernel multiplies on the host, ragged sizes and all") {
  const ir::Kernel kernel = ir::parse(golden());
  for (const auto& [m, n, k] : {std::tuple{200, 264, 136}, {1, 8, 8}, {300, 520, 72}}) {
    INFO(m << " x " << n << " x " << k);
    Product product(m, n, k);
    const interpret::Report report = product.run(kernel);
    check_right(report, product);
  }
}

TEST_CASE("another order of warps and copies gives the same bits") {
  const ir::Kernel kernel = ir::parse(golden());
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    Product product(200, 264, 136);
    const interpret::Report report = product.run(kernel, {.seed = seed});
    check_right(report, product);
  }
}

TEST_CASE("planted faults of the asynchronous kernel are found on the host") {
  using enum interpret::FaultCode;
  const Mistake mistakes[] = {
      {"a dropped wait for the operands", "wait filled[slot(use)] phase phase(use)\n", "\n",
       in_flight},
      {"the wrong phase", "wait filled[slot(use)] phase phase(use)",
       "wait filled[slot(use)] phase 1 - phase(use)", in_flight},
      {"a dropped wait for a free stage", "wait drained[slot(load)] phase phase(load)\n", "\n",
       barrier_misuse},
      {"no fence after the initialisation", "fence mbarrier_init", "", missing_fence},
      {"nobody waits for the initialisation", "    sync blocks\n", "", barrier_misuse},
      {"no initialisation", "init drained[s]", "", barrier_misuse},
      {"no fence before the store", "fence proxy_async", "", missing_fence},
      {"no fence before the multiplication", "fence wgmma", "", missing_fence},
      {"accumulators that are not waited for", "wait_group wgmma pending 0", "", in_flight},
      {"a group too few is waited for", "wait_group wgmma pending 0", "wait_group wgmma pending 1",
       in_flight},
      {"too few bytes expected", "bytes 49152", "bytes 49136", bytes},
      {"too many bytes expected", "bytes 49152", "bytes 49168", bytes},
      {"a box too short", "A_map of A order (1,0) box (64,128)",
       "A_map of A order (1,0) box (64,120)", bytes},
      {"a box that begins between 16 bytes", "<- A[tile_m * 128,k * 64]",
       "<- A[tile_m * 128,k * 64 + 4]", misaligned},
      {"the other block is left out", "multicast 3", "multicast 1", bytes},
      {"an arrival too few expected", "drained mbarrier slots 4 count 4",
       "drained mbarrier slots 4 count 3", race},
      {"an arrival too many expected", "drained mbarrier slots 4 count 4",
       "drained mbarrier slots 4 count 5", deadlock},
      {"the other block is not told", "remote thread % 128", "", race},
      {"a stage that is not the ring's", "B_stage[0,step * 16,slot(use)]", "B_stage[0,step * 16,0]",
       in_flight},
      {"a stage is not given back", "        advance use\n", "", race},
      {"the output is overwritten while it is stored", "wait_group bulk pending 1 read", "",
       in_flight},
      {"the last store is not waited for", "wait_group bulk pending 0\n", "\n", in_flight},
      {"nobody waits for the staged output", "        sync stored[part]\n        if stores",
       "        if stores", race},
      {"a swizzle that the layout does not have",
       "A_map of A order (1,0) box (64,128) swizzle Sw<3,4,3>",
       "A_map of A order (1,0) box (64,128)", misaligned},
      {"a tile beyond its stage", "A_stage[part * 64,", "A_stage[part * 64 + 8,", out_of_bounds},
      {"rows written by two blocks", "* 128 + part * 64\n", "* 64 + part * 64\n", written_twice},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    const ir::Kernel kernel = ir::parse(with(golden(), mistake));
    Product product(600, 264, 520);
    const interpret::Report report = product.run(kernel);
    check_found(mistake, report, product);
  }
}

TEST_CASE("fragments that are swapped give wrong numbers") {
  const Mistake swapped{"",
                        "d ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))",
                        "d ((4,8,4),(2,2,32)):((128,1,16),(8,64,512))",
                        {}};
  const Mistake shifted{
      "", "acc[quarter * 32 + pass * 8 + i]", "acc[quarter * 32 + pass * 8 + (i + 2) % 8]", {}};
  for (const Mistake& mistake : {swapped, shifted}) {
    Product product(200, 264, 136);
    REQUIRE(!product.run(ir::parse(with(golden(), mistake))).fault);
    CHECK(product.wrong() > 1000);
  }
}
