// The model's order of schedules against times that were measured (measured.lay). All pairs of a
// problem whose times differ by more than the spread of measurements are asked: which is the
// faster? Kendall's tau of them, and what the model's first choice loses, are what the model is
// held to.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "backend/plan/make.h"
#include "backend/plan/model/model.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/library.h"
#include "frontend/sema/values/record_fields.h"
#include "generated/tests/paths.h"

namespace {

using namespace lay;

std::string slurp(const std::string& path) {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Measured {
  std::string words;
  double time = 0, predicted = 0;  // the time beside the library's where that is known
};

// By problem.
using Table = std::map<std::string, std::vector<Measured>>;

class Reader {
 public:
  Reader() : evaluator_(sources_, sema::Host{}, {sema::Mode::check, {}}) {
    evaluator_.run("hopper.lay", slurp("tests/bench/hopper.lay"));
    sema::add_library("measured", "tests/plan/measured.lay", slurp("tests/plan/measured.lay"));
  }

  Table table() {
    Table table;
    for (const sema::RecordPtr& record : sema::library_records("measured", "rows")) {
      const sema::RecordFields row(*record,
                                   [](const std::string& what) { throw std::logic_error(what); });
      std::string problem = row.text("run") + " " + row.text("product");
      for (const int size : row.numbers("sizes", 1, 1 << 20)) problem += " " + std::to_string(size);
      table[problem].push_back(measured(row));
    }
    return table;
  }

 private:
  sema::KernelPtr kernel(const std::string& name) const {
    for (const auto& each : evaluator_.kernels())
      if (each->name == name) return each;
    throw std::logic_error("no kernel " + name);
  }

  static Tuple tuple_of(const std::vector<int>& numbers) {
    std::vector<Tuple> leaves;
    for (const int number : numbers) leaves.emplace_back(Int(number));
    return Tuple(leaves);
  }

  Measured measured(const sema::RecordFields& row) const {
    auto made = std::make_shared<sema::Kernel>(*kernel(row.text("product")));
    const auto tile = row.numbers("tile", 1, 256), sizes = row.numbers("sizes", 1, 1 << 20);
    const auto& a = made->tensors.at(0);
    const ElementType sum = a.element == ElementType::s8 ? ElementType::s32 : ElementType::f32;
    const sema::Atom mma = sema::library_atom("atoms.sm90", "wgmma",
                                              {{"n", width(row)}, {"ab", a.element}, {"acc", sum}});
    sema::Schedule schedule{"sm90", {}, {}, {0, 0, 1}};
    const auto entry = [&](const char* key, auto value) {
      schedule.entries.push_back({key, "", value, {}});
    };
    entry("tile", tuple_of(tile));
    entry("mma", mma);
    entry("groups", tuple_of(row.numbers("groups", 1, 4)));
    entry("cluster", tuple_of(row.numbers("cluster", 1, 8)));
    if (const auto stages = row.integer("stages", 0, 32); stages > 0)
      entry("stages", Tuple(Int(stages)));
    if (row.integer("swap_ab", 0, 1) == 1) entry("swap_ab", Tuple(Int(1)));
    made->schedules = {schedule};
    const plan::Plan plan = plan::make_plan(made);
    INFO(row.text("product"));
    REQUIRE(plan.problems.empty());
    const std::map<std::string, std::int64_t> named{
        {"M", sizes[0]}, {"N", sizes[1]}, {"K", sizes[2]}, {"L", sizes[3]}};
    const Binding binding = sema::solve_sizes(*made, {}, named);
    const auto fitting = plan::fitting_variants(plan, binding);
    REQUIRE(!fitting.empty());
    REQUIRE(fitting.front()->schedule.known());
    const double us = row.real("us"), library = row.real("library");
    std::string words = tuple_of(tile).to_string();
    for (const char* field : {"groups", "cluster"})
      words += " " + tuple_of(row.numbers(field, 1, 8)).to_string();
    return {words + " stages " + std::to_string(row.integer("stages", 0, 32)),
            library > 0 ? us / library : us,
            1e6 * plan::predicted_seconds(*made, *fitting.front(), binding, default_target())};
  }

  // Returns the instruction's width: a tile's columns are one instruction wide in all rows.
  static std::int64_t width(const sema::RecordFields& row) {
    return row.numbers("tile", 1, 256).at(1);
  }

  Sources sources_;
  sema::Evaluator evaluator_;
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
      const bool same = (apart > 0) == (rows[i].predicted > rows[j].predicted) &&
                        rows[i].predicted != rows[j].predicted;
      ++(same ? of.agree : of.differ);
    }
  return of;
}

// The time of the schedule that the model likes best, over that of the fastest.
double regret(const std::vector<Measured>& rows) {
  const auto best = std::min_element(rows.begin(), rows.end(),
                                     [](const auto& a, const auto& b) { return a.time < b.time; });
  const auto first = std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.predicted < b.predicted;
  });
  return first->time / best->time;
}

// The model's judgement of several problems.
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
      std::snprintf(line, sizeof line, "    %8.3f  predicted %8.1f us  %s\n", row.time,
                    row.predicted, row.words.c_str());
      made.text += line;
    }
  }
  made.mean = std::exp(logarithms / static_cast<double>(table.size()));
  return made;
}

}  // namespace

TEST_CASE("the model orders schedules for Hopper as they were measured") {
  const Table table = Reader().table();
  REQUIRE(table.size() >= 25);
  const Judged of = judged(table);
  INFO(of.text);
  CHECK(of.all.agree + of.all.differ > 180);
  CHECK(of.all.tau() > 0.65);
  CHECK(of.mean < 1.01);
  CHECK(of.worst < 1.08);
}
