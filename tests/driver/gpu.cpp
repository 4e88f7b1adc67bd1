// The launcher's work around a kernel, on a driver that is not one (fake/libcuda.cpp): compiling,
// loading, copies, parameters in their order and types, statuses.
#include "runtime/gpu/gpu.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backend/ir/text/parse.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/stream.h"
#include "tests/runtime/temporary.h"

namespace {

using lay::runtime::Gpu;
using lay::runtime::Status;

std::unique_ptr<Gpu> gpu() {
  static const lay::test::TemporaryFolder cache;
  setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  std::string why;
  auto opened = Gpu::open(&why);
  if (!opened) WARN("skipped: " << why);
  return opened;
}

lay::ir::Kernel scale() {
  return lay::ir::parse(R"(kernel scale from "scale.lay" {
  size N
  scalar alpha : f32
  scalar shift : f64
  scalar half : f16
  scalar count : s8
  global X : f32 N:1 read align 4
  global Y : f32 (N,2):(1,N) write align 16
  launch grid (ceil_div(N,128),2,1) cluster (1,1,1) threads 128
  role all threads 0..128 {
    let i : s32 thread = block_x * 128 + thread
    if i < N {
      Y[i,block_y] = alpha * X[i] + f32(shift) + f32(half) + f32(s32(count))
    }
  }
})");
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(float)};
}

template <class T>
T value(void* at) {
  T read;
  std::memcpy(&read, at, sizeof read);
  return read;
}

unsigned grid_seen[5];
int maps_encoded = 0;

}  // namespace

// The parameters as the emitted function has them: X, Y, N, alpha, shift, half, count.
extern "C" bool fake_kernel_lay_scale(const unsigned* launch, void** arguments) {
  std::copy(launch, launch + 5, grid_seen);
  const auto* x = value<const float*>(arguments[0]);
  auto* y = value<float*>(arguments[1]);
  const int n = value<int>(arguments[2]);
  const float alpha = value<float>(arguments[3]);
  const double shift = value<double>(arguments[4]);
  if (value<std::uint16_t>(arguments[5]) != 0x3800) return false;  // 0.5
  if (value<signed char>(arguments[6]) != -3) return false;
  for (int i = 0; i < n; ++i)
    y[i] = y[n + i] = alpha * x[i] + static_cast<float>(shift) + 0.5f - 3.0f;
  return true;
}

extern "C" void fake_encoded() {
  ++maps_encoded;
}

TEST_CASE("a kernel runs on memory of the host, copied there and back") {
  const auto device = gpu();
  if (!device) return;
  CHECK(device->device().name == "Fake GPU");
  CHECK(device->target().architecture == "sm_90a");
  CHECK(device->target().sms == 132);  // as the driver says
  const auto kernel = scale();
  const lay::Binding sizes{{*kernel.params[0].symbol.dim_id(), 300}};
  const std::vector<float> x(300, 4.0f);
  std::vector<std::vector<std::byte>> memory{bytes_of(x), bytes_of(std::vector<float>(600))};
  const auto run = device->run(kernel, sizes, {2.0, 0.25, 0.5, std::int64_t{-3}}, memory);
  INFO(run.outcome.message);
  REQUIRE(run.outcome.ok());
  CHECK(run.milliseconds == 0.25);
  CHECK(grid_seen[0] == 3);
  CHECK(grid_seen[1] == 2);
  CHECK(grid_seen[3] == 128);
  CHECK(memory[0] == bytes_of(x));
  CHECK(memory[1] == bytes_of(std::vector<float>(600, 8.0f + 0.25f + 0.5f - 3.0f)));
  // The same kernel again is neither compiled nor loaded again.
  CHECK(device->run(kernel, sizes, {2.0, 0.25, 0.5, std::int64_t{-3}}, memory).kernel ==
        run.kernel);
}

TEST_CASE("what goes wrong on the device is a status with the driver's words") {
  const auto device = gpu();
  if (!device) return;
  const auto kernel = scale();
  lay::Binding sizes{{*kernel.params[0].symbol.dim_id(), 10}};
  std::vector<std::vector<std::byte>> memory{bytes_of(std::vector<float>(10)),
                                             bytes_of(std::vector<float>(20))};
  auto run = device->run(kernel, sizes, {2.0, 0.25, 0.25, std::int64_t{-3}},
                         memory);  // the fake kernel refuses it
  CHECK(run.outcome.status == Status::device_failed);
  CHECK(run.outcome.message.find("cuLaunchKernel") != std::string::npos);
  memory[1].resize(76);
  run = device->run(kernel, sizes, {2.0, 0.25, 0.5, std::int64_t{-3}}, memory);
  CHECK(run.outcome.status == Status::too_small);
  sizes.begin()->second = 0;
  memory = {{}, {}};
  run = device->run(kernel, sizes, {2.0, 0.25, 0.5, std::int64_t{-3}}, memory);
  CHECK(run.outcome.ok());
  auto unnamed = kernel;
  unnamed.name = "other";  // no such function in the image that the fake driver knows
  run = device->run(unnamed, sizes, {}, memory);
  CHECK(run.outcome.status == Status::device_failed);
  CHECK_THROWS_AS(lay::runtime::DeviceMemory(std::size_t{2} << 30), lay::runtime::DriverError);
}

TEST_CASE("what is bound is checked once and launched again and again") {
  const auto device = gpu();
  if (!device) return;
  const lay::runtime::Launches launches{scale()};
  lay::runtime::Outcome outcome;
  const auto prepared = device->prepare(launches, outcome);
  REQUIRE(outcome.ok());
  lay::runtime::DeviceMemory x(40), y(80);
  lay::runtime::NamedArguments arguments{
      {{*launches[0].params[0].symbol.dim_id(), 10}},
      {{"alpha", 2.0}, {"shift", 0.25}, {"half", 0.5}, {"count", std::int64_t{-3}}},
      {{"X", {x.address(), 40}}, {"Y", {y.address(), 80}}},
      {}};
  auto moved = device->bind(launches, prepared, arguments, outcome);
  REQUIRE(outcome.ok());
  const auto bound = std::move(moved);
  for (const float value : {1.0f, 4.0f}) {
    x.upload(std::vector<float>(10, value).data(), 40);
    REQUIRE(device->launch(bound).ok());
    std::vector<float> results(20);
    y.download(results.data(), 80);
    CHECK(results.back() == 2.0f * value + 0.25f + 0.5f - 3.0f);
  }
  arguments.tensors["Y"].bytes = 76;
  device->bind(launches, prepared, arguments, outcome);
  CHECK(outcome.status == Status::too_small);
}

TEST_CASE("the findings name driver and device") {
  bool seen = false;
  for (const auto& finding : lay::runtime::findings())
    seen = seen || (finding.what == "device 0" && finding.found &&
                    finding.text.find("Fake GPU") != std::string::npos);
  CHECK(seen);
}

TEST_CASE("a graph replays what was recorded, and an exception ends the recording") {
  const auto device = gpu();
  if (!device) return;
  const lay::runtime::Stream stream;
  const auto kernel = scale();
  lay::runtime::Outcome outcome;
  const auto* prepared = device->prepare(kernel, outcome);
  REQUIRE(prepared);
  const lay::runtime::DeviceMemory x(40), y(80);
  const lay::runtime::LaunchArguments arguments{{{*kernel.params[0].symbol.dim_id(), 10}},
                                                {2.0, 0.25, 0.5, std::int64_t{-3}},
                                                {{x.address(), 40}, {y.address(), 80}}};
  const auto graph = lay::runtime::Graph::of(stream, [&] {
    for (int i = 0; i < 20; ++i)
      CHECK(device->launch(kernel, *prepared, arguments, stream.handle()).ok());
  });
  const lay::runtime::Event begin, end;
  begin.record(stream.handle());
  graph.launch(stream);
  graph.launch(stream);
  end.record(stream.handle());
  stream.wait();
  CHECK(end.happened());
  CHECK(end.milliseconds_since(begin) == 40 * 0.25);
  CHECK_THROWS_AS(lay::runtime::Graph::of(stream, [] { throw std::runtime_error("stopped"); }),
                  std::runtime_error);
}

TEST_CASE("a tensor map is encoded once for the same tensor") {
  if (!gpu()) return;
  const auto kernel = scale();
  const lay::ir::TensorMap map{"Y_map", lay::ir::BufferId{1}, {0, 1}, {8, 2}, {0, 1}, std::nullopt};
  const auto sizes = [&](std::int64_t n) {
    return lay::Binding{{*kernel.params[0].symbol.dim_id(), n}};
  };
  lay::runtime::TensorMaps maps;
  const int before = maps_encoded;
  maps.find(kernel, map, sizes(64), 1024);
  maps.find(kernel, map, sizes(64), 1024);
  CHECK(maps_encoded == before + 1);
  maps.find(kernel, map, sizes(128), 1024);
  maps.find(kernel, map, sizes(64), 4096);
  auto narrower = map;
  narrower.box = {4, 2};
  maps.find(kernel, narrower, sizes(64), 1024);
  CHECK(maps_encoded == before + 4);
  maps.find(kernel, map, sizes(64), 1024);
  CHECK(maps_encoded == before + 4);
}
