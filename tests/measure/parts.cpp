// The parts of a measurement one by one: numbers, checks, the protocol.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "frontend/algebra/memory/convert.h"
#include "generated/tests/paths.h"
#include "runtime/bench/energy.h"
#include "runtime/bench/problem/operand.h"
#include "runtime/bench/protocol.h"
#include "runtime/bench/reference.h"
#include "runtime/bench/result.h"
#include "runtime/commands/script.h"
#include "runtime/gpu/device.h"

namespace {

using namespace lay;
using namespace lay::bench;

Problem problem(const std::string& kernel, const std::map<std::string, std::int64_t>& sizes) {
  static std::vector<std::unique_ptr<runtime::Script>> scripts;
  runtime::ScriptOptions options;
  options.evaluation = {sema::Mode::check, {}};
  scripts.push_back(
      runtime::evaluate_script(std::string(LAY_SOURCE_DIR) + "/tests/measure/gemms.lay", options));
  for (const auto& each : scripts.back()->evaluator.kernels())
    if (each->name == kernel) return problem_of(each, sizes, {});
  throw std::logic_error(kernel);
}

// X, W, bias and Y of `linear`, computed plainly in f32 (relu left out where it would hide a
// difference).
HostData linear_data(const Problem& of, Numbers numbers) {
  HostData data;
  for (std::size_t i = 0; i < of.tensors.size(); ++i)
    data.push_back(make_numbers(of.tensors[i].element, of.tensors[i].elements, numbers, i));
  const auto m = of.tensors[0].modes[0].size, k = of.tensors[0].modes[1].size,
             n = of.tensors[1].modes[0].size;
  auto* y = reinterpret_cast<float*>(data[3].data());
  const Reader x(ElementType::f32, data[0]), w(ElementType::f32, data[1]),
      bias(ElementType::f32, data[2]);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum = std::fma(static_cast<float>(x[i * k + l]), static_cast<float>(w[j * k + l]), sum);
      y[i * n + j] = std::max(sum + static_cast<float>(bias[j]), 0.0f);
    }
  return data;
}

}  // namespace

TEST_CASE("the first difference of two blocks is found, however large they are") {
  const Tensor tensor{"X", ElementType::f32, sema::Access::input, {}, 0};
  std::vector<std::byte> a(5'000'003, std::byte{7}), b = a;
  CHECK(first_difference(tensor, a, b) == -1);
  for (const std::size_t at :
       {std::size_t{5'000'002}, std::size_t{4'194'304}, std::size_t{4'194'303}, std::size_t{3}}) {
    b[at] = std::byte{8};
    CHECK(first_difference(tensor, a, b) == static_cast<std::int64_t>(at / 4));
  }
  CHECK(first_difference(tensor, {}, {}) == -1);
}

TEST_CASE("starts of segments rise from 0 to the number of rows") {
  for (const ElementType type : {ElementType::s32, ElementType::s64}) {
    const auto memory = make_starts(type, 6, 4, 1000, 7);
    const Reader start(type, memory);
    CHECK(start[0] == 0);
    for (std::int64_t i = 1; i < 6; ++i) CHECK(start[i] >= start[i - 1]);
    CHECK(start[1] > 150);  // each segment has about a quarter of the rows
    CHECK(start[1] < 350);
    CHECK(start[4] == 1000);
    CHECK(start[5] == 1000);
  }
  // Without the end of the last segment, and with more segments than rows.
  const auto memory = make_starts(ElementType::s32, 4, 4, 2, 7);
  const Reader start(ElementType::s32, memory);
  CHECK(start[0] == 0);
  CHECK(start[3] <= 2);
}

TEST_CASE("numbers are what their kind says, from the seed alone") {
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::e4m3, ElementType::s8}) {
    INFO(element_name(type));
    const auto small = make_numbers(type, 5000, Numbers::small_integers, 3),
               wide = make_numbers(type, 5000, Numbers::wide_integers, 4),
               uniform = make_numbers(type, 5000, Numbers::uniform, 5);
    const Reader a(type, small), b(type, wide), c(type, uniform);
    std::set<double> seen;
    double sum = 0;
    for (std::int64_t i = 0; i < 5000; ++i) {
      seen.insert(a[i]);
      CHECK(std::fmod(std::abs(b[i]), 2) == 1);
      CHECK(std::abs(b[i]) <= largest(type, Numbers::wide_integers));
      sum += c[i];
    }
    CHECK(seen == std::set<double>{-3, -2, -1, 1, 2, 3});
    CHECK(std::abs(sum / 5000) < (is_float(type) ? 0.05 : 5));
    CHECK(make_numbers(type, 5000, Numbers::uniform, 5) == uniform);
    CHECK(make_numbers(type, 5000, Numbers::uniform, 6) != uniform);
  }
}

TEST_CASE("a right result is right, a dropped product and a NaN are not") {
  const Problem of = problem("linear", {{"M", 33}, {"N", 17}, {"K", 129}});
  const HostData data = linear_data(of, Numbers::uniform);
  const Comparison right = compare_with_reference(of, data, data, {});
  CHECK(right.elements == 33 * 17);
  CHECK(right.right());
  CHECK(right.worst < 0.5);
  HostData wrong = data;
  auto* y = reinterpret_cast<float*>(wrong[3].data());
  const Reader x(ElementType::f32, data[0]), w(ElementType::f32, data[1]);
  std::int64_t at = 0;
  while (y[at] < 2) ++at;
  y[at] -= static_cast<float>(x[at / 17 * 129 + 128] * w[at % 17 * 129 + 128]) + 1e-3f;
  CHECK(compare_with_reference(of, data, wrong, {}).wrong == 1);
  y[at + 1] = std::nanf("");
  const Comparison both = compare_with_reference(of, data, wrong, {});
  CHECK(both.wrong == 2);
  CHECK(both.first.find("Y[") == 0);
}

TEST_CASE("sums of integers are right to the last bit") {
  const Problem of = problem("linear", {{"M", 8}, {"N", 9}, {"K", 31}});
  Tolerance integers;
  integers.exact = true;
  for (const Numbers numbers : {Numbers::small_integers, Numbers::signs}) {
    HostData data = linear_data(of, numbers);
    CHECK(compare_with_reference(of, data, data, integers).right());
    HostData wrong = data;
    auto* y = reinterpret_cast<float*>(wrong[3].data());
    y[10] = std::nextafter(std::nextafter(std::nextafter(y[10], 1e9f), 1e9f), 1e9f) + 1e-3f;
    CHECK(!compare_with_reference(of, data, wrong, integers).right());
  }
}

TEST_CASE("what a large problem is judged by has its corners") {
  const Problem of = problem("linear", {{"M", 300}, {"N", 300}, {"K", 7}});
  HostData data = linear_data(of, Numbers::uniform);
  Sampling few;
  few.most_products = 7 * 1000;
  CHECK(compare_with_reference(of, data, data, {}, few).elements == 1000);
  reinterpret_cast<float*>(data[3].data())[300 * 300 - 1] = 1e6f;
  CHECK(compare_with_reference(of, data, data, {}, few).wrong >= 1);
}

TEST_CASE("the lines of an operand hold what its elements are") {
  const Problem of = problem("batched", {{"L", 3}, {"M", 5}, {"N", 70}, {"K", 41}});
  const auto index = [&](const std::string& name) {
    const auto& all = of.kernel->indices;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
    REQUIRE(found != all.end());
    return static_cast<sema::IndexId>(found - all.begin());
  };
  const sema::IndexId l = index("l"), n = index("n"), k = index("k");
  const Tensor& b = of.tensors[1];
  const auto memory = make_numbers(b.element, b.elements, Numbers::uniform, 1);
  const Reader from(b.element, memory);
  for (const std::vector<ElementType>& casts : {std::vector<ElementType>{}, {ElementType::e4m3}}) {
    bench::Operand operand;
    operand.tensor = &b, operand.casts = casts, operand.indices = {l, n, k};
    for (std::int64_t i = 0; i < 41; ++i) operand.along_k.push_back(70 * i);  // B runs along n
    std::vector<std::int64_t> at(of.kernel->indices.size(), 0);
    operand.pack_lines(of, k, from, 3 * 70 - 1);
    CHECK(operand.line(k, at) == nullptr);  // fewer sums than lines
    operand.pack_lines(of, k, from, 3 * 70);
    for (std::int64_t i = 0; i < 3 * 70; ++i) {
      at[static_cast<std::size_t>(l)] = i % 3;
      at[static_cast<std::size_t>(n)] = i / 3;
      const float* line = operand.line(k, at);
      REQUIRE(line != nullptr);
      for (std::int64_t j = 0; j < 41; ++j)
        REQUIRE(static_cast<double>(line[j]) ==
                rounded_through(casts, from[i % 3 * 70 * 41 + i / 3 + 70 * j]));
    }
  }
  const Problem wide = problem("linear", {{"M", 4}, {"N", 4}, {"K", 8}});
  Tensor whole = wide.tensors[0];
  whole.element = ElementType::s32;  // f32 does not hold them
  const std::vector<std::byte> words(4 * 8 * 4);
  bench::Operand operand;
  operand.tensor = &whole, operand.indices = {0, 1}, operand.along_k = {0, 1, 2, 3, 4, 5, 6, 7};
  operand.pack_lines(wide, 1, Reader(ElementType::s32, words), 1000);
  CHECK(operand.line(1, {0, 0, 0}) == nullptr);
}

TEST_CASE("allowed errors grow with K and with the roundoff of the accumulator") {
  using E = ElementType;
  CHECK(allowed_error(4096, E::f32, E::f32, E::f32) == Approx(8 * 64 * 0x1p-24));
  CHECK(allowed_error(1, E::f32, E::f32, E::f32) < 0x1p-23);
  CHECK(allowed_error(4096, E::bf16, E::bf16, E::f32) >
        allowed_error(4096, E::f32, E::f32, E::f32));
  CHECK(allowed_error(4096, E::e4m3, E::e4m3, E::f32) >
        allowed_error(4096, E::bf16, E::bf16, E::f32));
  CHECK(allowed_error(4096, E::s8, E::s8, E::s32) == 0);
  const double fast = allowed_error(4096, E::e4m3, E::e4m3, E::f32);
  CHECK(allowed_error(4096, E::e4m3, E::e4m3, E::f32, 128) < fast / 20);
  CHECK(allowed_error(4096, E::e4m3, E::e4m3, E::f32, 4096) == fast);
}

TEST_CASE("every set is visited, in turn, and the rounds rotate") {
  if (!runtime::driver_present()) return;
  const runtime::Device device;
  std::vector<int> visits(45, 0);
  std::string order;
  const Candidate first{"first", [&](int set, runtime::StreamHandle) {
                          ++visits[static_cast<std::size_t>(set)];
                          order += 'a';
                        }};
  const Candidate second{"second", [&](int, runtime::StreamHandle) { order += 'b'; }};
  Protocol protocol;
  protocol.sets = 45;
  protocol.rounds = 4;
  protocol.singles = 1;
  const auto timings = measure({first, second}, protocol);
  CHECK(*std::min_element(visits.begin(), visits.end()) >=
        1);  // three graphs of 20: sets 0 .. 44 and again 0 .. 14
  CHECK(order.substr(order.size() - 8) == "abbabaab");
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].graph.size() == 4);
  CHECK(timings[0].settled);
  CHECK(timings[0].readings.empty());
}

TEST_CASE("medians, spreads and sets") {
  Timing timing;
  timing.graph = {1.0, 3.0, 2.0, 10.0, 2.5};
  CHECK(timing.median() == 2.5);
  CHECK(timing.spread() == Approx(9 / 2.5));
  CHECK(median_of({4.0, 1.0}) == 2.5);
  CHECK(median_of({}) == 0);
  CHECK(sets_beyond_cache(10, 50) == 10);
  CHECK(sets_beyond_cache(1000, 50) == 2);
  CHECK(sets_beyond_cache(0, 1 << 20) == 200);
}

TEST_CASE("missing libraries are named in the table and in the JSON") {
  Setting setting;
  setting.device.name = "Fake GPU";
  setting.library_missing = "no cuBLASLt: libcublasLt.so.13: cannot open";
  setting.sensors_missing = "no NVML: not there";
  CHECK(table_head(setting).find(
            "no cuBLASLt: libcublasLt.so.13: cannot open\nno NVML: not there\n") !=
        std::string::npos);
  CHECK(to_json(setting, {}).find("\"no NVML: not there\"") != std::string::npos);
  Result none;
  none.kernel = "linear";
  none.failure = "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY";
  CHECK(table(none) == "linear\n  not measured: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY\n");
  CHECK(table_foot({none, none}).empty());
}

TEST_CASE("power is what the counter of energy gains between its updates") {
  EnergyMeter meter;
  CHECK(!meter.watts());
  // It counts 700 W, in steps of 20 ms that are seen up to 2 ms late.
  for (int ms = 0; ms <= 200; ms += 2) meter.add(0.001 * ms, 14.0 * ((ms + 7) / 20));
  REQUIRE(meter.watts());
  CHECK(*meter.watts() == Approx(700));
  // One update says nothing.
  EnergyMeter once;
  for (int ms = 0; ms < 20; ms += 2) once.add(0.001 * ms, ms < 10 ? 5 : 6);
  CHECK(!once.watts());
}

TEST_CASE("the energy of a launch is its mean power times its time") {
  Timing timing;
  timing.graph = {2, 2, 4};  // milliseconds
  timing.readings = {{1700, 650, {}}};
  CHECK(!timing.joules());
  timing.readings.push_back({1700, 650, 500.0});
  timing.readings.push_back({1700, 650, 300.0});
  REQUIRE(timing.joules());
  CHECK(*timing.joules() == Approx(0.8));

  Result result;
  result.is_gemm = true;
  result.operations = 4e12;
  Row row(Side::ours, "ours");
  row.timing = timing;
  result.rows = {row};
  INFO(table(result));
  CHECK(table(result).find(" MHz  650 W    0.8000 J 5.00 TF/J  ") != std::string::npos);
  result.is_gemm = false;
  CHECK(table(result).find("0.8000 J  ") != std::string::npos);
  CHECK(table(result).find("TF/J") == std::string::npos);
}

TEST_CASE("a row of ours says what it was expected to take") {
  Result result;
  Row row(Side::ours, "ours");
  row.timing.graph = row.timing.single = {2, 2, 4};
  result.rows = {row};
  const auto says = [&](const std::string& text, const std::string& json) {
    CHECK((table(result).find(text) != std::string::npos) == (result.rows[0].expected > 0));
    CHECK((to_json({}, {result}).find(json) != std::string::npos) == (result.rows[0].expected > 0));
  };
  says("expected", "expected_ms");
  result.rows[0].expected = 1.5;
  says("  expected  1500.00 us", "\"expected_ms\": 1.5");
}
