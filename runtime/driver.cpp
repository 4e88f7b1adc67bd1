#include "runtime/driver.h"

#include <algorithm>
#include <utility>

#include "runtime/library.h"

namespace lay::runtime {
namespace {

// The part of the driver's interface that is used here. Results are CUresult, handles are opaque.
struct Api {
  Library library;
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*context_retain)(void**, int) = nullptr;
  int (*context_release)(int) = nullptr;
  int (*context_use)(void*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*function_set)(void*, int, int) = nullptr;
  int (*function_get)(int*, int, void*) = nullptr;
  int (*occupancy)(int*, void*, int, std::size_t) = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*upload)(Address, const void*, std::size_t) = nullptr;
  int (*download)(void*, Address, std::size_t) = nullptr;
  int (*duplicate)(Address, Address, std::size_t, void*) = nullptr;
  int (*fill)(Address, unsigned char, std::size_t) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*event_wait)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;
  // Of CUDA 12 on; null before.
  int (*encode_tiled)(TensorMapBits*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                      const std::uint32_t*, const std::uint32_t*, int, int, int, int) = nullptr;

  std::string why_not;
};

bool bind(Api& api) {
  const Library& from = api.library;
  from.get(api.encode_tiled, "cuTensorMapEncodeTiled");
  return from.get(api.init, "cuInit") && from.get(api.driver_version, "cuDriverGetVersion") &&
         from.get(api.error_name, "cuGetErrorName") && from.get(api.error_string, "cuGetErrorString") &&
         from.get(api.device_count, "cuDeviceGetCount") && from.get(api.device_get, "cuDeviceGet") &&
         from.get(api.device_name, "cuDeviceGetName") && from.get(api.device_attribute, "cuDeviceGetAttribute") &&
         from.get(api.device_memory, "cuDeviceTotalMem_v2") &&
         from.get(api.context_retain, "cuDevicePrimaryCtxRetain") &&
         from.get(api.context_release, "cuDevicePrimaryCtxRelease_v2") &&
         from.get(api.context_use, "cuCtxSetCurrent") && from.get(api.context_synchronize, "cuCtxSynchronize") &&
         from.get(api.module_load, "cuModuleLoadData") && from.get(api.module_unload, "cuModuleUnload") &&
         from.get(api.module_function, "cuModuleGetFunction") && from.get(api.function_set, "cuFuncSetAttribute") &&
         from.get(api.function_get, "cuFuncGetAttribute") &&
         from.get(api.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor") &&
         from.get(api.allocate, "cuMemAlloc_v2") && from.get(api.release, "cuMemFree_v2") &&
         from.get(api.upload, "cuMemcpyHtoD_v2") && from.get(api.download, "cuMemcpyDtoH_v2") &&
         from.get(api.duplicate, "cuMemcpyDtoDAsync_v2") && from.get(api.fill, "cuMemsetD8_v2") &&
         from.get(api.launch, "cuLaunchKernel") && from.get(api.event_create, "cuEventCreate") &&
         from.get(api.event_destroy, "cuEventDestroy_v2") && from.get(api.event_record, "cuEventRecord") &&
         from.get(api.event_wait, "cuEventSynchronize") && from.get(api.event_elapsed, "cuEventElapsedTime");
}

std::string words(const Api& api, int status) {
  const char *name = nullptr, *text = nullptr;
  if (api.error_name) api.error_name(status, &name);
  if (api.error_string) api.error_string(status, &text);
  return std::string(name ? name : "error " + std::to_string(status)) + (text ? " (" + std::string(text) + ")" : "");
}

Api load() {
  Api api;
  api.library = Library::find({"libcuda.so.1"});
  if (!api.library) {
    api.why_not = "no NVIDIA driver: " + api.library.why();
  } else if (!bind(api)) {
    api.why_not = "the NVIDIA driver is older than this program knows (it lacks a function of CUDA 12)";
  } else if (const int status = api.init(0); status != 0) {
    api.why_not = "the NVIDIA driver does not start: cuInit: " + words(api, status);
  }
  return api;
}

const Api& loaded() {
  static const Api api = load();
  return api;
}

void check(int status, const char* call) {
  if (status != 0) throw DriverError(status, call);
}

// The driver, or the error that there is none (CUDA_ERROR_NO_DEVICE).
const Api& driver() {
  if (!loaded().why_not.empty()) throw DriverError(100, "cuInit");
  return loaded();
}

enum Attribute : int {
  threads_per_block = 1,
  grid_x = 5,
  multiprocessor_count = 16,
  l2_cache_size = 38,
  capability_major = 75,
  capability_minor = 76,
  shared_with_opt_in = 97,
};
enum FunctionAttribute : int { local_size = 3, register_count = 4, dynamic_shared = 8 };

}  // namespace

DriverError::DriverError(int status_code, const std::string& failed_call)
    : status(status_code), call(failed_call), text(failed_call + ": " + words(loaded(), status_code)) {
  if (!loaded().why_not.empty()) text = loaded().why_not;
}

bool driver_present(std::string* why_not) {
  if (why_not) *why_not = loaded().why_not;
  return loaded().why_not.empty();
}

int driver_version() {
  int version = 0;
  if (driver_present()) loaded().driver_version(&version);
  return version;
}

int device_count() {
  int count = 0;
  if (driver_present()) loaded().device_count(&count);
  return count;
}

DeviceInfo device_info(int ordinal) {
  const Api& api = driver();
  int device = 0;
  check(api.device_get(&device, ordinal), "cuDeviceGet");
  std::array<char, 256> text{};
  check(api.device_name(text.data(), static_cast<int>(text.size()) - 1, device), "cuDeviceGetName");
  const auto attribute = [&](int which) {
    int value = 0;
    check(api.device_attribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  DeviceInfo info;
  info.name = text.data();
  info.major = attribute(capability_major);
  info.minor = attribute(capability_minor);
  info.multiprocessors = attribute(multiprocessor_count);
  info.shared_per_block = attribute(shared_with_opt_in);
  info.l2_bytes = attribute(l2_cache_size);
  info.threads_per_block = attribute(threads_per_block);
  for (int i = 0; i < 3; ++i) info.grid_limit[static_cast<std::size_t>(i)] = attribute(grid_x + i);
  std::size_t memory = 0;
  check(api.device_memory(&memory, device), "cuDeviceTotalMem");
  info.memory_bytes = static_cast<std::int64_t>(memory);
  return info;
}

Device::Device(int ordinal) : DeviceInfo(device_info(ordinal)) {
  check(driver().device_get(&device_, ordinal), "cuDeviceGet");
  check(driver().context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  use();
}

Device::~Device() {
  if (context_) loaded().context_release(device_);
}

void Device::use() const {
  check(driver().context_use(context_), "cuCtxSetCurrent");
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes > 0) check(driver().allocate(&address_, bytes), "cuMemAlloc");
}

DeviceMemory::~DeviceMemory() {
  if (address_) loaded().release(address_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceMemory::upload(const void* from, std::size_t bytes) {
  if (bytes > 0) check(driver().upload(address_, from, bytes), "cuMemcpyHtoD");
}

void DeviceMemory::download(void* to, std::size_t bytes) const {
  if (bytes > 0) check(driver().download(to, address_, bytes), "cuMemcpyDtoH");
}

void DeviceMemory::copy(const DeviceMemory& from) {
  const std::size_t bytes = std::min(bytes_, from.bytes_);
  if (bytes > 0) check(driver().duplicate(address_, from.address_, bytes, nullptr), "cuMemcpyDtoDAsync");
}

void DeviceMemory::fill(unsigned char value) {
  if (bytes_ > 0) check(driver().fill(address_, value, bytes_), "cuMemsetD8");
}

LoadedKernel::LoadedKernel(const std::string& image, const std::string& function, std::int64_t dynamic_shared_bytes)
    : dynamic_shared_bytes_(dynamic_shared_bytes) {
  const Api& api = driver();
  check(api.module_load(&module_, image.data()), "cuModuleLoadData");
  try {
    check(api.module_function(&function_, module_, function.c_str()), "cuModuleGetFunction");
    if (dynamic_shared_bytes > 0)
      check(api.function_set(function_, dynamic_shared, static_cast<int>(dynamic_shared_bytes)), "cuFuncSetAttribute");
  } catch (...) {
    api.module_unload(module_);
    throw;
  }
}

LoadedKernel::~LoadedKernel() {
  if (module_) loaded().module_unload(module_);
}

TensorMapBits encode(const TiledTensor& tensor) {
  constexpr int no_interleave = 0, promote_to_256_bytes = 3, zeros = 0, not_found = 500;
  const Api& api = driver();
  if (api.encode_tiled == nullptr) throw DriverError(not_found, "cuTensorMapEncodeTiled");
  const std::vector<std::uint32_t> steps(tensor.extents.size(), 1);
  TensorMapBits made;
  check(api.encode_tiled(&made, tensor.data_type, static_cast<std::uint32_t>(tensor.extents.size()),
                         reinterpret_cast<void*>(tensor.address), tensor.extents.data(), tensor.strides.data(),
                         tensor.box.data(), steps.data(), no_interleave, tensor.swizzle, promote_to_256_bytes, zeros),
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

void LoadedKernel::launch(std::array<unsigned, 3> grid, unsigned threads, const std::vector<void*>& arguments) const {
  std::vector<void*> values = arguments;
  check(driver().launch(function_, grid[0], grid[1], grid[2], threads, 1, 1,
                        static_cast<unsigned>(dynamic_shared_bytes_), nullptr, values.data(), nullptr),
        "cuLaunchKernel");
}

int LoadedKernel::registers() const {
  int value = 0;
  check(driver().function_get(&value, register_count, function_), "cuFuncGetAttribute");
  return value;
}

int LoadedKernel::local_bytes() const {
  int value = 0;
  check(driver().function_get(&value, local_size, function_), "cuFuncGetAttribute");
  return value;
}

int LoadedKernel::blocks_per_multiprocessor(int threads) const {
  int blocks = 0;
  check(driver().occupancy(&blocks, function_, threads, static_cast<std::size_t>(dynamic_shared_bytes_)),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

Event::Event() {
  check(driver().event_create(&event_, 0), "cuEventCreate");
}

Event::~Event() {
  if (event_) loaded().event_destroy(event_);
}

void Event::record() const {
  check(driver().event_record(event_, nullptr), "cuEventRecord");
}

void Event::wait() const {
  check(driver().event_wait(event_), "cuEventSynchronize");
}

double Event::milliseconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check(driver().event_elapsed(&milliseconds, earlier.event_, event_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds);
}

void synchronize() {
  check(driver().context_synchronize(), "cuCtxSynchronize");
}

}  // namespace lay::runtime
