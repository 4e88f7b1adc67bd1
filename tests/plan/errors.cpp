// Schedules that do not fit are problems with a witness; those that fit are followed.
#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "backend/plan/simt/bind_simt.h"
#include "tests/plan/kernels.h"

namespace lay::test {

namespace {

using Entries = std::vector<ScheduleEntry>;
using Value = decltype(ScheduleEntry::value);

Tuple basis(int value, int axis) {
  return Tuple::basis(value, {axis});
}

plan::Plan planned(const Entries& entries, const std::string& target = "simt",
                   std::vector<Predicate> when = {}) {
  auto k = gemm({"TN", ElementType::f32});
  k.kernel.schedules.push_back({target, std::move(when), entries, {}});
  return plan::make_plan(k.done());
}

ScheduleEntry entry(const std::string& key, Value value, const std::string& argument = "") {
  return {key, argument, std::move(value), {}};
}

void refused(const Entries& entries, const std::string& code, const std::string& part) {
  const auto made = planned(entries);
  REQUIRE(made.problems.size() == 1);
  CAPTURE(made.problems[0].message);
  CHECK(made.problems[0].code == code);
  std::string all = made.problems[0].message;
  for (const auto& [kind, text] : made.problems[0].notes) all += "\n" + kind + ": " + text;
  CAPTURE(all);
  CHECK(all.find(part) != std::string::npos);
  CHECK(made.variants.empty());
}

}  // namespace

TEST_CASE("a schedule is followed, vectors first, then element by element") {
  const auto made = planned({entry("tile", tuple(64, 128, 16)), entry("groups", tuple(2, 2, 1, 1)),
                             entry("smem", layout(tuple(64, 16), tuple(1, 72)), "A")});
  REQUIRE(made.problems.empty());
  REQUIRE(made.variants.size() == 2);
  const plan::SimtGemm how = *plan::simt_of(made.variants[0]);
  CHECK(how.tile == std::array<int, 3>{64, 128, 16});
  CHECK(how.groups == std::array<int, 4>{2, 2, 1, 1});
  CHECK(to_string(how.a.shared) == "(64,16):(1,72)");
  CHECK(made.variants[0].aligned.size() == 3);
  CHECK(made.variants[1].when.empty());
}

TEST_CASE("a schedule with a condition leaves the rest to the default ones") {
  auto k = gemm({"TN", ElementType::f32});
  k.kernel.schedules.push_back({"simt",
                                {greater_equal(k.kernel.dims[0].symbol, 1024)},
                                {entry("tile", tuple(128, 128, 8))},
                                {}});
  const auto made = plan::make_plan(k.done());
  REQUIRE(made.variants.size() > 2);
  CHECK(made.variants[1].when.size() == 1);
  CHECK(made.variants.back().when.empty());
  CHECK(made.variants.back().name.ends_with("_any"));
}

TEST_CASE("groups are found for a tile") {
  const auto made = planned({entry("tile", tuple(64, 64, 8))});
  REQUIRE(made.problems.empty());
  const plan::SimtGemm how = *plan::simt_of(made.variants[0]);
  CHECK(how.groups[0] * how.groups[1] * 32 * how.repeats()[0] * how.repeats()[1] * 16 == 64 * 64);
}

TEST_CASE("misfits are named with a witness") {
  refused({entry("tile", tuple(96, 128, 8)), entry("groups", tuple(4, 2, 1, 1))}, "schedule-cover",
          "both have element (24,0)");
  refused({entry("tile", tuple(100, 128, 8)), entry("groups", tuple(2, 2, 1, 1))}, "schedule-cover",
          "works: a tile of multiples of (32,64)");
  refused({entry("lanes", layout(tuple(4, 8), tuple(basis(1, 0), basis(1, 0))))}, "schedule-lanes",
          "lanes 1 and 4 both have element (1,0)");
  refused({entry("lanes", layout(tuple(2, 8), tuple(basis(1, 0), basis(1, 1))))}, "schedule-lanes",
          "32 lanes");
  refused({entry("lanes", layout(tuple(2, 8, 2), tuple(basis(1, 0), basis(1, 1), basis(3, 0))))},
          "schedule-lanes", "no lane has element (2,0)");
  refused({entry("groups", tuple(8, 8, 1, 1))}, "schedule-threads", "2048 threads");
  refused({entry("groups", tuple(2, 2, 1, 2))}, "unsupported", "groups over successive tiles");
  refused({entry("groups", tuple(2, 2, 3, 1))}, "schedule-cover", "3 groups along K");
  refused({entry("tile", tuple(256, 256, 8)), entry("groups", tuple(2, 2, 1, 1))},
          "schedule-registers", "accumulators");
  refused({entry("stages", Tuple(1))}, "schedule-entry", "`stages` takes a number of K tiles");
  refused({entry("tile", tuple(128, 128))}, "schedule-entry",
          "`tile` takes three positive numbers");
  refused({entry("tile", tuple(128, 0, 8))}, "schedule-entry",
          "`tile` takes three positive numbers");
  refused({entry("tiles", tuple(128, 128, 8))}, "schedule-entry", "no entry `tiles`");
  refused({entry("stages", Tuple(2)), entry("stages", Tuple(2))}, "schedule-entry", "given twice");
  refused({entry("mma", std::string("fma"))}, "unsupported", "`mma`");
  refused({entry("smem", layout(tuple(128, 8), tuple(8, 1)), "A")}, "schedule-smem",
          "does not keep together");
  refused({entry("smem", layout(tuple(128, 8), tuple(1, 0)), "A")}, "schedule-smem",
          "of A gives two elements one place, (0,0) and (0,1)");
  refused({entry("smem", layout(tuple(128, 8), tuple(-1, 132)), "A")}, "schedule-smem",
          "of A has a place before its beginning, for (127,0)");
  refused({entry("smem", layout(tuple(64, 8), tuple(1, 64)), "B")}, "schedule-smem", "(128,8)");
  refused({entry("tile", tuple(128, 128, 4096))}, "schedule-shared", "bytes of shared memory");
  refused({entry("tile", tuple(128, 128, 3))}, "schedule-copy", "cannot share");
}

TEST_CASE("what a ring of stages cannot be is said") {
  const auto ring = [](Entries more) {
    more.push_back(entry("stages", Tuple(3)));
    return more;
  };
  REQUIRE(planned(ring({})).problems.empty());
  refused(ring({entry("groups", tuple(2, 2, 2, 1))}), "schedule-threads", "share no K");
  refused(ring({entry("tile", tuple(64, 64, 8)), entry("groups", tuple(1, 1, 1, 1))}),
          "schedule-threads", "whole warpgroups");
  refused(ring({entry("tile", tuple(256, 128, 8)), entry("groups", tuple(2, 2, 1, 1))}),
          "schedule-registers", "which has 240");
  refused({entry("tile", tuple(128, 128, 32)), entry("stages", Tuple(12))}, "schedule-shared",
          "help: fewer stages");
  auto k = gemm({"TN", ElementType::f32});
  k.kernel.schedules.push_back({"simt", {}, ring({}), {}});
  const auto made = plan::make_plan(k.done(), *find_target("sm_80"));
  REQUIRE(made.problems.size() == 1);
  CHECK(made.problems[0].code == "schedule-capability");
}

TEST_CASE("an order that leaves a tile out is shown it") {
  refused({entry("rasterization", layout(tuple(8, 8), tuple(basis(1, 0), basis(1, 1))))},
          "schedule-rasterization", "tile (0,8) is visited by no block");
  refused({entry("rasterization", layout(64, 1))}, "schedule-rasterization", "does not map blocks");
}

TEST_CASE("a schedule that is never taken is checked all the same") {
  auto k = gemm({"TN", ElementType::f32});
  k.kernel.schedules.push_back({"simt", {}, {entry("tile", tuple(64, 64, 8))}, {}});
  const auto once = plan::make_plan(k.done());
  k.kernel.schedules.push_back({"simt", {}, {entry("tile", tuple(128, 128, 8))}, {}});
  CHECK(plan::make_plan(k.done()).variants.size() == once.variants.size());
  k.kernel.schedules.push_back({"simt", {}, {entry("tile", tuple(96, 100, 8))}, {}});
  const auto made = plan::make_plan(k.done());
  REQUIRE(made.problems.size() == 1);
  CHECK(made.problems[0].code == "schedule-cover");
}

TEST_CASE("a target without a planner is a problem") {
  for (const char* target :
       {"sm35", "sm99", "sm100", "sm90a"}) {  // newer ones than the GPU as well
    const auto made = planned({}, target);
    CAPTURE(target);
    REQUIRE(made.problems.size() == 1);
    CHECK(made.problems[0].code == "unsupported");
  }
}

}  // namespace lay::test
