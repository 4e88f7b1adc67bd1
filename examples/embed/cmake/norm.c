/* A project of CMake whose library `kernels` is made of norm.lay:
 *
 *   cmake -B build -DCMAKE_PREFIX_PATH=PREFIX     where Lay is installed
 *   cmake --build build
 *   build/norm
 *
 * The program asks the kernel about the calls that it is going to make, as a server does when it
 * starts: does it take these rows, how much workspace do they need, is there a GPU to load it for.
 * None but the last needs a GPU.
 */
#include "norm.h"

#include <stdio.h>

int main(void) {
  /* Rows, their length, and how far apart they begin. */
  static const struct {
    int64_t M, N, ld;
  } calls[] = {
      {4096, 4096, 4096}, {1, 8192, 8192}, {64, 1000, 1024}, {64, 1004, 1024}, {8, 64, 48}};
  /* Addresses are checked for their alignment, and for an output that lies over an input; these
   * are of memory that is never read. */
  void *const x = (void*)(uintptr_t)0x100000000, *const w = (void*)(uintptr_t)0x200000000,
              *const y = (void*)(uintptr_t)0x300000000;
  lay_message why;
  size_t i;
  for (i = 0; i < sizeof calls / sizeof *calls; ++i) {
    norm_args args = {0};
    int64_t bytes = 0;
    args.size = sizeof args;
    args.M = calls[i].M;
    args.N = calls[i].N;
    args.ld = calls[i].ld;
    args.eps = 1e-6f;
    args.X = x;
    args.w = w;
    args.Y = y;
    printf("%4d rows of %4d: ", (int)args.M, (int)args.N);
    if (norm_workspace(&args, &bytes, &why) == LAY_OK)
      printf("workspace %d\n", (int)bytes);
    else
      printf("%s\n", why.text);
  }

  if (norm_prepare(0, &why) == LAY_OK)
    printf("loaded for GPU 0: norm_launch(&args, workspace, bytes, stream, &why)\n");
  else
    printf("nothing is launched here: %s\n", why.text);
  norm_unload();
  return 0;
}
