// Field mode: the kernels of the scripts, in every variant of their plans for two GPUs, must equal
// the reference in exact arithmetic, at ragged sizes; and what is planted in a plan must be found,
// though it would hide in the tolerance of rounded results.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/target/target.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/field_run.h"
#include "tests/agreement/script.h"
#include "tests/agreement/variants.h"
#include "tests/golden/golden.h"
#include "tests/tile/calls.h"

namespace {

using namespace lay;
using Extents = std::map<std::string, std::int64_t>;

// Eighths from -4 to 4 and integers from -100 to 100; what lies at one place is one value.
sema::Array drawn(const sema::Tensor& tensor, const Binding& sizes, std::mt19937& random) {
  sema::Array array = sema::Array::make(tensor.element, sema::array_shape(tensor, sizes));
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (is_float(tensor.element)) {
      array.set_real(i, static_cast<double>(static_cast<int>(random() % 65) - 32) / 8);
    } else {
      array.set_integer(i, static_cast<std::int64_t>(random() % 201) - 100);
    }
  }
  if (!sema::may_share_places(tensor, sizes)) return array;
  return sema::unpack(tensor, sizes, sema::pack(tensor, sizes, array));
}

// Nothing where the kernel does not take the sizes.
std::optional<sema::KernelCall> call_of(const sema::KernelPtr& kernel, const Extents& given) {
  sema::KernelCall call;
  call.kernel = kernel;
  Extents set;
  for (const sema::Dim& dim : kernel->dims) {
    if (given.contains(dim.name)) set[dim.name] = given.at(dim.name);
    if (dim.name == "B" || dim.name == "L" || dim.name == "W")
      set[dim.name] = 3;  // batches, and a window
  }
  std::vector<std::optional<std::vector<std::int64_t>>> shapes(kernel->tensors.size());
  try {
    call.sizes = sema::solve_sizes(*kernel, shapes, set);
    sema::check_guards(*kernel, call.sizes);
  } catch (const Refusal&) {
    return std::nullopt;
  }
  std::mt19937 random(static_cast<std::uint32_t>(given.at("M") * 1009 + given.at("N")));
  for (const sema::Tensor& tensor : kernel->tensors)
    call.tensors.push_back(drawn(tensor, call.sizes, random));
  for (std::size_t i = 0; i < kernel->scalars.size(); ++i) {
    call.scalars.emplace_back(is_float(kernel->scalars[i].type) ? sema::Number{0.375 - double(i)}
                                                                : sema::Number{std::int64_t{3}});
  }
  return call;
}

// The launches of a variant, for sizes at which it would be slow too.
runtime::Launches lowered(const plan::Plan& plan, const plan::Variant& variant,
                          const Binding& sizes) {
  runtime::Launches launches = ir::lower_all(plan, plan::at_sizes(variant, sizes));
  for (ir::Kernel& kernel : launches) std::erase_if(kernel.assumptions, agreement::is_preference);
  return launches;
}

bool takes(const plan::Variant& variant, const Binding& sizes) {
  return std::all_of(variant.when.begin(), variant.when.end(), [&](const Predicate& condition) {
    return agreement::is_preference(condition) || condition.evaluate(sizes) == true;
  });
}

const std::vector<const char*> two_gpus{"h200", "a100"};

// Runs every variant that takes the sizes; how many there are.
int check_variants(const sema::KernelCall& call, const std::vector<const char*>& gpus = two_gpus) {
  const runtime::FieldCheck check(call);
  int ran = 0;
  for (const char* gpu : gpus) {
    const plan::Plan plan = plan::make_plan(call.kernel, *find_target(gpu));
    if (!plan.problems.empty()) continue;  // its types are not this GPU's
    for (const plan::Variant& variant : plan.variants) {
      if (!takes(variant, call.sizes)) continue;
      const auto trouble = check.trouble(lowered(plan, variant, call.sizes), variant.name);
      INFO(call.kernel->name << " for " << gpu);
      CHECK((trouble ? trouble->message : "") == "");
      ++ran;
    }
  }
  return ran;
}

void check_script(const std::string& file, const std::vector<Extents>& all_sizes,
                  const std::vector<const char*>& gpus = two_gpus) {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    int ran = 0;
    for (const Extents& sizes : all_sizes) {
      const auto call = call_of(kernel, sizes);
      if (call) ran += check_variants(*call, gpus);
    }
    INFO(kernel->name);
    CHECK(ran > 0);
  }
}

// The scripts between a heading of a page and the next one.
std::vector<std::string> scripts_below(const std::string& page, const std::string& heading) {
  std::vector<std::string> scripts;
  bool below = false, inside = false;
  for (const std::string& line : test::lines_of(test::slurp(test::source_root() / page))) {
    if (!inside && line.starts_with("#")) below = line == heading;
    if (line == "```" || (line == "```lay" && below)) {
      inside = line == "```lay";
      if (inside) scripts.emplace_back();
    } else if (inside && below) {
      scripts.back() += line + "\n";
    }
  }
  return scripts;
}

// Runs the variants of every call that a script makes; how many there are.
int check_calls(const std::string& script) {
  int ran = 0;
  INFO(script);
  test::for_each_call(script, [&](const sema::KernelCall& call) { ran += check_variants(call); });
  return ran;
}

}  // namespace

TEST_CASE("field mode: the worked examples of the language", "[field]") {
  const auto scripts = scripts_below("docs/language.md", "### Worked examples");
  CHECK(scripts.size() >= 10);
  for (const std::string& script : scripts) CHECK(check_calls(script) > 0);
}

TEST_CASE("field mode: the examples", "[field]") {
  int ran = 0;
  for (const auto& file : test::files_in("examples", ".lay")) ran += check_calls(test::slurp(file));
  CHECK(ran >= 10);
}

TEST_CASE("field mode: reductions", "[field]") {
  const std::vector<Extents> sizes{
      {{"M", 5}, {"N", 37}}, {{"M", 1}, {"N", 300}}, {{"M", 9}, {"N", 16}}};
  check_script("tests/agreement/reduce.lay", sizes);
  check_script("tests/bench/rows.lay", {{{"M", 5}, {"N", 37}}});
  check_script("tests/tile/reductions.lay", {{{"M", 5}, {"N", 37}, {"K", 19}}});
}

TEST_CASE("field mode: permutations", "[field]") {
  check_script("tests/agreement/permute.lay", {{{"M", 24}, {"N", 40}}, {{"M", 5}, {"N", 37}}});
  check_script("tests/bench/permute.lay", {{{"M", 24}, {"N", 40}}});
}

TEST_CASE("field mode: products on CUDA cores", "[field]") {
  const std::vector<Extents> sizes{{{"M", 33}, {"N", 70}, {"K", 19}}};
  check_script("tests/agreement/gemm.lay", sizes);
  check_script("tests/agreement/ring.lay", {{{"M", 36}, {"N", 72}, {"K", 20}}});
  check_script("tests/agreement/variants.lay", sizes);
}

TEST_CASE("field mode: products by mma.sync", "[field]") {
  check_script("tests/agreement/sm80.lay", {{{"M", 40}, {"N", 72}, {"K", 48}}});
  check_script("tests/agreement/mixed.lay", {{{"M", 16}, {"N", 32}, {"K", 48}}});
  // What Hopper has in front of these is in tensor.lay.
  check_script(
      "tests/agreement/products/types.lay",
      {{{"L", 2}, {"M", 16}, {"N", 32}, {"K", 48}}, {{"L", 2}, {"M", 9}, {"N", 7}, {"K", 5}}},
      {"l40s"});
}

TEST_CASE("field mode: inputs of 4 bits", "[field]") {
  check_script("tests/agreement/half_bytes.lay",
               {{{"M", 16}, {"N", 32}, {"K", 32}}, {{"M", 5}, {"N", 7}, {"K", 3}}});
}

TEST_CASE("field mode: products by wgmma", "[field]") {
  check_script("tests/agreement/tensor.lay", {{{"M", 72}, {"N", 40}, {"K", 80}}});
}

TEST_CASE("field mode: products by wgmma whose operands are copied first", "[field]") {
  check_script("tests/agreement/copied.lay", {{{"M", 70}, {"N", 37}, {"K", 45}}});
}

TEST_CASE("field mode: epilogues", "[field]") {
  check_script("tests/agreement/staged.lay", {{{"M", 72}, {"N", 40}, {"K", 48}}});
}

TEST_CASE("field mode: products of several launches", "[field]") {
  check_script("tests/agreement/products/products.lay", {{{"M", 5}, {"N", 7}, {"K", 3}}});
}

TEST_CASE("field mode: products with scales", "[field]") {
  check_script("tests/agreement/products/scaled.lay", {{{"M", 9}, {"N", 2}, {"K", 3}, {"G", 64}}});
}
