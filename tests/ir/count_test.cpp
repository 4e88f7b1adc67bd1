// Numbers that blocks count up in global memory, and barriers that join truth values: what they
// give, what they order, and the faults where one of them is missing.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/build.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "generated/tests/paths.h"

namespace {

using namespace lay;
using interpret::FaultCode;
using interpret::Memory;
using interpret::Options;
using interpret::Report;

constexpr std::int64_t blocks = 5, threads = 128;

std::string golden() {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/tests/emitted/last_block.ir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = golden();
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no `" + from + "` to change");
  return text.replace(at, from.size(), to);
}

struct Ran {
  Report report;
  std::vector<float> y = std::vector<float>(threads, -1.0f);
  std::vector<std::int32_t> counts{7, 0};
};

// Block b has 2^b in each of its threads, and thread t 1000 t more.
Ran execute(const std::string& text, const Options& options = {}) {
  Ran made;
  std::vector<float> x(blocks * threads);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t t = 0; t < threads; ++t)
      x[static_cast<size_t>(b * threads + t)] = static_cast<float>((1 << b) + 1000 * t);
  const auto memory = [](auto& v, bool constant) {
    return Memory{v.data(), static_cast<std::int64_t>(v.size() * sizeof(v[0])), constant};
  };
  const ir::Kernel kernel = ir::parse(text);
  for (const ir::Problem& problem : verify(kernel))
    FAIL_CHECK(problem.message + " in " + problem.statement);
  made.report = interpret::run(
      kernel,
      {blocks, memory(x, true), memory(made.y, false), Memory{}, memory(made.counts, false)},
      options);
  return made;
}

FaultCode fault(const std::string& from, const std::string& to, const std::string& words) {
  const Ran ran = execute(changed(from, to));
  INFO(from << " -> " << to);
  REQUIRE(ran.report.fault);
  INFO(ran.report.fault->message);
  CHECK(ran.report.fault->message.find(words) != std::string::npos);
  return ran.report.fault->code;
}

}  // namespace

TEST_CASE("the last of the blocks that count sees what all have written") {
  for (const int host_threads : {1, 4}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      const Ran ran =
          execute(golden(), {.write_once = true, .seed = seed, .threads = host_threads});
      INFO((ran.report.fault ? ran.report.fault->message : ""));
      REQUIRE(!ran.report.fault);
      CHECK(ran.counts == std::vector<std::int32_t>{7, blocks});
      for (std::int64_t t = 0; t < threads; ++t)
        CHECK(ran.y[static_cast<size_t>(t)] == static_cast<float>(31 + 5000 * t));
    }
  }
}

TEST_CASE("faults of blocks that count are found") {
  CHECK(fault("    sync met\n", "", "the read of `W` races with the write by thread") ==
        FaultCode::race);
  // Each block has a number of its own, of which it is the only one.
  CHECK(fault("before[0] == B - 1 at met", "before[0] == 0 at met",
              "`W` is read before it is written") == FaultCode::uninitialised);
  CHECK(fault("atomic_count counted : s32 thread = counts[1]\n      before[0] = counted",
              "before[0] = block_x",
              "the read of `W` races with the write by thread 0 of cluster 0") == FaultCode::race);
  CHECK(fault("counts[1]", "counts[B]", "") == FaultCode::out_of_bounds);
}

TEST_CASE("a barrier joins truth values of one phase alone") {
  const std::string text = R"(kernel votes {
  global Y : s32 (4,64):(64,1) write
  barrier met named slots 2 count 32 id 1
  launch grid (1,1,1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    for k : s32 grid in 0..4 {
      any found : pred warp = lane == 5 and k % 2 == warp at met[warp]
      Y[k,thread] = select(found, 1, 0)
    }
  }
}
)";
  const ir::Kernel kernel = ir::parse(text);
  REQUIRE(print(kernel) == text);
  for (const ir::Problem& problem : verify(kernel)) FAIL_CHECK(problem.message);
  std::vector<std::int32_t> y(256, -1);
  const Report report = interpret::run(kernel, {Memory{y.data(), 1024, false}});
  INFO((report.fault ? report.fault->message : ""));
  REQUIRE(!report.fault);
  for (int k = 0; k < 4; ++k)
    for (int t = 0; t < 64; ++t) CHECK(y[static_cast<size_t>(k * 64 + t)] == (k % 2 == t / 32));
}

TEST_CASE("counts and joined truth values keep their rules") {
  const auto problem = [](const std::string& from, const std::string& to, const std::string& code,
                          const std::string& words) {
    const auto found = verify(ir::parse(changed(from, to)));
    INFO(from << " -> " << to);
    REQUIRE(!found.empty());
    INFO(found[0].code + ": " + found[0].message);
    CHECK(found[0].code == code);
    CHECK(found[0].message.find(words) != std::string::npos);
  };
  problem("counts : s32", "counts : u32", "space",
          "`counts` is counted in: expected s32 in global memory, got u32 in global memory");
  problem("= counts[1]", "= before[0]", "space", "got s32 in register memory");
  problem("counts : s32 2:1 read write", "counts : s32 2:1 read", "access", "without `write`");
  problem("counted : s32", "counted : u32", "type", "is declared u32 and is s32");
  problem("before[0] == B - 1 at met", "B - 1 at met", "type", "the value is s32, not pred");
  problem("any last : pred warpgroup", "any last : pred block", "uniformity",
          "is declared block-uniform and is warpgroup-uniform");
  problem("named count 128", "named count 96", "uniformity", "is warp-uniform");
  problem("    any last", "    if lane < 16 {\n      sync met\n    }\n    any last",
          "barrier-divergence", "`met` must be reached by every thread of the warp");
  problem("met named count 128 id 1", "met block", "barrier-operation",
          "any: expected a barrier of kind named");
}

TEST_CASE("the builder makes a count and a joined truth value with variables of their own") {
  ir::Kernel kernel;
  ir::Builder b(kernel);
  const ir::BufferId counts =
      b.global("counts", ElementType::s32, Layout(2, 1), {.read = true, .written = true});
  const ir::BarrierId met = b.barrier({"met", ir::BarrierKind::named, 1, 128, 1});
  kernel.name = "count";
  kernel.launch.threads = 128;
  kernel.launch.grid = {1, 1, 1};
  b.role("all", 0, 128, [&] {
    const ir::Term before = b.atomic_count("before", {counts, {b.constant(0)}});
    const ir::Term first = b.sync_any("first", before == 0, met, {});
    b.when(first, [&] { b.assign({counts, {b.constant(1)}}, b.constant(3)); });
  });
  for (const ir::Problem& problem : verify(kernel)) FAIL_CHECK(problem.message);
  const std::string text = print(kernel);
  INFO(text);
  CHECK(text.find("atomic_count before : s32 thread = counts[0]\n") != std::string::npos);
  CHECK(text.find("any first : pred warpgroup = before == 0 at met\n") != std::string::npos);
  CHECK(print(ir::parse(text)) == text);
}
