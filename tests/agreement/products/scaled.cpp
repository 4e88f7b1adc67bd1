// Products with scales: every schedule of scaled.lay, with all checks of the host interpreter,
// against the kernel's reference meaning, bit for bit on small integers, over outputs of NaN; the
// variants behind them; and faults planted in their text.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "backend/interpret/launches.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;
using test::Extents;
using test::integer_call;

std::optional<plan::Sm90Gemm> hopper(const plan::Variant& variant) {
  return plan::sm90_of(variant);
}

const sema::KernelPtr& kernel_of(test::Kernels& kernels, const std::string& name) {
  for (const sema::KernelPtr& kernel : kernels.all())
    if (kernel->name == name) return kernel;
  throw std::logic_error("no kernel " + name);
}

// The launches of a variant at the call's sizes, with races and faults looked for.
std::string trouble(const plan::Plan& plan, const plan::Variant& variant,
                    const sema::KernelCall& call, const Array& expected, std::uint64_t seed) {
  runtime::PackedCall packed = runtime::packed(call);
  const auto report =
      interpret::run_all(ir::lower_all(plan, plan::at_sizes(variant, call.sizes)),
                         runtime::named_arguments(packed), {.write_once = true, .seed = seed});
  if (report.fault) return report.fault->message;
  return test::difference(runtime::unpacked_outputs(call, packed)[0], expected);
}

// A plan for a GPU so small that every block takes many tiles.
plan::Plan for_few(const sema::KernelPtr& kernel, int clusters) {
  Target target = default_target();
  const plan::Plan first = plan::make_plan(kernel, target);
  const plan::Variant& front = first.variants.front();
  // Launches before may have larger clusters, which a GPU has to have room for.
  constexpr int largest = 4;
  const int blocks = hopper(front) ? hopper(front)->blocks() : 1;
  target.sms = clusters * std::max(front.before.empty() ? 1 : largest, blocks);
  return plan::make_plan(kernel, target);
}

std::optional<plan::TensorGemm> on_tensor_cores(const plan::Variant& variant) {
  if (const auto gemm = hopper(variant)) return *gemm;
  return plan::sm80_of(variant);
}

bool has_scales(const plan::Variant& variant) {
  const auto gemm = on_tensor_cores(variant);
  return gemm && !gemm->scales.empty();
}

// Kernels whose own schedule is for mma.sync.
bool is_for_sm80(const sema::KernelPtr& kernel) {
  return kernel->name.starts_with("sm80_");
}

}  // namespace

TEST_CASE("scaled products: every schedule agrees with the reference on ragged sizes") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (is_for_sm80(kernel)) continue;
    // Where K counts elements, sums of several K tiles that end within a group.
    const bool counts_elements = kernel->name == "ragged" || kernel->name == "repacked";
    const std::vector<Extents> all =
        counts_elements ? std::vector<Extents>{{66, 24, 176}, {5, 3, 81}, {1, 1, 1}}
                        : std::vector<Extents>{{72, 2, 2}, {5, 3, 5}, {1, 1, 1}};
    const std::map<int, plan::Plan> plans{{1, for_few(kernel, 1)}, {3, for_few(kernel, 3)}};
    for (const Extents& sizes : all) {
      INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      const sema::KernelCall call = integer_call(kernel, sizes);
      const Array expected = sema::run_reference(call).outputs[0];
      for (const auto& [clusters, plan] : plans) {
        // With accesses as wide as they can be, element by element, and behind repacks.
        for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
          INFO(variant->name << ", clusters " << clusters);
          // A variant that takes sums of joined indices of more than 2^31 has no scales; rows of
          // the library for mma.sync stand behind those for wgmma.
          if (!has_scales(*variant) || !hopper(*variant)) break;
          CHECK(trouble(plan, *variant, call, expected, clusters) == "");
          if (clusters == 3) break;
        }
      }
    }
  }
}

TEST_CASE("scaled products: without a schedule, and where no tensor cores take scales") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  for (const char* name : {"blocks", "parts", "integers_as_floats", "computed", "repacked"}) {
    sema::Kernel bare = *kernel_of(kernels, name);
    bare.schedules.clear();
    const auto kernel = std::make_shared<const sema::Kernel>(std::move(bare));
    const sema::KernelCall call = integer_call(kernel, {5, 2, 3});
    const Array expected = sema::run_reference(call).outputs[0];
    for (const char* gpu : {"h200", "a100"}) {
      const plan::Plan plan = plan::make_plan(kernel, *find_target(gpu));
      REQUIRE(plan.problems.empty());
      // By mma.sync the library multiplies operands of 16 bits and integers, and then needs no
      // other launches.
      const bool by_warps = std::set<std::string>{"repacked", "integers_as_floats"}.contains(name);
      INFO(name << " for " << gpu);
      CHECK(has_scales(plan.variants.front()) == (gpu == std::string("h200") || by_warps));
      // The first of each kind: with scales, on repacked operands, as launches of scaled factors.
      std::set<std::string> tried;
      for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
        INFO(name << " for " << gpu << ": " << variant->name);
        const std::string kind = std::to_string(plan::runs_each_element(*variant)) +
                                 (has_scales(*variant) ? " scaled" : "") +
                                 std::to_string(variant->before.size());
        if (tried.insert(kind).second) CHECK(trouble(plan, *variant, call, expected, 0) == "");
      }
      CHECK((tried.size() > 1 || by_warps));
    }
  }
}

TEST_CASE("scaled products: by mma.sync, every variant agrees with the reference") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  int tried = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (!is_for_sm80(kernel)) continue;
    const bool of_size = kernel->name == "sm80_of_size";
    // Where K counts elements, sums that end within a group; else of whole groups, which K tiles
    // may end within. Vectors fit the first sizes.
    const bool counts_elements = kernel->name == "sm80_ragged" || kernel->name == "sm80_promoted" ||
                                 kernel->name.starts_with("sm80_tiles");
    std::vector<Extents> all{{20, 18, 3}, {35, 21, 5}, {3, 1, 1}};
    if (counts_elements) all = {{40, 24, 656}, {17, 9, 301}, {3, 1, 16}, {1, 1, 1}};
    if (kernel->name == "sm80_both") all = {{5, 4, 3}, {7, 5, 5}, {1, 1, 1}};  // of 16 x 12
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const Extents& sizes : all) {
      INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      sema::KernelCall call = integer_call(kernel, sizes);
      if (of_size) {
        std::uint64_t state = 1;
        call = test::drawn_call(kernel,
                                {{"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}, {"G", 192}}, [&] {
                                  state = state * 6364136223846793005u + 1442695040888963407u;
                                  return static_cast<double>(state >> 33 & 7) - 3;
                                });
      }
      const Array expected = sema::run_reference(call).outputs[0];
      int of_schedule = 0;
      for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
        if (!variant->schedule.known()) break;
        INFO(variant->name);
        REQUIRE(on_tensor_cores(*variant));
        CHECK(on_tensor_cores(*variant)->promotion_interval > 0);
        CHECK(has_scales(*variant) == (kernel->name != "sm80_promoted"));
        CHECK(trouble(plan, *variant, call, expected, 1) == "");
        ++of_schedule;
      }
      CHECK(of_schedule > 0);
      tried += of_schedule;
    }
  }
  CHECK(tried > 40);
}

TEST_CASE("scaled products: operands of two widths without a schedule") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  for (const char* name : {"sm80_slices", "sm80_both", "sm80_tiles"}) {
    sema::Kernel bare = *kernel_of(kernels, name);
    bare.schedules.clear();
    const auto kernel = std::make_shared<const sema::Kernel>(std::move(bare));
    const bool counts_elements = name == std::string("sm80_tiles");
    const sema::KernelCall call = integer_call(kernel, {3, 2, counts_elements ? 304 : 3});
    const Array expected = sema::run_reference(call).outputs[0];
    const plan::Plan plan = plan::make_plan(kernel, *find_target("a100"));
    REQUIRE(plan.problems.empty());
    for (const plan::Variant& variant : plan.variants) CHECK(has_scales(variant));
    for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
      INFO(name << ": " << variant->name);
      CHECK(trouble(plan, *variant, call, expected, 0) == "");
    }
  }
}

TEST_CASE("scaled products: of two, each keeps its scales") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  const plan::Plan plan = plan::make_plan(kernel_of(kernels, "gated"));
  const plan::Variant& front = plan.variants.front();
  CHECK(has_scales(front));
  REQUIRE(front.before.size() == 1);
  CHECK(has_scales(front.before[0]->variants.front()));
}

TEST_CASE("scaled products: a wrong scale is found") {
  test::Kernels kernels("tests/agreement/products/scaled.lay");
  const auto planted = [&](const char* name, const Extents& sizes,
                           const std::vector<test::Planted>& faults) {
    INFO(name);
    const sema::KernelPtr& kernel = kernel_of(kernels, name);
    const plan::Plan plan = for_few(kernel, 1);
    const sema::KernelCall call = integer_call(kernel, sizes);
    const plan::Variant& variant = plan::chosen_variant(plan, call.sizes);
    test::find_planted(ir::print(ir::lower(plan, variant)), call,
                       sema::run_reference(call).outputs[0], faults);
  };
  planted("blocks", {136, 1, 3},
          {
              {"the scale of the next group", "a[m,pair * 2 + 1]", "a[m,pair * 2 + 2]", "element"},
              {"the rows' scales in place of one another", "scale1[at((2,2,16):(0,1,0), v)]",
               "scale1[v % 2]", "element"},
              {"a scale of rows that there are not", "if m < M {", "if m <= M {", "out-of-bounds"},
              {"sums without a scale", "scale1[at((2,2,16):(0,1,0), v)] * scale2[0]",
               "scale1[at((2,2,16):(0,1,0), v)]", "element"},
          });
  planted("parts", {70, 40, 5},
          {
              {"the first group of a tile for all", "a[m,tile_k * 4 + part]", "a[m,tile_k * 4]",
               "element"},
              {"a group behind the end of K", "tile_k * 128 + part * 32 < [32*K]",
               "tile_k * 128 + part * 32 <= [32*K]", "out-of-bounds"},
          });
  planted("tiles", {70, 40, 7},
          {
              {"groups that begin with the block's part of K", "at_k % 4 == 0", "tile_k % 4 == 0",
               "element"},
          });
  planted("alternate", {136, 72, 3},
          {
              {"the scale of the next K tile", "select(phase(way) == 0, pair * 2 + 1",
               "select(phase(way) == 0, pair * 2 + 2", "element"},
          });
  planted(
      "sm80_slices", {20, 18, 3},
      {
          {"the first slice's group for all", "(tile_k * 4 + slice) / 2", "(tile_k * 4) / 2",
           "element"},
          {"a group behind the end of K", "min((tile_k * 4 + slice) / 2, [K - 1])",
           "(tile_k * 4 + slice) / 2", "out-of-bounds"},
          {"a scale of columns that there are not", "min(n_first + at((2,2):(1,8), e), [N - 1])",
           "n_first + at((2,2):(1,8), e)", "out-of-bounds"},
          {"the columns' scales in place of one another", "scale1[at((2,2):(1,0), v)",
           "scale1[at((2,2):(0,1), v)", "element"},
          {"sums that are added twice", "      fill acc = 0.0", "      fill scale1 = 0.0",
           "element"},
      });
  planted("sm80_tiles", {17, 9, 301},
          {
              {"the first group for all", "if tile_k % 4 == 0 {", "if tile_k == 0 {", "element"},
              {"a last group that is not whole", " or tile_k == tiles_k - 1", "", "element"},
          });
  planted("sm80_ragged", {17, 9, 301},
          {
              {"a slice's first group for all", "(slice * 4 + (part + 1))", "slice * 4", "element"},
              {"a group too late, of the rows behind", "tile_k * 8 + (slice * 4 + (part + 1))",
               "tile_k * 8 + (slice * 4 + (part + 2))", "element"},
          });
}
