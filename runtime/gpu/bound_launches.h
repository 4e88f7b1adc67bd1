// Launches whose arguments were checked once and stand ready as the driver takes them: launching
// costs the driver's calls and nothing else, as often as wanted.
//
//   BoundLaunches bound = gpu->bind(launches, prepared, arguments, outcome);
//   if (outcome.ok()) bound.launch(stream);      again and again
//
// `bind` checks the arguments and encodes tensor maps.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "backend/ir/ir.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/launch_check.h"

namespace lay::runtime {

// The values of a kernel's parameters as the emitted function takes them: buffers, sizes and
// scalars, tensor maps.
class Parameters {
 public:
  Parameters(const ir::Kernel& kernel, const LaunchArguments& arguments);

  // Tensor maps stand behind all other parameters.
  void add_map(const TensorMapBits& map) { maps_.push_back(map); }

  // For as long as nothing is added.
  std::vector<void*> pointers();

 private:
  template <class T>
  void add(T value) {
    auto& slot = values_.emplace_back();
    static_assert(sizeof value <= sizeof slot);
    std::memcpy(&slot, &value, sizeof value);
  }
  void add_scalar(const std::variant<std::int64_t, double>& value, ElementType type);

  std::vector<std::uint64_t> values_;
  std::vector<TensorMapBits> maps_;
};

// The loaded kernels and the memory that the arguments name outlive it.
class BoundLaunches {
 public:
  BoundLaunches() = default;
  BoundLaunches(BoundLaunches&&) noexcept = default;
  BoundLaunches& operator=(BoundLaunches&&) noexcept = default;

  // In the order in which they are added, one behind the other on the stream. DriverError.
  void launch(StreamHandle stream = nullptr) const;

  // Adds one launch behind those there are. One that `overlaps` waits by itself for what the stream
  // did before.
  void add(const LoadedKernel& loaded, std::array<std::int64_t, 3> grid, const ir::Kernel& kernel,
           bool overlaps, Parameters values);

 private:
  // One launch, ready for the driver.
  struct One {
    const LoadedKernel* loaded;
    std::array<unsigned, 3> grid;
    unsigned threads;
    bool overlaps;
    // Heap memory, which moves with it.
    Parameters values;
    std::vector<void*> pointers;  // into values
  };
  std::vector<One> launches_;
};

}  // namespace lay::runtime
