// A CUDA driver that is none: memory is the host's, and a launch runs the C++ function
// `fake_kernel_<name>` of the program, if it has one. So what the launcher does around a kernel is
// tested without a GPU.
//
// A program that exports fake_find(name) and fake_run(kernel, launch, arguments) runs all others by
// these.
//
// A context is current in a thread as the calls say. A program that exports fake_clusters() says
// how many clusters the device holds at once; else the device does not tell.
//
// A program that exports fake_fails(call) says which calls fail, and with what status. fake_held
// counts what is loaded and held.
//
// Time passes by a quarter of a millisecond a launch, or as often that as fake_cost(kernel,
// arguments) of the program says. The driver cannot keep the arguments of recorded work: replaying
// a graph lets only time pass, but for a program that exports fake_record(kernel, launch,
// arguments), which makes something of a recorded launch, and fake_replay(it), which does the work.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Address = unsigned long long;
constexpr int success = 0, out_of_memory = 2, no_device = 100, not_found = 500, launch_failed = 719;

// What was recorded: so many launches, and what fake_record made of them.
struct Graph {
  long launches = 0;
  std::vector<void*> work;
};

std::set<void*> own;                                // functions of the program, loaded by name
long launches = 0;                                  // since the beginning: the clock
Graph* captured = nullptr;                          // the graph that is being recorded
thread_local std::vector<void*> contexts{nullptr};  // the current one last

// Loaded libraries and modules, and references to primary contexts, that were not given back.
std::atomic<long> images{0}, references{0};

// The status that the program wants of the call; most often success.
int status_of(const char* call) {
  const auto fails = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "fake_fails"));
  return fails ? fails(call) : success;
}

// Everything that keeps the device busy comes by here.
void pass_time(long count) {
  (captured ? captured->launches : launches) += count;
}

int attribute(int which) {
  switch (which) {
    case 16:
      return 132;  // SMs
    case 38:
      return 1 << 16;  // bytes of L2
    case 75:
      return 9;  // compute capability
    case 1:
      return 1024;  // threads a block
    case 5:
      return 2147483647;  // grid
    case 6:
    case 7:
      return 65535;
    case 97:
      return 232448;  // shared bytes of a block
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

// NVRTC looks for the driver too, and asks a driver that starts for more than this one has: so it
// starts once, but for a program that exports fake_starts_again().
int cuInit(unsigned) {
  if (const int failed = status_of("cuInit")) return failed;
  static bool started = false;
  return std::exchange(started, true) && !dlsym(RTLD_DEFAULT, "fake_starts_again") ? no_device
                                                                                   : success;
}
int cuDriverGetVersion(int* version) {
  return *version = 13000, success;
}
int cuGetErrorName(int status, const char** name) {
  *name = status == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return success;
}
int cuGetErrorString(int, const char** text) {
  return *text = "as the fake driver says", success;
}
int cuDeviceGetCount(int* count) {
  if (const int failed = status_of("cuDeviceGetCount")) return failed;
  return *count = 1, success;
}
int cuDeviceGet(int* device, int ordinal) {
  return *device = ordinal, ordinal == 0 ? success : 101;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return success;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  if (const int failed = status_of("cuDeviceGetAttribute")) return failed;
  return *value = attribute(which), success;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  return *bytes = 1 << 30, success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  if (const int failed = status_of("cuDevicePrimaryCtxRetain")) return failed;
  ++references;
  return *context = context, success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return --references, success;
}
int cuCtxSetCurrent(void* context) {
  return contexts.back() = context, success;
}
int cuCtxGetCurrent(void** context) {
  if (const int failed = status_of("cuCtxGetCurrent")) return failed;
  return *context = contexts.back(), success;
}
int cuCtxGetDevice(int* device) {
  if (const int failed = status_of("cuCtxGetDevice")) return failed;
  return *device = 0, contexts.back() ? success : 201;
}
int cuCtxPushCurrent_v2(void* context) {
  if (const int failed = status_of("cuCtxPushCurrent")) return failed;
  return contexts.push_back(context), success;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = contexts.back();
  return contexts.pop_back(), success;
}
int cuCtxSynchronize() {
  return success;
}

int cuModuleLoadData(void** module, const void* image) {
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return 200;
  ++images;
  return *module = module, success;
}
int cuModuleUnload(void*) {
  return --images, success;
}
// What is held now: images, or else references to primary contexts.
long fake_held(bool of_images) {
  return of_images ? images : references;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = dlsym(RTLD_DEFAULT, ("fake_kernel_" + std::string(name)).c_str());
  if (*function) own.insert(*function);
  const auto find = reinterpret_cast<void* (*)(const char*)>(dlsym(RTLD_DEFAULT, "fake_find"));
  if (!*function && find) *function = find(name);
  return *function ? success : not_found;
}
int cuFuncSetAttribute(void*, int, int) {
  return success;
}
int cuLibraryLoadData(void** library, const void* image, void*, void*, unsigned, void*, void*,
                      unsigned) {
  if (const int failed = status_of("cuLibraryLoadData")) return failed;
  return cuModuleLoadData(library, image);
}
int cuLibraryUnload(void* library) {
  return cuModuleUnload(library);
}
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  if (const int failed = status_of("cuLibraryGetKernel")) return failed;
  return cuModuleGetFunction(kernel, library, name);
}
int cuKernelGetFunction(void** function, void* kernel) {
  if (const int failed = status_of("cuKernelGetFunction")) return failed;
  return *function = kernel, success;
}
int cuFuncLoad(void*) {
  return status_of("cuFuncLoad");
}
int cuKernelSetAttribute(int, int, void*, int) {
  if (const int failed = status_of("cuKernelSetAttribute")) return failed;
  return success;
}
int cuOccupancyMaxActiveClusters(int* clusters, void*, const void*) {
  const auto held = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "fake_clusters"));
  return held ? (*clusters = held(), success) : not_found;
}
int cuFuncGetAttribute(int* value, int, void*) {
  return *value = 0, success;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
  return *blocks = 1, success;
}

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (bytes > (std::size_t{1} << 30)) return out_of_memory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return success;
}
int cuMemFree_v2(Address address) {
  return std::free(reinterpret_cast<void*>(address)), success;
}
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), success;
}
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), success;
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, void*) {
  return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes),
         success;
}
int cuMemsetD8_v2(Address to, unsigned char value, std::size_t bytes) {
  return std::memset(reinterpret_cast<void*>(to), value, bytes), success;
}

int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned,
                   unsigned, unsigned shared, void*, void** arguments, void**) {
  const unsigned launch[] = {x, y, z, threads, shared};
  const auto cost = reinterpret_cast<long (*)(void*, void**)>(dlsym(RTLD_DEFAULT, "fake_cost"));
  pass_time(cost ? cost(function, arguments) : 1);
  if (captured) {
    using Record = void* (*)(void*, const unsigned*, void**);
    if (const auto record = reinterpret_cast<Record>(dlsym(RTLD_DEFAULT, "fake_record")))
      captured->work.push_back(record(function, launch, arguments));
    return success;
  }
  using Kernel = bool (*)(const unsigned*, void**);
  using Run = bool (*)(void*, const unsigned*, void**);
  const auto run = reinterpret_cast<Run>(dlsym(RTLD_DEFAULT, "fake_run"));
  const bool done = run && own.count(function) == 0
                        ? run(function, launch, arguments)
                        : reinterpret_cast<Kernel>(function)(launch, arguments);
  return done ? success : launch_failed;
}
int cuLaunchKernelEx(const void* configuration, void* function, void** arguments, void** extra) {
  if (const int failed = status_of("cuLaunchKernelEx")) return failed;
  struct {
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
  } what;
  std::memcpy(&what, configuration, sizeof what);
  return cuLaunchKernel(function, what.grid[0], what.grid[1], what.grid[2], what.block[0], 1, 1,
                        what.shared_bytes, what.stream, arguments, extra);
}
// For libraries that launch kernels of their own: whether it is recorded, so that they must not run
// it.
bool fake_launch() {
  pass_time(1);
  return captured;
}

// A map says here what it was made of, without its address: two calls that mean the same give the
// same 16 words.
static int encode(std::uint64_t* map, std::initializer_list<std::uint64_t> head, unsigned rank,
                  const std::uint64_t* extents, const std::uint64_t* strides,
                  const std::function<std::uint64_t(unsigned)>& of_mode) {
  std::fill(map, map + 16, 0);
  for (const std::uint64_t each : head) map[0] = map[0] * 4096 + each;
  for (unsigned i = 0; i < rank; ++i) {
    map[1 + i] = extents[i];
    if (i > 0) map[5 + i] = strides[i - 1];
    map[10 + i] = of_mode(i);
  }
  const auto encoded = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "fake_encoded"));
  if (encoded) encoded();
  return success;
}
int cuTensorMapEncodeTiled(std::uint64_t* map, int type, unsigned rank, void*,
                           const std::uint64_t* extents, const std::uint64_t* strides,
                           const unsigned* box, const unsigned* steps, int, int swizzle, int, int) {
  if (const int failed = status_of("cuTensorMapEncodeTiled")) return failed;
  return encode(map, {1, static_cast<unsigned>(type), rank, static_cast<unsigned>(swizzle)}, rank,
                extents, strides, [&](unsigned i) { return box[i] * 16ULL + steps[i]; });
}
int cuTensorMapEncodeIm2col(std::uint64_t* map, int type, unsigned rank, void*,
                            const std::uint64_t* extents, const std::uint64_t* strides,
                            const int* lower, const int* upper, unsigned channels, unsigned pixels,
                            const unsigned* steps, int, int swizzle, int, int) {
  return encode(
      map, {2, static_cast<unsigned>(type), rank, static_cast<unsigned>(swizzle), channels, pixels},
      rank, extents, strides, [&](unsigned i) {
        const bool corner = i > 0 && i + 1 < rank;
        const auto bits = [](int of) { return static_cast<std::uint64_t>(of) & 0xffff; };
        return (corner ? bits(lower[i - 1]) << 32 | bits(upper[i - 1]) << 16 : 0) | steps[i];
      });
}

int cuEventCreate(void** event, unsigned) {
  return *event = new long(0), success;
}
int cuEventDestroy_v2(void* event) {
  return delete static_cast<long*>(event), success;
}
int cuEventRecord(void* event, void*) {
  return *static_cast<long*>(event) = launches, success;
}
int cuEventQuery(void*) {
  return success;
}
int cuEventSynchronize(void*) {
  return success;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const long between = *static_cast<long*>(end) - *static_cast<long*>(begin);
  return *milliseconds = 0.25f * static_cast<float>(between), success;
}

int cuStreamCreate(void** stream, unsigned) {
  return *stream = new void*(contexts.back()), success;
}
int cuStreamDestroy_v2(void* stream) {
  return delete static_cast<void**>(stream), success;
}
int cuStreamGetCtx(void* stream, void** context) {
  if (const int failed = status_of("cuStreamGetCtx")) return failed;
  return *context = *static_cast<void**>(stream), success;
}
int cuStreamSynchronize(void*) {
  return success;
}
int cuStreamBeginCapture_v2(void*, int) {
  return captured = new Graph, success;
}
int cuStreamIsCapturing(void*, int* status) {
  if (const int failed = status_of("cuStreamIsCapturing")) return failed;
  return *status = captured != nullptr, success;
}
int cuStreamEndCapture(void*, void** graph) {
  return *graph = std::exchange(captured, nullptr), success;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return *executable = new Graph(*static_cast<Graph*>(graph)), success;
}
int cuGraphLaunch(void* executable, void*) {
  const auto& graph = *static_cast<Graph*>(executable);
  pass_time(graph.launches);
  const auto replay = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "fake_replay"));
  for (void* work : graph.work) replay(work);
  return success;
}
int cuGraphExecDestroy(void* executable) {
  return delete static_cast<Graph*>(executable), success;
}
int cuGraphDestroy(void* graph) {
  return delete static_cast<Graph*>(graph), success;
}
int cuDeviceGetPCIBusId(char* id, int size, int) {
  return std::strncpy(id, "0000:01:00.0", static_cast<std::size_t>(size)), success;
}

}  // extern "C"
