/* A dense layer in C: on a GPU where there is one, else by the loop that the program has anyway.
 *
 *   lay build layer.lay --bundle --arch sm_80 --arch sm_90a --most 4 -o kernels
 *   cc -I.. -Ikernels infer.c kernels/layer.c -o infer -pthread -ldl
 *   ./infer 64 32 16
 *
 * The numbers are the inputs of a batch, the outputs, and the values of an input. Without a GPU the
 * program checks the sizes as a launch would, prints which variants a launch chooses from and what
 * workspace it needs, and computes on the host.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "layer.h"

/* Small whole numbers, so that sums are exact in whatever order. */
static float* numbers(size_t count, unsigned seed) {
  float* made = malloc((count + 1) * sizeof *made);
  size_t i;
  if (!made) exit(3);
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    made[i] = (float)((int)(seed >> 29) - 4);
  }
  return made;
}

static void layer_on_host(const layer_args* args) {
  const float *x = args->X, *w = args->W, *b = args->b;
  float* y = args->Y;
  int64_t m, n, k;
  for (m = 0; m < args->M; ++m)
    for (n = 0; n < args->N; ++n) {
      float sum = b[n];
      for (k = 0; k < args->K; ++k) sum += x[m * args->K + k] * w[n * args->K + k];
      y[m * args->N + n] = sum > 0 ? sum : 0;
    }
}

/* The same on a GPU: arguments on the host, and what they need there. Returns 1 where Y is done, 0
 * where this machine or a call says no, which is printed. */
static int layer_on_gpu(const layer_args* host) {
  const size_t x = (size_t)(host->M * host->K) * sizeof(float),
               w = (size_t)(host->N * host->K) * sizeof(float), b = (size_t)host->N * sizeof(float),
               y = (size_t)(host->M * host->N) * sizeof(float);
  device gpu;
  layer_args args = *host;
  lay_message why;
  int64_t bytes = 0;
  void* workspace;
  int is_done;
  const char* lacks = device_open(&gpu);
  if (lacks) {
    printf("no GPU      %s: the host computes\n", lacks);
    return 0;
  }
  if (layer_prepare(0, &why) != LAY_OK) {
    printf("no launch   %s: the host computes\n", why.text);
    return 0;
  }
  args.X = device_memory(&gpu, host->X, x);
  args.W = device_memory(&gpu, host->W, w);
  args.b = device_memory(&gpu, host->b, b);
  args.Y = device_memory(&gpu, NULL, y);
  is_done = layer_workspace(&args, &bytes, &why) == LAY_OK;
  workspace = device_memory(&gpu, NULL, (size_t)bytes);
  is_done = is_done && layer_launch(&args, workspace, bytes, NULL, &why) == LAY_OK;
  if (!is_done) printf("no launch   %s: the host computes\n", why.text);
  if (is_done && device_read(&gpu, host->Y, args.Y, y) != 0) {
    printf("no result   the launch failed: the host computes\n");
    is_done = 0;
  }
  device_free(&gpu, (void*)args.X);
  device_free(&gpu, (void*)args.W);
  device_free(&gpu, (void*)args.b);
  device_free(&gpu, args.Y);
  device_free(&gpu, workspace);
  layer_unload();
  if (is_done) printf("done        on the GPU\n");
  return is_done;
}

int main(int count, char** words) {
  layer_args args = {sizeof args, 64, 32, 16, NULL, NULL, NULL, NULL};
  const lay_kernel_info* info = layer_describe();
  lay_message why;
  int64_t bytes = 0;
  double sum = 0;
  size_t i;
  if (count != 1 && count != 4) {
    fprintf(stderr, "usage: infer [M N K]\n");
    return 2;
  }
  if (count == 4) {
    args.M = atoll(words[1]);
    args.N = atoll(words[2]);
    args.K = atoll(words[3]);
  }
  if (args.M < 1 || args.N < 1 || args.K < 1 || args.M > 4096 || args.N > 4096 || args.K > 4096) {
    fprintf(stderr, "M, N and K are numbers from 1 to 4096\n");
    return 2;
  }
  args.X = numbers((size_t)(args.M * args.K), 1);
  args.W = numbers((size_t)(args.N * args.K), 2);
  args.b = numbers((size_t)args.N, 3);
  args.Y = numbers((size_t)(args.M * args.N), 4);
  printf("sizes       M = %d, N = %d, K = %d\n", (int)args.M, (int)args.N, (int)args.K);
  for (i = 0; i < info->guard_count; ++i) printf("guard       %s\n", info->guards[i]);
  for (i = 0; i < info->variant_count; ++i)
    printf("variant     %s for %s where %s\n", info->variants[i].name, info->variants[i].targets,
           info->variants[i].conditions);

  /* Whether a launch takes these sizes: any addresses do, those of the host as well. */
  if (layer_check(&args, &why) != LAY_OK) {
    printf("refused     %s\n", why.text);
    return 1;
  }
  if (layer_workspace(&args, &bytes, &why) == LAY_OK) printf("workspace   %d\n", (int)bytes);

  if (!layer_on_gpu(&args)) layer_on_host(&args);
  for (i = 0; i < (size_t)(args.M * args.N); ++i) sum += ((const float*)args.Y)[i];
  printf("sum of Y    %.0f\n", sum);
  free((void*)args.X);
  free((void*)args.W);
  free((void*)args.b);
  free(args.Y);
  return 0;
}
