// The CUDA driver, loaded at run time: devices, memory, modules, launches, events. Every call that
// fails throws a DriverError that names the call; nothing else of the driver's interface is seen
// outside this file.
//
// Source: CUDA Driver API reference (versions of the functions: those of CUDA 12 and 13).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// A call of the driver that failed.
struct DriverError : std::exception {
  DriverError(int status_code, const std::string& failed_call);
  int status = 0;    // CUresult
  std::string call;  // "cuMemAlloc"
  // "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string text;
  const char* what() const noexcept override { return text.c_str(); }
};

// Returns true if libcuda.so.1 was found and could be initialised; if not, `why_not` says why.
bool driver_present(std::string* why_not = nullptr);
// 13000 for 13.0; 0 without a driver.
int driver_version();
int device_count();

// The driver's facts about a device; no context is made.
struct DeviceInfo {
  std::string name;
  // "0000:0f:00.0"; empty where it is not known.
  std::string pci_bus_id;
  int major = 0, minor = 0;  // compute capability
  int sms = 0;
  std::int64_t memory_bytes = 0, shared_per_block = 0, l2_bytes = 0;
  int threads_per_block = 0;
  double hertz = 0;  // the highest clock of the SMs; 0 where the driver does not say
  std::array<int, 3> grid_limit{};
};
DeviceInfo device_info(int ordinal = 0);

// A device's primary context, current in the thread that made it or called `use`.
class Device : public DeviceInfo {
 public:
  explicit Device(int ordinal = 0);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  // Makes the context current in this thread.
  void use() const;

 private:
  int device_ = 0;
  void* context_ = nullptr;
};

// Leaves current in this thread, when it goes, the context that was current when it came, or none.
// For those who work in a thread of somebody else's. Without a driver it does nothing.
class KeptContext {
 public:
  KeptContext();
  ~KeptContext();
  KeptContext(const KeptContext&) = delete;
  KeptContext& operator=(const KeptContext&) = delete;

 private:
  void* before_ = nullptr;
  bool is_known_ = false;
};

// CUdeviceptr.
using Address = unsigned long long;

// A queue of work that runs in order; null is the default stream (stream.h makes others).
using StreamHandle = void*;

// Memory of the current device, freed with the object.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes);  // of 0 bytes: no address
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  // Where the memory begins, and how much it is.
  Address address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  // From and to the byte `at` on.
  void upload(const void* from, std::size_t bytes, std::size_t at = 0);
  void download(void* to, std::size_t bytes, std::size_t at = 0) const;
  // Copies as many bytes as both have; returns at once.
  void copy(const DeviceMemory& from, StreamHandle stream = nullptr);
  // Sets every byte.
  void fill(unsigned char value);

 private:
  Address address_ = 0;
  std::size_t bytes_ = 0;
};

// A descriptor for TMA, as the driver encodes it.
struct alignas(64) TensorMapBits {
  std::array<std::uint64_t, 16> words{};
};
// The tensor that a map describes: modes from the fastest on; strides in bytes, of all but the
// fastest; the swizzle's mode. With im2col the box has channels and pixels, and base pixels of the
// modes between the fastest and the slowest lie between corners: `lower` from the tensor's first
// element, `upper` from its last, `steps` apart.
struct TiledTensor {
  int data_type = 0;  // CUtensorMapDataType
  Address address = 0;
  std::vector<std::uint64_t> extents, strides;
  std::vector<std::uint32_t> box;
  int swizzle = 0;  // CUtensorMapSwizzle
  std::vector<int> lower, upper;
  std::vector<std::uint32_t> steps;  // of all modes; empty where every one is 1

  friend auto operator<=>(const TiledTensor&, const TiledTensor&) = default;
};
// Encodes the descriptor by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col; throws DriverError.
TensorMapBits encode(const TiledTensor& tensor);

// A loaded image and the one function in it that is launched.
class LoadedKernel {
 public:
  LoadedKernel() = default;
  // Loads the image into the current context and allows the kernel its shared memory.
  LoadedKernel(const std::string& image, const std::string& function,
               std::int64_t dynamic_shared_bytes);
  ~LoadedKernel();
  LoadedKernel(LoadedKernel&& other) noexcept;
  LoadedKernel& operator=(LoadedKernel&& other) noexcept;

  // `arguments` point at the values of the parameters, in order; they are copied. Returns at once.
  // A kernel that `overlaps` waits by itself for what the stream did before, and may be launched
  // before that has ended.
  void launch(std::array<unsigned, 3> grid, unsigned threads, const std::vector<void*>& arguments,
              StreamHandle stream = nullptr, bool overlaps = false) const;
  // Resources of a thread, and how many blocks an SM holds at once.
  int registers() const;
  int local_bytes() const;
  int blocks_per_sm(int threads) const;
  // Clusters of `blocks` along x that the device holds at once: fewer than its
  // SMs suggest where these come in groups that clusters do not fill. 0 where the
  // driver does not tell.
  int resident_clusters(int blocks, int threads) const;

 private:
  void* module_ = nullptr;
  void* function_ = nullptr;
  std::int64_t dynamic_shared_bytes_ = 0;
};

// A point in the order of a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Marks the point that the stream has reached now.
  void record(StreamHandle stream = nullptr) const;
  bool happened() const;
  void wait() const;
  // Both waited for.
  double milliseconds_since(const Event& earlier) const;

 private:
  void* event_ = nullptr;
};

// Waits until everything given to the current device is done; a fault of a kernel comes out here.
void synchronize();

}  // namespace lay::runtime
