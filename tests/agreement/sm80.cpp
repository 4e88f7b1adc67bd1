// GEMMs by mma.sync (sm80.lay) in the host interpreter, with all its checks, and on a GPU against the kernels'
// reference meaning, bit for bit on integers, over outputs of NaN.
#include <catch2/catch.hpp>
#include <set>

#include "backend/plan/make.h"
#include "frontend/sema/reference.h"
#include "runtime/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;

void agree(lay::test::Kernels& kernels, const lay::test::Extents& sizes, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
    const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
    const Array due = sema::run_reference(call).outputs[0];
    if (with_gpu) {
      CHECK(lay::test::difference(kernels.gpu().run(call).outputs[0], due) == "");
    } else {
      CHECK(lay::test::difference(kernels.host().run(call).outputs[0], due) == "");
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
