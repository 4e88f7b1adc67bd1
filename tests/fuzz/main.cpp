// lay_fuzz: random expressions against brute force.
//
//   lay_fuzz --count N --seed S [--symbolic] [--show K] [--open K] [--strict K] [--only OPERATION]
//
// Prints the seed, a table of outcomes for each operation, and the first K cases that are wrong or
// refused where an answer exists; the exit status is 0 if there are none. Case i of seed S is the
// same whatever N is. --open K prints the first K symbolic cases that are refused though there is a
// result at each of the sizes tried, --strict K those whose guards leave out sizes at which the
// result would be right; --only draws every case of the literal table from one row.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

using fuzz::Outcome;

struct Options {
  int64_t count = 100'000;
  uint64_t seed = 1;
  bool symbolic = false;
  int64_t show = 10;
  int64_t open = 0;
  int64_t strict = 0;
  std::string only;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::strtoll(argv[++i], nullptr, 10) : 0; };
    if (!std::strcmp(argv[i], "--count")) options.count = number();
    if (!std::strcmp(argv[i], "--seed")) options.seed = static_cast<uint64_t>(number());
    if (!std::strcmp(argv[i], "--show")) options.show = number();
    if (!std::strcmp(argv[i], "--open")) options.open = number();
    if (!std::strcmp(argv[i], "--strict")) options.strict = number();
    if (!std::strcmp(argv[i], "--symbolic")) options.symbolic = true;
    if (!std::strcmp(argv[i], "--only") && i + 1 < argc) options.only = argv[++i];
  }
  return options;
}

void print(const std::map<std::string, fuzz::Tally>& table, bool symbolic) {
  using Column = std::pair<const char*, Outcome>;
  const std::vector<Column> literals{{"right", Outcome::right},
                                     {"refused", Outcome::refused},
                                     {"wrong", Outcome::wrong},
                                     {"missed", Outcome::missed}};
  const std::vector<Column> symbols{{"right", Outcome::right},     {"refused", Outcome::refused},
                                    {"guarded", Outcome::guarded}, {"strict", Outcome::strict},
                                    {"wrong", Outcome::wrong},     {"open", Outcome::open}};
  const std::vector<Column>& columns = symbolic ? symbols : literals;
  std::printf("%-22s", "");
  for (const auto& [name, outcome] : columns) std::printf(" %10s", name);
  fuzz::Tally all;
  const auto row = [&](const char* name, const fuzz::Tally& tally) {
    std::printf("\n%-22s", name);
    for (const auto& [_, outcome] : columns)
      std::printf(" %10lld", static_cast<long long>(tally.of(outcome)));
  };
  for (const auto& [name, tally] : table) {
    row(name.c_str(), tally);
    for (const auto& [outcome, count] : tally.counts) all.counts[outcome] += count;
  }
  row("all", all);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  std::map<std::string, fuzz::Tally> table;
  int64_t failed = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < options.count; ++i) {
    laws::Random random{options.seed * 0x9E3779B97F4A7C15ull +
                        static_cast<uint64_t>(i) * 0xD1B54A32D192ED03ull};
    fuzz::Report report;
    const auto count = [&](Outcome outcome) {
      ++table[report.operation].counts[outcome];
      const auto print_case = [&](const char* what) {
        std::printf("%s, case %lld: %s: %s\n", what, static_cast<long long>(i),
                    report.operation.c_str(), report.text.c_str());
      };
      if (outcome == Outcome::open && options.open-- > 0) print_case("open");
      if (outcome == Outcome::strict && options.strict-- > 0) print_case("strict");
      if (outcome != Outcome::wrong && outcome != Outcome::missed) return;
      if (failed++ >= options.show) return;
      print_case(outcome == Outcome::wrong ? "WRONG" : "MISSED");
    };
    if (options.symbolic) {
      fuzz::run_symbolic(random, 4, report, count);
    } else {
      const Outcome outcome = fuzz::run_literal(random, report, options.only);
      count(outcome);
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%s, seed %llu: %lld expressions in %.1f s\n",
              options.symbolic ? "symbolic" : "literal",
              static_cast<unsigned long long>(options.seed), static_cast<long long>(options.count),
              seconds.count());
  print(table, options.symbolic);
  return failed == 0 ? 0 : 1;
}
