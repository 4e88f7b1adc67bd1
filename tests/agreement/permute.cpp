// The kernels of permute.lay on small integers, which all their types hold: by plain loops, by the
// host interpreter and on a GPU, over sizes that take every variant.
//
//   test_agreement "permute kernels*"          a few sizes, on the host
//   test_agreement "[gpu]"                       all of them on a GPU as well
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n) {
  const std::map<std::string, std::int64_t> named{
      {"M", m}, {"N", n}, {"B", 3}, {"p", n + m % 5}, {"q", m + n}, {"W", n < 3 ? 1 : 3}};
  sema::KernelCall call;
  call.kernel = kernel;
  for (const sema::Dim& dim : kernel->dims) call.sizes[*dim.symbol.dim_id()] = named.at(dim.name);
  std::int64_t count = m * 31 + n;
  for (const sema::Tensor& tensor : kernel->tensors) {
    sema::Array array = sema::Array::make(tensor.element, sema::array_shape(tensor, call.sizes));
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set_real(i, static_cast<double>(++count * 7919 % 63 - 31));
    call.tensors.push_back(std::move(array));
  }
  for (std::size_t i = 0; i < kernel->scalars.size(); ++i) call.scalars.emplace_back(2.0);
  return call;
}

bool same(const sema::KernelResult& a, const sema::KernelResult& b) {
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    if (*a.outputs[i].bytes != *b.outputs[i].bytes) return false;
  return a.outputs.size() == b.outputs.size();
}

void agree(lay::test::Kernels& kernels, std::int64_t m, std::int64_t n, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const sema::KernelCall call = call_of(kernel, m, n);
    const sema::KernelResult expected = sema::run_reference(call);
    INFO(kernel->name << " of " << element_name(kernel->tensors[0].element) << ", " << m << " x "
                      << n);
    CHECK(same(kernels.host().run(call), expected));
    if (with_gpu) CHECK(same(kernels.gpu().run(call), expected));
  }
}

}  // namespace

TEST_CASE("permute kernels: interpreter and reference") {
  lay::test::Kernels kernels("tests/agreement/permute.lay", true);
  agree(kernels, 33, 7, false);
  agree(kernels, 16, 72, false);
}

TEST_CASE("permute kernels on a GPU and on the host", "[.gpu]") {
  lay::test::Kernels kernels("tests/agreement/permute.lay", true);
  for (const std::int64_t m : {1, 7, 64, 66, 128, 129})
    for (const std::int64_t n : {1, 12, 31, 64, 130, 256}) agree(kernels, m, n, true);
}
