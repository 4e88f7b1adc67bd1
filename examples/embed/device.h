/* A GPU by a few functions of the CUDA driver, found when the program runs: a program with this
 * header is compiled without CUDA and starts on a machine without a GPU. One that is linked to the
 * CUDA runtime uses cudaMalloc, cudaMemcpy and cudaStreamCreate in its place.
 *
 * For C99 and C++. Functions return 0 or the error number of the driver. */
#ifndef EXAMPLES_EMBED_DEVICE_H
#define EXAMPLES_EMBED_DEVICE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CUstream_st* device_stream; /* CUstream, which is cudaStream_t */

typedef struct device {
  void* context; /* the primary one */
  int (*init)(unsigned flags);
  int (*get)(int* device, int number);
  int (*retain)(void** context, int device);
  int (*enter)(void* context); /* makes it current in the calling thread */
  int (*wait)(void);           /* for all work of the current context */
  int (*allocate)(unsigned long long* address, size_t bytes);
  int (*release)(unsigned long long address);
  int (*copy_in)(unsigned long long to, const void* from, size_t bytes);
  int (*copy_out)(void* to, unsigned long long from, size_t bytes);
} device;

/* Finds a function of the driver by the name that cuda.h gives it. Returns 0 where it has none. */
static inline int device_find(void* driver, const char* name, void* function) {
  *(void**)function = dlsym(driver, name);
  return *(void**)function != NULL;
}

/* Opens GPU 0 and makes its primary context current in this thread. Returns NULL, or a sentence
 * about what this machine lacks. */
static inline const char* device_open(device* gpu) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int number = 0;
  if (!driver) return "there is no NVIDIA driver";
  if (!device_find(driver, "cuInit", &gpu->init) ||
      !device_find(driver, "cuDeviceGet", &gpu->get) ||
      !device_find(driver, "cuDevicePrimaryCtxRetain", &gpu->retain) ||
      !device_find(driver, "cuCtxSetCurrent", &gpu->enter) ||
      !device_find(driver, "cuCtxSynchronize", &gpu->wait) ||
      !device_find(driver, "cuMemAlloc_v2", &gpu->allocate) ||
      !device_find(driver, "cuMemFree_v2", &gpu->release) ||
      !device_find(driver, "cuMemcpyHtoD_v2", &gpu->copy_in) ||
      !device_find(driver, "cuMemcpyDtoH_v2", &gpu->copy_out))
    return "the NVIDIA driver is too old";
  if (gpu->init(0) || gpu->get(&number, 0)) return "the NVIDIA driver finds no GPU";
  if (gpu->retain(&gpu->context, number) || gpu->enter(gpu->context))
    return "GPU 0 gives no context";
  return NULL;
}

/* Allocates memory of the GPU, and copies `bytes` from `from` into it unless that is NULL. Returns
 * NULL where one of the two fails. */
static inline void* device_memory(const device* gpu, const void* from, size_t bytes) {
  unsigned long long address = 0;
  if (gpu->allocate(&address, bytes > 0 ? bytes : 1)) return NULL;
  if (from && gpu->copy_in(address, from, bytes)) return NULL;
  return (void*)(uintptr_t)address;
}

static inline int device_read(const device* gpu, void* to, const void* from, size_t bytes) {
  return gpu->copy_out(to, (unsigned long long)(uintptr_t)from, bytes);
}

static inline void device_free(const device* gpu, void* memory) {
  gpu->release((unsigned long long)(uintptr_t)memory);
}

#endif
