/* Tensors as DLPack's C exchange API describes them, and the description of a call's tensors, by
 * which a prepared launch is found. */
#ifndef LAY_PYTHON_NATIVE_DESCRIPTION_H
#define LAY_PYTHON_NATIVE_DESCRIPTION_H
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "python/native/dlpack.h"

enum { LAY_DESCRIPTION_BYTES = 2048 };

/* Equal for calls whose tensors have the same types, shapes, strides and device, and addresses that
 * are the same modulo 256. */
typedef struct {
  char bytes[LAY_DESCRIPTION_BYTES];
  size_t size;
  int32_t device;                  /* -1 where no tensor is given */
  const dlpack_exchange* exchange; /* of a tensor of the call: it knows the stream */
} lay_description;

/* Prepares the functions below: 0 with an exception. */
int lay_begin_descriptions(void);

/* `describe` of the module, and what it says of itself. */
PyObject* lay_describe(PyObject* module, PyObject* find);
extern const char lay_describe_doc[];

/* Describes tensors, of which those that are to be made are null, and says where they lie. 1; 0
 * where the call is not for this module: a tensor that the API does not describe, tensors of the
 * host or of several devices, too long a description; -1 with an exception. */
int lay_describe_tensors(lay_description* description, PyObject* const* tensors, Py_ssize_t count,
                         void** addresses);

/* Where a tensor lies: 0, or -1 with an exception. */
int lay_address_of(PyObject* tensor, void** address);

#endif
