// The same kernels in the host interpreter, on a GPU and in plain loops: bit for bit, on integers
// that need every significand bit (odd numbers times plus or minus one, exact sums), for every
// operand order and ragged sizes.
//
//   test_agreement              a slice, on the host
//   test_agreement "[all]"      every size of {1,7,64,127,128,129}^3 and 1000^3, on the host
//   test_agreement "[gpu]"      the same on a GPU and on the host

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;

struct Extents {
  std::int64_t m, n, k;
};

std::uint64_t next(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Odd integers of `bits` bits with either sign, or, for bits == 1, plus and minus one.
Array integers(ElementType type, std::vector<std::int64_t> shape, int bits, std::uint64_t seed) {
  Array array = Array::make(type, std::move(shape));
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::uint64_t random = next(seed);
    const auto top = std::int64_t{1} << (bits - 1);
    const std::int64_t magnitude =
        top | static_cast<std::int64_t>(random % static_cast<std::uint64_t>(top)) | 1;
    array.set_real(i, static_cast<double>(random >> 63 ? -magnitude : magnitude));
  }
  return array;
}

Array poisoned(Array array) {
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set_real(i, std::numeric_limits<double>::quiet_NaN());
  return array;
}

// A call of a kernel of gemm.lay. The odd operand is A or, for the other role, B; sums stay exact
// in the element type.
sema::KernelCall make_call(const sema::KernelPtr& kernel, const Extents& sizes, bool wide_a,
                           std::int64_t padding) {
  sema::KernelCall call;
  call.kernel = kernel;
  const auto [m, n, k] = sizes;
  const bool narrow = kernel->tensors[0].element == ElementType::f32;
  const int wide = narrow ? 12 : 40;
  for (const sema::Dim& dim : kernel->dims) {
    std::int64_t value = 0;
    if (dim.name == "M") value = m;
    if (dim.name == "N") value = n;
    if (dim.name == "K") value = k;
    if (dim.name == "lda") value = (kernel->name[0] == 't' ? k : m) + padding;
    if (dim.name == "ldb") value = (kernel->name[1] == 'n' ? k : n) + padding;
    if (dim.name == "ldc") value = n + padding;
    call.sizes[*dim.symbol.dim_id()] = value;
  }
  for (const sema::Tensor& tensor : kernel->tensors) {
    const auto shape = sema::array_shape(tensor, call.sizes);
    int bits = 10;
    if (tensor.name == "A") bits = wide_a ? wide : 1;
    if (tensor.name == "B") bits = wide_a ? 1 : wide;
    Array array = integers(tensor.element, shape, bits,
                           static_cast<std::uint64_t>(m * 1000003 + n * 1009 + k));
    if (tensor.access == sema::Access::output) array = poisoned(array);
    call.tensors.push_back(std::move(array));
  }
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-1.0}, sema::Number{2.0}};
  return call;
}

// The obvious loops, in 64-bit integers. They know the kernels of gemm.lay by name and nothing else
// of Lay.
std::vector<double> plain(const sema::KernelCall& call, const Extents& sizes) {
  const Array &a = call.tensors[0], &b = call.tensors[1], &third = call.tensors[2];
  std::vector<double> c(static_cast<std::size_t>(sizes.m * sizes.n));
  for (std::int64_t m = 0; m < sizes.m; ++m) {
    for (std::int64_t n = 0; n < sizes.n; ++n) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < sizes.k; ++k) {
        sum += static_cast<std::int64_t>(a.real(m * sizes.k + k)) *
               static_cast<std::int64_t>(b.real(k * sizes.n + n));
      }
      const std::int64_t i = m * sizes.n + n;
      double& result = c[static_cast<std::size_t>(i)];
      if (call.kernel->name == "packed_tn") {
        result = static_cast<double>(sum);
      } else if (call.kernel->name == "packed_nt") {
        const double biased = static_cast<double>(sum) + third.real(n);
        result = n <= m ? std::max(biased, 0.0) : 0.0;
      } else {
        result = -static_cast<double>(sum) + 2 * third.real(i);
      }
    }
  }
  return c;
}

// The first element that differs from the plain loops, or nothing.
std::string difference(const Array& got, const std::vector<double>& expected,
                       const Extents& sizes) {
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double value = got.real(i), want = expected[static_cast<std::size_t>(i)];
    if (value == want) continue;  // NaN differs from everything
    return "C[" + std::to_string(i / sizes.n) + "," + std::to_string(i % sizes.n) + "] is " +
           std::to_string(value) + ", expected " + std::to_string(want);
  }
  return "";
}

void agree(lay::test::Kernels& kernels, const Extents& sizes, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    for (const bool wide_a : {true, false}) {
      const sema::KernelCall call = make_call(kernel, sizes, wide_a, wide_a ? 0 : 3);
      const std::vector<double> expected = plain(call, sizes);
      INFO(kernel->name << " of " << element_name(kernel->tensors[0].element) << ", " << sizes.m
                        << " x " << sizes.n << " x " << sizes.k
                        << (wide_a ? ", A wide" : ", B wide, rows padded"));
      CHECK(difference(kernels.host().run(call).outputs[0], expected, sizes) == "");
      if (with_gpu) CHECK(difference(kernels.gpu().run(call).outputs[0], expected, sizes) == "");
    }
  }
}

const std::vector<std::int64_t> lengths{1, 7, 64, 127, 128, 129};

void all_sizes(bool with_gpu) {
  lay::test::Kernels kernels("tests/agreement/gemm.lay", true);
  for (const std::int64_t m : lengths)
    for (const std::int64_t n : lengths)
      for (const std::int64_t k : lengths) agree(kernels, {m, n, k}, with_gpu);
  agree(kernels, {1000, 1000, 1000}, with_gpu);
}

}  // namespace

TEST_CASE("a slice of the sizes: interpreter and plain loops") {
  lay::test::Kernels kernels("tests/agreement/gemm.lay", true);
  // Every length once in every place, with other lengths beside it.
  for (std::size_t i = 0; i < lengths.size(); ++i)
    agree(kernels, {lengths[i], lengths[(i + 2) % 6], lengths[(i + 4) % 6]}, false);
}

TEST_CASE("the reference meaning agrees with plain loops") {
  lay::test::Kernels kernels("tests/agreement/gemm.lay", true);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const Extents sizes{7, 12, 33};
    const sema::KernelCall call = make_call(kernel, sizes, true, 1);
    INFO(kernel->name);
    CHECK(difference(sema::run_reference(call).outputs[0], plain(call, sizes), sizes) == "");
  }
}

TEST_CASE("all sizes on the host", "[.all]") {
  all_sizes(false);
}

TEST_CASE("all sizes on a GPU and on the host", "[.gpu]") {
  all_sizes(true);
}
