// Faults planted into kernels that are right without them: each is found, with thread, coordinate
// and line.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/text/parse.h"

namespace {

using namespace lay;
using interpret::Argument;
using interpret::Fault;
using interpret::FaultCode;
using interpret::Memory;
using interpret::Options;
using interpret::Report;
using interpret::run;

// Each of 64 threads writes an element, reads its neighbour's behind a barrier, and writes it out.
const std::string kNeighbour = R"(kernel neighbour from "neighbour.lay" {
  size N
  global X : f32 N:1 read align 16
  global Y : f32 N:1 write align 16
  global W : f32 N:1 workspace read write align 16
  shared s : f32 64:1 align 16
  register r : f32 4:1
  barrier all block
  barrier low named count 32 id 1
  launch grid (ceil_div(N,64),1,1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    let i : s32 thread = block_x * 64 + thread
    if i < N {
      s[thread] = X[i]  @3
    } else {
      s[thread] = 0.0  @3
    }
    sync all  @4
    let next : f32 thread = s[(thread + 1) % 64]  @5
    r[0] = next  @5
    if i < N {
      W[i] = r[0]  @6
      Y[i] = W[i] + r[0]  @6
    }
  }
}
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kNeighbour;
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no `" + from + "` to change");
  return text.replace(at, from.size(), to);
}

Report execute(const std::string& text, Options options = {}, std::int64_t n = 130) {
  std::vector<float> x(static_cast<size_t>(n), 1.0f), y(static_cast<size_t>(n));
  const auto memory = [&](std::vector<float>& v, bool constant) {
    return Memory{v.data(), n * static_cast<std::int64_t>(sizeof(float)), constant};
  };
  return run(ir::parse(text), {n, memory(x, true), memory(y, false), Memory{}}, options);
}

Fault fault(const std::string& from, const std::string& to, Options options = {},
            std::int64_t n = 130) {
  const Report report = execute(changed(from, to), options, n);
  INFO(from + " -> " + to);
  REQUIRE(report.fault);
  INFO(report.fault->message);
  return *report.fault;
}

using Coordinate = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("without a fault there is none, on one thread or several") {
  for (const int threads : {1, 4}) {
    const Report report = execute(kNeighbour, {.write_once = true, .threads = threads});
    INFO((report.fault ? report.fault->message : ""));
    REQUIRE(!report.fault);
    REQUIRE(report.blocks == 3);
    REQUIRE(report.lane_operations > 0);
  }
}

TEST_CASE("accesses to global memory are counted in sectors") {
  const Report even = execute(kNeighbour, {.bank_conflicts = true}, 128);
  REQUIRE(!even.fault);
  REQUIRE(even.sectors.size() == 4);  // X read, W written and read, Y written
  for (const interpret::Sectors& each : even.sectors) {
    CHECK(each.accesses == 4);
    CHECK(each.sectors == 4 * each.accesses);
    CHECK(each.least == each.sectors);
  }
  CHECK(even.sectors[0].buffer == "X");
  CHECK(even.sectors[0].line == 3);
  // Every second element: as many sectors again.
  const std::string strided = changed("X : f32 N:1 read", "X : f32 N:2 read");
  std::vector<float> x(256, 1.0f), y(128);
  const Report odd =
      run(ir::parse(strided),
          {std::int64_t{128}, Memory{x.data(), 1024, true}, Memory{y.data(), 512}, Memory{}},
          {.bank_conflicts = true});
  REQUIRE(!odd.fault);
  CHECK(odd.sectors[0].sectors == 32);
  CHECK(odd.sectors[0].least == 16);
  CHECK(execute(kNeighbour).sectors.empty());
}

TEST_CASE("a missing barrier is a race") {
  // Within a warp the read comes first in no order that the language promises; across warps thread
  // 31 reads what thread 32 has not written.
  const Fault f = fault("    sync all  @4\n", "");
  REQUIRE(f.code == FaultCode::race);
  REQUIRE(f.buffer == "s");
  REQUIRE(f.coordinate == Coordinate{1});
  REQUIRE(f.thread == 0);
  REQUIRE(f.other_thread == 1);
  REQUIRE(f.line == 5);
  REQUIRE(f.message.find("races with the write by thread 1") != std::string::npos);
  REQUIRE(f.message.find("neighbour.lay:5") != std::string::npos);
}

TEST_CASE("a write behind somebody's read, without a barrier, is a race") {
  const Fault f = fault("    r[0] = next  @5\n", "    r[0] = next\n    s[thread] = 1.0  @9\n");
  REQUIRE(f.code == FaultCode::race);
  REQUIRE(f.line == 9);
  REQUIRE(f.message.find("races with the read by thread") != std::string::npos);
}

TEST_CASE("two threads that write one element of shared memory race") {
  const Fault f = fault("s[thread] = X[i]", "s[thread / 2] = X[i]");
  REQUIRE(f.code == FaultCode::race);
  REQUIRE(f.thread == 1);
  REQUIRE(f.other_thread == 0);
  REQUIRE(f.message.find("the write of `s` races with the write") != std::string::npos);
}

TEST_CASE("a barrier of one warp orders that warp only") {
  const std::string each =
      "    if warp < 1 {\n      sync low\n    } else {\n      fence warp\n    }\n";
  const Fault race = fault("    sync all  @4\n", each);
  REQUIRE(race.code == FaultCode::race);
  REQUIRE(race.thread == 63);
  REQUIRE(race.coordinate == Coordinate{0});
  REQUIRE(race.other_thread == 0);
  const Fault early = fault("    sync all  @4\n", "    fence warp\n");
  REQUIRE(early.code == FaultCode::uninitialised);  // warp 1 has not run yet
  REQUIRE(early.thread == 31);
  REQUIRE(early.coordinate == Coordinate{32});
}

TEST_CASE("off by one: the coordinate and the thread") {
  const Fault f = fault("if i < N {\n      W[i]", "if i <= N {\n      W[i]");
  REQUIRE(f.code == FaultCode::out_of_bounds);
  REQUIRE(f.buffer == "W");
  REQUIRE(f.coordinate == Coordinate{130});
  REQUIRE(f.block == std::array<std::int64_t, 3>{2, 0, 0});
  REQUIRE(f.thread == 2);
  REQUIRE(f.line == 6);
  REQUIRE(f.statement.find("W[i] = r[0]") != std::string::npos);
  REQUIRE(f.message.find("coordinate 130 of mode 0 of `W` is outside 0..130") != std::string::npos);
  const Fault g = fault("(thread + 1) % 64", "thread - 1");
  REQUIRE(g.code == FaultCode::out_of_bounds);
  REQUIRE(g.coordinate == Coordinate{-1});
  // Without checks memory is as safe.
  REQUIRE(fault("(thread + 1) % 64", "thread + 1", {.checks = false}).code ==
          FaultCode::out_of_bounds);
}

TEST_CASE("reads of what nothing has written") {
  const Fault s = fault("      s[thread] = 0.0  @3\n", "", {}, 63);
  REQUIRE(s.code == FaultCode::uninitialised);
  REQUIRE(s.coordinate == Coordinate{63});
  REQUIRE(s.thread == 62);
  const Fault r = fault("Y[i] = W[i] + r[0]", "Y[i] = W[i] + r[1]");
  REQUIRE(r.code == FaultCode::uninitialised);
  REQUIRE(r.buffer == "r");
  REQUIRE(r.coordinate == Coordinate{1});
  const Fault w = fault("      W[i] = r[0]  @6\n", "");
  REQUIRE(w.code == FaultCode::uninitialised);
  REQUIRE(w.buffer == "W");
  // A register that only half of the warp has written.
  const Fault half =
      fault("    r[0] = next  @5\n", "    if lane < 16 {\n      r[0] = next\n    }\n");
  REQUIRE(half.code == FaultCode::uninitialised);
  REQUIRE(half.thread == 16);
}

TEST_CASE("barriers that not all threads reach") {
  const Fault lanes = fault("    sync all  @4\n", "    if lane < 7 {\n      sync all  @4\n    }\n");
  REQUIRE(lanes.code == FaultCode::barrier_divergence);
  REQUIRE(lanes.thread == 7);
  REQUIRE(lanes.line == 4);
  const Fault warps = fault("    sync all  @4\n", "    if warp < 1 {\n      sync all  @4\n    }\n",
                            {.checks = false});
  REQUIRE(warps.code == FaultCode::barrier_divergence);
  REQUIRE(
      warps.message.find("expected 64 threads, got 32, and thread 32 has ended without arriving") !=
      std::string::npos);
  const Fault places =
      fault("    sync all  @4\n",
            "    if warp < 1 {\n      sync all  @4\n    } else {\n      sync all  @5\n    }\n",
            {.checks = false});
  REQUIRE(places.code == FaultCode::barrier_divergence);
  REQUIRE(places.message.find("another statement of the same barrier") != std::string::npos);
  const Fault dead = fault("    sync all  @4\n",
                           "    if warp < 1 {\n      sync all  @4\n    } else {\n      sync low\n  "
                           "  sync all\n   }\n    sync all\n",
                           {.checks = false});
  REQUIRE(dead.code == FaultCode::barrier_divergence);
  std::string text = changed("    sync all  @4\n", "    sync low\n    sync all  @4\n");
  text.replace(text.find("count 32"), 8, "count 96");
  const Report report = execute(text, {.checks = false});
  REQUIRE(report.fault);
  REQUIRE(report.fault->code == FaultCode::deadlock);
  REQUIRE(report.fault->message.find("expected 96 threads, got 64") != std::string::npos);
}

TEST_CASE("vectors that do not start at a multiple of their size") {
  const std::string sync = "    sync all  @4\n";
  const Fault f = fault(sync, sync + "    copy r[0] <- s[lane] count 4\n");
  REQUIRE(f.code == FaultCode::misaligned);
  REQUIRE(f.thread == 1);
  REQUIRE(f.message.find("a vector of 16 bytes of `s` starts at byte 4") != std::string::npos);
  const Fault end = fault(sync, sync + "    copy r[0] <- s[lane / 8 * 4 + 52] count 4\n");
  REQUIRE(end.code == FaultCode::out_of_bounds);
  REQUIRE(end.message.find("coordinate 64") != std::string::npos);
}

TEST_CASE("two threads that write one element of a result, where that is asked for") {
  const std::string from = "Y[i] = W[i] + r[0]", to = "Y[i / 2] = W[i] + r[0]";
  REQUIRE(!execute(changed(from, to)).fault);
  const Fault f = fault(from, to, {.write_once = true});
  REQUIRE(f.code == FaultCode::written_twice);
  REQUIRE(f.thread == 1);
  REQUIRE(f.other_thread == 0);
  REQUIRE(f.coordinate == Coordinate{0});
}

TEST_CASE("integers that leave their type, and division by zero") {
  const Fault f = fault("    r[0] = next  @5\n",
                        "    r[0] = next\n    let big : s32 thread = (thread + 1) * 2147483647\n");
  REQUIRE(f.code == FaultCode::overflow);
  REQUIRE(f.thread == 1);
  const Fault d = fault("(thread + 1) % 64", "(thread + 1) / (thread - 5)");
  REQUIRE(d.code == FaultCode::division_by_zero);
  REQUIRE(d.thread == 5);
  // In an arm that is not taken nothing is divided.
  REQUIRE(
      !execute(
           changed(
               "(thread + 1) % 64",
               "select(thread == 5, 6, (thread + 1) / (thread - 5) % 2 * 0 + (thread + 1) % 64)"))
           .fault);
  REQUIRE(!execute(changed("i < N {\n      W",
                           "thread == 5 or i / (thread - 5) < 0 or i < N {\n      W"),
                   {}, 192)
               .fault);
}

TEST_CASE("limits and interruption end a run") {
  REQUIRE(fault("let i :", "for t : s32 grid in 0..2000000000 {\n    }\n    let i :",
                {.max_steps = 100000})
              .code == FaultCode::limit);
  REQUIRE(fault("shared s : f32 64:1", "shared s : f32 (64,1000000000):(1,64)", {.checks = false})
              .code == FaultCode::limit);
  // Billions of steps: a run that nobody would wait for, stopped at its first progress.
  const std::string endless =
      changed("let i :", "for t : s32 grid in 0..20000 {\n    }\n    let i :");
  const Report stopped =
      execute(endless, {.progress = [](const interpret::Progress&) { return false; }}, 4'000'000);
  REQUIRE(stopped.fault);
  REQUIRE(stopped.fault->code == FaultCode::stopped);
}

TEST_CASE("arguments that do not fit") {
  const ir::Kernel kernel = ir::parse(kNeighbour);
  std::vector<float> x(10), y(10);
  const Memory in{x.data(), 40, true}, out{y.data(), 40, false};
  const auto code = [&](const std::vector<Argument>& arguments) {
    const Report report = run(kernel, arguments);
    REQUIRE(report.fault);
    REQUIRE(report.fault->code == FaultCode::argument);
    return report.fault->message;
  };
  const std::int64_t ten = 10, eleven = 11;
  REQUIRE(!run(kernel, {ten, in, out, Memory{}}).fault);
  REQUIRE(code({ten, in, out}) == "the kernel takes 4 arguments, not 3");
  REQUIRE(code({2.5, in, out, Memory{}}) == "`N` takes an integer");
  REQUIRE(code({std::int64_t{-1}, in, out, Memory{}}) == "the size `N` is -1");
  REQUIRE(code({std::int64_t{1} << 40, in, out, Memory{}}).find("does not fit s32") !=
          std::string::npos);
  REQUIRE(code({eleven, in, out, Memory{}}) == "`X`, N:1, needs 11 elements and has 10");
  REQUIRE(code({ten, in, in, Memory{}}) == "`Y` is written and its memory is constant");
  REQUIRE(code({ten, Memory{}, out, Memory{}}) == "`X` has no memory");
}

TEST_CASE("the fault of the lowest block is reported, however many threads run") {
  const std::string text = changed("s[(thread + 1) % 64]", "s[thread + block_x - 1]");
  for (const int threads : {1, 2, 4}) {
    const Report report = execute(text, {.threads = threads}, 64 * 20);
    REQUIRE(report.fault);
    REQUIRE(report.fault->block[0] == 0);
    REQUIRE(report.fault->coordinate == Coordinate{-1});
  }
}

// Three stages ahead, one waited for a step.
const std::string kPipeline = R"(kernel pipeline from "pipeline.lay" {
  size N
  global X : f32 (64,N):(1,64) read align 16
  global Y : f32 (64,N):(1,64) write align 16
  shared s : f32 (64,4):(1,64) align 16
  copy_atom "async4" thread global (1,32):(0,1) to shared (1,32):(0,1) ptx "cp.async.ca.shared.global [$to], [$from], 4, $bytes"
  barrier all block
  launch grid (1,1,1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    for t : s32 grid in 0..3 unrolled {
      copy cp_async s[thread,t] <- X[thread,t] when t < N else zero then group atom "async4"  @3
      commit cp_async
    }
    for t : s32 grid in 0..N {
      wait_group cp_async pending 2
      sync all
      Y[63 - thread,t] = s[63 - thread,t % 4]  @5
      copy cp_async s[thread,(t + 3) % 4] <- X[thread,t + 3] when t + 3 < N then group atom "async4"  @6
      commit cp_async
    }
  }
}
)";

Report pipeline(const std::string& from, const std::string& to, bool checks = true) {
  std::string text = kPipeline;
  text.replace(text.find(from), from.size(), to);
  std::vector<float> x(64 * 10), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Report report =
      run(ir::parse(text),
          {std::int64_t{10}, Memory{x.data(), 2560, true}, Memory{y.data(), 2560, false}},
          {.checks = checks});
  if (!report.fault) REQUIRE(x == y);
  return report;
}

TEST_CASE("copies in flight: right when waited for, else a fault") {
  for (const bool checks : {true, false}) {
    const Report report = pipeline("sync all", "sync all", checks);
    INFO((report.fault ? report.fault->message : ""));
    REQUIRE(!report.fault);
  }
  const Report late = pipeline("pending 2", "pending 3");
  REQUIRE(late.fault);
  REQUIRE(late.fault->code == FaultCode::in_flight);
  REQUIRE(late.fault->line == 5);
  REQUIRE(late.fault->message.find("expected a wait for the copy into it") != std::string::npos);
  // Its own data is there, the other warp's is not.
  const Report alone = pipeline("      sync all\n", "");
  REQUIRE(alone.fault);
  // A stage that the other warp has yet to read is overwritten.
  const Report early = pipeline("(t + 3) % 4] <-", "(t + 4) % 4] <-");
  REQUIRE(early.fault);
  REQUIRE(early.fault->code == FaultCode::in_flight);
  REQUIRE(early.fault->line == 5);
  REQUIRE(early.fault->thread == 32);
}
