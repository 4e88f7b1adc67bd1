#define LAY_WORKSPACE_ALIGNMENT 128

/* ---- numbers -----------------------------------------------------------------------------------
 * Sizes and what is computed of them, as Lay computes it: in 64 bits, and without a value where
 * that overflows or a quotient is not exact. */

#if defined(__GNUC__) || defined(__clang__)
#define LAY_MAYBE_UNUSED __attribute__((unused))
#else
#error "the launcher needs GCC or Clang: it uses their atomic operations"
#endif

typedef struct {
  int64_t value;
  int known;
} lay_number;

/* Of a condition: 1 holds, 0 does not, -1 has no value. */
typedef int lay_truth;

LAY_MAYBE_UNUSED static lay_number lay_of(int64_t value) {
  lay_number made;
  made.value = value;
  made.known = 1;
  return made;
}

static lay_number lay_unknown(void) {
  lay_number none;
  none.value = 0;
  none.known = 0;
  return none;
}

LAY_MAYBE_UNUSED static lay_number lay_add(lay_number a, lay_number b) {
  int64_t sum;
  if (!a.known || !b.known || __builtin_add_overflow(a.value, b.value, &sum)) return lay_unknown();
  return lay_of(sum);
}

LAY_MAYBE_UNUSED static lay_number lay_mul(lay_number a, lay_number b) {
  int64_t product;
  if (!a.known || !b.known || __builtin_mul_overflow(a.value, b.value, &product))
    return lay_unknown();
  return lay_of(product);
}

/* Rounded towards minus infinity. */
LAY_MAYBE_UNUSED static lay_number lay_floor_div(lay_number a, lay_number b) {
  int64_t quotient;
  if (!a.known || !b.known || b.value == 0 || (a.value == INT64_MIN && b.value == -1))
    return lay_unknown();
  quotient = a.value / b.value;
  if (a.value % b.value != 0 && (a.value % b.value < 0) != (b.value < 0)) --quotient;
  return lay_of(quotient);
}

LAY_MAYBE_UNUSED static lay_number lay_exact_div(lay_number a, int64_t b) {
  return a.known && a.value % b == 0 ? lay_of(a.value / b) : lay_unknown();
}

LAY_MAYBE_UNUSED static lay_number lay_min(lay_number a, lay_number b) {
  if (!a.known || !b.known) return lay_unknown();
  return a.value < b.value ? a : b;
}

LAY_MAYBE_UNUSED static lay_number lay_max(lay_number a, lay_number b) {
  if (!a.known || !b.known) return lay_unknown();
  return a.value > b.value ? a : b;
}

LAY_MAYBE_UNUSED static lay_number lay_select(lay_truth condition, lay_number a, lay_number b) {
  return condition < 0 ? lay_unknown() : condition ? a : b;
}

LAY_MAYBE_UNUSED static lay_truth lay_equal(lay_number a, lay_number b) {
  return a.known && b.known ? a.value == b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_less(lay_number a, lay_number b) {
  return a.known && b.known ? a.value < b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_less_equal(lay_number a, lay_number b) {
  return a.known && b.known ? a.value <= b.value : -1;
}

LAY_MAYBE_UNUSED static lay_truth lay_divides(lay_number a, lay_number b) {
  if (!a.known || !b.known || b.value == 0) return -1;
  return b.value == -1 || a.value % b.value == 0;
}

LAY_MAYBE_UNUSED static lay_truth lay_not(lay_truth a) {
  return a < 0 ? a : !a;
}

LAY_MAYBE_UNUSED static lay_truth lay_both(lay_truth a, lay_truth b) {
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 ? -1 : 1;
}

LAY_MAYBE_UNUSED static lay_truth lay_either(lay_truth a, lay_truth b) {
  if (a == 1 || b == 1) return 1;
  return a < 0 || b < 0 ? -1 : 0;
}

/* ---- messages --------------------------------------------------------------------------------*/

__attribute__((format(printf, 3, 4))) static lay_status lay_say(lay_message* why, lay_status status,
                                                                const char* format, ...) {
  if (why) {
    va_list values;
    va_start(values, format);
    vsnprintf(why->text, sizeof why->text, format, values);
    va_end(values);
  }
  return status;
}

static lay_status lay_done(lay_message* why) {
  if (why) why->text[0] = '\0';
  return LAY_OK;
}

/* ---- arguments -------------------------------------------------------------------------------*/

/* Sizes above this make coordinates at the edge of a tile leave 32 bits. */
#define LAY_LARGEST_EXTENT (2147483647 - 65536)

static lay_status lay_check_size(const char* name, int64_t value, lay_message* why) {
  if (value < 0) return lay_say(why, LAY_NEGATIVE_SIZE, "%s is %lld", name, (long long)value);
  if (value > LAY_LARGEST_EXTENT)
    return lay_say(why, LAY_EXTENT_TOO_LARGE, "%s is %lld, and the largest extent is %d", name,
                   (long long)value, LAY_LARGEST_EXTENT);
  return LAY_OK;
}

/* A tensor in the caller's memory: elements, and bytes from its address on that the kernel may
 * touch. */
typedef struct {
  const char* name;
  uintptr_t address;
  lay_number elements, bytes;
  int written;
  unsigned alignment; /* in bytes, of the element */
} lay_tensor;

static lay_status lay_check_tensors(const lay_tensor* tensors, size_t count, lay_message* why) {
  size_t i, j;
  for (i = 0; i < count; ++i) {
    const lay_tensor* t = &tensors[i];
    if (!t->elements.known || !t->bytes.known)
      return lay_say(why, LAY_EXTENT_TOO_LARGE,
                     "%s: the offsets of its layout do not fit 64 bits at these sizes", t->name);
    if (t->elements.value == 0) continue;
    if (t->address == 0) return lay_say(why, LAY_NULL_POINTER, "%s is a null pointer", t->name);
    if (t->address % t->alignment != 0)
      return lay_say(why, LAY_MISALIGNED, "%s: its address must be a multiple of %u bytes", t->name,
                     t->alignment);
  }
  for (i = 0; i < count; ++i) {
    const lay_tensor* out = &tensors[i];
    if (!out->written || out->elements.value == 0) continue;
    for (j = 0; j < count; ++j) {
      const lay_tensor* other = &tensors[j];
      if (i == j || other->elements.value == 0) continue;
      if (out->address < other->address + (uint64_t)other->bytes.value &&
          other->address < out->address + (uint64_t)out->bytes.value)
        return lay_say(why, LAY_OVERLAP, "the output %s lies over %s in memory", out->name,
                       other->name);
    }
  }
  return LAY_OK;
}

/* Returns true if the address is a multiple of as many bytes; an address that is not given, null,
 * is taken to be. */
LAY_MAYBE_UNUSED static int lay_aligned(const void* address, unsigned bytes) {
  return (uintptr_t)address % bytes == 0;
}

/* IEEE 754 binary16 and bfloat16 of a number, rounded to nearest, ties to even. */
LAY_MAYBE_UNUSED static uint16_t lay_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

LAY_MAYBE_UNUSED static uint16_t lay_f16(float value) {
  uint32_t bits, sign, magnitude, mantissa, half, rest, middle;
  int shift;
  memcpy(&bits, &value, sizeof bits);
  sign = bits >> 16 & 0x8000u;
  magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 0x33000000u) return (uint16_t)sign;
  if (magnitude < 0x38800000u) { /* the result is subnormal */
    shift = 126 - (int)(magnitude >> 23);
    mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    half = mantissa >> shift;
  } else {
    shift = 13;
    mantissa = magnitude - 0x38000000u;
    half = mantissa >> shift;
  }
  rest = mantissa & ((1u << shift) - 1u);
  middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (half & 1u))) ++half;
  return (uint16_t)(sign | half);
}

/* ---- the driver --------------------------------------------------------------------------------
 * Loaded at run time, once: nothing links to CUDA. Names, types and constants are those of the CUDA
 * Driver API, version 12. */

#define LAY_DEVICES 64

typedef struct {
  unsigned id, padding;
  union {
    unsigned flag, dimensions[3];
    unsigned char bytes[64];
  } value;
} lay_attribute; /* CUlaunchAttribute */

typedef struct {
  unsigned grid[3], block[3], shared_bytes;
  lay_stream stream;
  const lay_attribute* attributes;
  unsigned attribute_count;
} lay_configuration; /* CUlaunchConfig */

typedef struct {
  uint64_t words[16];
} __attribute__((aligned(64))) lay_tensor_map; /* CUtensorMap */

static struct {
  int state; /* 0: not looked for, 1: found, -1: not; written last, once */
  char why[160];
  int (*init)(unsigned);
  int (*error_name)(int, const char**);
  int (*device_count)(int*);
  int (*device_attribute)(int*, int, int);
  int (*current)(void**);
  int (*current_device)(int*);
  int (*push)(void*);
  int (*pop)(void**);
  int (*retain)(void**, int);
  int (*release)(int);
  int (*load)(void**, const void*, void*, void*, unsigned, void*, void*, unsigned);
  int (*unload)(void*);
  int (*kernel)(void**, void*, const char*);
  int (*function)(void**, void*);
  int (*set_attribute)(int, int, void*, int);
  int (*clusters)(int*, void*, const lay_configuration*);
  int (*encode)(lay_tensor_map*, int, uint32_t, void*, const uint64_t*, const uint64_t*,
                const uint32_t*, const uint32_t*, int, int, int, int);
  int (*launch)(const lay_configuration*, void*, void**, void**);
  int (*capturing)(lay_stream, int*);
  int (*context_of_stream)(lay_stream, void**);
  int (*load_function)(void*); /* from CUDA 12.4 on; null before */
} lay_driver;

static pthread_mutex_t lay_driver_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lay_lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is prepared */

static void lay_find_symbol(void* library, const char* name, void* function, int* missing) {
  void* found = dlsym(library, name);
  memcpy(function, &found, sizeof found); /* a pointer to data is none to a function in ISO C */
  if (!found && !*missing) {
    *missing = 1;
    snprintf(lay_driver.why, sizeof lay_driver.why,
             "libcuda.so.1 has no %s: a driver for CUDA 12.0 or later is needed", name);
  }
}

/* Returns true if there is a driver; else lay_driver.why says what is missing. */
static int lay_load_driver(void) {
  int missing = 0, status;
  void* library;
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(lay_driver.why, sizeof lay_driver.why, "no CUDA driver: %s", dlerror());
    return 0;
  }
#define LAY_FIND(member, name) lay_find_symbol(library, name, &lay_driver.member, &missing)
  LAY_FIND(init, "cuInit");
  LAY_FIND(error_name, "cuGetErrorName");
  LAY_FIND(device_count, "cuDeviceGetCount");
  LAY_FIND(device_attribute, "cuDeviceGetAttribute");
  LAY_FIND(current, "cuCtxGetCurrent");
  LAY_FIND(current_device, "cuCtxGetDevice");
  LAY_FIND(push, "cuCtxPushCurrent_v2");
  LAY_FIND(pop, "cuCtxPopCurrent_v2");
  LAY_FIND(retain, "cuDevicePrimaryCtxRetain");
  LAY_FIND(release, "cuDevicePrimaryCtxRelease_v2");
  LAY_FIND(load, "cuLibraryLoadData");
  LAY_FIND(unload, "cuLibraryUnload");
  LAY_FIND(kernel, "cuLibraryGetKernel");
  LAY_FIND(function, "cuKernelGetFunction");
  LAY_FIND(set_attribute, "cuKernelSetAttribute");
  LAY_FIND(clusters, "cuOccupancyMaxActiveClusters");
  LAY_FIND(encode, "cuTensorMapEncodeTiled");
  LAY_FIND(launch, "cuLaunchKernelEx");
  LAY_FIND(capturing, "cuStreamIsCapturing");
  LAY_FIND(context_of_stream, "cuStreamGetCtx");
#undef LAY_FIND
  status = 1; /* it may be missing */
  lay_find_symbol(library, "cuFuncLoad", &lay_driver.load_function, &status);
  if (missing) return 0;
  status = lay_driver.init(0);
  if (status != 0) {
    const char* name = NULL;
    lay_driver.error_name(status, &name);
    snprintf(lay_driver.why, sizeof lay_driver.why, "cuInit: %s", name ? name : "failed");
  }
  return status == 0;
}

/* Returns true if there is a driver; looked for once. */
static int lay_find_driver(void) {
  int state = __atomic_load_n(&lay_driver.state, __ATOMIC_ACQUIRE);
  if (state != 0) return state > 0;
  pthread_mutex_lock(&lay_driver_lock);
  state = lay_driver.state;
  if (state == 0) {
    state = lay_load_driver() ? 1 : -1;
    __atomic_store_n(&lay_driver.state, state, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lay_driver_lock);
  return state > 0;
}

static lay_status lay_driver_failed(lay_message* why, const char* call, int status) {
  const char* name = NULL;
  lay_driver.error_name(status, &name);
  return lay_say(why, LAY_DRIVER_FAILED, "%s: %s (%d)", call, name ? name : "failed", status);
}

/* ---- images ----------------------------------------------------------------------------------*/

/* What an image was compiled for: sm_90a is 9, 0, exact. */
typedef struct {
  const char* name;
  int major, minor;
  int exact;  /* runs on this compute capability only */
  int is_ptx; /* runs on it and on all later ones */
} lay_target;

/* A compiled function, for one target. */
typedef struct {
  const void* data;
  const char* function;
  int target;
  int dynamic_shared_bytes, shared_bytes, threads;
  int cluster; /* blocks of a cluster along x, of a persistent kernel; 0: of any other */
} lay_image;

/* What a device knows of a kernel's images. */
typedef struct {
  int target;       /* whose images it takes */
  int* clusters;    /* of each image: how many clusters it holds at once; 0: not known */
  char* unsuitable; /* of each image: a block needs more shared memory than the device has */
  int is_retained;  /* the device's primary context is held until unload */
} lay_prepared;

typedef struct {
  const char* name;
  const lay_target* targets;
  int target_count;
  const lay_image* images;
  int image_count;
  void** libraries; /* of each image; null: not loaded */
  void** kernels;
  lay_prepared* devices[LAY_DEVICES]; /* null: not prepared; written once, under the lock */
} lay_kernel_images;

/* Returns true if the device can run the image, as far as it is known. */
LAY_MAYBE_UNUSED static int lay_suits(const lay_prepared* ready, int image) {
  return !ready || !ready->unsuitable[image];
}

/* The target whose code is the most special of those that run on a compute capability; -1: none. */
static int lay_target_for(const lay_kernel_images* k, int major, int minor) {
  int best = -1, best_rank = -1, i;
  for (i = 0; i < k->target_count; ++i) {
    const lay_target* t = &k->targets[i];
    const int same = t->major == major && t->minor == minor;
    const int earlier = t->major < major || (t->major == major && t->minor <= minor);
    const int runs = t->exact ? same : t->is_ptx ? earlier : t->major == major && earlier;
    const int rank = t->exact ? 100000 : t->major * 100 + t->minor;
    if (runs && rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

/* Loads one image and asks what the device holds of it, in a context of that device. */
static lay_status lay_load_image(lay_kernel_images* k, int i, int device, lay_prepared* made,
                                 int shared_limit, lay_message* why) {
  enum { max_dynamic_shared_size = 8, cluster_dimension = 4 };
  const lay_image* image = &k->images[i];
  void* function = NULL;
  int status;
  if (image->shared_bytes > shared_limit) {
    made->unsuitable[i] = 1;
    return LAY_OK;
  }
  if (!k->libraries[i]) {
    void* library = NULL;
    status = lay_driver.load(&library, image->data, NULL, NULL, 0, NULL, NULL, 0);
    if (status != 0) return lay_driver_failed(why, "cuLibraryLoadData", status);
    status = lay_driver.kernel(&k->kernels[i], library, image->function);
    if (status != 0) {
      lay_driver.unload(library);
      return lay_driver_failed(why, "cuLibraryGetKernel", status);
    }
    k->libraries[i] = library;
  }
  /* A driver that loads lazily would load at the first launch, which may stand in a capture. */
  status = lay_driver.function(&function, k->kernels[i]);
  if (status == 0 && lay_driver.load_function) status = lay_driver.load_function(function);
  if (status != 0) return lay_driver_failed(why, "cuKernelGetFunction", status);
  if (image->dynamic_shared_bytes > 0) {
    status = lay_driver.set_attribute(max_dynamic_shared_size, image->dynamic_shared_bytes,
                                      k->kernels[i], device);
    if (status != 0) return lay_driver_failed(why, "cuKernelSetAttribute", status);
  }
  if (image->cluster > 0) {
    lay_attribute along_x;
    lay_configuration what;
    memset(&along_x, 0, sizeof along_x);
    memset(&what, 0, sizeof what);
    along_x.id = cluster_dimension;
    along_x.value.dimensions[0] = (unsigned)image->cluster;
    along_x.value.dimensions[1] = along_x.value.dimensions[2] = 1;
    what.grid[0] = (unsigned)image->cluster;
    what.grid[1] = what.grid[2] = what.block[1] = what.block[2] = 1;
    what.block[0] = (unsigned)image->threads;
    what.shared_bytes = (unsigned)image->dynamic_shared_bytes;
    what.attributes = &along_x;
    what.attribute_count = 1;
    if (lay_driver.clusters(&made->clusters[i], k->kernels[i], &what) != 0) made->clusters[i] = 0;
  }
  return LAY_OK;
}

/* Loads all images for the device; under the lock, with a context of the device current. */
static lay_status lay_load_images(lay_kernel_images* k, int device, lay_message* why) {
  enum { capability_major = 75, capability_minor = 76, shared_with_opt_in = 97 };
  int major = 0, minor = 0, shared = 0, i;
  lay_status status = LAY_OK;
  lay_prepared* made;
  lay_driver.device_attribute(&major, capability_major, device);
  lay_driver.device_attribute(&minor, capability_minor, device);
  lay_driver.device_attribute(&shared, shared_with_opt_in, device);
  made = (lay_prepared*)calloc(1, sizeof *made);
  if (made) made->clusters = (int*)calloc((size_t)k->image_count, sizeof *made->clusters);
  if (made) made->unsuitable = (char*)calloc((size_t)k->image_count, sizeof *made->unsuitable);
  if (!made || !made->clusters || !made->unsuitable)
    status = lay_say(why, LAY_OUT_OF_MEMORY, "%s: no memory on the host", k->name);
  if (status == LAY_OK) {
    made->target = lay_target_for(k, major, minor);
    if (made->target < 0)
      status = lay_say(why, LAY_UNSUPPORTED_DEVICE,
                       "%s: no image runs on compute capability %d.%d of device %d; build with "
                       "--arch for it",
                       k->name, major, minor, device);
  }
  for (i = 0; i < k->image_count && status == LAY_OK; ++i)
    if (k->images[i].target == made->target)
      status = lay_load_image(k, i, device, made, shared, why);
  if (status == LAY_OK) {
    __atomic_store_n(&k->devices[device], made, __ATOMIC_RELEASE);
    return lay_done(why);
  }
  if (made) {
    free(made->clusters);
    free(made->unsuitable);
  }
  free(made);
  return status;
}

/* Under the lock. A context of the device is current meanwhile: the caller's, if it is of this
 * device, else the primary one. */
static lay_status lay_prepare_locked(lay_kernel_images* k, int device, lay_message* why) {
  int count = 0, current = -1, status;
  void* context = NULL;
  lay_status result;
  if (!lay_find_driver()) return lay_say(why, LAY_NO_DRIVER, "%s", lay_driver.why);
  lay_driver.device_count(&count);
  if (device < 0 || device >= count || device >= LAY_DEVICES)
    return lay_say(why, LAY_NO_DEVICE, "device %d: there are %d devices", device, count);
  if (__atomic_load_n(&k->devices[device], __ATOMIC_ACQUIRE)) return lay_done(why);
  lay_driver.current(&context);
  if (context && lay_driver.current_device(&current) == 0 && current == device)
    return lay_load_images(k, device, why);
  status = lay_driver.retain(&context, device);
  if (status != 0) return lay_driver_failed(why, "cuDevicePrimaryCtxRetain", status);
  status = lay_driver.push(context);
  if (status == 0) {
    result = lay_load_images(k, device, why);
    lay_driver.pop(&context);
  } else {
    result = lay_driver_failed(why, "cuCtxPushCurrent", status);
  }
  if (result == LAY_OK)
    k->devices[device]->is_retained = 1;
  else
    lay_driver.release(device);
  return result;
}

static lay_status lay_prepare(lay_kernel_images* k, int device, lay_message* why) {
  lay_status status;
  pthread_mutex_lock(&lay_lock);
  status = lay_prepare_locked(k, device, why);
  pthread_mutex_unlock(&lay_lock);
  return status;
}

static void lay_unload(lay_kernel_images* k) {
  int i;
  pthread_mutex_lock(&lay_lock);
  for (i = 0; i < LAY_DEVICES; ++i) {
    lay_prepared* made = k->devices[i];
    __atomic_store_n(&k->devices[i], (lay_prepared*)NULL, __ATOMIC_RELEASE);
    if (!made) continue;
    if (made->is_retained) lay_driver.release(i);
    free(made->clusters);
    free(made->unsuitable);
    free(made);
  }
  for (i = 0; i < k->image_count; ++i) {
    if (k->libraries[i]) lay_driver.unload(k->libraries[i]);
    k->libraries[i] = k->kernels[i] = NULL;
  }
  pthread_mutex_unlock(&lay_lock);
}

/* Makes the stream's context current, of the null stream the current one, until lay_leave; most
 * often it is. */
static lay_status lay_enter(const lay_kernel_images* k, lay_stream stream, int* is_pushed,
                            lay_message* why) {
  void *current = NULL, *wanted = NULL;
  int status = lay_driver.current(&current);
  *is_pushed = 0;
  if (status != 0) return lay_driver_failed(why, "cuCtxGetCurrent", status);
  if (!stream) {
    if (current) return LAY_OK;
    return lay_say(why, LAY_NO_DEVICE,
                   "%s: no CUDA context is current in this thread, and the stream is null",
                   k->name);
  }
  status = lay_driver.context_of_stream(stream, &wanted);
  if (status != 0) return lay_driver_failed(why, "cuStreamGetCtx", status);
  if (wanted == current) return LAY_OK;
  status = lay_driver.push(wanted);
  if (status != 0) return lay_driver_failed(why, "cuCtxPushCurrent", status);
  *is_pushed = 1;
  return LAY_OK;
}

static lay_status lay_leave(int is_pushed, lay_status status) {
  void* context;
  if (is_pushed) lay_driver.pop(&context);
  return status;
}

/* The device of the current context, prepared. In a stream that is being captured nothing is
 * loaded: that would end the capture. */
static lay_status lay_ready(lay_kernel_images* k, lay_stream stream, const lay_prepared** ready,
                            lay_message* why) {
  int device = -1, capturing = 0;
  lay_status prepared;
  int status = lay_driver.current_device(&device);
  if (status != 0) return lay_driver_failed(why, "cuCtxGetDevice", status);
  if (device < 0 || device >= LAY_DEVICES)
    return lay_say(why, LAY_NO_DEVICE, "%s: device %d is beyond the %d that are kept", k->name,
                   device, LAY_DEVICES);
  *ready = __atomic_load_n(&k->devices[device], __ATOMIC_ACQUIRE);
  if (*ready) return LAY_OK;
  status = lay_driver.capturing(stream, &capturing);
  if (status != 0) return lay_driver_failed(why, "cuStreamIsCapturing", status);
  if (capturing)
    return lay_say(why, LAY_NOT_PREPARED,
                   "%s was not prepared for device %d before the stream's capture began", k->name,
                   device);
  prepared = lay_prepare(k, device, why);
  *ready = __atomic_load_n(&k->devices[device], __ATOMIC_ACQUIRE);
  return prepared;
}

/* ---- launches --------------------------------------------------------------------------------*/

#define LAY_MOST_DIMS 5

/* A tensor map (cuTensorMapEncodeTiled) of a tensor: modes from the fastest on, strides in bytes of
 * all but the fastest; zeros outside. */
LAY_MAYBE_UNUSED static lay_status lay_encode(lay_tensor_map* map, int type, const void* address,
                                              uint32_t dims, const lay_number* extents,
                                              const lay_number* strides, const uint32_t* box,
                                              int swizzle, lay_message* why) {
  enum { no_interleave = 0, promote_to_256_bytes = 3, zeros = 0 };
  static const uint32_t steps[LAY_MOST_DIMS] = {1, 1, 1, 1, 1};
  uint64_t sizes[LAY_MOST_DIMS], bytes[LAY_MOST_DIMS];
  void* begin;
  uint32_t i;
  int status;
  for (i = 0; i < dims; ++i) {
    if (!extents[i].known || (i > 0 && !strides[i - 1].known))
      return lay_say(why, LAY_EXTENT_TOO_LARGE,
                     "a tensor's offsets do not fit 64 bits at these sizes");
    sizes[i] = (uint64_t)extents[i].value;
    if (i > 0) bytes[i - 1] = (uint64_t)strides[i - 1].value;
  }
  memcpy(&begin, &address, sizeof begin);
  status = lay_driver.encode(map, type, dims, begin, sizes, bytes, box, steps, no_interleave,
                             swizzle, promote_to_256_bytes, zeros);
  return status == 0 ? LAY_OK : lay_driver_failed(why, "cuTensorMapEncodeTiled", status);
}

/* Index arithmetic is of 32 bits: what it counts must fit. */
LAY_MAYBE_UNUSED static lay_status lay_check_count(lay_number count, const char* text,
                                                   lay_message* why) {
  if (count.known && count.value >= -LAY_LARGEST_EXTENT && count.value <= LAY_LARGEST_EXTENT)
    return LAY_OK;
  return lay_say(why, LAY_EXTENT_TOO_LARGE, "`%s` does not fit 32 bits at these sizes", text);
}

static lay_status lay_check_grid(const char* kernel, const lay_number* grid, lay_message* why) {
  static const int64_t most[3] = {2147483647, 65535, 65535};
  int i;
  for (i = 0; i < 3; ++i) {
    if (!grid[i].known || grid[i].value < 0)
      return lay_say(why, LAY_EXTENT_TOO_LARGE,
                     "%s: the number of blocks does not fit 64 bits at these sizes", kernel);
    if (grid[i].value > most[i])
      return lay_say(why, LAY_GRID_TOO_LARGE,
                     "%s needs %lld blocks along %c, and a device takes %lld", kernel,
                     (long long)grid[i].value, "xyz"[i], (long long)most[i]);
  }
  return LAY_OK;
}

/* Memory that the launches share; nobody else may use it until the last one is done. */
static lay_status lay_check_workspace(const char* kernel, const void* workspace, int64_t bytes,
                                      lay_number needed, const lay_tensor* tensors, size_t count,
                                      lay_message* why) {
  const uintptr_t begin = (uintptr_t)workspace;
  size_t i;
  if (!needed.known)
    return lay_say(why, LAY_EXTENT_TOO_LARGE,
                   "%s: its workspace does not fit 64 bits at these sizes", kernel);
  if (needed.value == 0) return LAY_OK;
  if (!workspace || bytes < needed.value)
    return lay_say(why, LAY_WORKSPACE_TOO_SMALL, "%s needs a workspace of %lld bytes, and has %lld",
                   kernel, (long long)needed.value, workspace ? (long long)bytes : 0);
  if (begin % LAY_WORKSPACE_ALIGNMENT != 0)
    return lay_say(why, LAY_MISALIGNED,
                   "%s: the address of its workspace must be a multiple of %d bytes", kernel,
                   LAY_WORKSPACE_ALIGNMENT);
  for (i = 0; i < count; ++i)
    if (tensors[i].elements.value > 0 &&
        begin < tensors[i].address + (uint64_t)tensors[i].bytes.value &&
        tensors[i].address < begin + (uint64_t)needed.value)
      return lay_say(why, LAY_OVERLAP, "the workspace lies over %s in memory", tensors[i].name);
  return LAY_OK;
}

/* Launches an image. A kernel that `overlaps` waits by itself for what the stream did before, and
 * may be launched before that has ended. */
static lay_status lay_launch(const lay_kernel_images* k, const lay_prepared* ready, int image,
                             const lay_number* grid, int overlaps, void** values, lay_stream stream,
                             lay_message* why) {
  enum { programmatic_serialization = 6 };
  const lay_image* of = &k->images[image];
  lay_attribute early;
  lay_configuration what;
  int i, status;
  memset(&what, 0, sizeof what);
  for (i = 0; i < 3; ++i) {
    if (grid[i].value == 0) return LAY_OK;
    what.grid[i] = (unsigned)grid[i].value;
  }
  if (ready->clusters[image] > 0) {
    const int64_t resident = (int64_t)ready->clusters[image] * of->cluster;
    if (grid[0].value > resident) what.grid[0] = (unsigned)resident;
  }
  what.block[0] = (unsigned)of->threads;
  what.block[1] = what.block[2] = 1;
  what.shared_bytes = (unsigned)of->dynamic_shared_bytes;
  what.stream = stream;
  if (overlaps) {
    memset(&early, 0, sizeof early);
    early.id = programmatic_serialization;
    early.value.flag = 1;
    what.attributes = &early;
    what.attribute_count = 1;
  }
  status = lay_driver.launch(&what, k->kernels[image], values, NULL);
  return status == 0 ? LAY_OK : lay_driver_failed(why, "cuLaunchKernelEx", status);
}
