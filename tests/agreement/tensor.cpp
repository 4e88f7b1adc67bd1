// GEMMs on tensor cores, each by its schedule: the host interpreter, with all its checks, and a GPU against the
// kernel's reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "tensor*"             on the host
//   test_agreement "[gpu][tensor]"       on a GPU too, with larger sizes
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/ir/lower.h"
#include "backend/ir/print.h"
#include "backend/plan/make.h"
#include "frontend/sema/reference.h"
#include "runtime/executor.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;

struct Extents {
  std::int64_t m, n, k;
};

std::int64_t small_integer(std::uint64_t& state, std::int64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const auto magnitude = static_cast<std::int64_t>(state >> 33) % (most + 1);
  return state >> 63 ? -magnitude : magnitude;
}

// Sums stay exact in 24 bits: at most 3 * 3 * K, times a scale of at most 2, plus the old value.
sema::KernelCall make_call(const sema::KernelPtr& kernel, const Extents& sizes) {
  sema::KernelCall call;
  call.kernel = kernel;
  for (const sema::Dim& dim : kernel->dims) {
    const std::int64_t value = dim.name == "M" ? sizes.m : dim.name == "N" ? sizes.n : dim.name == "K" ? sizes.k : 2;
    call.sizes[*dim.symbol.dim_id()] = value;
  }
  std::uint64_t state = static_cast<std::uint64_t>(sizes.m * 1000003 + sizes.n * 1009 + sizes.k);
  for (const sema::Tensor& tensor : kernel->tensors) {
    Array array = Array::make(tensor.element, sema::array_shape(tensor, call.sizes));
    for (std::int64_t i = 0; i < array.size(); ++i) {
      const bool poison = tensor.access == sema::Access::output && is_float(tensor.element);
      array.set_real(i, poison ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(small_integer(state, tensor.name == "scale" ? 2 : 3)));
    }
    call.tensors.push_back(std::move(array));
  }
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-1.0}, sema::Number{2.0}};
  return call;
}

std::string difference(const Array& got, const Array& due) {
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got.real(i) != due.real(i)) {
      return "element " + std::to_string(i) + " is " + std::to_string(got.real(i)) + ", due is " +
             std::to_string(due.real(i));
    }
  }
  return "";
}

void agree(lay::test::Kernels& kernels, const Extents& sizes, bool with_host, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
    const sema::KernelCall call = make_call(kernel, sizes);
    const Array due = sema::run_reference(call).outputs[0];
    if (with_host) CHECK(difference(kernels.host().run(call).outputs[0], due) == "");
    if (with_gpu) CHECK(difference(kernels.gpu().run(call).outputs[0], due) == "");
  }
}

}  // namespace

TEST_CASE("tensor cores: every schedule agrees with the reference on ragged sizes", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  agree(kernels, {200, 144, 80}, true, false);
  agree(kernels, {64, 64, 16}, true, false);
  agree(kernels, {8, 16, 208}, true, false);
  // Where the output's rows are no whole 16 bytes it leaves element by element; the operands that run along it are not
  // there then.
  agree(kernels, {70, 37, 48}, true, false);
}

TEST_CASE("tensor cores: tiles that a mask empties have no products", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "masked") continue;
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(std::holds_alternative<plan::Sm90Gemm>(plan.variants.front().how));
    CHECK(std::get<plan::Sm90Gemm>(plan.variants.front().how).mask);
    const std::string text = ir::print(ir::lower(plan, plan.variants.front()));
    // The least column of the cluster's tile against its greatest row, as far as the output goes.
    CHECK(text.find("let steps : s32 block = select(tile_n * 64 <= min(tile_m * 128 + 127, [M - 1]), tiles_k, 0)") !=
          std::string::npos);
    return;
  }
  FAIL("no kernel `masked`");
}

TEST_CASE("on a GPU, tensor cores: it agrees with the reference", "[.][gpu][tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const std::int64_t m : {64, 200})
    for (const std::int64_t n : {37, 96, 336})
      for (const std::int64_t k : {16, 208}) agree(kernels, {m, n, k}, false, true);
}
