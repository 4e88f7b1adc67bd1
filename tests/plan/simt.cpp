// The costs of stdlib/policies/simt.lay against times that were measured (simt.txt).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/sema/library.h"
#include "generated/tests/paths.h"
#include "tests/plan/judged.h"
#include "tests/plan/policy_rows.h"

namespace lay::test {
namespace {

// Tile M, N and K, warps along M and N, slices of K, stages, parts of K.
using Shape = std::array<std::int64_t, 8>;

struct Problem {
  std::string order, accesses;
  std::int64_t m = 0, n = 0, k = 0;
  std::map<Shape, double> times;  // us
};

// "64x128x16.2x2x1.4.2"
Shape shape_of(const std::string& text) {
  static const std::regex form(R"((\d+)x(\d+)x(\d+)\.(\d+)x(\d+)x(\d+)\.(\d+)\.(\d+))");
  std::smatch found;
  REQUIRE(std::regex_match(text, found, form));
  Shape shape{};
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = std::stoll(found[i + 1].str());
  return shape;
}

Shape shape_of(const sema::Policy& row) {
  const auto tile = numbers(row, "tile"), groups = numbers(row, "groups"),
             cluster = numbers(row, "cluster"), stages = numbers(row, "stages");
  return {tile[0], tile[1], tile[2], groups[0], groups[1], groups[2], stages[0], cluster[2]};
}

// "sgemm_nt/elements 935 2459 71 15.77: 32x32x32.1x1x4.2.1 29.12, ..."
std::vector<Problem> measured() {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/tests/plan/simt.txt");
  std::vector<Problem> problems;
  for (std::string line; std::getline(in, line);) {
    static const std::regex form(R"(sgemm_(..)(/elements)? (\d+) (\d+) (\d+) [\d.]+: (.*))");
    std::smatch found;
    if (!std::regex_match(line, found, form)) continue;  // the text in front
    Problem problem{found[1],
                    found[2].matched ? "elements" : "vectors",
                    std::stoll(found[3]),
                    std::stoll(found[4]),
                    std::stoll(found[5]),
                    {}};
    std::istringstream words(found[6]);
    std::string word, time;
    while (words >> word >> time) problem.times[shape_of(word)] = std::stod(time);
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::string accesses_of(const sema::Policy& row) {
  for (const sema::ScheduleEntry& entry : row.entries)
    if (entry.key == "accesses") return std::get<std::string>(entry.value);
  return {};
}

// By cost, those that were timed; nothing where the row of least cost was not.
std::vector<TimedRow> timed_rows(const Problem& problem) {
  using enum ElementType;
  sema::ProductKind kind{f32, f32, f32};
  // As BLAS names operands of row-major matrices: A that is not transposed runs along K, and B that
  // is.
  kind.a_along_k = problem.order[0] == 'n';
  kind.b_along_k = problem.order[1] == 't';
  std::vector<TimedRow> timed;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const sema::Policy& row : sema::library_policies("simt", kind)) {
    if (accesses_of(row) != "\"" + problem.accesses + "\"") continue;
    const auto cost = cost_under(row, {problem.m, problem.n, problem.k, 1, 132});
    REQUIRE(cost);
    least = std::min(least, cost->value());
    const auto time = problem.times.find(shape_of(row));
    if (time != problem.times.end()) timed.push_back({cost->value(), time->second});
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const TimedRow& a, const TimedRow& b) { return a.cost < b.cost; });
  if (!timed.empty() && timed.front().cost != least) timed.clear();
  return timed;
}

}  // namespace

TEST_CASE("costs on CUDA cores: the row of least cost loses little to the fastest that was timed") {
  const std::vector<Problem> problems = measured();
  struct Asked {
    const char* accesses;
    std::size_t problems;
    double mean, tenth, tau;
  };
  for (const Asked& asked :
       {Asked{"vectors", 50, 1.035, 1.12, 0.9}, Asked{"elements", 18, 1.045, 1.15, 0.9}}) {
    Judged found;
    for (const Problem& problem : problems) {
      if (problem.accesses != asked.accesses) continue;
      const std::vector<TimedRow> rows = timed_rows(problem);
      // Where few of the rows were timed, the fastest ones may be among the others.
      if (rows.size() < 5) continue;
      double fastest = rows.front().time;
      for (const auto& [shape, time] : problem.times) fastest = std::min(fastest, time);
      found.add(rows, fastest);
    }
    found.sort();
    REQUIRE(found.losses.size() >= asked.problems);
    INFO(asked.accesses << ": " << found.losses.size() << " problems, mean loss "
                        << found.mean_loss() << ", 90th percentile " << found.at(0.9) << ", worst "
                        << found.losses.back() << "; Kendall's tau " << found.tau() << " of "
                        << found.pairs << " pairs");
    CHECK(found.mean_loss() <= asked.mean);
    CHECK(found.at(0.9) <= asked.tenth);
    CHECK(found.tau() >= asked.tau);
  }
}

}  // namespace lay::test
