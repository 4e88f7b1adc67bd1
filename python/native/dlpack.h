/* What the package for Python reads of DLPack's C exchange API (DLPack 1.3, `dlpack.h`): how a
 * framework describes its tensors and says its current stream without a call of Python. */
#ifndef LAY_PYTHON_NATIVE_DLPACK_H
#define LAY_PYTHON_NATIVE_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_CUDA = 2 };

typedef struct {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides; /* in elements; null for row-major */
  uint64_t byte_offset;
} dlpack_tensor;

typedef struct dlpack_header {
  uint32_t major;
  uint32_t minor;
  struct dlpack_header* previous; /* the same of an older major version, or null */
} dlpack_header;

/* Functions return 0, or -1 with a Python exception set. */
typedef struct {
  dlpack_header header;
  void* allocate; /* not called here, nor are the next two */
  void* managed_from_object;
  void* managed_to_object;
  /* What an object is, valid while the object is alive and unchanged; may be null. */
  int (*tensor_from_object)(void* object, dlpack_tensor* tensor);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
} dlpack_exchange;

#endif
