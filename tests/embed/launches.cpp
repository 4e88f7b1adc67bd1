// What a bundle launches, beside what the runtime launches for the same arguments: the same
// functions with the same grids, on a driver whose GPU is the host interpreter, with the same bits.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/memory/convert.h"
#include "runtime/execute/stages.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/launch_check.h"
#include "tests/embed/built.h"
#include "tests/embed/memory.h"
#include "tests/measure/machine.h"

// A persistent kernel gets no more blocks than the device holds.
extern "C" int fake_clusters() {
  return 3;
}

// The launcher and the runtime start the same driver.
extern "C" void fake_starts_again() {}

namespace {

using namespace lay;
using test::Launched;
using test::Memory;
using test::random_bytes;

runtime::Gpu& gpu() {
  static const auto opened = [] {
    test::loaded();  // sets the cache's folder
    std::string why;
    auto made = runtime::Gpu::open(&why);
    INFO(why);
    REQUIRE(made);
    made->device().use();
    return made;
  }();
  return *opened;
}

// A kernel's plan for this machine, its launches known to the driver.
struct Planned {
  sema::KernelPtr kernel;
  plan::Plan plan;
};
const Planned& planned(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Planned>> all;
  auto& slot = all[name];
  if (!slot) {
    gpu();  // its context is current from now on
    const auto kernel = runtime::kernels_named(test::bundle_script(), name).front();
    slot = std::make_unique<Planned>(Planned{kernel, test::plan_of_bundle(kernel)});
    test::know_kernels_of_bundle();
  }
  return *slot;
}

Binding binding(const sema::Kernel& kernel, const std::map<std::string, std::int64_t>& sizes) {
  Binding bound;
  for (const auto& dim : kernel.dims) bound[*dim.symbol.dim_id()] = sizes.at(dim.name);
  return bound;
}

struct Call {
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, float> scalars = {};
  // Every tensor lies one element behind an address that suits all variants: only the result is
  // compared, since the runtime takes aligned memory.
  bool is_shifted = false;
};

// Launches both ways and compares.
void require_same(const std::string& name, const Call& call, std::uint32_t seed) {
  const Planned& with = planned(name);
  const sema::Kernel& kernel = *with.kernel;
  const Binding sizes = binding(kernel, call.sizes);
  std::mt19937 random(seed);
  const auto experts = call.sizes.find("E");

  std::map<std::string, std::vector<std::byte>> before;
  std::map<std::string, int> element_bytes;
  for (const auto& tensor : kernel.tensors) {
    element_bytes[tensor.name] = tensor.element_bytes();
    ir::Buffer buffer;
    buffer.element = tensor.element;
    buffer.layout = tensor.memory();
    const auto bytes = static_cast<std::size_t>(runtime::span_of(buffer, sizes)->bytes);
    before[tensor.name] = random_bytes(tensor.element, bytes,
                                       experts == call.sizes.end() ? 1 : experts->second, random);
  }

  // As the runtime does it.
  runtime::HostArguments host{sizes, {}, {}};
  for (const auto& [scalar, value] : call.scalars)
    host.scalars[scalar] = static_cast<double>(value);
  auto expected = before;
  for (auto& [tensor, bytes] : expected) host.tensors[tensor] = &bytes;
  const plan::Variant variant = plan::at_sizes(plan::chosen_variant(with.plan, sizes), sizes);
  test::take_launched();
  const runtime::GpuRun ran =
      gpu().run(runtime::lowered(test::bundle_script().sources, with.plan, variant), host);
  INFO(ran.outcome.message);
  REQUIRE(ran.outcome.ok());
  const std::vector<Launched> wanted = test::take_launched();

  // As the bundle does it.
  test::CallArguments arguments(kernel);
  arguments.sizes = call.sizes;
  arguments.scalars = call.scalars;
  std::map<std::string, Memory> memory;
  for (const auto& [tensor, bytes] : before) {
    const auto off = call.is_shifted ? static_cast<std::size_t>(element_bytes.at(tensor)) : 0;
    const auto placed = memory.emplace(tensor, Memory(bytes.size(), off)).first;
    std::memcpy(placed->second.begin(), bytes.data(), bytes.size());
    arguments.tensors[tensor] = placed->second.begin();
  }
  const auto packed = arguments.bytes();
  const test::Answer checked = test::check(name, packed);
  INFO(checked.text);
  REQUIRE(checked.status == 0);
  std::int64_t needed = -1;
  REQUIRE(test::workspace(name, packed, needed).status == 0);
  const Memory workspace(static_cast<std::size_t>(needed), 0);
  std::memset(workspace.begin(), 0xff, static_cast<std::size_t>(needed));
  const test::Answer launched = test::launch(name, packed, workspace.begin(), needed);
  INFO(launched.text);
  REQUIRE(launched.status == 0);
  CHECK(launched.text.empty());

  const std::vector<Launched> seen = test::take_launched();
  if (!call.is_shifted) REQUIRE(seen.size() == wanted.size());
  for (std::size_t i = 0; i < seen.size() && !call.is_shifted; ++i) {
    INFO(seen[i].function << " beside " << wanted[i].function);
    CHECK(seen[i] == wanted[i]);
  }
  for (const auto& [tensor, bytes] : expected) {
    INFO(tensor);
    CHECK(std::memcmp(memory.at(tensor).begin(), bytes.data(), bytes.size()) == 0);
  }
}

}  // namespace

TEST_CASE("a bundle launches what the runtime launches, with the same bits") {
  std::mt19937 random(20261126);
  const auto draw = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most)) + 1;
  };
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    // Aligned rows, odd ones, few of them.
    const std::int64_t step = seed % 3 == 0 ? 64 : seed % 3 == 1 ? 8 : 1;
    const std::int64_t m = seed < 4 ? draw(16) : draw(160), n = draw(160 / step) * step,
                       k = draw(128 / step) * step;
    CAPTURE(seed, m, n, k);
    require_same("linear", {{{"M", m}, {"N", n}, {"K", k}}}, seed);
    require_same("turned", {{{"M", m}, {"N", n}}, {{"alpha", 0.5f}}}, seed);
    require_same("rows", {{{"M", m}, {"N", 4 * n}}}, seed);
    require_same("eighths", {{{"M", m}, {"N", 8 * k}, {"lda", 8 * k + seed}}}, seed);
  }
}

TEST_CASE("addresses that no wide access takes are given to a variant that needs none") {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    CAPTURE(seed);
    require_same("linear", {{{"M", 70}, {"N", 64}, {"K", 64 + 8 * seed}}, {}, true}, seed);
    require_same("turned", {{{"M", 40}, {"N", 64}}, {{"alpha", 2.0f}}, true}, seed);
    require_same("eighths", {{{"M", 9}, {"N", 64}, {"lda", 64 + seed}}, {}, true}, seed);
  }
}

TEST_CASE("a bundle describes the pixels of a window as the runtime does") {
  require_same("stepped", {{{"B", 2}, {"H", 3}, {"F", 16}}}, 31);
  require_same("stepped", {{{"B", 1}, {"H", 7}, {"F", 72}}}, 32);
}

TEST_CASE("a bundle runs the stages that a variant begins with") {
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const std::int64_t rows = 1 + 37 * seed;
    CAPTURE(seed);
    require_same("unsorted", {{{"T", rows}, {"E", 3 + seed}, {"N", 64}, {"K", 64}}}, seed);
  }
}

TEST_CASE("a bundle runs the product whose outputs the last launch permutes") {
  for (std::uint32_t seed = 0; seed < 4; ++seed)
    require_same("batch_last", {{{"M", 1 + 37 * seed}, {"K", 21 + 3 * seed}}}, seed);
}

TEST_CASE("a thread that launches again is given the variant of these arguments") {
  const Planned& with = planned("turned");
  const Memory x(64 * 64 * 4 + 4, 0), y(64 * 64 * 4, 0);
  std::mt19937 random(3);
  const auto numbers = random_bytes(ElementType::f32, 64 * 64 * 4 + 4, 1, random);
  std::memcpy(x.begin(), numbers.data(), numbers.size());
  // What is launched for so many rows, from an address `off` bytes on, and the first result.
  const auto launched = [&](std::int64_t rows, std::int64_t off, float alpha) {
    test::CallArguments arguments(*with.kernel);
    arguments.sizes = {{"M", rows}, {"N", 64}};
    arguments.scalars = {{"alpha", alpha}};
    arguments.tensors = {{"X", x.begin() + off}, {"Y", y.begin()}};
    test::take_launched();
    const test::Answer answer = test::launch("turned", arguments.bytes());
    INFO(answer.text);
    REQUIRE(answer.status == 0);
    float first = 0;
    std::memcpy(&first, y.begin(), sizeof first);
    return std::pair(test::take_launched(), first);
  };
  const auto once = launched(64, 0, 1), odd = launched(64, 4, 1), few = launched(3, 0, 1);
  CHECK(once.first != odd.first);
  CHECK(once.first != few.first);
  for (int i = 0; i < 2; ++i) {
    CHECK(launched(64, 0, 1) == once);
    CHECK(launched(64, 0, 1) == once);
    CHECK(launched(64, 0, 2) == std::pair(once.first, 2 * once.second));
    CHECK(launched(64, 4, 1) == odd);
    CHECK(launched(64, 4, 1) == odd);
    CHECK(launched(3, 0, 1) == few);
    test::loaded().symbol<void()>("turned_unload")();
  }
}

TEST_CASE("no output, no launch") {
  const Planned& with = planned("linear");
  test::CallArguments arguments(*with.kernel);
  arguments.sizes = {{"M", 0}, {"N", 8}, {"K", 8}};
  arguments.tensors = {{"X", nullptr}, {"W", &arguments}, {"b", &arguments}, {"Y", nullptr}};
  arguments.tensors["W"] = reinterpret_cast<void*>(0x1000);
  arguments.tensors["b"] = reinterpret_cast<void*>(0x2000);
  test::take_launched();
  CHECK(test::launch("linear", arguments.bytes()).status == 0);
  CHECK(test::take_launched().empty());
}

TEST_CASE("a bundle rounds f16 and bf16 scalars as the runtime does") {
  auto* const half =
      reinterpret_cast<std::uint16_t (*)(float)>(test::loaded().address("probe_f16"));
  auto* const brain =
      reinterpret_cast<std::uint16_t (*)(float)>(test::loaded().address("probe_bf16"));
  const auto same = [&](float value) {
    const std::uint16_t f16 = f32_to_f16(value), bf16 = f32_to_bf16(value);
    if (std::isnan(value))
      return (half(value) & 0x7fff) > 0x7c00 && (brain(value) & 0x7fff) > 0x7f80;
    return half(value) == f16 && brain(value) == bf16;
  };
  std::mt19937 random(7);
  for (int i = 0; i < 2000000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!same(value)) FAIL(value);
  }
  // Every value of 16 bits, the ties between neighbours, and what is just beside them.
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (const std::uint32_t low :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const auto value = std::bit_cast<float>(high << 16 | low);
      if (!same(value)) FAIL(value);
    }
}
