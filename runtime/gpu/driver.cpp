#include "runtime/gpu/driver.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/gpu/driver_api.h"

namespace lay::runtime {
namespace {

enum Attribute : int {
  threads_per_block = 1,
  grid_x = 5,
  kilohertz = 13,
  sm_count = 16,
  l2_cache_size = 38,
  capability_major = 75,
  capability_minor = 76,
  shared_with_opt_in = 97,
};
enum FunctionAttribute : int { local_size = 3, register_count = 4, dynamic_shared = 8 };

}  // namespace

DriverError::DriverError(int status_code, const std::string& failed_call)
    : status(status_code),
      call(failed_call),
      text(failed_call + ": " + words_of(found_driver(), status_code)) {
  if (!found_driver().why_not.empty()) text = found_driver().why_not;
}

bool driver_present(std::string* why_not) {
  if (why_not) *why_not = found_driver().why_not;
  return found_driver().why_not.empty();
}

int driver_version() {
  int version = 0;
  if (driver_present()) found_driver().driver_version(&version);
  return version;
}

int device_count() {
  int count = 0;
  if (driver_present()) found_driver().device_count(&count);
  return count;
}

DeviceInfo device_info(int ordinal) {
  const DriverApi& api = driver();
  int device = 0;
  check_call(api.device_get(&device, ordinal), "cuDeviceGet");
  std::array<char, 256> text{};
  check_call(api.device_name(text.data(), static_cast<int>(text.size()) - 1, device),
             "cuDeviceGetName");
  const auto attribute = [&](int which) {
    int value = 0;
    check_call(api.device_attribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  DeviceInfo info;
  info.name = text.data();
  if (api.pci_bus_id(text.data(), static_cast<int>(text.size()) - 1, device) == 0)
    info.pci_bus_id = text.data();
  info.major = attribute(capability_major);
  info.minor = attribute(capability_minor);
  info.sms = attribute(sm_count);
  info.shared_per_block = attribute(shared_with_opt_in);
  info.l2_bytes = attribute(l2_cache_size);
  info.hertz = 1e3 * attribute(kilohertz);
  info.threads_per_block = attribute(threads_per_block);
  for (int i = 0; i < 3; ++i) info.grid_limit[static_cast<std::size_t>(i)] = attribute(grid_x + i);
  std::size_t memory = 0;
  check_call(api.device_memory(&memory, device), "cuDeviceTotalMem");
  info.memory_bytes = static_cast<std::int64_t>(memory);
  return info;
}

Device::Device(int ordinal) : DeviceInfo(device_info(ordinal)) {
  check_call(driver().device_get(&device_, ordinal), "cuDeviceGet");
  check_call(driver().context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  use();
}

Device::~Device() {
  if (context_) found_driver().context_release(device_);
}

void Device::use() const {
  check_call(driver().context_use(context_), "cuCtxSetCurrent");
}

KeptContext::KeptContext()
    : is_known_(driver_present() && found_driver().context_current(&before_) == 0) {}

KeptContext::~KeptContext() {
  void* now = nullptr;
  if (!is_known_ || (found_driver().context_current(&now) == 0 && now == before_)) return;
  found_driver().context_use(before_);
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes > 0) check_call(driver().allocate(&address_, bytes), "cuMemAlloc");
}

DeviceMemory::~DeviceMemory() {
  if (address_) found_driver().release(address_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceMemory::upload(const void* from, std::size_t bytes, std::size_t at) {
  if (bytes > 0) check_call(driver().upload(address_ + at, from, bytes), "cuMemcpyHtoD");
}

void DeviceMemory::download(void* to, std::size_t bytes, std::size_t at) const {
  if (bytes > 0) check_call(driver().download(to, address_ + at, bytes), "cuMemcpyDtoH");
}

void DeviceMemory::copy(const DeviceMemory& from, StreamHandle stream) {
  const std::size_t bytes = std::min(bytes_, from.bytes_);
  if (bytes > 0)
    check_call(driver().duplicate(address_, from.address_, bytes, stream), "cuMemcpyDtoDAsync");
}

void DeviceMemory::fill(unsigned char value) {
  if (bytes_ > 0) check_call(driver().fill(address_, value, bytes_), "cuMemsetD8");
}

LoadedKernel::LoadedKernel(const std::string& image, const std::string& function,
                           std::int64_t dynamic_shared_bytes)
    : dynamic_shared_bytes_(dynamic_shared_bytes) {
  const DriverApi& api = driver();
  check_call(api.module_load(&module_, image.data()), "cuModuleLoadData");
  try {
    check_call(api.module_function(&function_, module_, function.c_str()), "cuModuleGetFunction");
    if (dynamic_shared_bytes > 0)
      check_call(
          api.function_set(function_, dynamic_shared, static_cast<int>(dynamic_shared_bytes)),
          "cuFuncSetAttribute");
  } catch (...) {
    api.module_unload(module_);
    throw;
  }
}

LoadedKernel::~LoadedKernel() {
  if (module_) found_driver().module_unload(module_);
}

TensorMapBits encode(const TiledTensor& tensor) {
  constexpr int no_interleave = 0, promote_to_256_bytes = 3, zeros = 0, not_found = 500;
  const DriverApi& api = driver();
  TensorMapBits made;
  const auto rank = static_cast<std::uint32_t>(tensor.extents.size());
  void* const begin = std::bit_cast<void*>(tensor.address);
  if (!tensor.lower.empty()) {
    if (api.encode_im2col == nullptr) throw DriverError(not_found, "cuTensorMapEncodeIm2col");
    check_call(api.encode_im2col(&made, tensor.data_type, rank, begin, tensor.extents.data(),
                                 tensor.strides.data(), tensor.lower.data(), tensor.upper.data(),
                                 tensor.box.at(0), tensor.box.at(1), tensor.steps.data(),
                                 no_interleave, tensor.swizzle, promote_to_256_bytes, zeros),
               "cuTensorMapEncodeIm2col");
    return made;
  }
  if (api.encode_tiled == nullptr) throw DriverError(not_found, "cuTensorMapEncodeTiled");
  const std::vector<std::uint32_t> steps(tensor.extents.size(), 1);
  check_call(api.encode_tiled(&made, tensor.data_type, rank, begin, tensor.extents.data(),
                              tensor.strides.data(), tensor.box.data(), steps.data(), no_interleave,
                              tensor.swizzle, promote_to_256_bytes, zeros),
             "cuTensorMapEncodeTiled");
  return made;
}

LoadedKernel::LoadedKernel(LoadedKernel&& other) noexcept
    : module_(std::exchange(other.module_, nullptr)),
      function_(std::exchange(other.function_, nullptr)),
      dynamic_shared_bytes_(other.dynamic_shared_bytes_) {}

LoadedKernel& LoadedKernel::operator=(LoadedKernel&& other) noexcept {
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  std::swap(dynamic_shared_bytes_, other.dynamic_shared_bytes_);
  return *this;
}

namespace {

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  int padding;
  std::array<unsigned, 16> value;
};
struct LaunchConfiguration {
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
  StreamHandle stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace

void LoadedKernel::launch(std::array<unsigned, 3> grid, unsigned threads,
                          const std::vector<void*>& arguments, StreamHandle stream,
                          bool overlaps) const {
  std::vector<void*> values = arguments;
  if (overlaps && driver().launch_with) {
    constexpr int programmatic_serialization = 6;
    const LaunchAttribute early{programmatic_serialization, 0, {1}};
    const LaunchConfiguration what{
        grid, {threads, 1, 1}, static_cast<unsigned>(dynamic_shared_bytes_), stream, &early, 1};
    return check_call(driver().launch_with(&what, function_, values.data(), nullptr),
                      "cuLaunchKernelEx");
  }
  check_call(
      driver().launch(function_, grid[0], grid[1], grid[2], threads, 1, 1,
                      static_cast<unsigned>(dynamic_shared_bytes_), stream, values.data(), nullptr),
      "cuLaunchKernel");
}

int LoadedKernel::registers() const {
  int value = 0;
  check_call(driver().function_get(&value, register_count, function_), "cuFuncGetAttribute");
  return value;
}

int LoadedKernel::local_bytes() const {
  int value = 0;
  check_call(driver().function_get(&value, local_size, function_), "cuFuncGetAttribute");
  return value;
}

int LoadedKernel::blocks_per_sm(int threads) const {
  int blocks = 0;
  check_call(driver().occupancy(&blocks, function_, threads,
                                static_cast<std::size_t>(dynamic_shared_bytes_)),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

int LoadedKernel::resident_clusters(int blocks, int threads) const {
  constexpr int cluster_dimension = 4;
  const auto along_x = static_cast<unsigned>(blocks);
  const LaunchAttribute cluster{cluster_dimension, 0, {along_x, 1, 1}};
  const LaunchConfiguration what{{along_x, 1, 1},
                                 {static_cast<unsigned>(threads), 1, 1},
                                 static_cast<unsigned>(dynamic_shared_bytes_),
                                 nullptr,
                                 &cluster,
                                 1};
  int clusters = 0;
  const DriverApi& api = driver();
  return api.active_clusters && api.active_clusters(&clusters, function_, &what) == 0 ? clusters
                                                                                      : 0;
}

Event::Event() {
  check_call(driver().event_create(&event_, 0), "cuEventCreate");
}

Event::~Event() {
  if (event_) found_driver().event_destroy(event_);
}

void Event::record(StreamHandle stream) const {
  check_call(driver().event_record(event_, stream), "cuEventRecord");
}

void Event::wait() const {
  check_call(driver().event_wait(event_), "cuEventSynchronize");
}

bool Event::happened() const {
  constexpr int not_ready = 600;
  const int status = driver().event_query(event_);
  if (status != not_ready) check_call(status, "cuEventQuery");
  return status != not_ready;
}

double Event::milliseconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check_call(driver().event_elapsed(&milliseconds, earlier.event_, event_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds);
}

void synchronize() {
  check_call(driver().context_synchronize(), "cuCtxSynchronize");
}

}  // namespace lay::runtime
