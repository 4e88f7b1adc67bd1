// Values that the lanes of a warp exchange, on the host.
#include <array>
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
using interpret::Report;

template <class T>
Memory memory(std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size() * sizeof(T)), false};
}

void require_no_fault(const Report& report) {
  INFO((report.fault ? report.fault->message : ""));
  REQUIRE(!report.fault);
}

// Two warps; each thread writes what another lane of its warp has read.
std::string exchange(const std::string& type, int lane_mask) {
  std::string text = R"(kernel exchange {
  global X : TYPE 64:1 read
  global Y : TYPE 64:1 write
  launch grid (1,1,1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    let x : TYPE thread = X[thread]
    shuffle y : TYPE thread = x from lane xor MASK
    Y[thread] = y
  }
}
)";
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
      text.replace(at, what.size(), by);
  };
  replace("TYPE", type);
  replace("MASK", std::to_string(lane_mask));
  return text;
}

// Every bit of an integer counts; as 16-bit floats the values are normal numbers.
template <class T>
void check_exchange(const std::string& type, T first, T step) {
  for (const int lane_mask : {1, 2, 4, 8, 16, 5, 31}) {
    INFO(type << " by " << lane_mask);
    const ir::Kernel kernel = ir::parse(exchange(type, lane_mask));
    REQUIRE(verify(kernel).empty());
    std::vector<T> x(64), y(64);
    for (size_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {  // wraps
        x[i] = static_cast<T>(static_cast<std::uint64_t>(first) +
                              i * static_cast<std::uint64_t>(step));
      } else {
        x[i] = static_cast<T>(first + static_cast<T>(i) * step);
      }
    }
    require_no_fault(interpret::run(kernel, {memory(x), memory(y)}, {.write_once = true}));
    for (size_t i = 0; i < x.size(); ++i)
      REQUIRE(y[i] == x[i / 32 * 32 + (i % 32 ^ static_cast<size_t>(lane_mask))]);
  }
}

std::string golden() {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/tests/emitted/warp_sum.ir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Pairs 16 lanes apart, then 8, 4, 2, 1.
template <class T>
T tree_sum(const T* row) {
  std::array<T, 32> sums{};
  std::copy(row, row + 32, sums.begin());
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

}  // namespace

TEST_CASE("a shuffle moves values of every type between the lanes of a warp, bit by bit") {
  check_exchange<float>("f32", 0.1f, 1.7f);
  check_exchange<double>("f64", 0.1, 1.7e10);
  check_exchange<std::int32_t>("s32", -2000000000, 62500001);
  check_exchange<std::uint32_t>("u32", 3, 66000007);
  check_exchange<std::int64_t>("s64", -9000000000000000000, 281000000000000001);
  check_exchange<std::uint64_t>("u64", 5, 288000000000000007);
  check_exchange<std::uint16_t>("f16", 0x3c01, 0x0103);
  check_exchange<std::uint16_t>("bf16", 0x3f81, 0x0103);
  check_exchange<std::int8_t>("s8", -128, 3);
  check_exchange<std::uint8_t>("u8", 1, 3);
}

TEST_CASE("a shuffle moves truth values") {
  const ir::Kernel kernel = ir::parse(R"(kernel truth {
  global Y : s32 32:1 write
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    shuffle other : pred thread = lane % 3 == 0 from lane xor 1
    Y[lane] = select(other,lane,-1)
  }
}
)");
  REQUIRE(verify(kernel).empty());
  std::vector<std::int32_t> y(32);
  require_no_fault(interpret::run(kernel, {memory(y)}));
  for (int i = 0; i < 32; ++i) REQUIRE(y[i] == ((i ^ 1) % 3 == 0 ? i : -1));
}

TEST_CASE("a warp sums 32 lanes in f32 and f64, in the order of a tree") {
  const ir::Kernel kernel = ir::parse(golden());
  for (const std::int64_t rows : {1, 4, 7}) {
    std::vector<float> x(rows * 32), s(rows);
    std::vector<double> y(x.size()), t(rows);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = 1.0f / static_cast<float>(i + 3);
      y[i] = -1.0 / static_cast<double>(i + 7);
    }
    for (const std::uint64_t seed : {0, 1, 2}) {
      require_no_fault(interpret::run(kernel, {rows, memory(x), memory(y), memory(s), memory(t)},
                                      {.write_once = true, .seed = seed}));
      for (std::int64_t m = 0; m < rows; ++m) {
        REQUIRE(s[m] == tree_sum(&x[m * 32]));
        REQUIRE(t[m] == tree_sum(&y[m * 32]));
      }
    }
  }
}

TEST_CASE("a shuffle in a loop exchanges what the lanes have in this iteration") {
  const ir::Kernel kernel = ir::parse(R"(kernel again {
  global Y : s32 (32,3):(1,32) write
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    for k : s32 grid in 0..3 {
      let x : s32 thread = lane * 10 + k
      shuffle y : s32 thread = x from lane xor 2
      Y[lane,k] = y + k
    }
  }
}
)");
  REQUIRE(verify(kernel).empty());
  std::vector<std::int32_t> y(96);
  require_no_fault(interpret::run(kernel, {memory(y)}));
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 32; ++i) REQUIRE(y[k * 32 + i] == (i ^ 2) * 10 + 2 * k);
  }
}

TEST_CASE("a shuffle does not order shared memory") {
  const ir::Kernel kernel = ir::parse(R"(kernel unordered {
  global Y : s32 32:1 write
  shared s : s32 32:1
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    s[lane] = lane
    shuffle other : s32 thread = lane from lane xor 1
    Y[lane] = s[other]
  }
}
)");
  REQUIRE(verify(kernel).empty());
  std::vector<std::int32_t> y(32);
  const Report report = interpret::run(kernel, {memory(y)});
  REQUIRE(report.fault);
  CHECK(report.fault->code == FaultCode::race);
}

TEST_CASE("a shuffle that not all lanes of the warp reach together is a fault") {
  struct Mistake {
    std::string around;
    int thread;
  };
  const std::string head = R"(kernel part from "part.lay" {
  global Y : s32 64:1 write
  launch grid (1,1,1) cluster (1,1,1) threads THREADS
  role all threads 0..THREADS {
    AROUND {
      shuffle other : s32 thread = lane from lane xor 1  @7
      Y[thread] = other
    }
  }
}
)";
  const auto run = [&](const std::string& around, const std::string& threads) {
    std::string text = head;
    text.replace(text.find("AROUND"), 6, around);
    for (size_t at = text.find("THREADS"); at != std::string::npos; at = text.find("THREADS"))
      text.replace(at, 7, threads);
    std::vector<std::int32_t> y(64);
    return interpret::run(ir::parse(text), {memory(y)});
  };
  require_no_fault(run("if warp == 1", "64"));
  const Mistake mistakes[] = {
      {"if thread < 41", 41}, {"if lane % 2 == 1", 0}, {"for k : s32 thread in 0..lane", 0}};
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.around);
    const Report report = run(mistake.around, "64");
    REQUIRE(report.fault);
    CHECK(report.fault->code == FaultCode::barrier_divergence);
    CHECK(report.fault->thread == mistake.thread);
    CHECK(report.fault->line == 7);
    CHECK(report.fault->message.find("expected all lanes of the warp at this shuffle") !=
          std::string::npos);
  }
  // The second warp has 8 lanes.
  const Report report = run("if warp < 2", "40");
  REQUIRE(report.fault);
  CHECK(report.fault->code == FaultCode::barrier_divergence);
  CHECK(report.fault->thread == 40);
}

TEST_CASE("the builder makes a shuffle with a variable of its own") {
  ir::Kernel kernel;
  ir::Builder b(kernel);
  const ir::BufferId y =
      b.global("y", ElementType::f32, Layout(32, 1), {.read = false, .written = true});
  b.role("all", 0, 32, [&] {
    const ir::Term lane = b.special(ir::Builtin::lane);
    ir::Term sum = b.cast(lane, ElementType::f32);
    for (const int lane_mask : {16, 8}) sum = sum + b.shuffle("other", sum, lane_mask);
    b.assign({y, {lane}}, sum);
  });
  kernel.name = "sum";
  kernel.launch.threads = 32;
  kernel.launch.grid = {1, 1, 1};
  REQUIRE(verify(kernel).empty());
  const std::string text = print(kernel);
  INFO(text);
  REQUIRE(text.find("shuffle other : f32 thread = f32(lane) from lane xor 16\n") !=
          std::string::npos);
  REQUIRE(text.find("shuffle other_2 : f32 thread = f32(lane) + other from lane xor 8\n") !=
          std::string::npos);
  REQUIRE(print(ir::parse(text)) == text);
  std::vector<float> out(32);
  require_no_fault(interpret::run(kernel, {memory(out)}));
  for (int i = 0; i < 32; ++i) {
    const int j = i % 8;
    REQUIRE(out[i] == static_cast<float>(4 * j + 0 + 8 + 16 + 24));
  }
}
