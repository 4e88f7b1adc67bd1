// Sums of a cluster of blocks: each block stores its part in every block, which adds them up in the
// order of ranks.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "generated/tests/paths.h"
#include "tests/ir/mistakes.h"

namespace {

using namespace lay;
using interpret::FaultCode;
using interpret::Memory;
using interpret::Report;

constexpr size_t kBlocks = 4, kLanes = 32;

std::string golden() {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/tests/emitted/cluster_sum.ir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Rows of 128 numbers of one type, and the sum of each row that each block found.
template <class T>
struct Rows {
  std::vector<T> values, sums;

  explicit Rows(size_t rows) : values(rows * kBlocks * kLanes), sums(rows * kBlocks) {}
  Memory in() {
    return {values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)), true};
  }
  Memory out() { return {sums.data(), static_cast<std::int64_t>(sums.size() * sizeof(T)), false}; }
  // A tree within a block, then the blocks by rank.
  T expected(size_t row) const {
    std::array<T, kBlocks> parts{};
    for (size_t block = 0; block < kBlocks; ++block) {
      std::array<T, kLanes> lanes{};
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((row * kBlocks + block) * kLanes),
                  kLanes, lanes.begin());
      for (size_t half = kLanes / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
      }
      parts[block] = lanes[0];
    }
    return parts[0] + parts[1] + parts[2] + parts[3];
  }
  bool right() const {
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] != expected(i / kBlocks)) return false;
    }
    return true;
  }
};

struct Sums {
  Rows<float> x;
  Rows<double> y;
  Rows<std::int32_t> z;
  std::int64_t rows;

  explicit Sums(std::int64_t count)
      : x(static_cast<size_t>(count)),
        y(static_cast<size_t>(count)),
        z(static_cast<size_t>(count)),
        rows(count) {
    for (size_t i = 0; i < x.values.size(); ++i) {
      x.values[i] = 1.0f / static_cast<float>(i + 3);
      y.values[i] = -1.0 / static_cast<double>(i + 7);
      z.values[i] = static_cast<std::int32_t>(i * 7919 % 10007) - 5000;
    }
  }
  Report run(const std::string& text, std::uint64_t seed = 0) {
    return interpret::run(ir::parse(text),
                          {rows, x.in(), y.in(), z.in(), x.out(), y.out(), z.out()},
                          {.write_once = true, .seed = seed});
  }
  bool right() const { return x.right() && y.right() && z.right(); }
};

std::string changed(const std::string& from, const std::string& to) {
  std::string text = golden();
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no `" + from + "` to change");
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the blocks of a cluster sum rows of f32, f64 and s32, in any order of warps") {
  const ir::Kernel kernel = ir::parse(golden());
  for (const ir::Problem& p : verify(kernel))
    FAIL(p.code + ": " + p.message + " in " + p.statement);
  REQUIRE(print(kernel) == golden());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    INFO("seed " << seed);
    Sums sums(5);
    const Report report = sums.run(golden(), seed);
    if (report.fault) FAIL(report.fault->message);
    CHECK(sums.right());
  }
}

TEST_CASE("two parts of 64 bits go to another block at once") {
  // The part of y and the same again: the second of each pair counts.
  std::string text = changed("y_parts : f64 (4,):(1,)", "y_parts : f64 (8,):(1,)");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("y_part : f64 (1,):(1,)", "y_part : f64 (2,):(1,)");
  replace("y_part[0] = y_of_16 + y_1", "y_part[0] = f64(0.0)\n    y_part[1] = y_of_16 + y_1");
  replace("bytes 64", "bytes 96");
  replace("y_parts[cluster_rank] <- y_part[0]", "y_parts[cluster_rank * 2] <- y_part[0] count 2");
  replace("y_parts[0] + y_parts[1] + y_parts[2] + y_parts[3]",
          "y_parts[1] + y_parts[3] + y_parts[5] + y_parts[7]");
  for (const ir::Problem& p : verify(ir::parse(text)))
    FAIL(p.code + ": " + p.message + " in " + p.statement);
  Sums sums(2);
  const Report report = sums.run(text);
  if (report.fault) FAIL(report.fault->message);
  CHECK(sums.right());

  replace("y_part[0] count 2", "y_part[0] count 4");
  const std::vector<ir::Problem> found = verify(ir::parse(text));
  REQUIRE(!found.empty());
  CHECK(found[0].code == "copy-length");
  CHECK(found[0].message ==
        "expected 1, 2 or 4 elements of 32 bits or 1 or 2 of 64 bits for st_async, got 4 of 64");
}

TEST_CASE("mistakes in the exchange of parts are found on the host") {
  struct Mistake {
    std::string what, from, to;
    FaultCode code;
  };
  using enum FaultCode;
  const Mistake mistakes[] = {
      {"no wait for the parts", "    wait arrived[0] phase 0\n", "", in_flight},
      {"the wrong phase", "wait arrived[0] phase 0", "wait arrived[0] phase 1", in_flight},
      {"too few bytes expected", "bytes 64", "bytes 60", in_flight},
      {"too many bytes expected", "bytes 64", "bytes 68", bytes},
      {"a block is left out", "lane < 4", "lane < 3", bytes},
      {"nobody waits for the initialisation", "    sync blocks\n", "", barrier_misuse},
      {"two blocks store to one place", "x_parts[cluster_rank] <-", "x_parts[cluster_rank / 2] <-",
       in_flight},
      {"a place beyond the parts", "x_parts[cluster_rank] <-", "x_parts[cluster_rank + 1] <-",
       out_of_bounds},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    Sums sums(2);
    test::check_fault(sums.run(changed(mistake.from, mistake.to)), mistake.code);
  }
}
