#include "runtime/bench/calibrate/machine_numbers.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/bench/protocol.h"
#include "runtime/compile/compile.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/stream.h"

namespace lay::bench {
namespace {

using runtime::DeviceMemory;
using runtime::Event;
using runtime::Graph;
using runtime::LoadedKernel;
using runtime::Stream;

constexpr int rounds = 7;

// Seconds of `work` on the stream: the median of rounds, behind one that does not count.
double seconds_of(const Stream& stream, const std::function<void()>& work) {
  const Event begin, end;
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    begin.record(stream.handle());
    work();
    end.record(stream.handle());
    end.wait();
    if (round > 0) times.push_back(1e-3 * end.milliseconds_since(begin));
  }
  return median_of(times);
}

cuda::Emitted empty_kernel() {
  cuda::Emitted kernel;
  kernel.text = "extern \"C\" __global__ void lay_nothing() {}\n";
  kernel.function = "lay_nothing";
  kernel.lines = {0};
  return kernel;
}

double launch_seconds(const std::string& image, const Stream& stream) {
  constexpr int launches = 400;
  const LoadedKernel kernel(image, "lay_nothing", 0);
  const double all = seconds_of(stream, [&] {
    for (int i = 0; i < launches; ++i) kernel.launch({1, 1, 1}, 32, {}, stream.handle());
  });
  return all / launches;
}

std::array<int, 8> clusters_at_once(const std::string& image, const Target& target) {
  std::array<int, 8> clusters{};
  const LoadedKernel kernel(image, "lay_nothing", target.block_shared);
  for (int blocks = 1; blocks <= std::min(8, target.cluster); ++blocks)
    clusters[static_cast<std::size_t>(blocks - 1)] = kernel.resident_clusters(blocks, 384);
  return clusters;
}

// Seconds of a copy of so many bytes, one behind the other without the host.
double copy_seconds(std::size_t bytes, const Stream& stream) {
  constexpr int copies = 20;
  const DeviceMemory from(bytes);
  DeviceMemory to(bytes);
  const Graph graph = Graph::of(stream, [&] {
    for (int i = 0; i < copies; ++i) to.copy(from, stream.handle());
  });
  return seconds_of(stream, [&] { graph.launch(stream); }) / copies;
}

double rate(double bytes, double seconds) {
  return seconds > 0 ? bytes / seconds : 0;
}

}  // namespace

MachineNumbers measure_machine(runtime::Gpu& gpu) {
  const runtime::DeviceInfo& device = gpu.device();
  MachineNumbers made;
  made.sms = device.sms;
  made.hertz = device.hertz;
  made.l2_bytes = device.l2_bytes;
  const Stream stream;
  const runtime::Compilation empty = runtime::compile(empty_kernel(), gpu.target());
  if (empty.ok()) {
    made.clusters = clusters_at_once(empty.image, gpu.target());
    made.launch = launch_seconds(empty.image, stream);
  }
  const auto large = static_cast<std::size_t>(
      std::min(std::int64_t{1} << 30, std::max<std::int64_t>(device.memory_bytes / 8, 1)));
  made.memory_rate = rate(2.0 * static_cast<double>(large), copy_seconds(large, stream));
  // The difference of two copies that fit: what a copy takes to begin is in both. L2 keeps a line
  // near each half of the SMs, so that a quarter of it, for both sides together, is sure to fit.
  const auto some = static_cast<std::size_t>(device.l2_bytes / 8), few = some / 4;
  if (few > 0)
    made.cache_rate = rate(2.0 * static_cast<double>(some - few),
                           copy_seconds(some, stream) - copy_seconds(few, stream));
  return made;
}

}  // namespace lay::bench
