// The kernel that the IR must be able to say from the first day: a persistent, warp-specialised Hopper GEMM with a
// cluster of two, a ring of mbarriers, wgmma, and an epilogue that overlaps the next tile.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "backend/interpret/interpret.h"
#include "backend/ir/parse.h"
#include "backend/ir/print.h"
#include "backend/ir/verify.h"

namespace {

using namespace lay;

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
  for (const ir::Problem& p : verify(kernel)) FAIL(p.code + ": " + p.message + " in " + p.statement);
  REQUIRE(print(kernel) == text);
}

TEST_CASE("it fills the machine, and not more") {
  ir::Kernel kernel = ir::parse(golden());
  // 4 stages of 48 KiB, 32 KiB for the output, and 8 mbarriers.
  REQUIRE(verify(kernel, {.shared_bytes = 4 * 49152 + 32768 + 64}).empty());
  REQUIRE(verify(kernel, {.shared_bytes = 4 * 49152 + 32768 + 63})[0].code == "shared-memory");
  kernel.roles[1].registers = 240;
  REQUIRE(verify(kernel)[0].code == "role-registers");
}

TEST_CASE("what the host cannot execute yet is a fault that says so") {
  const ir::Kernel kernel = ir::parse(golden());
  std::vector<std::uint16_t> a(64 * 64), b(64 * 64), c(64 * 64);
  const auto memory = [](std::vector<std::uint16_t>& v) {
    return interpret::Memory{v.data(), static_cast<std::int64_t>(v.size() * 2), false};
  };
  const std::vector<interpret::Argument> arguments{std::int64_t{64}, std::int64_t{64}, std::int64_t{64},
                                                   memory(a),        memory(b),        memory(c)};
  const interpret::Report report = run(kernel, arguments);
  REQUIRE(report.fault);
  REQUIRE(report.fault->code == interpret::FaultCode::unsupported);
}
