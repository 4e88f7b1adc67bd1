// Left inverses by the carries of cuts, and the lattices that their strides lie in, against plain
// counting.

#include "frontend/algebra/inverse_search/inverse_carries.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "frontend/algebra/integers/integer_equations.h"
#include "frontend/algebra/integers/lattice.h"
#include "frontend/algebra/inverse_search/cut_strides.h"
#include "frontend/algebra/inverse_search/lattice_chains.h"
#include "tests/laws/oracle.h"
#include "tests/laws/random_layouts.h"

using namespace lay;

TEST_CASE("carries: each chain of cuts has strides that give every value an index") {
  laws::Random random{81};
  int served = 0;
  for (int round = 0; round < 300; ++round) {
    const int64_t shared = random.in(1, 60);
    const Layout a(tuple(random.in(2, 4), random.in(2, 4), random.in(2, 5)),
                   tuple(shared, random.in(1, 400), shared));
    const auto table = ValueTable::of(a);
    REQUIRE(table);
    std::vector<size_t> entries(table->count());
    std::iota(entries.begin(), entries.end(), size_t{0});
    int64_t steps = 1 << 16;
    bool any = false;
    each_by_carries(*table, steps, [&](const std::vector<int64_t>& extents) {
      int64_t to_solve = 1 << 20;
      INFO(a.to_string());
      REQUIRE(strides_for(*table, entries, extents, to_solve));
      any = true;
      return false;
    });
    served += any;
    if (any) {
      Facts facts;
      REQUIRE(laws::left_inverts(a, left_inverse(facts, a)));
    }
  }
  CHECK(served > 30);
}

TEST_CASE("carries: layouts that nothing but a scan of the cuts is known to invert") {
  for (const Layout& a :
       {layout(tuple(4, 4, 5, 8), tuple(834218, 1555, 151135, 1555)),
        layout(tuple(8, 8, 3, 6), tuple(412133, 412133, 412133, 269964)),
        layout(tuple(2, 3, 7, 5, 4), tuple(633202, 633202, 633202, 1047184, 633202))}) {
    Facts facts;
    INFO(a.to_string());
    CHECK(laws::left_inverts(a, left_inverse(facts, a)));
  }
}

TEST_CASE("lattice: what it has are the sums of whole multiples, in one form") {
  laws::Random random{82};
  constexpr size_t kWidth = 3;
  int has = 0, has_not = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::vector<int64_t>> rows(static_cast<size_t>(random.in(1, 4)),
                                           std::vector<int64_t>(kWidth));
    Lattice lattice(kWidth), turned(kWidth);
    std::vector<int64_t> sum(kWidth), other(kWidth);
    for (auto& row : rows) {
      for (int64_t& number : row) number = random.in(-6, 6);
      const int64_t times = random.in(-9, 9);
      for (size_t k = 0; k < kWidth; ++k) sum[k] += times * row[k];
      lattice.add(row);
    }
    for (size_t i = rows.size(); i-- > 0;) turned.add(rows[i]);
    turned.add(sum);
    REQUIRE(lattice.has(sum));
    Digest one, same;
    lattice.mix(one), turned.mix(same);
    REQUIRE(one == same);
    for (int64_t& number : other) number = random.in(-6, 6);
    IntegerEquations equations(rows.size());
    bool solvable = true;
    for (size_t k = 0; k < kWidth && solvable; ++k) {
      std::vector<int64_t> factors;
      for (const auto& row : rows) factors.push_back(row[k]);
      solvable = equations.require(factors, other[k]);
    }
    REQUIRE(lattice.has(other) == solvable);
    ++(solvable ? has : has_not);
  }
  CHECK(has > 100);
  CHECK(has_not > 100);
}

TEST_CASE("lattice chains: one is found exactly where some chain of the cuts has one") {
  laws::Random random{83};
  constexpr int64_t kMost = 24;
  constexpr size_t kWidth = 3;
  int found = 0, none = 0;
  for (int round = 0; round < 600; ++round) {
    const int64_t through = random.in(2, 6);
    const auto row = [&] {
      return std::vector<int64_t>{random.in(0, 9), random.in(0, 4), random.in(0, 1)};
    };
    std::vector<CutRow> cuts{{1, row()}};
    for (int64_t at = 2; at <= kMost; ++at) {
      const bool divides = at < through ? through % at == 0 : at % through == 0;
      if (at == through || (divides && random.once_in(2))) cuts.push_back({at, row()});
    }
    const std::vector<int64_t> target{random.in(0, 9), random.in(0, 9), random.in(0, 3)};
    const auto serves = [&](const std::vector<int64_t>& ats) {
      std::vector<const CutRow*> chosen;
      for (const CutRow& cut : cuts) {
        if (std::find(ats.begin(), ats.end(), cut.at) != ats.end()) chosen.push_back(&cut);
      }
      IntegerEquations equations(chosen.size());
      for (size_t k = 0; k < kWidth; ++k) {
        std::vector<int64_t> factors;
        for (const CutRow* cut : chosen) factors.push_back(cut->row[k]);
        if (!equations.require(factors, target[k])) return false;
      }
      return true;
    };
    bool exists = false;
    const std::function<void(std::vector<int64_t>&)> each = [&](std::vector<int64_t>& ats) {
      exists |= std::find(ats.begin(), ats.end(), through) != ats.end() && serves(ats);
      for (const CutRow& cut : cuts) {
        if (cut.at <= ats.back() || cut.at % ats.back() != 0) continue;
        ats.push_back(cut.at);
        each(ats);
        ats.pop_back();
      }
    };
    std::vector<int64_t> ats{1};
    each(ats);
    int64_t steps = 1 << 20;
    const bool has =
        each_lattice_chain(cuts, through, target, steps, [&](const std::vector<int64_t>& extents) {
          std::vector<int64_t> chain{1};
          for (const int64_t extent : extents) chain.push_back(chain.back() * extent);
          REQUIRE(serves(chain));
          return true;
        });
    REQUIRE(has == exists);
    ++(exists ? found : none);
  }
  CHECK(found > 100);
  CHECK(none > 100);
}
