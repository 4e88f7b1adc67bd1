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
  int (*encode_im2col)(lay_tensor_map*, int, uint32_t, void*, const uint64_t*, const uint64_t*,
                       const int*, const int*, uint32_t, uint32_t, const uint32_t*, int, int, int,
                       int);
  int (*launch)(const lay_configuration*, void*, void**, void**);
  int (*capturing)(lay_stream, int*);
  int (*context_of_stream)(lay_stream, void**);
  int (*load_function)(void*); /* from CUDA 12.4 on; null before */
} lay_driver;

static pthread_mutex_t lay_driver_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lay_lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is prepared */
static unsigned long lay_prepared_count;

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
  LAY_FIND(encode_im2col, "cuTensorMapEncodeIm2col");
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
  int overlaps; /* waits by itself for what the stream did before */
} lay_image;

/* What a device knows of a kernel's images. */
typedef struct {
  int target;           /* whose images it takes */
  int* clusters;        /* of each image: how many clusters it holds at once; 0: not known */
  char* unsuitable;     /* of each image: a block needs more shared memory than the device has */
  int is_retained;      /* the device's primary context is held until unload */
  unsigned long serial; /* another one for each preparation; from 1 on */
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
  if (status != 0) return lay_driver_failed(why, "cuKernelGetFunction", status);
  if (lay_driver.load_function) status = lay_driver.load_function(function);
  if (status != 0) return lay_driver_failed(why, "cuFuncLoad", status);
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
  int major = 0, minor = 0, shared = 0, i, failed;
  lay_status status = LAY_OK;
  lay_prepared* made;
  failed = lay_driver.device_attribute(&major, capability_major, device);
  if (failed == 0) failed = lay_driver.device_attribute(&minor, capability_minor, device);
  if (failed == 0) failed = lay_driver.device_attribute(&shared, shared_with_opt_in, device);
  if (failed != 0) return lay_driver_failed(why, "cuDeviceGetAttribute", failed);
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
    made->serial = ++lay_prepared_count;
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
  status = lay_driver.device_count(&count);
  if (status != 0) return lay_driver_failed(why, "cuDeviceGetCount", status);
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
