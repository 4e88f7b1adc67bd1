/* ---- launches --------------------------------------------------------------------------------*/

#define LAY_MOST_DIMS 5

/* A tensor as maps describe it: modes from the fastest on, strides in bytes of all but the fastest. */
typedef struct lay_mapped {
  const void* address;
  uint32_t dims;
  const lay_number *extents, *strides;
} lay_mapped;

LAY_MAYBE_UNUSED static lay_status lay_map_sizes(const lay_mapped* tensor, uint64_t* sizes,
                                                 uint64_t* bytes, lay_message* why) {
  uint32_t i;
  for (i = 0; i < tensor->dims; ++i) {
    if (!tensor->extents[i].known || (i > 0 && !tensor->strides[i - 1].known))
      return lay_say(why, LAY_EXTENT_TOO_LARGE,
                     "a tensor's offsets do not fit 64 bits at these sizes");
    sizes[i] = (uint64_t)tensor->extents[i].value;
    if (i > 0) bytes[i - 1] = (uint64_t)tensor->strides[i - 1].value;
  }
  return LAY_OK;
}

/* A tensor map of boxes (cuTensorMapEncodeTiled); zeros outside. */
LAY_MAYBE_UNUSED static lay_status lay_encode(lay_tensor_map* map, int type,
                                              const lay_mapped* tensor, const uint32_t* box,
                                              int swizzle, lay_message* why) {
  enum { no_interleave = 0, promote_to_256_bytes = 3, zeros = 0 };
  static const uint32_t steps[LAY_MOST_DIMS] = {1, 1, 1, 1, 1};
  uint64_t sizes[LAY_MOST_DIMS], bytes[LAY_MOST_DIMS];
  void* begin;
  int status;
  if (lay_map_sizes(tensor, sizes, bytes, why) != LAY_OK) return LAY_EXTENT_TOO_LARGE;
  memcpy(&begin, &tensor->address, sizeof begin);
  status = lay_driver.encode(map, type, tensor->dims, begin, sizes, bytes, box, steps,
                             no_interleave, swizzle, promote_to_256_bytes, zeros);
  return status == 0 ? LAY_OK : lay_driver_failed(why, "cuTensorMapEncodeTiled", status);
}

/* The same of columns of pixels (cuTensorMapEncodeIm2col): base pixels of the modes between the
 * fastest and the slowest, `counts` of them, `steps` apart, from `firsts` on. */
LAY_MAYBE_UNUSED static lay_status lay_encode_im2col(lay_tensor_map* map, int type,
                                                     const lay_mapped* tensor, const uint32_t* box,
                                                     const lay_number* firsts,
                                                     const lay_number* counts,
                                                     const uint32_t* steps, int swizzle,
                                                     lay_message* why) {
  enum { no_interleave = 0, promote_to_256_bytes = 3, zeros = 0 };
  uint64_t sizes[LAY_MOST_DIMS], bytes[LAY_MOST_DIMS];
  int lower[LAY_MOST_DIMS], upper[LAY_MOST_DIMS];
  void* begin;
  uint32_t i;
  int status;
  if (lay_map_sizes(tensor, sizes, bytes, why) != LAY_OK) return LAY_EXTENT_TOO_LARGE;
  for (i = 0; i + 2 < tensor->dims; ++i) {
    if (!firsts[i].known || !counts[i].known)
      return lay_say(why, LAY_EXTENT_TOO_LARGE, "base pixels do not fit 64 bits at these sizes");
    lower[i] = (int)firsts[i].value;
    upper[i] = (int)(firsts[i].value + (counts[i].value - 1) * (int64_t)steps[i + 1] -
                     (tensor->extents[i + 1].value - 1));
  }
  memcpy(&begin, &tensor->address, sizeof begin);
  status = lay_driver.encode_im2col(map, type, tensor->dims, begin, sizes, bytes, lower, upper,
                                    box[0], box[1], steps, no_interleave, swizzle,
                                    promote_to_256_bytes, zeros);
  return status == 0 ? LAY_OK : lay_driver_failed(why, "cuTensorMapEncodeIm2col", status);
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
                             const lay_number* grid, void** values, lay_stream stream,
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
  if (of->overlaps) {
    memset(&early, 0, sizeof early);
    early.id = programmatic_serialization;
    early.value.flag = 1;
    what.attributes = &early;
    what.attribute_count = 1;
  }
  status = lay_driver.launch(&what, k->kernels[image], values, NULL);
  return status == 0 ? LAY_OK : lay_driver_failed(why, "cuLaunchKernelEx", status);
}
