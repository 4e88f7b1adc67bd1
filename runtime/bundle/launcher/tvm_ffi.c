/* ---- calls by TVM-FFI --------------------------------------------------------------------------
 * The packed calling convention of TVM-FFI (tvm/ffi/c_api.h and tvm/ffi/extra/c_env_api.h of
 * apache-tvm-ffi 0.1.14) and the tensors of DLPack 1. Nothing links to libtvm_ffi: a call of this
 * kind looks for its functions in the process, where the caller has loaded it. */

enum {
  lay_ffi_none = 0,
  lay_ffi_int = 1,
  lay_ffi_bool = 2,
  lay_ffi_float = 3,
  lay_ffi_pointer = 4,
  lay_ffi_view = 7, /* DLTensor* */
  lay_ffi_raw_string = 8,
  lay_ffi_small_string = 11,
  lay_ffi_string = 65,
  lay_ffi_tensor = 70, /* an object with a DLTensor behind its header */
  lay_dl_cuda = 2
};

typedef struct {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void* pointer;
  } value;
} lay_ffi_any; /* TVMFFIAny */

typedef struct {
  uint64_t references;
  int32_t type;
  uint32_t padding;
  union {
    void (*deleter)(void*, int);
    int64_t alignment;
  } end;
} lay_ffi_object; /* TVMFFIObject */

typedef struct {
  void* data;
  int32_t device_type, device, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; /* in elements; null strides: compact, the last axis fastest */
  uint64_t byte_offset;
} lay_dl_tensor; /* DLTensor */

/* A parameter of a kernel, as its function is called. */
typedef struct {
  const char* name;
  const char* type; /* "bf16"; of a size "" */
  enum { lay_ffi_takes_tensor, lay_ffi_takes_real, lay_ffi_takes_integer } kind;
  int tensor, rank, code, bits; /* of a tensor: its number, and its elements in DLPack */
  int64_t least, most;          /* of an integer */
} lay_ffi_parameter;

static struct {
  int is_found; /* written last, once */
  void (*raise)(const char*, const char*);
  void* (*stream)(int32_t, int32_t);
  int (*allocate)(lay_dl_tensor*, void**);
  int (*release)(void*);
} lay_ffi;

static pthread_mutex_t lay_ffi_lock = PTHREAD_MUTEX_INITIALIZER;

/* What a refusal is called in Python; the last one: libtvm_ffi has the error already. */
static const char lay_type_error[] = "TypeError", lay_value_error[] = "ValueError",
                  lay_runtime_error[] = "RuntimeError", lay_ffi_raised[] = "";

__attribute__((format(printf, 3, 4))) static const char* lay_ffi_refuse(lay_message* why,
                                                                        const char* kind,
                                                                        const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(why->text, sizeof why->text, format, values);
  va_end(values);
  return kind;
}

/* The kind of error that a status is; null for a success. */
LAY_MAYBE_UNUSED static const char* lay_ffi_kind(lay_status status) {
  if (status == LAY_OK) return NULL;
  return status < LAY_NO_DRIVER ? lay_value_error : lay_runtime_error;
}

static void lay_ffi_symbol(void* library, const char* name, void* function) {
  void* found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
}

/* Returns true if libtvm_ffi is in the process and can be told of errors. It may be loaded later
 * than this source: a search without success is made again at the next call. */
LAY_MAYBE_UNUSED static int lay_ffi_find(void) {
  void* library;
  int is_found;
  if (__atomic_load_n(&lay_ffi.is_found, __ATOMIC_ACQUIRE)) return 1;
  pthread_mutex_lock(&lay_ffi_lock);
  is_found = lay_ffi.is_found;
  if (!is_found) {
    library = dlopen(NULL, RTLD_NOW);
    if (library && !dlsym(library, "TVMFFIErrorSetRaisedFromCStr")) {
      dlclose(library);
      library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD); /* whose names only some see */
    }
    if (library) {
      lay_ffi_symbol(library, "TVMFFIErrorSetRaisedFromCStr", &lay_ffi.raise);
      lay_ffi_symbol(library, "TVMFFIEnvGetStream", &lay_ffi.stream);
      lay_ffi_symbol(library, "TVMFFIEnvTensorAlloc", &lay_ffi.allocate);
      lay_ffi_symbol(library, "TVMFFIObjectDecRef", &lay_ffi.release);
      is_found = lay_ffi.raise != NULL;
      __atomic_store_n(&lay_ffi.is_found, is_found, __ATOMIC_RELEASE);
    }
  }
  pthread_mutex_unlock(&lay_ffi_lock);
  return is_found;
}

/* ---- what an argument is */

static const char* lay_ffi_type_name(int32_t type, char* buffer, size_t size) {
  switch (type) {
    case lay_ffi_none:
      return "None";
    case lay_ffi_int:
      return "an integer";
    case lay_ffi_bool:
      return "a bool";
    case lay_ffi_float:
      return "a float";
    case lay_ffi_pointer:
      return "a pointer";
    case lay_ffi_view:
    case lay_ffi_tensor:
      return "a tensor";
    case lay_ffi_raw_string:
    case lay_ffi_small_string:
    case lay_ffi_string:
      return "a string";
    default:
      snprintf(buffer, size, "of TVM-FFI's type %d", (int)type);
      return buffer;
  }
}

/* "bf16"; Lay's name of DLPack's type, where there is one. */
static void lay_dl_type_name(const lay_dl_tensor* t, char* buffer, size_t size) {
  static const char* const letters[] = {"s", "u", "f", NULL, "bf"};
  int written;
  if (t->code < 5 && letters[t->code])
    written = snprintf(buffer, size, "%s%d", letters[t->code], t->bits);
  else if (t->code == 6)
    written = snprintf(buffer, size, "bool");
  else if (t->code == 10 || t->code == 12)
    written = snprintf(buffer, size, "%s", t->code == 10 ? "e4m3" : "e5m2");
  else
    written = snprintf(buffer, size, "DLPack's type %d of %d bits", t->code, t->bits);
  if (t->lanes != 1)
    snprintf(buffer + written, size - (size_t)written, " x %d lanes", (int)t->lanes);
}

static void lay_dl_device_name(const lay_dl_tensor* t, char* buffer, size_t size) {
  static const char* const names[] = {NULL, "cpu", "cuda", "cuda_host"};
  if (t->device_type > 0 && t->device_type < 4)
    snprintf(buffer, size, "%s:%d", names[t->device_type], (int)t->device);
  else
    snprintf(buffer, size, "device %d of DLPack's type %d", (int)t->device, (int)t->device_type);
}

static const char* lay_ffi_take_tensor(const lay_ffi_parameter* p, const lay_ffi_any* given,
                                       const lay_dl_tensor** tensor, lay_message* why) {
  char name[64];
  const lay_dl_tensor* t = (const lay_dl_tensor*)given->value.pointer;
  int is_raw;
  if (given->type != lay_ffi_view && given->type != lay_ffi_tensor)
    return lay_ffi_refuse(why, lay_type_error, "%s is %s, expected a tensor of %s", p->name,
                          lay_ffi_type_name(given->type, name, sizeof name), p->type);
  if (!t) return lay_ffi_refuse(why, lay_type_error, "%s is a null tensor", p->name);
  if (given->type == lay_ffi_tensor)
    t = (const lay_dl_tensor*)((const char*)given->value.pointer + sizeof(lay_ffi_object));
  is_raw = t->code == 1 && (p->code == 2 || p->code >= 4); /* a float's bits */
  if ((t->code != p->code && !is_raw) || t->bits != p->bits || t->lanes != 1) {
    lay_dl_type_name(t, name, sizeof name);
    return lay_ffi_refuse(why, lay_type_error, "%s has elements of %s, expected %s", p->name, name,
                          p->type);
  }
  if (t->rank != p->rank)
    return lay_ffi_refuse(why, lay_value_error, "%s has %d axes, expected %d", p->name,
                          (int)t->rank, p->rank);
  if (t->rank > 0 && !t->shape)
    return lay_ffi_refuse(why, lay_value_error, "%s has a null pointer for its shape", p->name);
  if (t->device_type != lay_dl_cuda) {
    lay_dl_device_name(t, name, sizeof name);
    return lay_ffi_refuse(why, lay_value_error, "%s is on %s, expected cuda", p->name, name);
  }
  *tensor = t;
  return NULL;
}

/* Checks each argument by itself, and that all tensors are on one device. */
LAY_MAYBE_UNUSED static const char* lay_ffi_take(const char* kernel,
                                                 const lay_ffi_parameter* parameters,
                                                 int32_t parameter_count, const lay_ffi_any* given,
                                                 int32_t count, const lay_dl_tensor** tensors,
                                                 lay_message* why) {
  char name[64];
  const lay_ffi_parameter* first = NULL;
  int32_t i;
  if (count != parameter_count || !given) {
    size_t end;
    snprintf(why->text, sizeof why->text, "%s takes %d arguments (", kernel, (int)parameter_count);
    for (i = 0; i < parameter_count; ++i) {
      end = strlen(why->text);
      snprintf(why->text + end, sizeof why->text - end, "%s%s", i > 0 ? ", " : "",
               parameters[i].name);
    }
    end = strlen(why->text);
    snprintf(why->text + end, sizeof why->text - end, "), got %d", given ? (int)count : 0);
    return lay_type_error;
  }
  for (i = 0; i < count; ++i) {
    const lay_ffi_parameter* p = &parameters[i];
    const int32_t type = given[i].type;
    const int is_integer = type == lay_ffi_int || type == lay_ffi_bool;
    if (p->kind == lay_ffi_takes_tensor) {
      const char* kind = lay_ffi_take_tensor(p, &given[i], &tensors[p->tensor], why);
      if (kind) return kind;
      if (!first) first = p;
      if (tensors[p->tensor]->device != tensors[first->tensor]->device)
        return lay_ffi_refuse(why, lay_value_error, "%s is on cuda:%d, and %s on cuda:%d", p->name,
                              (int)tensors[p->tensor]->device, first->name,
                              (int)tensors[first->tensor]->device);
    } else if (!is_integer && (p->kind == lay_ffi_takes_integer || type != lay_ffi_float)) {
      return lay_ffi_refuse(why, lay_type_error, "%s is %s, expected %s%s", p->name,
                            lay_ffi_type_name(type, name, sizeof name),
                            p->type[0] ? "a number of " : "an integer", p->type);
    } else if (p->kind == lay_ffi_takes_integer &&
               (given[i].value.integer < p->least || given[i].value.integer > p->most)) {
      return lay_ffi_refuse(why, lay_value_error, "%s is %lld, which is no number of %s", p->name,
                            (long long)given[i].value.integer, p->type);
    }
  }
  return NULL;
}

LAY_MAYBE_UNUSED static double lay_ffi_real(const lay_ffi_any* given) {
  return given->type == lay_ffi_float ? given->value.real : (double)given->value.integer;
}

/* The offset may lead anywhere: the address is checked as every other. */
LAY_MAYBE_UNUSED static void* lay_dl_address(const lay_dl_tensor* t) {
  return t->data ? (void*)((uintptr_t)t->data + (uintptr_t)t->byte_offset) : NULL;
}

/* ---- shapes and strides */

/* Returns true if the axis has a stride that matters: two elements, of a tensor that has any. */
static int lay_dl_is_strided(const lay_dl_tensor* t, int axis) {
  int i;
  for (i = 0; i < t->rank; ++i)
    if (t->shape[i] <= 0) return 0;
  return t->shape[axis] > 1;
}

LAY_MAYBE_UNUSED static lay_number lay_dl_extent(const lay_dl_tensor* t, int axis) {
  return lay_of(t->shape[axis]);
}

LAY_MAYBE_UNUSED static lay_number lay_dl_stride(const lay_dl_tensor* t, int axis) {
  lay_number stride = lay_of(1);
  int i;
  if (t->strides) return lay_of(t->strides[axis]);
  for (i = axis + 1; i < t->rank; ++i) stride = lay_mul(stride, lay_of(t->shape[i]));
  return stride;
}

/* The size at which an expression, linear in it, has the value: `at_0` and `at_1` are what it has
 * at 0 and 1. Where there is none, a size at which the check of the expression fails. */
LAY_MAYBE_UNUSED static int64_t lay_ffi_solve(lay_number value, lay_number at_0, lay_number at_1) {
  const lay_number minus = lay_of(-1), rest = lay_add(value, lay_mul(minus, at_0)),
                   step = lay_add(at_1, lay_mul(minus, at_0)), size = lay_floor_div(rest, step);
  return size.known ? size.value : 0;
}

/* "K = 96", "96" of a literal, or why there is no number. */
static void lay_ffi_expected(lay_number expected, const char* text, char* buffer, size_t size) {
  if (!expected.known)
    snprintf(buffer, size, "%s, which is no integer of 64 bits at these sizes", text);
  else
    snprintf(buffer, size, "%s%s%lld", text, text[0] ? " = " : "", (long long)expected.value);
}

LAY_MAYBE_UNUSED static const char* lay_ffi_check_extent(const lay_dl_tensor* t, const char* name,
                                                         int axis, lay_number expected,
                                                         const char* text, lay_message* why) {
  char wanted[200];
  if (expected.known && expected.value == t->shape[axis]) return NULL;
  lay_ffi_expected(expected, text, wanted, sizeof wanted);
  return lay_ffi_refuse(why, lay_value_error, "axis %d of %s has %lld elements, expected %s", axis,
                        name, (long long)t->shape[axis], wanted);
}

LAY_MAYBE_UNUSED static const char* lay_ffi_check_stride(const lay_dl_tensor* t, const char* name,
                                                         int axis, lay_number expected,
                                                         const char* text, lay_message* why) {
  char wanted[200];
  lay_number stride;
  if (!lay_dl_is_strided(t, axis)) return NULL;
  stride = lay_dl_stride(t, axis);
  if (lay_equal(stride, expected) == 1) return NULL;
  lay_ffi_expected(expected, text, wanted, sizeof wanted);
  if (!stride.known)
    return lay_ffi_refuse(why, lay_value_error, "the elements of %s do not fit 64 bits", name);
  return lay_ffi_refuse(why, lay_value_error, "axis %d of %s has the stride %lld, expected %s",
                        axis, name, (long long)stride.value, wanted);
}

/* Of an axis whose elements no stride describes. */
LAY_MAYBE_UNUSED static const char* lay_ffi_check_single(const lay_dl_tensor* t, const char* name,
                                                         int axis, const char* layout,
                                                         lay_message* why) {
  if (!lay_dl_is_strided(t, axis)) return NULL;
  return lay_ffi_refuse(why, lay_value_error,
                        "%s lies as %s, which no strides describe: call the function of the header",
                        name, layout);
}

/* How far apart neighbours of an axis with several modes lie, the fastest mode first; unknown where
 * they lie at several distances. */
static lay_number lay_ffi_axis_stride(const lay_number* extents, const lay_number* steps,
                                      int modes) {
  lay_number stride = lay_unknown(), next = lay_unknown();
  int i, is_first = 1;
  for (i = 0; i < modes; ++i) {
    if (!extents[i].known || !steps[i].known) return lay_unknown();
    if (extents[i].value == 1) continue;
    if (is_first)
      stride = steps[i];
    else if (lay_equal(steps[i], next) != 1)
      return lay_unknown();
    is_first = 0;
    next = lay_mul(extents[i], steps[i]);
  }
  return stride;
}

LAY_MAYBE_UNUSED static const char* lay_ffi_check_modes(const lay_dl_tensor* t, const char* name,
                                                        int axis, const lay_number* extents,
                                                        const lay_number* steps, int modes,
                                                        const char* layout, lay_message* why) {
  const lay_number stride = lay_ffi_axis_stride(extents, steps, modes);
  if (!stride.known) return lay_ffi_check_single(t, name, axis, layout, why);
  return lay_ffi_check_stride(t, name, axis, stride, "", why);
}

/* ---- the call */

/* What a launch is made with, until lay_ffi_end. */
typedef struct {
  void* owner; /* of the workspace; null: none */
  void* workspace;
  lay_stream stream;
  int is_entered, device;
} lay_ffi_call;

/* Makes the primary context of the device current, unless a context of the device is. Without a
 * driver it does nothing: the launch says what is missing, if there is anything to do. */
static lay_status lay_ffi_enter(lay_ffi_call* call, lay_message* why) {
  void* context = NULL;
  int current = -1, status;
  if (!lay_find_driver()) return LAY_OK;
  if (lay_driver.current(&context) == 0 && context && lay_driver.current_device(&current) == 0 &&
      current == call->device)
    return LAY_OK;
  status = lay_driver.retain(&context, call->device);
  if (status != 0) return lay_driver_failed(why, "cuDevicePrimaryCtxRetain", status);
  status = lay_driver.push(context);
  if (status != 0) {
    lay_driver.release(call->device);
    return lay_driver_failed(why, "cuCtxPushCurrent", status);
  }
  call->is_entered = 1;
  return LAY_OK;
}

/* The stream of TVM-FFI's environment for the device of the tensor, and a workspace of its
 * allocator. */
LAY_MAYBE_UNUSED static const char* lay_ffi_begin(lay_ffi_call* call, const char* kernel,
                                                  const lay_dl_tensor* t, int64_t bytes,
                                                  lay_message* why) {
  lay_dl_tensor wanted;
  memset(call, 0, sizeof *call);
  call->device = t->device;
  if (!lay_ffi.stream)
    return lay_ffi_refuse(why, lay_runtime_error,
                          "%s: libtvm_ffi has no TVMFFIEnvGetStream: it is older than "
                          "apache-tvm-ffi 0.1",
                          kernel);
  if (lay_ffi_enter(call, why) != LAY_OK) return lay_runtime_error;
  call->stream = (lay_stream)lay_ffi.stream(lay_dl_cuda, t->device);
  if (bytes == 0) return NULL;
  if (!lay_ffi.allocate || !lay_ffi.release)
    return lay_ffi_refuse(
        why, lay_runtime_error, "%s: libtvm_ffi has no %s for the workspace of %lld bytes", kernel,
        lay_ffi.allocate ? "TVMFFIObjectDecRef" : "TVMFFIEnvTensorAlloc", (long long)bytes);
  memset(&wanted, 0, sizeof wanted);
  wanted.device_type = t->device_type;
  wanted.device = t->device;
  wanted.rank = 1;
  wanted.code = 1;
  wanted.bits = 8;
  wanted.lanes = 1;
  wanted.shape = &bytes;
  if (lay_ffi.allocate(&wanted, &call->owner) != 0) {
    call->owner = NULL;
    return lay_ffi_raised;
  }
  call->workspace =
      lay_dl_address((const lay_dl_tensor*)((const char*)call->owner + sizeof(lay_ffi_object)));
  return NULL;
}

/* The workspace goes back to its allocator, which gives it away again in the stream's order. */
LAY_MAYBE_UNUSED static void lay_ffi_end(const lay_ffi_call* call) {
  void* context;
  if (call->owner) lay_ffi.release(call->owner);
  if (!call->is_entered) return;
  lay_driver.pop(&context);
  lay_driver.release(call->device);
}

/* What the function returns: nothing, or -1 and an error of the kind. */
LAY_MAYBE_UNUSED static int lay_ffi_return(const char* kind, const lay_message* why,
                                           lay_ffi_any* result) {
  if (kind) {
    if (kind != lay_ffi_raised) lay_ffi.raise(kind, why->text);
    return -1;
  }
  if (result) memset(result, 0, sizeof *result);
  return 0;
}
