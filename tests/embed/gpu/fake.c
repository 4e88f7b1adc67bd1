/* For the fake driver of tests/driver/fake: its launches are printed when the program ends, and
 * done by a loop over the arguments that the program gave. The program's calls of the launch
 * function pass through here: the linker sees to it (--wrap), or fake.py. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of the calling thread's last launch. */
typedef struct product {
  int64_t M, N, K;
  const uint16_t *A, *B;
  float* C;
} product;
static __thread product last;

#ifdef OF_BUNDLE
#include "product.h"

lay_status __real_product_launch_lay2(const product_args* args, void* workspace, int64_t bytes,
                                      lay_stream stream, lay_message* why);
lay_status __wrap_product_launch_lay2(const product_args* args, void* workspace, int64_t bytes,
                                      lay_stream stream, lay_message* why);
lay_status __wrap_product_launch_lay2(const product_args* args, void* workspace, int64_t bytes,
                                      lay_stream stream, lay_message* why) {
  const product given = {args->M, args->N, args->K, args->A, args->B, args->C};
  last = given;
  return __real_product_launch_lay2(args, workspace, bytes, stream, why);
}
#else
#include <lay/lay.h>

typedef lay_result launch_function(lay_launcher* launcher, const lay_tensor* tensors, size_t count,
                                   const lay_size* sizes, size_t size_count,
                                   const lay_value* const* scalars, size_t scalar_count,
                                   void* workspace, int64_t bytes, void* stream);
#ifdef OF_PACKAGE
launch_function *real_launch, launch_through; /* fake.py sets the first and calls the second */
#else
/* The linker gives these names to the library's function and to what is called in its place. */
#define real_launch __real_lay_launcher_launch
#define launch_through __wrap_lay_launcher_launch
launch_function real_launch, launch_through;
#endif

lay_result launch_through(lay_launcher* launcher, const lay_tensor* tensors,
                                      size_t count, const lay_size* sizes, size_t size_count,
                                      const lay_value* const* scalars, size_t scalar_count,
                                      void* workspace, int64_t bytes, void* stream) {
  const product given = {tensors[0].shape[0], tensors[1].shape[0], tensors[0].shape[1],
                         tensors[0].address,  tensors[1].address,  tensors[2].address};
  last = given;
  return real_launch(launcher, tensors, count, sizes, size_count, scalars,
                                    scalar_count, workspace, bytes, stream);
}
#endif

static float of_half(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static void multiply(const product* of) {
  int64_t m, n, k;
  for (m = 0; m < of->M; ++m)
    for (n = 0; n < of->N; ++n) {
      float sum = 0;
      for (k = 0; k < of->K; ++k)
        sum += of_half(of->A[m * of->K + k]) * of_half(of->B[n * of->K + k]);
      of->C[m * of->N + n] = sum;
    }
}

/* Launches that are alike, in the order in which they were first seen. */
typedef struct call {
  const char* name;
  unsigned launch[5]; /* blocks along x, y and z, threads a block, bytes of shared memory */
  int launched, recorded;
} call;
static call calls[64];
static size_t call_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void print_calls(void) {
  size_t i;
  for (i = 0; i < call_count; ++i)
    printf("call        %s, grid (%u,%u,%u), %u threads, %u bytes: launched %d, recorded %d\n",
           calls[i].name, calls[i].launch[0], calls[i].launch[1], calls[i].launch[2],
           calls[i].launch[3], calls[i].launch[4], calls[i].launched, calls[i].recorded);
}

static void count(const char* name, const unsigned* launch, int is_recorded) {
  size_t i;
  pthread_mutex_lock(&lock);
  if (call_count == 0) atexit(print_calls);
  for (i = 0; i < call_count; ++i)
    if (strcmp(calls[i].name, name) == 0 &&
        memcmp(calls[i].launch, launch, sizeof calls[i].launch) == 0)
      break;
  if (i == call_count && call_count < sizeof calls / sizeof *calls) {
    calls[i].name = name;
    memcpy(calls[i].launch, launch, sizeof calls[i].launch);
    ++call_count;
  }
  if (i < call_count) {
    calls[i].launched += !is_recorded;
    calls[i].recorded += is_recorded;
  }
  pthread_mutex_unlock(&lock);
}

/* What the fake driver asks the program for. */
void fake_starts_again(void);
void* fake_find(const char* name);
int fake_run(void* kernel, const unsigned* launch, void** values);
void* fake_record(void* kernel, const unsigned* launch, void** values);
void fake_replay(void* work);

/* The launcher and the program start the same driver. */
void fake_starts_again(void) {}

void* fake_find(const char* name) {
  char* kept = malloc(strlen(name) + 1);
  if (kept) strcpy(kept, name);
  return kept;
}

int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)values;
  count(kernel, launch, 0);
  multiply(&last);
  return 1;
}

void* fake_record(void* kernel, const unsigned* launch, void** values) {
  product* kept = malloc(sizeof *kept);
  (void)values;
  count(kernel, launch, 1);
  if (kept) *kept = last;
  return kept;
}

void fake_replay(void* work) {
  multiply(work);
}
