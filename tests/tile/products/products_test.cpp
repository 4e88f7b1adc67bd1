// Products as tile programs: goldens of products.lay after each pass (LAY_BLESS=1 rewrites them;
// `git diff` is the review), texts that read back, rules that are broken once, and the programs run
// by plain loops against the reference.
#include <functional>

#include "backend/plan/copies.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/simt/simt.h"
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

using plan::SimtGemm;
using tile::Copy;
using tile::For;
using tile::Map;
using tile::Mma;
using tile::Program;
using tile::Walk;

std::string products() {
  return contents(source("tests/tile/products/products.lay"));
}

// The unbound and bound programs of a plan's variants.
std::vector<Program> all_products(const plan::Plan& plan) {
  std::vector<Program> programs;
  for (const plan::Variant& variant : plan.variants) {
    const Program* bound = plan::scheduled_program(variant);
    if (!bound || !bound->is_product()) continue;
    programs.push_back(
        std::get<Program>(tile::form_product(bound->kernel, tile::product_of(*bound))));
    programs.push_back(*bound);
  }
  return programs;
}

// Of `gemm`: for m in grid { for n in grid { for k in sequence { copy, copy, mma } map, copy } }
Program formed_gemm() {
  const auto kernels = kernels_in("products.lay", products());
  return all_products(plan::make_plan(kernels.at(0))).at(0);
}
// The bound program of one of the kernels of products.lay.
Program bound_product(const std::string& name) {
  for (const auto& kernel : kernels_in("products.lay", products()))
    if (kernel->name == name) return all_products(plan::make_plan(kernel)).at(1);
  FAIL("no kernel " + name);
  return {};
}

Tuple zeros_like(const Tuple& strides) {
  return transform(strides, [](const Tuple&) { return Tuple(0); });
}

// Calls f(kernel, gemm) for what the planner chooses for CUDA cores by the schedules of the kernel
// and by the library's, in vectors and element by element. No program has been made of it: it is
// shaped from the schedule alone.
void each_chosen(const sema::KernelPtr& kernel, const Target& target,
                 const std::function<void(const sema::KernelPtr&, const SimtGemm&)>& f) {
  const auto gemm = plan::recognise_coalesced(kernel, plan::facts_of(*kernel));
  if (!std::holds_alternative<plan::Gemm>(gemm)) return;
  const auto& [of, form] = std::get<plan::Gemm>(gemm);
  std::vector<plan::Problem> problems;
  std::vector<plan::SimtSchedule> schedules;
  const auto add = [&](const sema::Schedule& said) {
    schedules.push_back(
        plan::read_schedule(plan::with_operand_roles(said, *of, form, problems), problems));
  };
  for (const sema::Schedule& said : of->schedules)
    if (said.target == "simt") add(said);
  Facts facts = plan::facts_of(*of);
  for (const sema::Policy& row : plan::library_rows("simt", *of, form, facts, false, target))
    add({"simt", {}, row.entries, of->where});
  for (plan::SimtSchedule schedule : schedules)
    for (const plan::Width width : {plan::Width::vectors, plan::Width::elements}) {
      // A ring has no registers for accesses of single elements.
      if (width == plan::Width::elements) schedule.stages = 2;
      plan::Conditions conditions;
      auto made = plan::shape_gemm(*of, form, schedule, target, problems);
      if (!made || !plan::plan_copies(*made, *of, form, facts, target, width, schedule, conditions,
                                      problems))
        continue;
      made->blocks_per_sm = plan::blocks_per_sm(*made, target);
      f(of, *made);
    }
}

}  // namespace

TEST_CASE("golden tile programs of products after each pass") {
  check_golden_programs("tests/tile/products/products.lay", default_target(),
                        {"form", "bind", "expand"});
}

TEST_CASE("programs of products read back as they were") {
  int count = 0;
  auto kernels = kernels_in("products.lay", products());
  for (const char* script : {"tests/agreement/gemm.lay", "tests/agreement/ring.lay",
                             "tests/agreement/sm80.lay", "tests/agreement/tensor.lay"})
    for (const auto& kernel : kernels_of(source(script))) kernels.push_back(kernel);
  for (const auto& kernel : kernels) {
    for (const Program& program : all_products(plan::make_plan(kernel))) {
      const std::string text = tile::print(program);
      INFO(text);
      // Atoms of a script are in no library.
      const auto& atom = tile::parts_of(program).mma->atom;
      const Program read =
          tile::parse(text, program.kernel, atom ? std::vector{*atom} : std::vector<sema::Atom>{});
      CHECK(read == program);
      CHECK(tile::print(read) == text);
      ++count;
    }
  }
  CHECK(count >= 50);
}

TEST_CASE("each rule of products is broken once") {
  CHECK(tile::verify(formed_gemm()).empty());
  const struct {
    const char* code;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"axis-index",
       [](Program& p) {
         const Int extent = p.axes[0].extent * p.axes[1].extent;
         p.axes[0].indices = {p.axes[0].indices[0], p.axes[1].indices[0]};
         p.axes[0].extent = extent;
         p.axes[1].indices = {};
         p.axes[1].extent = 1;
       }},
      {"nesting", [](Program& p) { sums(p).walk = Walk::whole; }},
      {"nesting", [](Program& p) { std::get<For>(p.body.front().node).walk = Walk::sequence; }},
      {"parts", [](Program& p) { sums(p).parts = 0; }},
      {"parts", [](Program& p) { std::get<For>(p.body.front().node).parts = 2; }},
      {"product", [](Program& p) { std::get<Mma>(sums(p).body[2].node).over = tile::row_axis; }},
      {"product",
       [](Program& p) {
         auto& mma = std::get<Mma>(sums(p).body[2].node);
         mma.b = mma.a;
       }},
      {"incomplete",
       [](Program& p) {
         sums(p).body.push_back(body_of_grid(p)[1]);
         body_of_grid(p).erase(body_of_grid(p).begin() + 1);
       }},
      {"store",
       [](Program& p) {
         const tile::TileId out = std::get<Map>(body_of_grid(p)[1].node).out;
         p.tiles.push_back(p.tile(out));
         p.tiles.back().name = "late";
         body_of_grid(p).push_back({Map{static_cast<tile::TileId>(p.tiles.size()) - 1}});
       }},
      {"reduction",
       [](Program& p) {
         const auto mma = std::get<Mma>(sums(p).body[2].node);
         sums(p).body.push_back({tile::Reduce{mma.out, mma.over, {}}});
       }},
  };
  for (const auto& row : rows) {
    Program program = formed_gemm();
    row.breaks(program);
    check_problem(program, row.code);
  }
}

TEST_CASE("each rule of bound products is broken once") {
  for (const char* name : {"gemm", "ring", "split", "slices"})
    CHECK(tile::verify(bound_product(name)).empty());
  const auto twice = [](Layout& layout, int mode) {
    // Two threads or values have one coordinate.
    layout = Layout(
        layout.shape,
        Tuple(std::vector<Tuple>{mode == 0 ? zeros_like(layout.stride[0]) : layout.stride[0],
                                 mode == 1 ? zeros_like(layout.stride[1]) : layout.stride[1]}));
  };
  const struct {
    const char* code;
    const char* what;
    const char* kernel;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"grid", "there are threads and no blocks", "gemm", [](Program& p) { p.grid.reset(); }},
      {"grid", "have no tile of these axes", "gemm",
       [](Program& p) { p.grid->order = Layout(4, Tuple::basis(1, {2})); }},
      {"grid", "a group has no row", "gemm",
       [](Program& p) { p.grid->order = tile::RowGroups{0}; }},
      {"grid", "expected at most 1024 threads", "gemm", [](Program& p) { p.grid->threads = 2048; }},
      {"threads", "expected 64 threads of a block", "gemm",
       [](Program& p) { p.grid->threads = 64; }},
      {"threads", "warpgroups are not the threads that multiply", "ring",
       [](Program& p) { p.warpgroups->consumers = 2; }},
      {"axis-tile", "several coordinates of the batch", "ring",
       [](Program& p) { p.axes[2].tile = 2; }},
      {"threads", "the threads do not cover", "gemm",
       [&](Program& p) { twice(p.threads->layout, 1); }},
      {"threads", "the threads do not cover", "gemm", [](Program& p) { p.axes[0].tile = 128; }},
      {"threads", "slices do not begin at equal parts", "slices",
       [](Program& p) {
         p.threads->layout = Layout(p.threads->layout.shape,
                                    transform(p.threads->layout.stride, [](const Tuple& stride) {
                                      const bool k = stride.is_basis() && stride.path()[0] == 2;
                                      return k ? Tuple::basis(4, {2}) : stride;
                                    }));
       }},
      {"threads", "the threads of `A_next` do not cover", "gemm",
       [&](Program& p) { twice(named(p, "A_next").threads->layout, 0); }},
      {"threads", "is stored by no threads", "gemm",
       [](Program& p) { named(p, "A_next").threads.reset(); }},
      {"access", "has no 2 elements side by side along mode 1", "gemm",
       [](Program& p) { std::get<Copy>(sums(p).body[0].node).vector = 2; }},
      {"access", "elements side by side along mode 0", "gemm",
       [](Program& p) { std::get<Copy>(sums(p).body[0].node).vector_mode = 0; }},
      {"access", "`tile_A` is stored by accesses that no thread has", "gemm",
       [](Program& p) { std::get<Copy>(sums(p).body[1].node).vector = 4; }},
      {"access", "`C` is stored by accesses that no thread has", "gemm",
       [](Program& p) { std::get<Copy>(body_of_grid(p).back().node).vector = 8; }},
      {"shared", "has no layout", "gemm", [](Program& p) { named(p, "tile_A").shared.reset(); }},
      {"shared", "has one place for two elements", "gemm",
       [](Program& p) { named(p, "tile_A").shared->layout = Layout(tuple(64, 8), tuple(1, 32)); }},
      {"shared", "not as many places", "gemm",
       [](Program& p) { named(p, "tile_A").shared->layout = Layout(tuple(32, 8), tuple(1, 32)); }},
      {"shared", "is no box of TMA", "ring",
       [](Program& p) {
         named(p, "tile_A").shared->box = {16, 8};
       }},
      {"shared", "no producer copies it", "ring", [](Program& p) { p.warpgroups.reset(); }},
      {"shared", "bytes, and a block has", "ring",
       [](Program& p) {
         named(p, "tile_A").shared->stages = named(p, "tile_B").shared->stages = 100;
       }},
      {"stages", "different numbers of stages", "gemm",
       [](Program& p) { named(p, "tile_A").shared->stages = 3; }},
      {"stages", "are filled by no producer", "gemm",
       [](Program& p) {
         named(p, "tile_A").shared->stages = named(p, "tile_B").shared->stages = 3;
       }},
      {"read", "where other threads have its elements", "gemm",
       [](Program& p) {
         // The product reads what its threads do not have.
         std::get<Mma>(sums(p).body[4].node).a = std::get<Copy>(sums(p).body[0].node).dst;
         sums(p).body.erase(sums(p).body.begin() + 1);
       }},
  };
  for (const auto& row : rows) {
    Program program = bound_product(row.kernel);
    row.breaks(program);
    check_problem(program, row.code, row.what);
  }
}

TEST_CASE("what is chosen for CUDA cores is read back from the program") {
  int count = 0, rings = 0, parts = 0, elements = 0, slices = 0, boxes = 0, batched = 0;
  for (const char* script :
       {"tests/tile/products/products.lay", "tests/agreement/gemm.lay", "tests/agreement/ring.lay"})
    for (const auto& kernel : kernels_of(source(script)))
      for (const char* gpu : {"a100", "h200"})
        each_chosen(kernel, *find_target(gpu),
                    [&](const sema::KernelPtr& of, const SimtGemm& gemm) {
                      const Program program = plan::bind_simt(of, gemm);
                      INFO(gpu << ": " << tile::print(program));
                      CHECK((plan::simt_of(program) == gemm));
                      ++count;
                      rings += gemm.ring();
                      parts += gemm.parts > 1;
                      elements += gemm.a.vector == 1;
                      slices += gemm.groups[2] > 1;
                      boxes += gemm.a.boxes || gemm.b.boxes;
                      batched += !gemm.batch.empty();
                    });
  CHECK(count >= 200);
  for (const int met : {rings, parts, elements, slices, boxes, batched}) CHECK(met > 0);
}

TEST_CASE("programs of plans on CUDA cores are those of what is read back from them") {
  int count = 0;
  for (const char* script :
       {"tests/tile/products/products.lay", "tests/agreement/gemm.lay", "tests/agreement/ring.lay"})
    for (const auto& kernel : kernels_of(source(script))) {
      const auto plan = plan::make_plan(kernel);
      for (const plan::Variant& variant : plan.variants) {
        const auto gemm = plan::simt_of(variant);
        if (!gemm) continue;
        const auto& program = variant.programs.front();
        CAPTURE(kernel->name, variant.name);
        CHECK(plan::bind_simt(program.kernel, *gemm) == program);
        ++count;
      }
    }
  CHECK(count >= 100);
}

TEST_CASE("programs of products give what the reference gives") {
  int ran = 0, bound_ran = 0;
  const auto check = [&](const sema::KernelCall& call) {
    const auto expected = sema::run_reference(call);
    const auto plan = plan::make_plan(call.kernel);
    REQUIRE(plan.problems.empty());
    for (const Program& program : all_products(plan)) {
      // Launches before give other tensors than those of the call.
      const auto is_given = [&](const sema::Tensor& tensor) {
        return std::ranges::any_of(call.kernel->tensors, [&](const sema::Tensor& each) {
          return each.name == tensor.name;
        });
      };
      if (!std::ranges::all_of(program.kernel->tensors, is_given)) continue;
      for (const tile::TileSizes sizes : {tile::TileSizes{1, 1, 1}, tile::TileSizes{3, 5, 4}}) {
        CAPTURE(call.kernel->name, program.is_bound(), sizes.rows);
        const auto actual = tile::interpret(program, call, sizes);
        REQUIRE(actual.outputs.size() == expected.outputs.size());
        for (std::size_t i = 0; i < actual.outputs.size(); ++i)
          CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
        (program.is_bound() ? bound_ran : ran) += 1;
        if (program.is_bound()) break;
      }
    }
  };
  const std::string script =
      products() +
      "kernel exact<M, N, K>(A: s8 (M,K), B: s8 (N,K)) -> C: s32 (M,N)\n"
      "{ C[m,n] = sum[k](s32(A[m,k]) * s32(B[n,k])) }\n"
      "kernel apart<M, N, K>(A: bf16 (M,K,8), B: bf16 (N,K,8)) -> C: bf16 (M,N)\n"
      "{ C[m,n] = sum[k,l](A[m,k,l] * B[n,k,l]) }\n"
      "kernel empty<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) + 1 }\n"
      "let g = gemm(random(f32, (5,7)), random(f32, (7,9), 2), random(f32, 9, 3))\n"
      "let r = ring(random(f32, (2,7,5)), random(f32, (7,9), 2))\n"
      "let s = split(random(f32, (5,29)), random(f32, (7,29), 2))\n"
      "let few = split(random(f32, (5,2)), random(f32, (7,2), 2))\n"
      "let x = exact(random(s8, (5,9)), random(s8, (7,9), 2))\n"
      "let a = apart(random(bf16, (5,3,8)), random(bf16, (7,3,8), 2))\n"
      "let e = empty(zeros(f32, (5,0)), zeros(f32, (7,0)))\n"
      "let c = slices(random(f16, (5,9)), random(f16, (7,9), 2), 0.5, random(f32, (5,7), 3))\n";
  CHECK(for_each_call(script, check) == "");
  CHECK(ran >= 8 * 2);
  CHECK(bound_ran >= 8);
}

TEST_CASE("what is no product of two tiles says why") {
  const auto reason = [](const std::string& script) {
    const auto kernel = kernels_in("script.lay", script).at(0);
    const auto node = [&](const auto& is) {
      for (std::size_t id = 0; id < kernel->nodes.size(); ++id)
        if (is(kernel->nodes[id].what)) return static_cast<sema::NodeId>(id);
      return -1;
    };
    const auto load_of = [&](const std::string& name) {
      return node([&](const auto& what) {
        const auto* load = std::get_if<sema::Load>(&what);
        return load && kernel->tensor(load->tensor).name == name;
      });
    };
    const auto index = [&](const std::string& name) {
      for (std::size_t id = 0; id < kernel->indices.size(); ++id)
        if (kernel->indices[id].name == name) return static_cast<sema::IndexId>(id);
      return -1;
    };
    const sema::NodeId sum =
        node([](const auto& what) { return std::holds_alternative<sema::Reduce>(what); });
    const auto made = tile::form_product(
        kernel, {sum, index("m"), index("n"), index("k"), {}, load_of("A"), load_of("B")});
    const auto* no = std::get_if<tile::NotTiled>(&made);
    return no ? no->reason : std::string("none");
  };
  const std::string head =
      "kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K), s: f32 (M,K), e: s32 M)"
      " -> C: f32 (M,N)\n";
  CHECK(reason(head + "{ C[m,n] = sum[k](A[m,k] * exp(B[n,k])) }") ==
        "its sum is not of products of two elements of tensors");
  CHECK(reason(head + "{ C[m,n] = sum[k](A[m,k] * B[n,k] * s[m,k]) }") ==
        "a factor beside the two elements differs within every group of its sum");
  CHECK(reason(head + "{ C[m,n] = sum[k](A[m,k] * B[n,k] * s[m,k // 4]) }") == "none");
  CHECK(reason(head + "where N >= M\n{ C[m,n] = sum[k](A[m,k] * B[(n + m) % N,k]) }") ==
        "its rows select the part of an operand that they meet");
}

}  // namespace lay::test
