// Programs that call bundles as TVM-FFI does: with a libtvm_ffi that comes late, is seen by few or
// lacks a function, and in threads under sanitizers.
#include <catch2/catch.hpp>
#include <string>

#include "tests/embed/built.h"

namespace test = lay::test;
using lay::test::shell;
using lay::test::TemporaryFolder;

namespace {

// Calls of `rows` and of what goes wrong, in C. The program loads the libtvm_ffi that its first
// argument names, for all to see or, as `local` says, for itself alone.
constexpr const char* kPacked = R"(#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "packed.h"

int __tvm_ffi_rows(void* self, const any* arguments, int32_t count, any* result);
int __tvm_ffi_unsorted(void* self, const any* arguments, int32_t count, any* result);
)";

constexpr const char* kFinding = R"(
static int launches;
int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel, (void)launch, (void)values;
  ++launches;
  return 1;
}

static float x[64], y[64];
static unsigned short big[64 * 64];
static int expert[64];

static int call_rows(void) {
  int64_t shape[] = {8, 8};
  tensor tensors[] = {{x, {2, 0}, 2, 2, 32, 1, shape, NULL, 0},
                      {y, {2, 0}, 2, 2, 32, 1, shape, NULL, 0}};
  any arguments[2] = {{7, 0, {0}}, {7, 0, {0}}};
  arguments[0].value.pointer = &tensors[0];
  arguments[1].value.pointer = &tensors[1];
  return __tvm_ffi_rows(NULL, arguments, 2, NULL);
}

static int call_unsorted(void) {
  int64_t square[] = {64, 64}, line[] = {64}, cube[] = {1, 64, 64};
  static unsigned short w[64 * 64], out[64 * 64];
  tensor tensors[] = {{big, {2, 0}, 2, 4, 16, 1, square, NULL, 0},
                      {expert, {2, 0}, 1, 0, 32, 1, line, NULL, 0},
                      {w, {2, 0}, 3, 4, 16, 1, cube, NULL, 0},
                      {out, {2, 0}, 2, 4, 16, 1, square, NULL, 0}};
  any arguments[4];
  int i;
  for (i = 0; i < 4; ++i) {
    arguments[i].type = 7;
    arguments[i].value.pointer = &tensors[i];
  }
  return __tvm_ffi_unsorted(NULL, arguments, 4, NULL);
}

int main(int count, char** words) {
  const char* (*error)(int) = NULL;
  void* library = NULL;
  enter();
  printf("%d %d\n", call_rows(), launches);
  if (count > 1) {
    library = dlopen(words[1], RTLD_NOW | (count > 2 ? RTLD_LOCAL : RTLD_GLOBAL));
    *(void**)&error = dlsym(library, "ffi_error");
    printf("%d ", call_rows());
    printf("%d %s %s\n", launches, error(0), error(1));
    printf("%d ", call_unsorted());
    printf("%d %s %s\n", launches > 1, error(0), error(1));
  }
  return 0;
}
)";

// Eight threads call at once, with wrong arguments between, each with errors of its own.
constexpr const char* kThreads = R"(
int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel;
  return launch[0] > 0 && *(const int*)values[2] > 0;
}

static int failures[8];
static const char* (*error)(int);

static void* work(void* at) {
  static float x[4096], y[4096];
  int64_t shape[] = {4, 8}, strides[] = {8, 1};
  tensor in = {x, {2, 0}, 2, 2, 32, 1, shape, strides, 0}, out = in;
  any arguments[2], result;
  int i, *failed = (int*)at;
  if (failed != &failures[0]) enter(); /* in one thread no context is current */
  memset(arguments, 0, sizeof arguments);
  out.data = y;
  arguments[0].type = arguments[1].type = 7;
  arguments[0].value.pointer = &in;
  arguments[1].value.pointer = &out;
  for (i = 0; i < 200; ++i) {
    shape[0] = 4 + i % 7;
    memset(&result, 0, sizeof result);
    if (__tvm_ffi_rows(NULL, arguments, 2, &result) != 0 || result.type != 0) {
      ++*failed;
      fprintf(stderr, "%s\n", error(1));
    }
    in.code = 3;
    if (__tvm_ffi_rows(NULL, arguments, 2, &result) != -1 || strcmp(error(0), "TypeError") != 0)
      ++*failed;
    in.code = 2;
    if (__tvm_ffi_rows(NULL, NULL, 0, &result) != -1) ++*failed;
  }
  return NULL;
}

int main(int count, char** words) {
  pthread_t threads[8];
  int i, failed = 0;
  void* library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  *(void**)&error = dlsym(library, "ffi_error");
  for (i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, work, &failures[i]);
  for (i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < 8; ++i) failed += failures[i];
  rows_unload();
  printf("%d failed\n", failed);
  return failed;
}
)";

}  // namespace

TEST_CASE("libtvm_ffi is found when it is called, whole or not") {
  const TemporaryFolder folder, without_stream, without_allocator, whole;
  test::build_bundle(folder.path().string());
  test::put(folder / "finding.c", std::string(kPacked) + kFinding);
  const auto require_said = [&](const std::string& arguments, const std::string& said) {
    test::require_runs_on_fake(folder.path().string(), "finding.c", "", said, arguments);
  };
  // Nobody to tell: nothing but -1, as long as there is no libtvm_ffi.
  const std::string alone = "-1 0\n";
  require_said("", alone);
  require_said(" " + test::made_libtvm_ffi(whole), alone + "0 1  \n0 1  \n");
  require_said(" " + test::made_libtvm_ffi(whole) + " local", alone + "0 1  \n0 1  \n");
  const std::string no_stream =
      "libtvm_ffi has no TVMFFIEnvGetStream: it is older than apache-tvm-ffi 0.1";
  require_said(" " + test::made_libtvm_ffi(without_stream, "-DWITHOUT_STREAM"),
               alone + "-1 0 RuntimeError rows: " + no_stream +
                   "\n-1 0 RuntimeError unsorted: " + no_stream + "\n");
  require_said(" " + test::made_libtvm_ffi(without_allocator, "-DWITHOUT_ALLOCATOR"),
               alone +
                   "0 1  \n-1 0 RuntimeError unsorted: libtvm_ffi has no TVMFFIEnvTensorAlloc "
                   "for the workspace of 8960 bytes\n");
}

TEST_CASE("calls by TVM-FFI are clean under sanitizers, with eight threads") {
  const TemporaryFolder folder;
  test::put(folder / "kernels.lay",
            "kernel rows<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = softmax[n](X[m,n]) }\n");
  test::build_bundle(folder.path().string(), "", folder / "kernels.lay");
  test::put(folder / "threads.c", std::string(kPacked) + kThreads);
  test::put(folder / "empty.c", "int main(void) { return 0; }\n");
  for (const std::string sanitizer : {"address,undefined", "thread"}) {
    const std::string flags = "-g -O1 -fsanitize=" + sanitizer + " -fno-sanitize-recover=all";
    if (shell("cd " + folder.path().string() + " && cc " + flags + " empty.c -o empty && ./empty")
            .code != 0) {
      WARN("skipped: programs with -fsanitize=" << sanitizer << " do not run here");
      continue;
    }
    test::require_runs_on_fake(folder.path().string(), "threads.c", flags, "0 failed\n",
                               " " + test::made_libtvm_ffi(folder, "-fsanitize=" + sanitizer));
  }
}
