#include "tests/agreement/calls.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/interpret/launches.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"

namespace lay::test {

namespace {

double small_integer(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(static_cast<std::int64_t>(state >> 40) % 7 - 3);
}

}  // namespace

sema::KernelCall drawn_call(const sema::KernelPtr& kernel,
                            const std::map<std::string, std::int64_t>& sizes,
                            const std::function<double()>& draw) {
  sema::KernelCall call;
  call.kernel = kernel;
  for (const sema::Dim& dim : kernel->dims) call.sizes[*dim.symbol.dim_id()] = sizes.at(dim.name);
  for (const sema::Tensor& tensor : kernel->tensors) {
    sema::Array array = sema::Array::make(tensor.element, sema::array_shape(tensor, call.sizes));
    const bool poison = tensor.access == sema::Access::output && is_float(tensor.element);
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set_real(i, poison ? std::numeric_limits<double>::quiet_NaN() : draw());
    call.tensors.push_back(std::move(array));
  }
  return call;
}

sema::KernelCall integer_call(const sema::KernelPtr& kernel, const Extents& sizes) {
  std::map<std::string, std::int64_t> named;
  for (const sema::Dim& dim : kernel->dims) named[dim.name] = 2;
  for (const auto& [name, size] : {std::pair{"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}})
    named[name] = size;
  auto state = static_cast<std::uint64_t>(sizes.m * 1000003 + sizes.n * 1009 + sizes.k);
  sema::KernelCall call = drawn_call(kernel, named, [&] { return small_integer(state); });
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-1.0}, sema::Number{2.0}};
  return call;
}

std::string difference(const sema::Array& got, const sema::Array& expected) {
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got.real(i) == expected.real(i)) continue;  // NaN differs from everything
    return "element " + std::to_string(i) + " is " + std::to_string(got.real(i)) + ", expected " +
           std::to_string(expected.real(i));
  }
  return "";
}

std::string difference(const sema::Array& got, const sema::Array& expected, double of_largest) {
  double largest = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected.real(i))) largest = std::max(largest, std::abs(expected.real(i)));
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double a = got.real(i), b = expected.real(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= of_largest * largest)
      continue;
    return "at " + std::to_string(i) + ": expected " + std::to_string(b) + ", got " +
           std::to_string(a);
  }
  return "";
}

std::string trouble(const std::vector<ir::Kernel>& launches, const sema::KernelCall& call,
                    const sema::KernelResult& expected, const Differs& differs,
                    std::uint64_t seed) {
  runtime::PackedCall packed = runtime::packed(call);
  const auto report = interpret::run_all(launches, runtime::named_arguments(packed),
                                         {.write_once = true, .seed = seed});
  if (report.fault) return report.fault->message;
  const auto outputs = runtime::unpacked_outputs(call, packed);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const auto at = differs(outputs[i], expected.outputs[i]); !at.empty()) return at;
  return "";
}

std::string trouble(const ir::Kernel& kernel, const sema::KernelCall& call,
                    const sema::Array& expected, std::uint64_t seed) {
  runtime::PackedCall packed = runtime::packed(call);
  const auto arguments = runtime::named_arguments(packed);
  const interpret::Report report =
      interpret::run_all({kernel}, arguments, {.write_once = true, .seed = seed});
  if (report.fault)
    return std::string(interpret::fault_name(report.fault->code)) + ": " + report.fault->message;
  return difference(runtime::unpacked_outputs(call, packed)[0], expected);
}

}  // namespace lay::test
