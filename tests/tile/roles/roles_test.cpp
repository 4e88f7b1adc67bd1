// Pipelines and roles: goldens of all passes over each kind of program, what the planner's programs
// get run by a machine of barriers, rules and numbers that are broken once.
#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/tensor_variant.h"
#include "backend/tile/roles/print_roles.h"
#include "backend/tile/roles/specialise.h"
#include "backend/tile/roles/verify_roles.h"
#include "runtime/commands/tile_dump.h"
#include "tests/tile/products/product_programs.h"
#include "tests/tile/programs.h"
#include "tests/tile/roles/simulate.h"

namespace lay::test {

namespace {

using tile::Barrier;
using tile::Pipeline;
using tile::Program;
using tile::Ring;
using tile::Specialised;

const std::string roles_script = "tests/tile/roles/roles.lay";

void check_goldens(const std::string& script, const Target& target) {
  Sources sources;
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run(script, contents(source(script))))
    REQUIRE(outcome.ok());
  for (const auto& kernel : evaluator.kernels()) {
    const auto plan = plan::make_plan(kernel, target);
    REQUIRE(plan.problems.empty());
    std::string text;
    for (const std::string pass : {"form", "bind", "pipeline", "specialise", "expand"})
      text += "# lay plan --dump " + pass + "\n" +
              runtime::tile_dump(sources, plan, pass, plan.variants.front().name);
    check_golden(text, source("tests/tile/roles/" + kernel->name + ".passes"));
  }
}

Program hopper_program(const std::string& name) {
  return first_program(roles_script, name, *find_target("h200"));
}

Barrier& barrier_of(Specialised& said, const std::string& name) {
  for (Barrier& each : said.barriers)
    if (each.name == name) return each;
  FAIL("no barrier " + name);
  return said.barriers.front();
}
Ring& ring_of(Specialised& said, const std::string& name) {
  for (Ring& each : said.rings)
    if (each.name == name) return each;
  FAIL("no ring " + name);
  return said.rings.front();
}

// The programs of a plan's variants, those of the launches before the first that has any too.
std::vector<Program> programs_of(const plan::Plan& plan) {
  std::vector<Program> programs;
  bool has_before = false;
  for (const plan::Variant& variant : plan.variants) {
    for (const auto& before : variant.before)
      if (!has_before)
        for (Program& program : bound(*before)) programs.push_back(std::move(program));
    has_before = has_before || !variant.before.empty();
    if (const Program* program = plan::scheduled_program(variant)) programs.push_back(*program);
  }
  return programs;
}

// Returns the first fault of some runs, which draw other orders.
std::string fault_of(const Program& program, const Specialised& said, int runs) {
  std::mt19937 random(11);
  for (int i = 0; i < runs; ++i)
    if (std::string fault = simulate(program, said, random); !fault.empty()) return fault;
  return "";
}

}  // namespace

TEST_CASE("golden passes over each kind of program, pipelines and roles among them") {
  check_goldens(roles_script, *find_target("h200"));
  check_goldens("tests/tile/roles/ampere.lay", *find_target("a100"));
}

TEST_CASE("no stage is overwritten or read too early, and no role waits for ever") {
  std::set<std::string> met;  // what is alike needs one machine
  int rings = 0, chains = 0, clusters = 0, groups = 0, exchanges = 0, registers = 0, meeting = 0;
  const std::pair<const char*, const char*> scripts[] = {
      {"h200", "tests/tile/roles/roles.lay"},
      {"h200", "tests/tile/hopper/sm90.lay"},
      {"h200", "tests/tile/hopper/fused.lay"},
      {"h200", "tests/tile/products/products.lay"},
      {"a100", "tests/tile/products/products.lay"},
      {"a100", "tests/tile/products/sm80.lay"},
      {"a100", "tests/agreement/tensor.lay"},
      {"h200", "tests/agreement/tensor.lay"},
      {"h200", "tests/agreement/staged.lay"},
      {"h200", "tests/agreement/ring.lay"},
      {"h200", "tests/agreement/products/chained.lay"},
      {"h200", "tests/agreement/products/scaled.lay"},
      {"h200", "tests/tile/reductions.lay"},
      {"h200", "tests/tile/elementwise/moves.lay"},
  };
  for (const auto& [gpu, script] : scripts)
    for (const auto& kernel : kernels_of(source(script)))
      for (const Program& program : programs_of(plan::make_plan(kernel, *find_target(gpu)))) {
        const Specialised said = tile::specialise(program, tile::pipeline(program));
        REQUIRE(tile::verify(program, said).empty());
        std::string text = tile::print_pipelines(program, said.pipelines);
        const std::string roles = tile::print_roles(program, said);
        const auto barriers = roles.find("  barrier");
        if (barriers != std::string::npos) text += roles.substr(barriers);
        if (!met.insert(text.substr(text.find('\n'))).second) continue;
        INFO(text);
        CHECK(fault_of(program, said, 3) == "");
        const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
        rings += has("drained");
        chains += program.is_chain();
        clusters += has("from each of");
        groups += has("pingpong");
        exchanges += has("taken");
        registers += has("warps of consumer,") || has("warps of multiplying");
        meeting += !has("drained") && !said.pipelines.empty();
      }
  CAPTURE(met.size());
  CHECK(met.size() >= 1000);
  for (const int count : {rings, chains, clusters, groups, exchanges, registers, meeting})
    CHECK(count > 0);
}

// The planner sizes boxes by this law before there is a program (StagedStore::by_warps).
TEST_CASE("planner and program agree which warps move parts by themselves") {
  int by_warps = 0, split = 0, along_rows = 0, by_threads = 0;
  for (const char* script : {"tests/tile/roles/roles.lay", "tests/tile/hopper/sm90.lay",
                             "tests/agreement/tensor.lay", "tests/agreement/staged.lay"})
    for (const auto& kernel : kernels_of(source(script))) {
      const Facts facts = plan::facts_of(*kernel);
      const auto found = plan::recognise_scaled(kernel, facts);
      const auto* product = std::get_if<plan::Gemm>(&found);
      if (!product) continue;
      for (const sema::Schedule& each : product->kernel->schedules) {
        if (each.target != "sm90") continue;
        std::vector<plan::Problem> problems;
        const plan::TensorSchedule read = plan::read_tensor_schedule(
            plan::with_operand_roles(each, *product->kernel, product->form, problems), problems);
        if (!problems.empty() || !read.mma) continue;
        for (const plan::Width width : {plan::Width::vectors, plan::Width::elements}) {
          const auto chosen = plan::chosen_for_sm90(*product->kernel, product->form, read, width,
                                                    *find_target("h200"), facts);
          if (!chosen) continue;
          const bool planned = chosen->store && chosen->store->by_warps;
          const Program program = plan::bind_sm90(product->kernel, *chosen);
          CAPTURE(kernel->name);
          CHECK(tile::moves_parts_by_warps(program) == planned);
          by_warps += planned;
          if (!chosen->store || planned) continue;
          const auto any = [&](auto&& has) {
            return std::ranges::any_of(chosen->store->outputs, has) ||
                   std::ranges::any_of(chosen->store->inputs, has);
          };
          split += chosen->split.has_value();
          along_rows += any([](const plan::StagedTensor& t) { return t.tma && !t.along_n; });
          by_threads += any([](const plan::StagedTensor& t) { return !t.tma; });
        }
      }
    }
  CAPTURE(by_warps, split, along_rows, by_threads);
  for (const int count : {by_warps, split, along_rows, by_threads}) CHECK(count > 0);
}

TEST_CASE("the machine finds each number of roles that is wrong") {
  const struct {
    const char* kernel;
    std::function<void(Specialised&)> breaks;
    const char* fault;  // empty: any
  } rows[] = {
      {"cooperative", [](Specialised& s) { ++barrier_of(s, "drained").arrivals[0].count; },
       "all agents wait"},
      {"cooperative", [](Specialised& s) { barrier_of(s, "drained").arrivals[0].blocks = 1; }, ""},
      {"cooperative", [](Specialised& s) { barrier_of(s, "filled").arrivals[0].count = 2; },
       "all agents wait"},
      {"cooperative", [](Specialised& s) { barrier_of(s, "filled").slots = 3; }, "no slot 3"},
      {"cooperative", [](Specialised& s) { ring_of(s, "load").initial_phase = 0; },
       "all agents wait"},
      {"cooperative", [](Specialised& s) { ring_of(s, "use").initial_phase = 1; },
       "before it is there"},
      {"cooperative", [](Specialised& s) { s.pipelines[0].late = 4; }, "all agents wait"},
      {"cooperative", [](Specialised& s) { s.pipelines[0].stages = 3; }, "overwritten"},
      {"pingpong", [](Specialised& s) { barrier_of(s, "pingpong").arrivals[0].count = 5; },
       "all agents wait"},
      {"pingpong", [](Specialised& s) { barrier_of(s, "drained").arrivals[0].count = 2; },
       "all agents wait"},
      {"split", [](Specialised& s) { barrier_of(s, "taken").arrivals[0].blocks = 1; }, ""},
      {"split", [](Specialised& s) { ring_of(s, "give").initial_phase = 0; }, "all agents wait"},
      {"split", [](Specialised& s) { ring_of(s, "take").initial_phase = 1; }, "before it is there"},
      {"cores", [](Specialised& s) { barrier_of(s, "drained").arrivals[0].count = 3; },
       "overwritten"},
      {"attention", [](Specialised& s) { ring_of(s, "load_L").initial_phase = 0; },
       "all agents wait"},
  };
  for (const auto& row : rows) {
    const Program program = hopper_program(row.kernel);
    Specialised said = tile::specialise(program, tile::pipeline(program));
    CHECK(fault_of(program, said, 20) == "");
    row.breaks(said);
    const std::string fault = fault_of(program, said, 20);
    INFO(row.kernel << ": " << fault << ", expected " << row.fault);
    CHECK(fault != "");
    CHECK(fault.find(row.fault) != std::string::npos);
  }
}

TEST_CASE("each rule of pipelines and roles is broken once") {
  const struct {
    const char* code;
    const char* what;
    const char* kernel;
    std::function<void(Specialised&)> breaks;
  } rows[] = {
      {"pipeline-tile", "is in 0 pipelines", "cooperative",
       [](Specialised& s) { s.pipelines[0].tiles.pop_back(); }},
      {"pipeline-tile", "is in 2 pipelines", "cooperative",
       [](Specialised& s) { s.pipelines[1].tiles.push_back(s.pipelines[0].tiles[0]); }},
      {"pipeline-tile", "is not in shared memory", "cooperative",
       [](Specialised& s) { s.pipelines[0].tiles[0].tile = 0; }},
      {"pipeline-tile", "has parts from 1 blocks, and 2 share it", "cooperative",
       [](Specialised& s) {
         for (tile::StagedTile& each : s.pipelines[0].tiles) each.blocks = 1;
       }},
      {"pipeline-stages", "has 4 stages, and its pipeline 5", "cooperative",
       [](Specialised& s) { s.pipelines[0].stages = 5; }},
      {"pipeline-stages", "readers hold 4 more", "cooperative",
       [](Specialised& s) { s.pipelines[0].late = 4; }},
      {"role-threads", "thread 127 has 0 roles", "cooperative",
       [](Specialised& s) { s.roles[0].threads = 127; }},
      {"role-threads", "thread 127 has 2 roles", "cooperative",
       [](Specialised& s) {
         --s.roles[1].first;
         ++s.roles[1].threads;
       }},
      {"role-threads", "has thread 384", "cooperative",
       [](Specialised& s) { ++s.roles[1].threads; }},
      {"role-threads", "no groups of equal threads", "cooperative",
       [](Specialised& s) { s.roles[1].groups = 3; }},
      {"role-threads", "there are no roles", "cooperative",
       [](Specialised& s) { s.roles.clear(); }},
      {"role-threads", "`consumer` has 0 groups", "cooperative",
       [](Specialised& s) { s.roles[1].groups = 0; }},
      {"role-statements", "has 2 roles", "cooperative",
       [](Specialised& s) {
         // The copy of A.
         s.roles[1].statements.push_back(3);
       }},
      {"role-statements", "has 0 roles", "cooperative",
       [](Specialised& s) { s.roles[1].statements.pop_back(); }},
      {"role-statements", "other roles than what is in it", "cooperative",
       [](Specialised& s) { s.roles[0].statements.erase(s.roles[0].statements.begin()); }},
      {"role-registers", "expected eights", "cooperative",
       [](Specialised& s) { s.roles[0].registers = 44; }},
      {"role-registers", "and an SM 65536", "cooperative",
       [](Specialised& s) { s.roles[0].registers = 248; }},
      {"barrier-slots", "has 3 slots, expected 4", "cooperative",
       [](Specialised& s) { barrier_of(s, "drained").slots = 3; }},
      {"barrier-slots", "`arrived` has 8 slots", "pingpong",
       [](Specialised& s) { barrier_of(s, "arrived").slots = 8; }},
      {"barrier-slots", "`drained` has no slots", "cooperative",
       [](Specialised& s) { barrier_of(s, "drained").slots = 0; }},
      {"barrier-slots", "has 16 slots, and a block 15 named barriers", "split",
       [](Specialised& s) { barrier_of(s, "stored").slots = 16; }},
      {"barrier-arrivals", "reaches does not give its stage back", "cooperative",
       [](Specialised& s) { barrier_of(s, "drained").scope = Barrier::Scope::block; }},
      {"barrier-arrivals", "`sum` reaches does not give its stage back", "split",
       [](Specialised& s) { barrier_of(s, "taken").scope = Barrier::Scope::block; }},
      {"barrier-arrivals", "`stored` expects 128 arrivals, and 32 come", "cooperative",
       [](Specialised& s) { barrier_of(s, "stored").arrivals[0].count = 128; }},
      {"barrier-arrivals", "`stored` is a barrier of 128 threads, and 32 share", "cooperative",
       [](Specialised& s) { barrier_of(s, "stored").scope = Barrier::Scope::warpgroup; }},
      {"barrier-arrivals", "`arrived_all_max` expects no bytes", "softmax_rows",
       [](Specialised& s) { barrier_of(s, "arrived_all_max").bytes = false; }},
      {"barrier-arrivals", "`drained` expects 2 arrivals, and 4 come", "cooperative",
       [](Specialised& s) { barrier_of(s, "drained").arrivals[0].blocks = 1; }},
      {"barrier-arrivals", "`taken` expects 4 arrivals, and 16 come", "split",
       [](Specialised& s) { barrier_of(s, "taken").arrivals[0].blocks = 1; }},
      {"barrier-arrivals", "`pingpong` expects 8 arrivals, and 4 come", "pingpong",
       [](Specialised& s) { barrier_of(s, "pingpong").arrivals[0].count = 8; }},
      {"barrier-arrivals", "expects no bytes", "cooperative",
       [](Specialised& s) { barrier_of(s, "filled").bytes = false; }},
      {"barrier-arrivals", "expects bytes", "cooperative",
       [](Specialised& s) { barrier_of(s, "drained").bytes = true; }},
      {"ring", "begins at phase 0, and its stages are free", "cooperative",
       [](Specialised& s) { ring_of(s, "load").initial_phase = 0; }},
      {"ring", "begins at phase 1, and none is full", "cooperative",
       [](Specialised& s) { ring_of(s, "use").initial_phase = 1; }},
      {"ring", "has 2 stages, and its pipeline 4", "cooperative",
       [](Specialised& s) { ring_of(s, "freed").stages = 2; }},
      {"fence", "without a fence behind their initialisation", "cooperative",
       [](Specialised& s) { s.fences.erase(s.fences.begin()); }},
      {"fence", "without a fence before it", "cooperative",
       [](Specialised& s) { s.fences.pop_back(); }},
      {"fence", "without a fence before it", "attention",
       [](Specialised& s) { s.fences.back().role = 0; }},
      {"fence", "there are 4 fences, expected 3", "cooperative",
       [](Specialised& s) { s.fences.push_back(s.fences.back()); }},
  };
  for (const auto& row : rows) {
    const Program program = hopper_program(row.kernel);
    Specialised said = tile::specialise(program, tile::pipeline(program));
    CHECK(tile::verify(program, said).empty());
    row.breaks(said);
    std::string all;
    bool found = false;
    for (const tile::Problem& each : tile::verify(program, said)) {
      all += each.code + ": " + each.message + "\n";
      found = found || (each.code == row.code && each.message.find(row.what) != std::string::npos);
    }
    INFO(row.code << ": " << row.what << " is not among\n" << all);
    CHECK(found);
    CHECK_THROWS_AS(tile::verify_after("specialise", program, said), std::logic_error);
  }
}

}  // namespace lay::test
