// Products on tensor cores of compute capability 8.0 as tile programs: goldens of sm80.lay, texts
// that read back, what the planner has chosen read back, rules that are broken once, and the
// programs run by plain loops against the reference.
#include "backend/plan/sm80/sm80.h"

#include <functional>

#include "backend/plan/make.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/target/target.h"
#include "backend/tile/interpret.h"
#include "backend/tile/products/product.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "tests/tile/calls.h"
#include "tests/tile/products/product_programs.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

using plan::Sm80Gemm;
using sema::KernelPtr;
using tile::Copy;
using tile::For;
using tile::Mma;
using tile::Program;

const std::string script = "tests/tile/products/sm80.lay",
                  of_lanes = "tests/tile/products/own/own.lay";

// Calls f(program, gemm) for the variants of the plan on tensor cores whose product is formed.
void each_product(const plan::Plan& plan,
                  const std::function<void(const Program&, const Sm80Gemm&)>& f) {
  for (const plan::Variant& variant : plan.variants)
    if (const auto gemm = plan::sm80_of(variant)) f(variant.programs.front(), *gemm);
}

// Calls f(kernel, gemm) for what the planner chooses for these tensor cores by the schedules of the
// kernel that name an atom and by the library's, in vectors and element by element. No program has
// been made of it: it is shaped from the schedule alone.
void each_chosen(const KernelPtr& kernel, const Target& target,
                 const std::function<void(const KernelPtr&, const Sm80Gemm&)>& f) {
  const auto gemm = plan::recognise_scaled(kernel, plan::facts_of(*kernel));
  if (!std::holds_alternative<plan::Gemm>(gemm)) return;
  const auto& [of, form] = std::get<plan::Gemm>(gemm);
  std::vector<plan::Problem> problems;
  std::vector<plan::TensorSchedule> schedules;
  const auto add = [&](const sema::Schedule& said) {
    plan::TensorSchedule read =
        plan::read_tensor_schedule(plan::with_operand_roles(said, *of, form, problems), problems);
    if (read.mma) schedules.push_back(std::move(read));
  };
  for (const sema::Schedule& said : of->schedules)
    if (said.target == "sm80") add(said);
  Facts facts = plan::facts_of(*of);
  for (const bool in_parts : {false, true})
    for (const sema::Policy& row : plan::library_rows("sm80", *of, form, facts, in_parts, target))
      add({"sm80", {}, row.entries, of->where});
  for (const plan::TensorSchedule& schedule : schedules)
    for (const plan::Width width : {plan::Width::vectors, plan::Width::elements}) {
      const plan::GemmForm taken = schedule.swap_ab ? plan::swapped(form) : form;
      plan::Conditions conditions;
      if (const auto made =
              plan::shape_sm80({*of, taken, schedule, target, width, facts, conditions, problems}))
        f(of, *made);
    }
}

Program program_of(const std::string& name) {
  return first_program(name == "own_weights" ? of_lanes : script, name, *find_target("a100"));
}

}  // namespace

TEST_CASE("golden tile programs of products on tensor cores after each pass") {
  for (const std::string& name : {script, of_lanes})
    check_golden_programs(name, *find_target("a100"), {"form", "bind", "expand"});
}

TEST_CASE("what is chosen for tensor cores is read back from the program") {
  int count = 0, scaled = 0, promoted = 0, elements = 0, sliced = 0, converted = 0, batched = 0,
      exchanged = 0, own = 0, as_stored = 0;
  for (const std::string& name :
       {script, std::string("tests/agreement/sm80.lay"), std::string("tests/agreement/mixed.lay"),
        std::string("tests/agreement/half_bytes.lay"), std::string("tests/agreement/tensor.lay"),
        std::string("tests/agreement/products/private.lay"),
        std::string("tests/agreement/products/scaled.lay"),
        std::string("tests/tile/products/tensor_cores.lay")})
    for (const auto& kernel : kernels_of(source(name)))
      for (const char* gpu : {"a100", "sm_89", "h200"})
        each_chosen(kernel, *find_target(gpu), [&](const KernelPtr& of, const Sm80Gemm& gemm) {
          const Program program = plan::bind_sm80(of, gemm);
          const std::string text = tile::print(program);
          INFO(gpu << ": " << text);
          CHECK((plan::sm80_of(program) == gemm));
          CHECK(tile::parse(text, of, {gemm.mma}) == program);
          ++count;
          scaled += !gemm.scales.empty();
          promoted += gemm.promotion_interval > 0;
          elements += gemm.a.vector == 1;
          sliced += gemm.groups[2] > 1;
          converted += gemm.a.converted || gemm.b.converted;
          batched += !gemm.batch.empty();
          exchanged += gemm.swap_ab;
          own += gemm.a.own && gemm.a.converted;
          as_stored += gemm.a.own && !gemm.a.converted;
        });
  CHECK(count >= 200);
  for (const int met :
       {scaled, promoted, elements, sliced, converted, batched, exchanged, own, as_stored})
    CHECK(met > 0);
}

TEST_CASE("programs of plans on tensor cores are those of what is read back from them") {
  int count = 0;
  for (const std::string& name : {script, std::string("tests/agreement/sm80.lay"),
                                  std::string("tests/agreement/products/scaled.lay")})
    for (const auto& kernel : kernels_of(source(name)))
      each_product(plan::make_plan(kernel, *find_target("a100")),
                   [&](const Program& program, const Sm80Gemm& gemm) {
                     INFO(tile::print(program));
                     CHECK(plan::bind_sm80(program.kernel, gemm) == program);
                     ++count;
                   });
  CHECK(count >= 50);
}

TEST_CASE("each rule of products on tensor cores is broken once") {
  for (const char* name : {"fragments", "widened", "sliced", "elements", "own_weights"})
    CHECK(tile::verify(program_of(name)).empty());
  const struct {
    const char* code;
    const char* what;
    const char* kernel;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"interval", "no instruction", "sliced", [](Program& p) { mma(p).atom.reset(); }},
      {"fragment", "fragments of no instruction", "fragments",
       [](Program& p) { mma(p).atom.reset(); }},
      {"product", "is not whole instructions", "fragments",
       [](Program& p) { mma(p).atom->shape[2] = 64; }},
      {"interval", "are not whole instructions", "sliced", [](Program& p) { mma(p).interval = 8; }},
      {"threads", "do not hold the sums as", "fragments",
       [](Program& p) {
         const Layout& all = p.threads->layout;
         p.threads->layout =
             Layout(all.shape, transform(all.stride, [](const Tuple& stride) {
                      // Of a row, a lane has columns 0 and 4 in place of 0 and 1.
                      if (!stride.is_basis() || stride.path()[0] != tile::column_axis)
                        return stride;
                      if (stride.value().is(1)) return Tuple::basis(4, stride.path());
                      return stride.value().is(2) ? Tuple::basis(1, stride.path()) : stride;
                    }));
       }},
      {"fragment", "`fragment_A` is not what", "fragments",
       [](Program& p) { mma(p).atom->a_type = ElementType::f16; }},
      {"fragment", "`fragment_B` is not what", "fragments",
       [](Program& p) { mma(p).atom->b_shared = true; }},
      {"threads", "is stored by no threads", "fragments",
       [](Program& p) { named(p, "tile_A").threads.reset(); }},
      {"access", "asynchronously by 2 bytes", "fragments",
       [](Program& p) {
         tile::Tile& shared = named(p, "tile_A");
         shared.threads->layout = Layout(tuple(tuple(64, 2), tuple(1, 16)),
                                         tuple(tuple(Tuple::basis(1, {0}), Tuple::basis(16, {2})),
                                               tuple(Tuple::basis(1, {2}), Tuple::basis(1, {2}))));
         shared.threads->vector = 1;
         std::get<Copy>(sums(p).body.front().node).vector = 1;
       }},
      {"access", "does not keep the 8 elements of an access together", "fragments",
       [](Program& p) { named(p, "tile_A").shared->layout = Layout(tuple(64, 32), tuple(1, 64)); }},
      {"tile-space", "`C` has threads of its own", "fragments",
       [](Program& p) { named(p, "C").threads = p.threads; }},
      {"threads", "is copied by no warps", "own_weights",
       [](Program& p) { mma(p).atom->kind = "thread"; }},
      {"threads", "are not those that multiply", "own_weights",
       [](Program& p) {
         tile::Tile& own = named(p, "tile_W");
         const Layout& all = own.threads->layout;
         // Half of the warps, with the others' accesses behind their own.
         own.threads->layout =
             Layout(tuple(tuple(all.shape[0][0], all.shape[0][1]),
                          tuple(all.shape[1][0], tuple(all.shape[1][1], all.shape[0][2]))),
                    tuple(tuple(all.stride[0][0], all.stride[0][1]),
                          tuple(all.stride[1][0], tuple(all.stride[1][1], all.stride[0][2]))));
       }},
      {"threads", "do not hold it as", "own_weights",
       [](Program& p) {
         tile::Tile& own = named(p, "tile_W");
         const Layout& all = own.threads->layout;
         own.threads->layout =
             Layout(all.shape, transform(all.stride, [](const Tuple& stride) {
                      if (!stride.is_basis() || stride.path()[0] != tile::column_axis)
                        return stride;
                      // A lane's rows are 1 apart, and not 8.
                      if (stride.value().is(1)) return Tuple::basis(2, stride.path());
                      return stride.value().is(8) ? Tuple::basis(1, stride.path()) : stride;
                    }));
       }},
  };
  for (const auto& row : rows) {
    Program program = program_of(row.kernel);
    row.breaks(program);
    check_problem(program, row.code, row.what);
  }
}

TEST_CASE("programs of products on tensor cores give what the reference gives") {
  int ran = 0;
  const auto check = [&](const sema::KernelCall& call) {
    const auto expected = sema::run_reference(call);
    each_product(plan::make_plan(call.kernel, *find_target("a100")), [&](const Program& program,
                                                                         const Sm80Gemm&) {
      // Launches before give other tensors than those of the call.
      const auto is_given = [&](const sema::Tensor& tensor) {
        return std::ranges::any_of(call.kernel->tensors, [&](const sema::Tensor& each) {
          return each.name == tensor.name;
        });
      };
      if (!std::ranges::all_of(program.kernel->tensors, is_given)) return;
      CAPTURE(call.kernel->name);
      const auto actual = tile::interpret(program, call, {});
      REQUIRE(actual.outputs.size() == expected.outputs.size());
      for (std::size_t i = 0; i < actual.outputs.size(); ++i)
        CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
      ++ran;
    });
  };
  CHECK(for_each_call(contents(source(script)) +
                          "let f = fragments(random(bf16, (5,40)), random(bf16, (40,7), 2), "
                          "random(f32, 7, 3))\n"
                          "let w = widened(random(bf16, (2,35,70)), random(s8, (5,70), 2), "
                          "random(f32, 5, 3))\n"
                          "let s = sliced(random(f16, (3,300)), random(f16, (33,300), 2))\n"
                          "let e = elements(random(f16, (5,9)), random(f32, (7,9), 2))\n"
                          "let none = elements(zeros(f16, (5,0)), zeros(f32, (7,0)))\n",
                      check) == "");
  CHECK(ran >= 8);
}

}  // namespace lay::test
