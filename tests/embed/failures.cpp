// What a machine lacks or a driver refuses: the status and sentence of each, that nothing is
// launched, and that nothing is held or leaked afterwards.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "generated/tests/paths.h"
#include "runtime/commands/commands.h"
#include "runtime/compile/cache.h"
#include "tests/embed/built.h"

namespace {

using lay::test::put;
using lay::test::require_runs;
using lay::test::require_runs_on_fake;
using lay::test::shell;
using lay::test::slurp;
using lay::test::TemporaryFolder;

// The beginning of every program: one call of the driver fails, or an allocation of the host.
constexpr const char* kBegin = R"(#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

long fake_held(_Bool of_images);
int fake_fails(const char* call);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamDestroy_v2(void* stream);
void* __real_calloc(size_t count, size_t size);
void* __wrap_calloc(size_t count, size_t size);

static const char* failing = "";
static int launches, allocations = -1; /* that succeed; -1: all */

int fake_fails(const char* call) { return strcmp(call, failing) == 0 ? 999 : 0; }

void* __wrap_calloc(size_t count, size_t size) {
  if (allocations == 0) return NULL;
  if (allocations > 0) --allocations;
  return __real_calloc(count, size);
}

int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel, (void)launch, (void)values;
  ++launches;
  return 1;
}

static lay_message why;

/* Of addresses that nobody looks at. */
static linear_args sized(int64_t size) {
  linear_args args = {sizeof(linear_args), 0, 0, 0, NULL, NULL, NULL, NULL};
  char* memory = (char*)((uintptr_t)1 << 40);
  args.M = args.N = args.K = size;
  args.X = memory;
  args.W = memory + (1 << 28);
  args.b = memory + (2 << 28);
  args.Y = memory + (3 << 28);
  return args;
}

static lay_status launch(lay_stream stream) {
  const linear_args args = sized(4096);
  return linear_launch(&args, NULL, 0, stream, &why);
}

/* What a call says, and what is held once all is unloaded. */
static void say(lay_status status) {
  failing = "";
  allocations = -1;
  linear_unload();
  printf("%d %s; %d launched, %ld images, %ld contexts\n", (int)status, why.text, launches,
         fake_held(1), fake_held(0) - 1); /* enter() holds one */
  launches = 0;
}
)";

constexpr const char* kCalls = R"(
static void* outside(void* stream) {
  static const char* const calls[] = {"cuDeviceGetCount", "cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent", "cuLibraryLoadData"};
  int i;
  (void)stream;
  /* No context is current: the primary one is held meanwhile. */
  for (i = 0; i < 4; ++i) {
    failing = calls[i];
    say(linear_prepare(0, &why));
  }
  say(linear_prepare(0, &why));
  /* A stream of a context that is not the current one. */
  for (i = 0; i < 2; ++i) {
    failing = i == 0 ? "cuStreamGetCtx" : "cuCtxPushCurrent";
    say(launch((lay_stream)stream));
  }
  say(launch((lay_stream)stream));
  return NULL;
}

int main(void) {
  static const char* const calls[] = {
      "cuCtxGetCurrent",    "cuCtxGetDevice",     "cuStreamIsCapturing", "cuDeviceGetAttribute",
      "cuLibraryLoadData",  "cuLibraryGetKernel", "cuKernelGetFunction", "cuFuncLoad",
      "cuKernelSetAttribute", "cuTensorMapEncodeTiled", "cuLaunchKernelEx"};
  size_t i;
  void* stream = NULL;
  pthread_t thread;
  enter();
  for (i = 0; i < sizeof calls / sizeof *calls; ++i) {
    failing = calls[i];
    say(launch(NULL));
  }
  for (i = 0; i < 3; ++i) {
    allocations = (int)i;
    say(launch(NULL));
  }
  say(launch(NULL));
  cuStreamCreate(&stream, 0);
  pthread_create(&thread, NULL, outside, stream);
  pthread_join(thread, NULL);
  cuStreamDestroy_v2(stream);
  return 0;
}
)";

// A failure of each call, then a success.
std::string said_of_calls() {
  const std::string nothing = "; 0 launched, 0 images, 0 contexts\n",
                    one = "0 ; 1 launched, 0 images, 0 contexts\n";
  const auto failed = [&](const std::string& call) {
    return "40 " + call + ": CUDA_ERROR_FAKE (999)" + nothing;
  };
  std::string said;
  for (const char* call :
       {"cuCtxGetCurrent", "cuCtxGetDevice", "cuStreamIsCapturing", "cuDeviceGetAttribute",
        "cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction", "cuFuncLoad",
        "cuKernelSetAttribute", "cuTensorMapEncodeTiled", "cuLaunchKernelEx"})
    said += failed(call);
  for (int i = 0; i < 3; ++i) said += "23 linear: no memory on the host" + nothing;
  said += one;
  for (const char* call :
       {"cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuLibraryLoadData"})
    said += failed(call);
  said += "0 " + nothing;
  for (const char* call : {"cuStreamGetCtx", "cuCtxPushCurrent"}) said += failed(call);
  return said + one;
}

// A launch on a machine whose driver is none, or not one that is needed.
constexpr const char* kOne = R"(#include <stdio.h>

#include "kernels.h"

int main(void) {
  static float x[32], y[32];
  lay_message why;
  rows_args args = {sizeof(rows_args), 4, 8, x, y};
  int i;
  for (i = 0; i < 2; ++i) {
    printf("%d ", (int)rows_launch(&args, NULL, 0, NULL, &why));
    printf("%s\n", why.text);
  }
  printf("%d ", (int)rows_prepare(0, &why));
  printf("%s\n", why.text);
  return 0;
}
)";

// A bundle of one kernel; of `linear` with what these sizes take, which has tensor maps.
void build_kernel(const TemporaryFolder& folder, const std::string& kernel) {
  lay::test::loaded();  // sets the cache's folder
  lay::runtime::BuildOptions options;
  options.file = LAY_SOURCE_DIR "/tests/embed/kernels.lay";
  options.folder = folder.path().string();
  options.kernel = kernel;
  options.choices.bundle = true;
  options.choices.archs = {"sm_90a"};
  if (kernel == "linear") options.choices.sizes = {{{"M", 4096}, {"N", 4096}, {"K", 4096}}};
  REQUIRE(lay::runtime::build_script(options) == 0);
}

bool sanitizer_runs(const TemporaryFolder& folder) {
  put(folder / "empty.c", "int main(void) { return 0; }\n");
  return shell("cd " + folder.path().string() +
               " && cc -fsanitize=address,undefined empty.c -o empty && ./empty")
             .code == 0;
}

}  // namespace

TEST_CASE("every call of the driver that fails is named, and leaves nothing behind") {
  const TemporaryFolder folder;
  build_kernel(folder, "linear");
  put(folder / "calls.c", std::string(kBegin) + kCalls);
  std::string flags = "-g -Wl,--wrap=calloc";
  if (sanitizer_runs(folder))
    flags += " -fsanitize=address,undefined -fno-sanitize-recover=all";
  else
    WARN("without a sanitizer: leaks of the host's memory are not seen");
  require_runs_on_fake(folder.path().string(), "calls.c", flags, said_of_calls());
}

TEST_CASE("a machine without a driver, or with one that will not do, is told apart") {
  const TemporaryFolder folder;
  build_kernel(folder, "rows");
  put(folder / "one.c", kOne);
  const std::string in = "cd " + folder.path().string() + " && ";
  require_runs(in + "cc one.c kernels.c -o one -pthread -ldl", "");
  const auto thrice = [](const std::string& said) { return said + said + said; };
  require_runs(in + "./one",
               thrice("20 no CUDA driver: libcuda.so.1: cannot open shared object file: No such "
                      "file or directory\n"));
  // Older than CUDA 12: it has not all functions.
  put(folder / "old.c", "int cuInit(unsigned flags) { return (int)flags; }\n");
  require_runs(in + "cc -shared -fPIC old.c -o libcuda.so.1 && LD_LIBRARY_PATH=. ./one",
               thrice("20 libcuda.so.1 has no cuGetErrorName: a driver for CUDA 12.0 or later is "
                      "needed\n"));
  // A driver without a device that works.
  put(folder / "program.c", R"(#include "fake.h"
int fake_fails(const char* call);
int fake_fails(const char* call) { return call[2] == 'I' ? 999 : 0; }
int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel, (void)launch, (void)values;
  return 1;
}
int main(void) {
  static float x[32], y[32];
  lay_message why;
  rows_args args = {sizeof(rows_args), 4, 8, x, y};
  printf("%d ", (int)rows_launch(&args, NULL, 0, NULL, &why));
  printf("%s\n", why.text);
  return 0;
}
)");
  require_runs_on_fake(folder.path().string(), "program.c", "", "20 cuInit: CUDA_ERROR_FAKE\n");
}

TEST_CASE("sizes that a bundle was not built for have no variant") {
  const TemporaryFolder folder;
  build_kernel(folder, "linear");
  put(folder / "sizes.c", std::string(kBegin) + R"(
int main(void) {
  const linear_args args = sized(63);
  enter();
  say(linear_check(&args, &why));
  say(linear_launch(&args, NULL, 0, NULL, &why));
  return 0;
}
)");
  const std::string refused =
      "9 linear: no variant for sm_90a takes these sizes and addresses; 0 launched, 0 images, 0 "
      "contexts\n";
  require_runs_on_fake(folder.path().string(), "sizes.c", "-Wl,--wrap=calloc", refused + refused);
}

TEST_CASE("a damaged entry of the cache is compiled again") {
  const TemporaryFolder folder, cache;
  lay::test::use_own_cache();
  const std::string before = std::getenv("LAY_CACHE_DIR");
  setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  put(folder / "rows.lay", "kernel rows<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] }\n");
  const auto build = [&](const std::string& to) {
    lay::runtime::BuildOptions options;
    options.file = folder / "rows.lay";
    options.folder = folder / to;
    options.choices.bundle = true;
    options.choices.archs = {"sm_90a"};
    REQUIRE(lay::runtime::build_script(options) == 0);
  };
  build("first");
  const auto entries = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(cache.path()))
      if (entry.path().extension() == ".layc") names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto whole = entries();
  REQUIRE(!whole.empty());
  std::vector<std::string> bytes;
  for (const std::string& name : whole) {
    bytes.push_back(slurp(name));
    std::string damaged = bytes.back();
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    put(name, damaged);
  }
  build("again");
  require_runs("diff -r " + (folder / "first") + " " + (folder / "again"), "");
  REQUIRE(entries() == whole);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(slurp(whole[i]) == bytes[i]);
  const auto held = lay::runtime::Cache(cache.path().string()).contents();
  CHECK(held.damaged == static_cast<std::int64_t>(whole.size()));
  setenv("LAY_CACHE_DIR", before.c_str(), 1);
}
