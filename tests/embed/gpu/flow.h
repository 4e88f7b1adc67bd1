/* What the two programs of this folder do on a GPU, in C99 and C++: products of whole numbers, each
 * compared with one that the host computes in double; launched alone, captured in a graph that is
 * replayed 100 times, on two streams, and from 8 threads with a stream each. A program brings the
 * function that launches a product. */
#ifndef TESTS_EMBED_GPU_FLOW_H
#define TESTS_EMBED_GPU_FLOW_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h" /* of examples/embed, as it is installed */

enum { thread_count = 8, launches_a_thread = 50, replays = 100 };

/* C = A * B^T, on the host and on the device. */
typedef struct problem {
  int64_t M, N, K;
  double* expected;
  void *A, *B, *C, *workspace; /* of the device */
  int64_t workspace_bytes;
} problem;

/* The driver's functions for streams and graphs, beside those of device.h. */
typedef struct driver {
  device gpu;
  int (*fill)(unsigned long long, unsigned char, size_t);
  int (*make_stream)(device_stream*, unsigned);
  int (*free_stream)(device_stream);
  int (*wait_for)(device_stream);
  int (*begin_capture)(device_stream, int);
  int (*end_capture)(device_stream, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*replay)(void*, device_stream);
  int (*free_executable)(void*);
  int (*free_graph)(void*);
} driver;

/* What a program brings. `self` is its own, one for each thread (0: the main one). */
typedef struct program {
  const driver* on;
  void* self[1 + thread_count];
  /* The bytes of workspace that the product needs; below 0 where something is wrong. */
  int64_t (*workspace)(void* self, const problem* of);
  /* Launches it on the stream; 0 after a success. */
  int (*launch)(void* self, const problem* of, device_stream stream);
} program;

/* A call of the driver that fails ends the program: a test has nothing to go on with. */
static inline void must(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "%s: error %d\n", what, status);
  exit(1);
}

/* Opens GPU 0. Returns NULL, or what this machine lacks. */
static inline const char* driver_open(driver* on) {
  const char* lacks = device_open(&on->gpu);
  void* library = lacks ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (lacks) return lacks;
  if (!device_find(library, "cuMemsetD8_v2", &on->fill) ||
      !device_find(library, "cuStreamCreate", &on->make_stream) ||
      !device_find(library, "cuStreamDestroy_v2", &on->free_stream) ||
      !device_find(library, "cuStreamSynchronize", &on->wait_for) ||
      !device_find(library, "cuStreamBeginCapture_v2", &on->begin_capture) ||
      !device_find(library, "cuStreamEndCapture", &on->end_capture) ||
      !device_find(library, "cuGraphInstantiateWithFlags", &on->instantiate) ||
      !device_find(library, "cuGraphLaunch", &on->replay) ||
      !device_find(library, "cuGraphExecDestroy", &on->free_executable) ||
      !device_find(library, "cuGraphDestroy", &on->free_graph))
    return "the NVIDIA driver is older than CUDA 12.0";
  return NULL;
}

/* A stream that does not wait for the default one. */
static inline device_stream stream_made(const driver* on) {
  enum { non_blocking = 1 };
  device_stream stream = NULL;
  must(on->make_stream(&stream, non_blocking), "cuStreamCreate");
  return stream;
}

/* Whole numbers from -4 to 4, as double and as bf16, whose upper half of a float holds them. */
static inline void draw(double* numbers, uint16_t* halves, size_t count, unsigned seed) {
  size_t i;
  for (i = 0; i < count; ++i) {
    float number;
    uint32_t bits;
    seed = seed * 1664525u + 1013904223u;
    number = (float)((int)((seed >> 16) % 9) - 4);
    memcpy(&bits, &number, sizeof bits);
    numbers[i] = number;
    halves[i] = (uint16_t)(bits >> 16);
  }
}

static inline void* host_memory(size_t bytes) {
  void* made = malloc(bytes);
  if (!made) must(1, "malloc");
  return made;
}

static inline void* on_device(const driver* on, const void* from, size_t bytes) {
  void* made = device_memory(&on->gpu, from, bytes);
  if (!made) must(1, "memory of the device");
  return made;
}

/* A product of drawn numbers, the host's result, and memory for the device's. */
static inline problem problem_made(const program* by, void* self, int64_t M, int64_t N, int64_t K,
                                   unsigned seed) {
  const size_t a_count = (size_t)(M * K), b_count = (size_t)(N * K), c_count = (size_t)(M * N);
  double* a = (double*)host_memory(a_count * sizeof(double));
  double* b = (double*)host_memory(b_count * sizeof(double));
  uint16_t* halves = (uint16_t*)host_memory((a_count + b_count) * sizeof(uint16_t));
  int64_t m, n, k;
  problem made;
  memset(&made, 0, sizeof made);
  made.M = M;
  made.N = N;
  made.K = K;
  made.expected = (double*)host_memory(c_count * sizeof(double));
  draw(a, halves, a_count, seed);
  draw(b, halves + a_count, b_count, seed + 1);
  for (m = 0; m < M; ++m)
    for (n = 0; n < N; ++n) {
      double sum = 0;
      for (k = 0; k < K; ++k) sum += a[m * K + k] * b[n * K + k];
      made.expected[m * N + n] = sum;
    }
  made.A = on_device(by->on, halves, a_count * sizeof(uint16_t));
  made.B = on_device(by->on, halves + a_count, b_count * sizeof(uint16_t));
  made.C = on_device(by->on, NULL, c_count * sizeof(float));
  made.workspace_bytes = by->workspace(self, &made);
  must(made.workspace_bytes < 0, "the bytes of workspace");
  made.workspace = on_device(by->on, NULL, (size_t)made.workspace_bytes);
  free(a);
  free(b);
  free(halves);
  return made;
}

static inline void problem_freed(const driver* on, problem* of) {
  device_free(&on->gpu, of->A);
  device_free(&on->gpu, of->B);
  device_free(&on->gpu, of->C);
  device_free(&on->gpu, of->workspace);
  free(of->expected);
}

/* Fills the result with bits that are no number, so that an element that nobody writes is seen, and
 * the workspace, which may hold anything. */
static inline void problem_cleared(const driver* on, const problem* of) {
  must(on->fill((uintptr_t)of->C, 0xff, (size_t)(of->M * of->N) * sizeof(float)), "cuMemsetD8");
  if (of->workspace_bytes > 0)
    must(on->fill((uintptr_t)of->workspace, 0xff, (size_t)of->workspace_bytes), "cuMemsetD8");
  must(on->gpu.wait(), "cuCtxSynchronize");
}

/* The elements of the result that are not the host's. */
static inline int64_t problem_wrong(const driver* on, const problem* of) {
  const int64_t count = of->M * of->N;
  float* found = (float*)host_memory((size_t)count * sizeof(float));
  int64_t wrong = 0, i;
  must(device_read(&on->gpu, found, of->C, (size_t)count * sizeof(float)), "cuMemcpyDtoH");
  for (i = 0; i < count; ++i) wrong += !((double)found[i] == of->expected[i]);
  free(found);
  return wrong;
}

static int failures; /* of the main thread */

static inline void report(const char* what, int64_t wrong) {
  if (wrong == 0)
    printf("right       %s\n", what);
  else
    printf("wrong       %s: %lld\n", what, (long long)wrong);
  failures += wrong != 0;
}

static inline void run_alone(const program* by, device_stream stream) {
  static const int64_t sizes[][3] = {
      {256, 384, 320}, {37, 129, 76}, {1, 512, 1024}, {304, 256, 1020}};
  size_t i;
  for (i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    problem of = problem_made(by, by->self[0], sizes[i][0], sizes[i][1], sizes[i][2], (unsigned)i);
    char what[96];
    problem_cleared(by->on, &of);
    must(by->launch(by->self[0], &of, stream), "a launch");
    must(by->on->wait_for(stream), "cuStreamSynchronize");
    snprintf(what, sizeof what, "M = %d, N = %d, K = %d, workspace %d", (int)of.M, (int)of.N,
             (int)of.K, (int)of.workspace_bytes);
    report(what, problem_wrong(by->on, &of));
    problem_freed(by->on, &of);
  }
}

/* A graph of one launch: every replay writes the whole result anew. */
static inline void run_graph(const program* by, device_stream stream) {
  enum { thread_local_mode = 1 };
  problem of = problem_made(by, by->self[0], 128, 192, 160, 11);
  void *graph = NULL, *executable = NULL;
  int64_t wrong = 0;
  int i;
  /* What is first used in a capture could not be loaded any more. */
  must(by->launch(by->self[0], &of, stream), "a launch");
  must(by->on->wait_for(stream), "cuStreamSynchronize");
  problem_cleared(by->on, &of);
  must(by->on->begin_capture(stream, thread_local_mode), "cuStreamBeginCapture");
  must(by->launch(by->self[0], &of, stream), "a captured launch");
  must(by->on->end_capture(stream, &graph), "cuStreamEndCapture");
  must(by->on->instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  must(problem_wrong(by->on, &of) != of.M * of.N, "a captured launch that ran at once");
  for (i = 0; i < replays; ++i) {
    problem_cleared(by->on, &of);
    must(by->on->replay(executable, stream), "cuGraphLaunch");
    must(by->on->wait_for(stream), "cuStreamSynchronize");
    wrong += problem_wrong(by->on, &of);
  }
  report("captured in a graph, replayed 100 times", wrong);
  must(by->on->free_executable(executable), "cuGraphExecDestroy");
  must(by->on->free_graph(graph), "cuGraphDestroy");
  problem_freed(by->on, &of);
}

/* Launches two products alternately, each on its stream. */
static inline void run_two_streams(const program* by) {
  device_stream streams[2];
  problem of[2];
  int64_t wrong = 0;
  int i;
  for (i = 0; i < 2; ++i) {
    streams[i] = stream_made(by->on);
    of[i] = problem_made(by, by->self[0], 128, 192, 160, 21 + (unsigned)i);
    problem_cleared(by->on, &of[i]);
  }
  for (i = 0; i < 100; ++i) must(by->launch(by->self[0], &of[i % 2], streams[i % 2]), "a launch");
  for (i = 0; i < 2; ++i) {
    must(by->on->wait_for(streams[i]), "cuStreamSynchronize");
    wrong += problem_wrong(by->on, &of[i]);
    problem_freed(by->on, &of[i]);
    must(by->on->free_stream(streams[i]), "cuStreamDestroy");
  }
  report("on two streams, 50 launches each", wrong);
}

typedef struct worker {
  pthread_t thread;
  const program* by;
  int number;
  int64_t wrong;
} worker;

static inline void* work(void* at) {
  worker* own = (worker*)at;
  const driver* on = own->by->on;
  void* self = own->by->self[1 + own->number];
  device_stream stream;
  problem of;
  int i;
  must(on->gpu.enter(on->gpu.context), "cuCtxSetCurrent");
  stream = stream_made(on);
  of = problem_made(own->by, self, 128, 192, 160, 31 + (unsigned)own->number);
  problem_cleared(on, &of);
  for (i = 0; i < launches_a_thread; ++i) must(own->by->launch(self, &of, stream), "a launch");
  must(on->wait_for(stream), "cuStreamSynchronize");
  own->wrong = problem_wrong(on, &of);
  problem_freed(on, &of);
  must(on->free_stream(stream), "cuStreamDestroy");
  return NULL;
}

static inline void run_threads(const program* by) {
  worker workers[thread_count];
  int64_t wrong = 0;
  int i;
  for (i = 0; i < thread_count; ++i) {
    workers[i].by = by;
    workers[i].number = i;
    must(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  for (i = 0; i < thread_count; ++i) {
    must(pthread_join(workers[i].thread, NULL), "pthread_join");
    wrong += workers[i].wrong;
  }
  report("from 8 threads with a stream each, 50 launches each", wrong);
}

/* All of it. Returns the exit code of the program. */
static inline int run(const program* by) {
  device_stream stream = stream_made(by->on);
  run_alone(by, stream);
  run_graph(by, stream);
  run_two_streams(by);
  run_threads(by);
  must(by->on->free_stream(stream), "cuStreamDestroy");
  printf(failures == 0 ? "all right\n" : "%d wrong\n", failures);
  return failures == 0 ? 0 : 1;
}

#endif
