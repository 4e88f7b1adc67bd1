// The costs' order of schedules against times that were measured before there were costs
// (measured.lay). All pairs of a problem whose times differ by more than the spread of measurements
// are asked: which is the faster? Kendall's tau of them, and what the first choice loses, are what
// costs are held to. The kernels of that day are no longer those of today: tests/plan/tiles.cpp has
// newer times, by which costs are better. Costs do not know stages: schedules that differ in these
// alone are not asked.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>

#include "frontend/sema/library.h"
#include "frontend/sema/values/record_fields.h"
#include "generated/tests/paths.h"
#include "runtime/io/file.h"
#include "tests/language/script.h"

namespace {

using namespace lay;

std::string slurp(const std::string& path) {
  return runtime::read_file(std::string(LAY_SOURCE_DIR) + "/" + path);
}

struct Measured {
  std::string words;
  double time = 0;  // beside the library's where that is known
  std::int64_t cost = 0;
};

// By problem.
using Table = std::map<std::string, std::vector<Measured>>;

// What a cost asks of a kernel of tests/bench/hopper.lay.
struct Of {
  int bits;  // of an element of a factor
  bool a_along_k, b_along_k;
  int stored;
};
Of of_kernel(const std::string& name) {
  if (name == "of_e4m3") return {8, true, true, 16};
  if (name == "of_s8") return {8, true, true, 32};
  if (name == "batched") return {16, true, true, 16};
  return {16, name.at(0) == 't', name.at(1) == 't', 16};
}

class Reader {
 public:
  Reader() : script_("use policies.sm90\n") {
    sema::add_library("measured", "tests/plan/measured.lay", slurp("tests/plan/measured.lay"));
  }

  Table table() {
    Table table;
    for (const sema::RecordPtr& record : sema::library_records("measured", "rows")) {
      const sema::RecordFields row(*record,
                                   [](const std::string& what) { throw std::logic_error(what); });
      std::string problem = row.text("run") + " " + row.text("product");
      for (const int size : row.numbers("sizes", 1, 1 << 20)) problem += " " + std::to_string(size);
      // Costs are of K tiles of whole widths of 128 bytes.
      if (row.numbers("tile", 1, 256).at(2) * of_kernel(row.text("product")).bits % 1024 == 0)
        table[problem].push_back(measured(row));
    }
    return table;
  }

 private:
  static std::string tuple_text(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers) text += (text.empty() ? "(" : ",") + std::to_string(number);
    return text + ")";
  }

  Measured measured(const sema::RecordFields& row) {
    auto tile = row.numbers("tile", 1, 256), cluster = row.numbers("cluster", 1, 8);
    const auto groups = row.numbers("groups", 1, 4), sizes = row.numbers("sizes", 1, 1 << 20);
    const double us = row.real("us"), library = row.real("library");
    const std::string words =
        tuple_text(tile) + " " + tuple_text(groups) + " " + tuple_text(cluster);
    // A schedule with its factors exchanged says the instruction's rows first, a cost M.
    if (row.integer("swap_ab", 0, 1) == 1) {
      std::swap(tile.at(0), tile.at(1));
      std::swap(cluster.at(0), cluster.at(1));
    }
    const Of of = of_kernel(row.text("product"));
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    const int width = 1024 / of.bits;
    std::ostringstream text;
    text << "clocks(" << tile[0] << "," << tile[1] << "," << tile[2] / width << ","
         << tuple_text(cluster) << ",product(" << width << "," << truth(of.a_along_k) << ","
         << truth(of.b_along_k) << "," << of.stored << ",0,false,fitted_on_h200),"
         << tuple_text(groups) << ")";
    const sema::Outcome outcome = script_.evaluator.evaluate_expression("cost", text.str());
    INFO(text.str());
    REQUIRE(outcome.value);
    const Int cost = sema::under(outcome.value->as<Tuple>()->value(),
                                 {sizes.at(0), sizes.at(1), sizes.at(2), sizes.at(3), 132});
    return {words, library > 0 ? us / library : us, cost.value()};
  }

  sema::test::Script script_;
};

struct Agreement {
  int agree = 0, differ = 0;
  double tau() const {
    return agree + differ == 0 ? 0 : static_cast<double>(agree - differ) / (agree + differ);
  }
};

Agreement agreement(const std::vector<Measured>& rows) {
  constexpr double spread = 0.04;
  Agreement of;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double apart = std::log(rows[i].time / rows[j].time);
      if (std::abs(apart) < spread) continue;
      if (rows[i].words == rows[j].words) continue;
      const bool same = (apart > 0) == (rows[i].cost > rows[j].cost);
      ++(same ? of.agree : of.differ);
    }
  return of;
}

// The time of the schedule of least cost, over that of the fastest.
double regret(const std::vector<Measured>& rows) {
  const auto best = std::min_element(rows.begin(), rows.end(),
                                     [](const auto& a, const auto& b) { return a.time < b.time; });
  const auto first = std::min_element(rows.begin(), rows.end(),
                                      [](const auto& a, const auto& b) { return a.cost < b.cost; });
  return first->time / best->time;
}

// The costs' judgement of several problems.
struct Judged {
  Agreement all;
  double worst = 1, mean = 1;  // of the first choices
  std::string text;
};

Judged judged(const Table& table) {
  Judged made;
  double logarithms = 0;
  for (const auto& [problem, rows] : table) {
    const Agreement here = agreement(rows);
    made.all.agree += here.agree;
    made.all.differ += here.differ;
    made.worst = std::max(made.worst, regret(rows));
    logarithms += std::log(regret(rows));
    char line[160];
    std::snprintf(line, sizeof line,
                  "%s: %d pairs agree, %d differ, first choice %.3f of the fastest\n",
                  problem.c_str(), here.agree, here.differ, regret(rows));
    made.text += line;
    for (const Measured& row : rows) {
      std::snprintf(line, sizeof line, "    %8.3f  costs %10lld  %s\n", row.time,
                    static_cast<long long>(row.cost), row.words.c_str());
      made.text += line;
    }
  }
  made.mean = std::exp(logarithms / static_cast<double>(table.size()));
  return made;
}

}  // namespace

TEST_CASE("costs order schedules for Hopper as they were measured before") {
  const Table table = Reader().table();
  REQUIRE(table.size() >= 25);
  const Judged of = judged(table);
  INFO(of.text);
  CHECK(of.all.agree + of.all.differ > 150);
  CHECK(of.all.tau() > 0.5);
  CHECK(of.mean < 1.03);
  CHECK(of.worst < 1.24);
}
