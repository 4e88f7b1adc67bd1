// The planner's choices, and that they are what the layouts and guards allow.
#include <catch2/catch.hpp>
#include <set>

#include "backend/plan/copies.h"
#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/memory/banks.h"
#include "tests/plan/kernels.h"

namespace lay::test {

using plan::SimtGemm;

namespace {

std::set<std::string> texts(const std::vector<Predicate>& predicates) {
  std::set<std::string> result;
  for (const Predicate& p : predicates) result.insert(p.to_string());
  return result;
}

const plan::Variant& variant(const plan::Plan& plan, const std::string& name) {
  for (const plan::Variant& v : plan.variants) {
    if (v.name == name) return v;
  }
  FAIL("no variant " << name);
  return plan.variants[0];
}

}  // namespace

TEST_CASE("every operand order is a GEMM with vectors along its unit stride") {
  for (const std::string order : {"TN", "NN", "NT", "TT"}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      CAPTURE(order, element_name(type));
      const auto made = plan::make_plan(gemm({order, type}).done());
      REQUIRE(made.problems.empty());
      // f64 goes by tensor cores, whose accumulators lie side by side in pairs.
      if (type == ElementType::f64) {
        const plan::Sm80Gemm how = *plan::sm80_of(variant(made, "sm80_64x64"));
        CHECK(how.a.along_k == (order[0] == 'T'));
        CHECK(how.b.along_k == (order[1] == 'N'));
        CHECK(how.a.vector == 2);
        CHECK(how.b.vector == 2);
        CHECK(how.vectors == std::vector<int>{2});
        continue;
      }
      const SimtGemm how = *plan::simt_of(variant(made, "simt_64x64"));
      CHECK(how.a.along_k == (order[0] == 'T'));
      CHECK(how.b.along_k == (order[1] == 'N'));
      CHECK(how.a.vector == 128 / bits(type));
      CHECK(how.b.vector == 128 / bits(type));
      REQUIRE(how.stores.size() == 1);
      CHECK(how.stores[0].along_n);
      CHECK(how.stores[0].vector == 128 / bits(type));
    }
  }
}

TEST_CASE("vectors ask for what they need and the last variant for nothing") {
  const auto made = plan::make_plan(gemm({"TN", ElementType::f32}).done());
  CHECK(texts(variant(made, "simt_64x64").when) ==
        std::set<std::string>{"K % 4 == 0", "lda % 4 == 0", "ldb % 4 == 0", "N % 4 == 0",
                              "ldc % 4 == 0"});
  for (const plan::Alignment& alignment : variant(made, "simt_64x64").aligned)
    CHECK(alignment.bytes == 16);
  CHECK(variant(made, "simt_64x64").aligned.size() == 3);
  CHECK(made.variants.back().when.empty());
  CHECK(made.variants.back().aligned.empty());
  std::set<std::string> names;
  for (const plan::Variant& v : made.variants) CHECK(names.insert(v.name).second);
}

TEST_CASE("what the guards prove is not asked again") {
  auto k = gemm({"NT", ElementType::f64});
  const auto guard = [&](const char* name) {
    for (const Dim& dim : k.kernel.dims) {
      if (dim.name == name)
        k.kernel.guards.push_back({Predicate(), divides(dim.symbol, 8), "where", {}});
    }
  };
  for (const char* name : {"M", "lda", "N", "ldb", "ldc"}) guard(name);
  const auto made = plan::make_plan(k.done());
  CHECK(variant(made, "sm80_64x64").when.empty());
}

TEST_CASE(
    "a ring takes by TMA what runs along the output, and leaves registers to who multiplies") {
  for (const std::string order : {"TN", "NN", "NT", "TT"}) {
    const auto made = plan::make_plan(gemm({order, ElementType::f32}).done());
    for (const std::string name : {"simt_128x256_ring", "simt_256x128_ring"}) {
      CAPTURE(order, name);
      const SimtGemm how = *plan::simt_of(variant(made, name));
      REQUIRE(how.ring());
      CHECK(how.a.boxes.has_value() == (order[0] == 'N'));  // BLAS: column-major
      CHECK(how.b.boxes.has_value() == (order[1] == 'T'));
      for (const auto* copy : {&how.a, &how.b}) {
        const int outer = how.tile[copy == &how.a ? 0 : 1];
        if (copy->boxes) {
          CHECK(copy->boxes->box == std::array<int, 2>{outer, how.tile[2]});
        } else {
          CHECK(size(copy->threads[0]).is(how.producer_threads()));
          CHECK(!plan::cover_fault(copy->threads, {outer, how.tile[2]}));
        }
      }
      CHECK(how.registers[0] * how.producer_threads() + how.registers[1] * how.threads() <=
            default_target().sm_registers);
    }
  }
  // The tile costs less whose side along the only transposed factor is the shorter.
  const auto cost = [](const std::string& order, const char* name) {
    const auto made = plan::make_plan(gemm({order, ElementType::f32}).done());
    Binding sizes;
    for (const Dim& dim : made.kernel->dims) sizes[*dim.symbol.dim_id()] = 4096;
    return variant(made, name).cost->value.evaluate(sizes).value();
  };
  CHECK(cost("TT", "simt_128x256_ring") < cost("TT", "simt_256x128_ring"));
  CHECK(cost("NN", "simt_256x128_ring") < cost("NN", "simt_128x256_ring"));
  CHECK(cost("NT", "simt_256x128_ring") == cost("NT", "simt_128x256_ring"));
  // Older GPUs have no such row.
  const auto older = plan::make_plan(gemm({"TN", ElementType::f32}).done(), *find_target("sm_80"));
  for (const plan::Variant& v : older.variants) CHECK(!plan::simt_of(v)->ring());
}

TEST_CASE("where vectors are possible no launch goes element by element") {
  const auto made = plan::make_plan(gemm({"NT", ElementType::f32}).done());
  std::set<int> with_vectors, without;
  for (const plan::Variant& each : made.variants) {
    REQUIRE(each.cost);
    (each.accesses == plan::Width::vectors ? with_vectors : without).insert(each.cost->portfolio);
  }
  CHECK(with_vectors.size() == 1);
  CHECK(without.size() == 1);
  CHECK(with_vectors != without);
}

TEST_CASE("literal sizes decide among the tiles") {
  KernelMaker k("fixed");
  const auto a = k.tensor("A", ElementType::f32, layout(tuple(64, 32), tuple(32, 1)));
  const auto b = k.tensor("B", ElementType::f32, layout(tuple(48, 32), tuple(32, 1)));
  const auto c =
      k.tensor("C", ElementType::f32, layout(tuple(64, 48), tuple(48, 1)), Access::output);
  const auto m = k.index("m", 64), n = k.index("n", 48), kk = k.index("k", 32, true);
  k.assign(c, {m, n},
           k.sum({kk},
                 k.apply(ElementFunction::mul, {k.load(b, {n, kk}), k.load(a, {m, kk})},
                         ElementType::f32),
                 ElementType::f32));
  const auto made = plan::make_plan(k.done());
  REQUIRE(made.variants.size() == 2);
  CHECK(made.variants[0].name == "simt_64x64_ring_split_2");
  CHECK(made.variants[0].when.empty());
  CHECK(made.variants[0].aligned.size() == 3);
  CHECK(made.variants[1].name == "simt_64x64_any");
  // The factor with the target's first index is A, whatever side of the product it stands on.
  const SimtGemm how = *plan::simt_of(made.variants[0]);
  CHECK(std::get<Load>(made.kernel->nodes[static_cast<size_t>(how.a.load)].what).tensor == a);
}

TEST_CASE("no unit stride and no vectors") {
  KernelMaker k("strided");
  const Int M = k.dim("M"), N = k.dim("N"), K = k.dim("K"), s = k.dim("s");
  const auto a = k.tensor("A", ElementType::f32, layout(tuple(M, K), tuple(s * K, s)));
  const auto b = k.tensor("B", ElementType::f32, layout(tuple(N, K), tuple(2 * K, 2)));
  const auto c =
      k.tensor("C", ElementType::f32, layout(tuple(M, N), tuple(2 * N, 2)), Access::output);
  const auto m = k.index("m", M), n = k.index("n", N), kk = k.index("k", K, true);
  k.assign(c, {m, n},
           k.sum({kk},
                 k.apply(ElementFunction::mul, {k.load(a, {m, kk}), k.load(b, {n, kk})},
                         ElementType::f32),
                 ElementType::f32));
  const auto made = plan::make_plan(k.done());
  REQUIRE(made.problems.empty());
  for (const plan::Variant& v : made.variants) {
    CHECK(v.aligned.empty());
    CHECK(plan::simt_of(v)->a.vector == 1);
  }
}

TEST_CASE("what is no GEMM says why") {
  KernelMaker k("pointwise");
  const Int M = k.dim("M");
  const auto x = k.tensor("x", ElementType::f32, layout(M, 1)),
             y = k.tensor("y", ElementType::f32, layout(M, 1), Access::output);
  const auto i = k.index("i", M);
  k.assign(y, {i}, k.load(x, {i}));
  const auto made = plan::make_plan(k.done());
  CHECK(plan::elementwise(made.variants[0]) != nullptr);
  CHECK(
      std::get<plan::NotGemm>(plan::recognise(*made.kernel, plan::facts_of(*made.kernel))).reason ==
      "it has no reduction");
}

TEST_CASE("an inout tensor read elsewhere is refused") {
  KernelMaker k("shift");
  const Int M = k.dim("M");
  const auto x = k.tensor("x", ElementType::f32, layout(tuple(M, M), tuple(M, 1)), Access::inout);
  const auto i = k.index("i", M), j = k.index("j", M);
  k.assign(x, {i, j}, k.load(x, {j, i}));
  const auto made = plan::make_plan(k.done());
  REQUIRE(made.problems.size() == 1);
  CHECK(made.problems[0].code == "unsupported");
  CHECK(made.variants.empty());
}

TEST_CASE("accumulators and copies are one-to-one by enumeration") {
  for (const std::string order : {"TN", "NT"}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      const auto made = plan::make_plan(gemm({order, type}).done());
      for (const plan::Variant& v : made.variants) {
        CAPTURE(order, v.name);
        if (const auto tensor_cores = plan::sm80_of(v)) {
          const auto [m, n, k] = tensor_cores->tile;
          CHECK(type == ElementType::f64);
          CHECK(!plan::cover_fault(tensor_cores->accumulators, {m, n}));
          CHECK(!plan::cover_fault(tensor_cores->a.threads, {m, k}));
          CHECK(!plan::cover_fault(tensor_cores->b.threads, {n, k}));
          continue;
        }
        const SimtGemm how = *plan::simt_of(v);
        CHECK(!plan::cover_fault(how.accumulators, {how.tile[0], how.tile[1]}));
        if (!how.ring()) {
          CHECK(!plan::cover_fault(how.a.threads, {how.tile[0], how.tile[2]}));
          CHECK(!plan::cover_fault(how.b.threads, {how.tile[1], how.tile[2]}));
        }
        for (const auto* copy : {&how.a, &how.b}) {
          const auto offsets = values(copy->shared);
          CHECK(std::set<std::int64_t>(offsets.begin(), offsets.end()).size() == offsets.size());
        }
      }
    }
  }
}

TEST_CASE("banks: known accesses") {
  std::vector<std::int64_t> at(32);
  const auto strided = [&](std::int64_t words) {
    for (size_t i = 0; i < 32; ++i) at[i] = static_cast<std::int64_t>(i) * words * 4;
    return wavefronts(at, 4).taken;
  };
  CHECK(strided(0) == 1);  // all lanes read one word
  CHECK(strided(1) == 1);
  CHECK(strided(2) == 2);
  CHECK(strided(3) == 1);
  CHECK(strided(8) == 8);
  CHECK(strided(32) == 32);
  CHECK(strided(33) == 1);
  for (size_t i = 0; i < 32; ++i) at[i] = static_cast<std::int64_t>(i) * 16;
  CHECK(wavefronts(at, 16).taken == 4);
  CHECK(wavefronts(at, 16).least == 4);
  for (size_t i = 0; i < 32; ++i) at[i] = static_cast<std::int64_t>(i) * 32;
  CHECK(wavefronts(at, 16).taken == 8);
}

TEST_CASE("the default layouts of shared memory are free of conflicts, unpadded ones are not") {
  for (const std::string order : {"TN", "NN", "NT", "TT"}) {
    const auto made = plan::make_plan(gemm({order, ElementType::f32}).done());
    for (const plan::Variant& v : made.variants) {
      for (const auto& access : v.prediction.conflicts) {
        CAPTURE(order, v.name, access.access);
        // A tile of 32 x 32 that is transposed on its way has no padding without conflicts. A
        // swizzle has none of them and is slower (tests/bench/results/notes.md).
        const bool is_small =
            v.name.starts_with("simt_32x32") && access.access.starts_with("write");
        CHECK(access.wavefronts <= (is_small ? 2 : 1) * access.least);
      }
    }
  }
  // On an A100, where no ring of stages takes the same sizes before `wide`.
  const auto made = plan::make_plan(gemm({"TN", ElementType::f32}).done(), *find_target("a100"));
  SimtGemm how = *plan::simt_of(variant(made, "simt_wide"));
  how.a.shared = layout(tuple(128, 8), tuple(1, 128));
  CHECK(plan::shared_traffic(*made.kernel, how, how.a, true).write.wavefronts == 2);
  how.a.shared = Composed{Swizzle(1, 4, 5), 0, layout(tuple(128, 8), tuple(1, 128))};
  CHECK(plan::shared_traffic(*made.kernel, how, how.a, true).write.wavefronts == 1);
}

}  // namespace lay::test
