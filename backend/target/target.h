// The GPUs that kernels are planned and compiled for: records of stdlib/targets as data. Plans,
// launches and emitted text are held to their limits, predictions use their rates. A new GPU is a
// record there, and nothing here.
//
//   find_target("h200")      a GPU by its name
//   find_target("sm_90a")    the GPU that stands for an architecture, as the compiler calls it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/algebra/memory/element.h"
#include "frontend/sema/coefficients.h"

namespace lay {

// Most products of a type that an SM adds up in a clock where threads multiply alone
// ("thread"), or a "warp" or a "warpgroup" together on the tensor cores.
struct Rate {
  std::string kind;
  ElementType type = ElementType::f32;
  double multiply_adds = 0;

  friend bool operator==(const Rate&, const Rate&) = default;
};

// Sizes in bytes; "block_" and "sm_" say of what it is the most.
struct Target {
  std::string name;    // "h200"
  std::string device;  // part of the driver's name of such a GPU: "H200"
  // As the compiler takes it: "sm_90a"
  std::string architecture;
  // Compute capability, times ten.
  int capability = 0;
  // Code for it runs on this compute capability only.
  bool exact = false;
  int sms = 0;
  int block_shared = 0, sm_shared = 0;
  int reserved_shared = 0;  // that the system takes of each block
  int block_threads = 0, sm_threads = 0;
  int sm_blocks = 0;
  int thread_registers = 0, sm_registers = 0;
  // Blocks of the largest cluster that is sure to fit.
  int cluster = 1;
  double hertz = 0;  // of the SMs, at most
  // Bytes of global memory a second.
  double memory_rate = 0;
  double cache = 0;  // bytes of L2
  // Bytes of it a clock, to all SMs.
  double cache_rate = 0;
  // Bytes of shared memory a clock, of one SM.
  double shared_rate = 0;
  double exponentials = 0;  // a clock, of one SM
  // Seconds of a launch that does nothing.
  double launch = 0;
  // What launches are expected to reach, beside which the numbers above are bounds: the parts of
  // memory_rate that long copies reach, and of the tensor cores' rate that the limit of power
  // leaves; seconds from a load's issue to its arrival; instructions of an access of one element to
  // global memory, and of an element that registers widen.
  double memory_share = 1, sustained = 1, latency = 0, element_access = 0, widened = 0;
  std::vector<Rate> rates;
  // Of the costs by which a launch chooses its schedule.
  sema::Coefficients costs;

  // Products a clock of an SM; nothing where the record does not say.
  std::optional<double> multiply_adds(std::string_view kind, ElementType type) const;

  friend bool operator==(const Target&, const Target&) = default;
};

// "9.0"
std::string capability_text(int capability);

// Bytes of shared memory that a block gets without asking for more, on every GPU.
inline constexpr std::int64_t static_shared_limit = 48 * 1024;

// Blocks along x, y, z of a grid, on every GPU.
inline constexpr std::int64_t grid_limit[3] = {2147483647, 65535, 65535};

// All of the library, older generations first; of an architecture the one that stands for it first.
const std::vector<Target>& targets();

// The GPU of that name, else the first of an architecture of that name; null where there is
// neither.
const Target* find_target(std::string_view name);

// Returns the target of plans that name no GPU: the GPU whose kernels were measured.
const Target& default_target();

// The description of a device: that of its name if the library has one, else of the latest
// architecture whose code runs on it, with its own number of SMs, and with what was measured on
// devices of its name. Nothing for a device that is older than all.
std::optional<Target> target_of(const std::string& device, int capability, int sms);

// What `lay calibrate` measured on a GPU: a record `measured_gpu` of stdlib/targets/gpu.lay as
// data. It stands for the library's numbers on devices of that name alone.
struct MeasuredGpu {
  std::string device;  // as the driver calls it: "NVIDIA H100 80GB HBM3"
  int capability = 0, sms = 0;
  // As Target's.
  double hertz = 0, memory_rate = 0, cache_rate = 0, launch = 0;
  sema::Coefficients costs;
};

// Reads the records that a library lists under `measured`. Refusal "file", which names the file of
// the library, for a record that lacks something, and what the file's evaluation refuses else.
std::vector<MeasuredGpu> measured_gpus_of(const std::string& library);

// Replaces what is known of GPUs that were measured. To be called before plans are made: targets
// are copies.
void set_measured_gpus(std::vector<MeasuredGpu> gpus);

// Returns the description of a device that was measured, by the driver's name of it.
std::optional<Target> measured_target(std::string_view device);

}  // namespace lay
