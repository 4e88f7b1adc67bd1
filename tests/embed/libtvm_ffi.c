/* A libtvm_ffi that is none: the functions that a bundle's launcher calls, and what a test asks and
 * sets. Errors, streams and the allocator belong to the thread, as those of TVM-FFI do. Tensors are
 * of the host's memory. WITHOUT_STREAM and WITHOUT_ALLOCATOR leave functions out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void* data;
  int32_t device[2], ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct {
  uint64_t references;
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void*, int);
  Tensor tensor;
  int64_t shape[1];
} TensorObject;

static __thread char error[2][1024]; /* its kind and its message */
static __thread void* streams[4];
static __thread int refuses, shift;
static long tensors; /* that are not released */

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
void* TVMFFIEnvGetStream(int32_t device_type, int32_t device);
int TVMFFIEnvTensorAlloc(Tensor* prototype, void** out);
int TVMFFIObjectDecRef(void* object);
const char* ffi_error(int message);
void ffi_clear(void);
void ffi_set_stream(int device, void* stream);
void ffi_set_allocator(int is_refusing, int bytes_off);
long ffi_tensors(void);

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  snprintf(error[0], sizeof error[0], "%s", kind);
  snprintf(error[1], sizeof error[1], "%s", message);
}

#ifndef WITHOUT_STREAM
void* TVMFFIEnvGetStream(int32_t device_type, int32_t device) {
  return device_type == 2 && device >= 0 && device < 4 ? streams[device] : NULL;
}
#endif

#ifndef WITHOUT_ALLOCATOR
int TVMFFIEnvTensorAlloc(Tensor* prototype, void** out) {
  TensorObject* made;
  const int is_bytes = prototype->code == 1 && prototype->bits == 8 && prototype->lanes == 1;
  if (refuses || !is_bytes || prototype->ndim != 1 || prototype->device[0] != 2) {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "the allocator has no memory");
    return -1;
  }
  made = (TensorObject*)calloc(1, sizeof *made);
  made->references = 1;
  made->type_index = 70;
  made->shape[0] = prototype->shape[0];
  made->tensor = *prototype;
  made->tensor.shape = made->shape;
  made->tensor.byte_offset = (uint64_t)shift;
  made->tensor.data = aligned_alloc(256, ((size_t)made->shape[0] + 511) / 256 * 256);
  memset(made->tensor.data, 0xff, (size_t)made->shape[0] + 256);
  __atomic_fetch_add(&tensors, 1, __ATOMIC_SEQ_CST);
  *out = made;
  return 0;
}
#endif

int TVMFFIObjectDecRef(void* object) {
  TensorObject* of = (TensorObject*)object;
  if (--of->references > 0) return 0;
  free(of->tensor.data);
  free(of);
  __atomic_fetch_add(&tensors, -1, __ATOMIC_SEQ_CST);
  return 0;
}

const char* ffi_error(int message) {
  return error[message];
}
void ffi_clear(void) {
  error[0][0] = error[1][0] = '\0';
}
void ffi_set_stream(int device, void* stream) {
  streams[device] = stream;
}
void ffi_set_allocator(int is_refusing, int bytes_off) {
  refuses = is_refusing;
  shift = bytes_off;
}
long ffi_tensors(void) {
  return __atomic_load_n(&tensors, __ATOMIC_SEQ_CST);
}
