#define PY_SSIZE_T_CLEAN
#include "python/native/description.h"

#include <string.h>

enum { MOST_TYPES = 64 };

/* Type -> its capsule, or None; and what says it of a type that is not there yet. */
static PyObject* exchanges;
static PyObject* exchange_of;

int lay_begin_descriptions(void) {
  exchanges = PyDict_New();
  return exchanges != NULL;
}

const char lay_describe_doc[] =
    "describe(find): `find(type)` gives the DLPack exchange API of a type whose instances\n"
    "may be described by it, as a capsule, and None for any other.";

PyObject* lay_describe(PyObject* module, PyObject* find) {
  (void)module;
  Py_XDECREF(exchange_of);
  Py_INCREF(find);
  exchange_of = find;
  PyDict_Clear(exchanges);
  Py_RETURN_NONE;
}

static const dlpack_exchange* of_capsule(PyObject* capsule) {
  const dlpack_header* header;
  const dlpack_exchange* exchange;
  if (!PyCapsule_IsValid(capsule, "dlpack_exchange_api")) return NULL;
  header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  while (header && header->major != DLPACK_MAJOR) header = header->previous;
  exchange = (const dlpack_exchange*)header;
  if (!exchange || !exchange->tensor_from_object || !exchange->current_stream) return NULL;
  return exchange;
}

/* The exchange API of an object's type; null with or without an exception. */
static const dlpack_exchange* exchange_for(PyObject* object) {
  PyObject* type = (PyObject*)Py_TYPE(object);
  PyObject* capsule = PyDict_GetItemWithError(exchanges, type);
  const dlpack_exchange* found;
  if (capsule) return of_capsule(capsule);
  if (PyErr_Occurred() || !exchange_of) return NULL;
  capsule = PyObject_CallFunctionObjArgs(exchange_of, type, NULL);
  if (!capsule) return NULL;
  if (PyDict_Size(exchanges) >= MOST_TYPES) PyDict_Clear(exchanges);
  found = PyDict_SetItem(exchanges, type, capsule) == 0 ? of_capsule(capsule) : NULL;
  Py_DECREF(capsule);
  return found;
}

static void* address_of(const dlpack_tensor* tensor) {
  return tensor->data ? (char*)tensor->data + tensor->byte_offset : NULL;
}

static int append(lay_description* to, const void* data, size_t size) {
  if (size > LAY_DESCRIPTION_BYTES - to->size) return 0;
  memcpy(to->bytes + to->size, data, size);
  to->size += size;
  return 1;
}

/* Adds a tensor to the description, or that there is none yet. 1, 0 where it is not for here, -1
 * with an exception. */
static int add_tensor(lay_description* to, PyObject* object, void** address) {
  dlpack_tensor tensor;
  const dlpack_exchange* exchange;
  size_t extents;
  int32_t head[3];
  const int32_t none = -1;
  if (!object) return append(to, &none, sizeof none);
  exchange = exchange_for(object);
  if (!exchange) return PyErr_Occurred() ? -1 : 0;
  if (exchange->tensor_from_object(object, &tensor) != 0) {
    PyErr_Clear(); /* `_call` says what is wrong with it */
    return 0;
  }
  if (tensor.device_type != DLPACK_CUDA || tensor.ndim < 0) return 0;
  if (to->device >= 0 && to->device != tensor.device_id) return 0;
  to->device = tensor.device_id;
  to->exchange = exchange;
  *address = address_of(&tensor);
  head[0] = tensor.ndim;
  head[1] = (int32_t)(tensor.code | (uint32_t)tensor.bits << 8 | (uint32_t)tensor.lanes << 16);
  head[2] = (int32_t)((uintptr_t)*address & 255);
  extents = (size_t)tensor.ndim * sizeof(int64_t);
  if (!append(to, head, sizeof head) || !append(to, tensor.shape, extents)) return 0;
  if (!append(to, tensor.strides ? "s" : "r", 1)) return 0;
  return !tensor.strides || append(to, tensor.strides, extents);
}

int lay_describe_tensors(lay_description* description, PyObject* const* tensors, Py_ssize_t count,
                         void** addresses) {
  Py_ssize_t i;
  description->size = 0;
  description->device = -1;
  description->exchange = NULL;
  for (i = 0; i < count; ++i) {
    const int added = add_tensor(description, tensors[i], &addresses[i]);
    if (added != 1) return added;
  }
  return description->device >= 0 && append(description, &description->device, sizeof(int32_t));
}

int lay_address_of(PyObject* object, void** address) {
  dlpack_tensor tensor;
  const dlpack_exchange* exchange = exchange_for(object);
  if (!exchange) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError,
                      "an output was made of a type that DLPack does not describe");
    return -1;
  }
  if (exchange->tensor_from_object(object, &tensor) != 0) return -1;
  *address = address_of(&tensor);
  return 0;
}
