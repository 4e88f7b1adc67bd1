// Scalars of every type that a kernel may have: what a caller in C gives reaches the kernel as its
// parameters are laid out.
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

constexpr const char* kProgram = R"(#include <string.h>

#include "fake.h"

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

int main(void) {
  static float x[64], y[64];
  lay_message why;
  numbers_args args = {sizeof(numbers_args), 64, -7, 200, -70000, 4000000000u,
                       -5000000000, 2, 1.5f, 1.5f, 0.1, 56, x, y};
  enter();
  printf("%d\n", (int)numbers_launch(&args, NULL, 0, NULL, &why));
  return 0;
}
)";

// f16 and bf16 of 1.5 in hexadecimal; a truth is 0 or 1.
constexpr const char* kSaid = "-7 200 -70000 4000000000 -5000000000 1 3e00 3fc0 0.1 56\n0\n";

}  // namespace

TEST_CASE("scalars of every type reach the kernel") {
  const TemporaryFolder folder;
  lay::test::put(folder / "kernels.lay", kScript);
  lay::test::build_bundle(folder.path().string(), "", folder / "kernels.lay");
  lay::test::put(folder / "program.c", kProgram);
  require_runs_on_fake(folder.path().string(), "program.c", "-Wall -Wextra", kSaid);
}
