// GEMMs by mma.sync (sm80.lay) in the host interpreter, with all its checks, and on a GPU against
// the kernels' reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "mma.sync*"        on the host
//   test_agreement "[gpu][sm80]"      on a GPU, with larger sizes; in parts, whose names end in - 0
//   to - 3
#include <catch2/catch.hpp>
#include <set>

#include "backend/plan/make.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;

void agree(lay::test::Kernels& kernels, const sema::KernelPtr& kernel,
           const lay::test::Extents& sizes, bool with_gpu) {
  INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
  const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
  const Array expected = sema::run_reference(call).outputs[0];
  CHECK(lay::test::difference((with_gpu ? kernels.gpu() : kernels.host()).run(call).outputs[0],
                              expected) == "");
}

void agree(lay::test::Kernels& kernels, const lay::test::Extents& sizes) {
  for (const sema::KernelPtr& kernel : kernels.all()) agree(kernels, kernel, sizes, false);
}

}  // namespace

TEST_CASE("mma.sync: every schedule agrees with the reference where vectors are allowed") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {144, 80, 48});
  agree(kernels, {16, 208, 112});
}

TEST_CASE("mma.sync: every schedule agrees with the reference on ragged sizes") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {1, 1, 1});
  agree(kernels, {67, 33, 45});
  agree(kernels, {129, 10, 131});
}

TEMPLATE_TEST_CASE_SIG("on a GPU: mma.sync: it agrees with the reference", "[.][gpu][sm80]",
                       ((int part), part), 0, 1, 2, 3) {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  for (const sema::KernelPtr& kernel : kernels.part(part, 4))
    for (const std::int64_t m : {1, 67, 128, 520})
      for (const std::int64_t n : {8, 33, 256})
        for (const std::int64_t k : {1, 64, 131, 640}) agree(kernels, kernel, {m, n, k}, true);
}
