// GEMMs by mma.sync (sm80.lay) in the host interpreter, with all its checks, and on a GPU against the kernels'
// reference meaning, bit for bit on integers, over outputs of NaN.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

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

double small_integer(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(static_cast<std::int64_t>(state >> 40) % 7 - 3);
}

// Sums stay exact in 24 bits, and below 256, which bf16 holds, where the output is of 16 bits.
sema::KernelCall make_call(const sema::KernelPtr& kernel, const Extents& sizes) {
  sema::KernelCall call;
  call.kernel = kernel;
  for (const sema::Dim& dim : kernel->dims) {
    const std::int64_t value = dim.name == "M" ? sizes.m : dim.name == "N" ? sizes.n : dim.name == "K" ? sizes.k : 2;
    call.sizes[*dim.symbol.dim_id()] = value;
  }
  auto state = static_cast<std::uint64_t>(sizes.m * 1000003 + sizes.n * 1009 + sizes.k);
  for (const sema::Tensor& tensor : kernel->tensors) {
    Array array = Array::make(tensor.element, sema::array_shape(tensor, call.sizes));
    const bool poison = tensor.access == sema::Access::output && is_float(tensor.element);
    for (std::int64_t i = 0; i < array.size(); ++i) {
      array.set_real(i, poison ? std::numeric_limits<double>::quiet_NaN() : small_integer(state));
    }
    call.tensors.push_back(std::move(array));
  }
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-1.0}, sema::Number{2.0}};
  return call;
}

std::string difference(const Array& got, const Array& due) {
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got.real(i) == due.real(i)) continue;  // NaN differs from everything
    return "element " + std::to_string(i) + " is " + std::to_string(got.real(i)) + ", due is " +
           std::to_string(due.real(i));
  }
  return "";
}

void agree(lay::test::Kernels& kernels, const Extents& sizes, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
    const sema::KernelCall call = make_call(kernel, sizes);
    const Array due = sema::run_reference(call).outputs[0];
    if (with_gpu) {
      CHECK(difference(kernels.gpu().run(call).outputs[0], due) == "");
    } else {
      CHECK(difference(kernels.host().run(call).outputs[0], due) == "");
    }
  }
}

}  // namespace

TEST_CASE("mma.sync: every schedule agrees with the reference where vectors are allowed") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {144, 80, 48}, false);
  agree(kernels, {16, 208, 112}, false);
}

TEST_CASE("mma.sync: every schedule agrees with the reference on ragged sizes") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {1, 1, 1}, false);
  agree(kernels, {67, 33, 45}, false);
  agree(kernels, {129, 10, 131}, false);
}

TEST_CASE("on a GPU, mma.sync agrees with the reference", "[.][gpu]") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  for (const std::int64_t m : {1, 67, 128, 520})
    for (const std::int64_t n : {8, 33, 256})
      for (const std::int64_t k : {1, 64, 131, 640}) agree(kernels, {m, n, k}, true);
}
