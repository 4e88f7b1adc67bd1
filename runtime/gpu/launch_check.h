// The check that stands between a caller and a wrong launch: everything that a kernel takes for
// granted is checked against the arguments at hand, before anything runs, and the answer is a
// status, never an exception or an exit.
//
//   LaunchArguments arguments{{{m, 1000}, {n, 10}}, {2.0}, {{x, 40000}, {y, 40000}}};
//   if (Outcome bad = check_launch(kernel, arguments, limits); !bad.ok()) ...
//   bad.message           "Y: needs 40000 bytes, has 4"
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/ir/ir.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::runtime {

// The faults that a launch may have; each has a code of its own (frontend/source/error_codes.cpp).
enum class Status {
  ok,
  unknown_size,      // a size has no value
  negative_size,     //
  extent_too_large,  // an extent, an offset or the grid is beyond what the kernel computes with
  guard_failed,      // what the kernel assumes of its sizes does not hold
  missing_argument,  // fewer scalars or buffers than the kernel has
  null_pointer,      //
  misaligned,        // a base address that is no multiple of what the kernel needs
  too_small,         // fewer bytes than the layout spans
  overlap,           // an output lies over another argument
  grid_too_large,    // more blocks than the device takes
  shared_memory,     // more shared memory than a block of the device has
  no_variant,        // no variant's conditions hold
  no_device,         //
  no_compiler,       //
  compile_failed,    //
  unsupported,       // the kernel cannot be emitted for the device yet
  out_of_memory,     // of the device, for the workspace
  device_failed,     // the driver reported an error
};
// "guard-failed"
std::string_view status_name(Status status);

// A status and the sentence that explains it.
struct Outcome {
  Status status = Status::ok;
  // One lower-case sentence that names the argument; empty for ok.
  std::string message;
  bool ok() const { return status == Status::ok; }
};

// A piece of memory: an address of the device or of the host, and how many bytes from there on are
// the caller's.
struct Region {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
};

// All that a launch is given.
struct LaunchArguments {
  Binding sizes;  // of the kernel's sizes
  // In the order of the kernel's parameters that are no sizes.
  std::vector<std::variant<std::int64_t, double>> scalars;
  // In the order of its global buffers; workspace included.
  std::vector<Region> buffers;
};

// The limits of the machine.
struct LaunchLimits {
  std::array<std::int64_t, 3> grid{2147483647, 65535, 65535};
  std::int64_t threads = 1024, shared_bytes = 232448;
};

// Sizes above this make coordinates at the edge of a tile leave 32 bits.
inline constexpr std::int64_t largest_extent = 2147483647 - 65536;

// ok with `nothing_to_do` where no output has an element: then the kernel must not be launched.
struct Checked {
  Outcome outcome;
  bool nothing_to_do = false;
  std::array<std::int64_t, 3> grid{1, 1, 1};
};
// Checks sizes, buffers, guards, scalars, overlap, grid and shared memory, in this order; the first
// that fails is reported.
Checked check_launch(const ir::Kernel& kernel, const LaunchArguments& arguments,
                     const LaunchLimits& limits, std::int64_t shared_bytes);

// The guards of a checked kernel, which its lowered forms rely on.
Outcome check_guards(std::span<const Guard> guards, const Binding& sizes);

// Elements, and bytes from the base to the end of the last element, of a global buffer at these
// sizes (no element: 0 bytes); nothing where that overflows.
struct Span64 {
  std::int64_t elements = 0, bytes = 0;
};
std::optional<Span64> span_of(const ir::Buffer& buffer, const Binding& sizes);

}  // namespace lay::runtime
