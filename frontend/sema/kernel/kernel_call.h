// Calling a kernel with arrays: which sizes the shapes fix, whether the guards hold for them, and
// how an array lies in a tensor's memory.
//
//   kernel linear<M, N, K>(A: f32 (M,K):(K,1), W: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)
//   linear(X, V) with X of shape (1797,64) and V of (10,64):   M = 1797, N = 10, K = 64, and C has
//   shape (1797,10)
//
// The array of a tensor has one axis a top-level mode of its layout, of that mode's size: element
// [i,j] of the array is element (i,j) of the tensor, wherever the layout puts it in memory. A dim
// that no shape fixes is taken from `set`, or is the least value that the guards allow (a leading
// dimension).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/field/number.h"
#include "frontend/algebra/integers/int.h"
#include "frontend/sema/kernel/kernel.h"
#include "frontend/sema/values/array.h"

namespace lay::sema {

using Number = std::variant<std::int64_t, double>;

struct KernelCall {
  KernelPtr kernel;
  Binding sizes;  // every dim of the kernel
  // By TensorId; outputs that are not inout are zeros of their shape.
  std::vector<Array> tensors;
  std::vector<Number> scalars;  // by ScalarId
  // In field mode the arrays hold a number of field::Number's bits, or an integer, in s64 an
  // element (field/field_call.h).
  Arithmetic arithmetic = Arithmetic::ieee;
};

struct KernelResult {
  std::vector<Array> outputs;      // of the outputs (and inouts), in the order of the tensors
  std::vector<std::string> notes;  // what the runtime wants to say: where it ran, how long it took
};

// The sizes of every dim. Throws Refusal "shape-mismatch" (an array does not fit), "unknown-size"
// (nothing says what a dim is). `shapes` are by TensorId; nothing for outputs.
Binding solve_sizes(const Kernel& kernel,
                    const std::vector<std::optional<std::vector<std::int64_t>>>& shapes,
                    const std::map<std::string, std::int64_t>& set);

// A tensor where it lies: the extents and the strides, in elements, of its axes.
struct Lying {
  std::vector<std::int64_t> shape, strides;
};

// The same of tensors in memory, whose strides fix sizes, too, and must be those of the layout; of
// an axis of one element any stride is. Refusal "stride-mismatch".
Binding solve_sizes_in_memory(const Kernel& kernel,
                              const std::vector<std::optional<Lying>>& tensors,
                              const std::map<std::string, std::int64_t>& set);

// The strides of a tensor's axes at these sizes, as memory of that layout has them; nothing where
// an axis has several.
std::optional<std::vector<std::int64_t>> array_strides(const Tensor& tensor, const Binding& sizes);

// Sizes by dim, of those that are given; what is given under no name is the size of every other
// dim: {"": 4096, "E": 16}.
std::map<std::string, std::int64_t> sizes_by_dim(const Kernel& kernel,
                                                 const std::map<std::string, std::int64_t>& given);

// Throws Refusal "guard" with the first guard of the kernel that the sizes break.
void check_guards(const Kernel& kernel, const Binding& sizes);

// The array in a tensor's element type, for types that NumPy has no name for: f32 is rounded, and
// unsigned integers or raw bits of the same width are the element's bits, and s8 and u8 hold the
// numbers of s4 and u4 where all of them fit. Nothing if the array is of another type.
std::optional<Array> as_elements(const Array& array, ElementType element);

// Returns true if an element lost digits when `as_elements` made `narrow` of `array`.
bool is_rounded(const Array& array, const Array& narrow);

// The shape of the array of a tensor.
std::vector<std::int64_t> array_shape(const Tensor& tensor, const Binding& sizes);
// The number of elements the tensor spans in memory: cosize of its layout, 0 if it has no element.
std::int64_t memory_elements(const Tensor& tensor, const Binding& sizes);

// The bytes that those take on a GPU, where two elements of 4 bits share one.
std::int64_t memory_bytes(const Tensor& tensor, const Binding& sizes);

// Returns true if the layout may put several elements of the array into one place.
bool may_share_places(const Tensor& tensor, const Binding& sizes);
// Throws Refusal "shared-place" if elements of the array that the layout puts into one place (modes
// of stride 0) differ.
void check_shared_places(const Tensor& tensor, const Binding& sizes, const Array& array);

// The bytes as the layout orders them; what no element lands on is zero. And back.
std::vector<std::byte> pack(const Tensor& tensor, const Binding& sizes, const Array& array);
Array unpack(const Tensor& tensor, const Binding& sizes, const std::vector<std::byte>& memory);
// The same of memory with elements of another type than the tensor's.
Array unpack(const Tensor& tensor, ElementType held, const Binding& sizes,
             const std::vector<std::byte>& memory);
// What `pack` made as a GPU has it: of elements of 4 bits two to a byte, the first one in the low
// bits.
std::vector<std::byte> on_device(ElementType element, std::vector<std::byte> memory);

}  // namespace lay::sema
