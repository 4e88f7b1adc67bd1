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
