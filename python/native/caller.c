/* `lay._native`: the type Caller, whose calls launch what was launched before.
 *
 * A kernel is called with tensors of a GPU again and again, and their types, shapes, strides and
 * alignments are mostly those of a call before. Such a call is made here: the arguments are
 * described by DLPack's C exchange API, the prepared launch is found by that description, and
 * `lay_launcher_launch` is called. Every other call goes to the method `_call`, which is written in
 * Python and defines what a call means; what it prepares it hands over by `_keep`.
 *
 * The module is of CPython's stable ABI (3.9) and needs no library: the functions of `lay/lay.h`
 * come from the package, which has loaded them. */
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <lay/lay.h>
#include <string.h>

#include "python/native/description.h"

/* Kernels with more parameters and outputs are left to `_call`. */
enum { MOST_VALUES = 32 };

/* ---- the functions of the library ------------------------------------------------------------ */

static struct {
  lay_result (*launch)(lay_launcher*, const lay_tensor*, size_t, const lay_size*, size_t,
                       const lay_value* const*, size_t, void*, int64_t, void*);
  lay_result (*of_integer)(lay_context*, int64_t, lay_value**);
  lay_result (*of_real)(lay_context*, double, lay_value**);
  void (*free_value)(lay_value*);
} library;

PyDoc_STRVAR(bind_doc,
             "bind(launch, value_of_integer, value_of_real, value_free): the addresses of these\n"
             "functions of the library, which calls use from here on.");

static PyObject* bind(PyObject* module, PyObject* args) {
  unsigned long long at[4];
  (void)module;
  if (!PyArg_ParseTuple(args, "KKKK", &at[0], &at[1], &at[2], &at[3])) return NULL;
  memcpy(&library.launch, &at[0], sizeof library.launch);
  memcpy(&library.of_integer, &at[1], sizeof library.of_integer);
  memcpy(&library.of_real, &at[2], sizeof library.of_real);
  memcpy(&library.free_value, &at[3], sizeof library.free_value);
  Py_RETURN_NONE;
}

/* ---- prepared launches ----------------------------------------------------------------------- */

/* What `_keep` hands over. The pointers lie in objects that `owner` keeps alive. */
typedef struct {
  lay_context* context;
  lay_launcher* launcher;
  lay_tensor* tensors; /* all but the addresses is filled in */
  const lay_size* sizes;
  size_t size_count;
  long long workspace;   /* in bytes */
  PyObject* makers;      /* a tuple: for each output that is not given, what makes it */
  PyObject* make_memory; /* what makes the workspace; null where there is none */
  PyObject* acquire;     /* of the lock that holds for the context */
  PyObject* release;
  PyObject* owner;
} prepared;

static const char prepared_name[] = "lay._native.prepared";

static void free_prepared(PyObject* capsule) {
  prepared* launch = PyCapsule_GetPointer(capsule, prepared_name);
  Py_XDECREF(launch->makers);
  Py_XDECREF(launch->make_memory);
  Py_XDECREF(launch->acquire);
  Py_XDECREF(launch->release);
  Py_XDECREF(launch->owner);
  PyMem_Free(launch);
}

/* ---- the type -------------------------------------------------------------------------------- */

typedef struct {
  PyObject_HEAD PyObject* places; /* parameter's name -> its place among the values below */
  PyObject* launches;             /* description -> a capsule of `prepared` */
  Py_ssize_t parameters, tensors, scalars, outputs, results;
  /* The values of a call are the tensors in the kernel's order, then the scalars. */
  unsigned char place[MOST_VALUES];  /* of each parameter */
  unsigned char output[MOST_VALUES]; /* the tensors that are outputs alone */
  unsigned char result[MOST_VALUES]; /* the tensors that a call returns */
} caller;

PyDoc_STRVAR(
    know_doc,
    "_know(names, places, tensors, outputs, results): the parameters' names and where each\n"
    "stands among the kernel's tensors and the scalars behind them, how many tensors there\n"
    "are, and which of them are outputs alone, and which a call returns.");

static int read_places(PyObject* tuple, unsigned char* places, Py_ssize_t* count) {
  Py_ssize_t i;
  *count = PyTuple_Size(tuple);
  if (*count < 0) return 0;
  if (*count > MOST_VALUES) *count = MOST_VALUES;
  for (i = 0; i < *count; ++i) {
    const long place = PyLong_AsLong(PyTuple_GetItem(tuple, i));
    if (place == -1 && PyErr_Occurred()) return 0;
    if (place < 0 || place >= MOST_VALUES) {
      PyErr_SetString(PyExc_ValueError, "a place is out of range");
      return 0;
    }
    places[i] = (unsigned char)place;
  }
  return 1;
}

static PyObject* know(PyObject* object, PyObject* args) {
  caller* self = (caller*)object;
  PyObject *names, *places, *outputs, *results;
  Py_ssize_t i, tensors, of_tensors = 0;
  if (!PyArg_ParseTuple(args, "O!O!nO!O!", &PyTuple_Type, &names, &PyTuple_Type, &places, &tensors,
                        &PyTuple_Type, &outputs, &PyTuple_Type, &results))
    return NULL;
  self->parameters = -1;
  if (tensors + PyTuple_Size(places) > MOST_VALUES) Py_RETURN_NONE;
  Py_XDECREF(self->places);
  Py_XDECREF(self->launches);
  self->places = PyDict_New();
  self->launches = PyDict_New();
  if (!self->places || !self->launches) return NULL;
  if (!read_places(places, self->place, &self->scalars) ||
      !read_places(outputs, self->output, &self->outputs) ||
      !read_places(results, self->result, &self->results))
    return NULL;
  for (i = 0; i < self->scalars; ++i) {
    PyObject* place = PyTuple_GetItem(places, i);
    if (self->place[i] < tensors) ++of_tensors;
    if (PyDict_SetItem(self->places, PyTuple_GetItem(names, i), place) < 0) return NULL;
  }
  self->tensors = tensors;
  self->parameters = self->scalars;
  self->scalars -= of_tensors;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(
    keep_doc,
    "_keep(tensors, context, launcher, described, sizes, size_count, workspace, makers,\n"
    "make_memory, lock, owner): a launch that is prepared for tensors as these, where None\n"
    "stands for an output that `makers` make in turn. `described` and `sizes` are\n"
    "addresses of the library's structs, in memory that `owner` keeps alive.");

static PyObject* keep(PyObject* object, PyObject* args) {
  caller* self = (caller*)object;
  PyObject *tensors, *makers, *make_memory, *lock, *owner, *capsule, *name;
  PyObject* values[MOST_VALUES];
  void* addresses[MOST_VALUES];
  unsigned long long context, launcher, described, sizes;
  Py_ssize_t size_count, i;
  long long workspace;
  lay_description key;
  prepared* launch;
  int answer;
  if (!PyArg_ParseTuple(args, "O!KKKKnLO!OOO", &PyTuple_Type, &tensors, &context, &launcher,
                        &described, &sizes, &size_count, &workspace, &PyTuple_Type, &makers,
                        &make_memory, &lock, &owner))
    return NULL;
  if (self->parameters < 0 || PyTuple_Size(tensors) != self->tensors) Py_RETURN_NONE;
  for (i = 0; i < self->tensors; ++i) {
    PyObject* value = PyTuple_GetItem(tensors, i);
    values[i] = value == Py_None ? NULL : value;
  }
  answer = lay_describe_tensors(&key, values, self->tensors, addresses);
  if (answer < 0) return NULL;
  if (answer == 0) Py_RETURN_NONE;
  launch = PyMem_Calloc(1, sizeof *launch);
  if (!launch) return PyErr_NoMemory();
  capsule = PyCapsule_New(launch, prepared_name, free_prepared);
  if (!capsule) {
    PyMem_Free(launch);
    return NULL;
  }
  launch->context = (lay_context*)(uintptr_t)context;
  launch->launcher = (lay_launcher*)(uintptr_t)launcher;
  launch->tensors = (lay_tensor*)(uintptr_t)described;
  launch->sizes = (const lay_size*)(uintptr_t)sizes;
  launch->size_count = (size_t)size_count;
  launch->workspace = workspace;
  Py_INCREF(makers);
  launch->makers = makers;
  if (workspace > 0) {
    Py_INCREF(make_memory);
    launch->make_memory = make_memory;
  }
  Py_INCREF(owner);
  launch->owner = owner;
  launch->acquire = PyObject_GetAttrString(lock, "acquire");
  launch->release = PyObject_GetAttrString(lock, "release");
  name = PyBytes_FromStringAndSize(key.bytes, (Py_ssize_t)key.size);
  if (launch->acquire && launch->release && name) {
    answer = PyDict_SetItem(self->launches, name, capsule);
  }
  Py_XDECREF(name);
  Py_DECREF(capsule);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(forget_doc, "_forget(): nothing is prepared from here on.");

static PyObject* forget(PyObject* object, PyObject* args) {
  caller* self = (caller*)object;
  (void)args;
  if (self->launches) PyDict_Clear(self->launches);
  Py_RETURN_NONE;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* `out`: nothing, an output, or a tuple of all of them. */
static int sort_outputs(const caller* self, PyObject* out, PyObject** values) {
  Py_ssize_t i;
  if (out == Py_None) return 1;
  if (!PyTuple_Check(out)) {
    if (self->outputs != 1 || PyList_Check(out)) return 0;
    values[self->output[0]] = out;
    return 1;
  }
  if (PyTuple_Size(out) != self->outputs) return 0;
  for (i = 0; i < self->outputs; ++i) values[self->output[i]] = PyTuple_GetItem(out, i);
  return 1;
}

/* Sorts the arguments to the values; borrowed. 0 where they are not for here, which may be with an
 * exception. */
static int sort_arguments(const caller* self, PyObject* args, PyObject* named, PyObject** values) {
  const Py_ssize_t positional = PyTuple_Size(args);
  Py_ssize_t i, at = 0;
  PyObject *name, *value;
  if (positional > self->parameters) return 0;
  for (i = 0; i < positional; ++i) values[self->place[i]] = PyTuple_GetItem(args, i);
  while (named && PyDict_Next(named, &at, &name, &value)) {
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      if (!sort_outputs(self, value, values)) return 0;
    } else {
      PyObject* place = PyDict_GetItemWithError(self->places, name);
      const long to = place ? PyLong_AsLong(place) : 0;
      if (!place || values[to]) return 0;
      values[to] = value;
    }
  }
  for (i = 0; i < self->parameters; ++i)
    if (!values[self->place[i]]) return 0;
  return 1;
}

/* The library's value of a number: 1; 0 where it is no float and no int of 64 bits; else -1 - the
 * library's result. */
static int number_of(const prepared* launch, PyObject* number, lay_value** value) {
  lay_result result;
  if (PyFloat_CheckExact(number)) {
    result = library.of_real(launch->context, PyFloat_AsDouble(number), value);
  } else if (PyLong_CheckExact(number)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) return 0;
    result = library.of_integer(launch->context, whole, value);
  } else {
    return 0;
  }
  return result == LAY_RESULT_OK ? 1 : -1 - (int)result;
}

/* Launches, with the context's lock held. 1; 0 where the call is not for here; else -1 - result. */
static int launch_locked(const caller* self, const prepared* launch, PyObject* const* values,
                         void* const* addresses, void* workspace, void* stream) {
  lay_value* scalars[MOST_VALUES];
  Py_ssize_t i, made = 0;
  int answer = 1;
  for (i = 0; i < self->tensors; ++i) launch->tensors[i].address = addresses[i];
  for (; made < self->scalars && answer == 1; ++made) {
    scalars[made] = NULL;
    answer = number_of(launch, values[self->tensors + made], &scalars[made]);
  }
  if (answer == 1) {
    lay_result result;
    Py_BEGIN_ALLOW_THREADS result =
        library.launch(launch->launcher, launch->tensors, (size_t)self->tensors, launch->sizes,
                       launch->size_count, (const lay_value* const*)scalars, (size_t)self->scalars,
                       workspace, launch->workspace, stream);
    Py_END_ALLOW_THREADS if (result != LAY_RESULT_OK) answer = -1 - (int)result;
  }
  for (i = 0; i < made; ++i)
    if (scalars[i]) library.free_value(scalars[i]);
  return answer;
}

/* The same with the lock taken; what went wrong is raised by `_raise`, while the context still has
 * its diagnostics. 1, 0, or -1 with an exception. */
static int launch_now(caller* self, const prepared* launch, PyObject* const* values,
                      void* const* addresses, void* workspace, void* stream) {
  PyObject* done = PyObject_CallObject(launch->acquire, NULL);
  int answer;
  if (!done) return -1;
  Py_DECREF(done);
  answer = launch_locked(self, launch, values, addresses, workspace, stream);
  if (answer < 0) {
    done = PyObject_CallMethod((PyObject*)self, "_raise", "i", -1 - answer);
    Py_XDECREF(done);
    if (done) PyErr_SetString(PyExc_RuntimeError, "a launch failed without a word");
  }
  if (answer < 0) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    done = PyObject_CallObject(launch->release, NULL);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
    return -1;
  }
  done = PyObject_CallObject(launch->release, NULL);
  if (!done) return -1;
  Py_DECREF(done);
  return answer;
}

static PyObject* returned(const caller* self, PyObject* const* values) {
  Py_ssize_t i;
  PyObject* all;
  if (self->results == 1) {
    Py_INCREF(values[self->result[0]]);
    return values[self->result[0]];
  }
  all = PyTuple_New(self->results);
  for (i = 0; all && i < self->results; ++i) {
    Py_INCREF(values[self->result[i]]);
    if (PyTuple_SetItem(all, i, values[self->result[i]]) < 0) {
      Py_DECREF(all);
      return NULL;
    }
  }
  return all;
}

/* Makes what is missing, launches, and returns the results. 1, 0, or -1 with an exception. */
static int run(caller* self, const prepared* launch, const lay_description* key, PyObject** values,
               void** addresses, PyObject** result) {
  PyObject* made[MOST_VALUES];
  PyObject* memory = NULL;
  Py_ssize_t i, count = 0;
  void *workspace = NULL, *stream = NULL;
  int answer = 1;
  for (i = 0; i < self->outputs && answer == 1; ++i) {
    const unsigned char at = self->output[i];
    if (values[at]) continue;
    if (count >= PyTuple_Size(launch->makers)) {
      answer = 0;
      break;
    }
    made[count] = PyObject_CallObject(PyTuple_GetItem(launch->makers, count), NULL);
    if (!made[count]) {
      answer = -1;
      break;
    }
    values[at] = made[count++];
    if (lay_address_of(values[at], &addresses[at]) < 0) answer = -1;
  }
  if (answer == 1 && launch->make_memory) {
    memory = PyObject_CallObject(launch->make_memory, NULL);
    if (!memory || lay_address_of(memory, &workspace) < 0) answer = -1;
  }
  if (answer == 1 && key->exchange->current_stream(DLPACK_CUDA, key->device, &stream) != 0)
    answer = -1;
  if (answer == 1) answer = launch_now(self, launch, values, addresses, workspace, stream);
  if (answer == 1) {
    *result = returned(self, values);
    if (!*result) answer = -1;
  }
  Py_XDECREF(memory); /* what is in use belongs to the stream's order from here on */
  for (i = 0; i < count; ++i) Py_DECREF(made[i]);
  return answer;
}

static PyObject* slowly(PyObject* object, PyObject* args, PyObject* named) {
  PyObject *method, *result;
  if (PyErr_Occurred()) return NULL;
  method = PyObject_GetAttrString(object, "_call");
  if (!method) return NULL;
  result = PyObject_Call(method, args, named);
  Py_DECREF(method);
  return result;
}

static PyObject* call(PyObject* object, PyObject* args, PyObject* named) {
  caller* self = (caller*)object;
  PyObject* values[MOST_VALUES] = {NULL};
  void* addresses[MOST_VALUES];
  lay_description key;
  PyObject *name, *capsule, *result = NULL;
  int answer;
  if (self->parameters < 0 || !self->launches || PyDict_Size(self->launches) == 0)
    return slowly(object, args, named);
  if (!sort_arguments(self, args, named, values)) return slowly(object, args, named);
  answer = lay_describe_tensors(&key, values, self->tensors, addresses);
  if (answer != 1) return slowly(object, args, named);
  name = PyBytes_FromStringAndSize(key.bytes, (Py_ssize_t)key.size);
  if (!name) return NULL;
  capsule = PyDict_GetItemWithError(self->launches, name);
  Py_XINCREF(capsule); /* another thread may clear the launches */
  Py_DECREF(name);
  if (!capsule) return slowly(object, args, named);
  answer =
      run(self, PyCapsule_GetPointer(capsule, prepared_name), &key, values, addresses, &result);
  Py_DECREF(capsule);
  return answer == 0 ? slowly(object, args, named) : result;
}

static PyObject* make(PyTypeObject* type, PyObject* args, PyObject* named) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  caller* self = (caller*)allocate(type, 0);
  (void)args;
  (void)named;
  if (self) self->parameters = -1;
  return (PyObject*)self;
}

static void destroy(PyObject* object) {
  caller* self = (caller*)object;
  PyTypeObject* type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  Py_XDECREF(self->places);
  Py_XDECREF(self->launches);
  release(object);
  Py_DECREF(type);
}

/* ---- the module ------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"_know", know, METH_VARARGS, know_doc},
    {"_keep", keep, METH_VARARGS, keep_doc},
    {"_forget", forget, METH_NOARGS, forget_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(caller_doc,
             "A call launches what `_keep` has for tensors as these, and is `_call` otherwise.\n"
             "`_raise(result)` raises what the library's result means.");

static PyType_Slot slots[] = {
    {Py_tp_doc, (void*)caller_doc}, {Py_tp_new, make}, {Py_tp_dealloc, destroy}, {Py_tp_call, call},
    {Py_tp_methods, methods},       {0, NULL},
};

static PyType_Spec spec = {"lay._native.Caller", sizeof(caller), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS, bind_doc},
    {"describe", lay_describe, METH_O, lay_describe_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "lay._native",
    "Calls of kernels on tensors of a GPU, without the interpreter where that may be.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL};

PyMODINIT_FUNC PyInit__native(void) {
  PyObject* made = PyModule_Create(&module);
  PyObject* type = PyType_FromSpec(&spec);
  if (!made || !type || !lay_begin_descriptions() || PyModule_AddObject(made, "Caller", type) < 0) {
    Py_XDECREF(made);
    Py_XDECREF(type);
    return NULL;
  }
  return made;
}
