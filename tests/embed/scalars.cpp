// Scalars of every type that a kernel may have: what a caller in C or by TVM-FFI gives reaches the
// kernel as its parameters are laid out.
#include <catch2/catch.hpp>
#include <string>

#include "tests/embed/built.h"

namespace {

using lay::test::require_runs_on_fake;
using lay::test::TemporaryFolder;

constexpr const char* kScript =
    "kernel numbers<N>(X: f32 N, a: s8, b: u8, c: s32, d: u32, e: s64, f: pred, g: f16, h: bf16,\n"
    "                  i: f64, j: e4m3) -> Y: f32 N\n"
    "{ Y[n] = if f then X[n] * g + a + b + c + d else X[n] * h + e + i + j }\n";

constexpr const char* kProgram = R"(#include <dlfcn.h>
#include <string.h>

#include "fake.h"
#include "packed.h"

int __tvm_ffi_numbers(void* self, const any* arguments, int32_t count, any* result);

/* Behind two addresses and a size. */
int fake_run(void* kernel, const unsigned* launch, void** values) {
  int c;
  unsigned d;
  int64_t e;
  uint16_t g, h;
  double i;
  (void)kernel, (void)launch;
  memcpy(&c, values[5], sizeof c);
  memcpy(&d, values[6], sizeof d);
  memcpy(&e, values[7], sizeof e);
  memcpy(&g, values[9], sizeof g);
  memcpy(&h, values[10], sizeof h);
  memcpy(&i, values[11], sizeof i);
  printf("%d %d %d %u %lld %d %x %x %g %d\n", *(signed char*)values[3],
         *(unsigned char*)values[4], c, d, (long long)e, *(unsigned char*)values[8], g, h, i,
         *(unsigned char*)values[12]);
  return 1;
}

static float x[64], y[64];
static const char* (*error)(int);

/* The same numbers by TVM-FFI, but for one. */
static void call(int which, any changed) {
  int64_t shape[] = {64};
  tensor in = {x, {2, 0}, 1, 2, 32, 1, shape, NULL, 0}, out = in;
  any all[12] = {{7, 0, {0}},           {1, 0, {-7}},          {1, 0, {200}}, {1, 0, {-70000}},
                 {1, 0, {4000000000u}}, {1, 0, {-5000000000}}, {2, 0, {1}},   {3, 0, {0}},
                 {3, 0, {0}},           {3, 0, {0}},           {1, 0, {56}},  {7, 0, {0}}};
  out.data = y;
  all[0].value.pointer = &in;
  all[11].value.pointer = &out;
  all[7].value.real = all[8].value.real = 1.5;
  all[9].value.real = 0.1;
  if (which > 0) all[which] = changed;
  if (__tvm_ffi_numbers(NULL, all, 12, NULL) != 0) printf("%s: %s\n", error(0), error(1));
}

int main(int count, char** words) {
  static const any integer = {1, 0, {3}}, truth = {2, 0, {1}}, big = {1, 0, {1000}},
                   minus = {1, 0, {-1}}, huge = {1, 0, {4294967296}}, real = {3, 0, {0}};
  void* library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  lay_message why;
  numbers_args args = {sizeof(numbers_args), 64, -7, 200, -70000, 4000000000u,
                       -5000000000, 2, 1.5f, 1.5f, 0.1, 56, x, y};
  enter();
  printf("%d\n", (int)numbers_launch(&args, NULL, 0, NULL, &why));

  *(void**)&error = dlsym(library, "ffi_error");
  call(0, integer);
  call(8, integer);
  call(3, truth);
  call(1, big);
  call(2, minus);
  call(4, huge);
  call(6, big);
  call(10, real);
  call(5, real);
  return 0;
}
)";

// f16 and bf16 of 1.5 in hexadecimal; a truth is 0 or 1.
constexpr const char* kSaid =
    "-7 200 -70000 4000000000 -5000000000 1 3e00 3fc0 0.1 56\n0\n"
    "-7 200 -70000 4000000000 -5000000000 1 3e00 3fc0 0.1 56\n"
    "-7 200 -70000 4000000000 -5000000000 1 3e00 4040 0.1 56\n"
    "-7 200 1 4000000000 -5000000000 1 3e00 3fc0 0.1 56\n"
    "ValueError: a is 1000, which is no number of s8\n"
    "ValueError: b is -1, which is no number of u8\n"
    "ValueError: d is 4294967296, which is no number of u32\n"
    "ValueError: f is 1000, which is no number of pred\n"
    "TypeError: j is a float, expected a number of e4m3, as its bits\n"
    "TypeError: e is a float, expected a number of s64\n";

}  // namespace

TEST_CASE("scalars of every type reach the kernel") {
  const TemporaryFolder folder;
  lay::test::put(folder / "kernels.lay", kScript);
  lay::test::build_bundle(folder.path().string(), "", folder / "kernels.lay");
  lay::test::put(folder / "program.c", kProgram);
  require_runs_on_fake(folder.path().string(), "program.c", "-Wall -Wextra", kSaid,
                       " " + lay::test::made_libtvm_ffi(folder));
}
