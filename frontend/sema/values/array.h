// Arrays on the host: what `load` reads, kernels take and give, and `save` writes. Elements stand
// in row-major order (the last index runs fastest), as NumPy's C order; an element of a tensor's
// layout is addressed by coordinate.
//
//   Array a = Array::make(ElementType::f32, {2, 3});
//   a.set_real(a.offset({1, 2}), 0.5);          a.real(5) == 0.5
//
// The bytes are shared and never change once an array is a value: whoever writes makes the array
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/memory/element.h"

namespace lay::sema {

// The number as the type holds it: `decode` of `encode` in convert.h.
double round_to(ElementType type, double value);

struct Array {
  ElementType element = ElementType::f32;
  std::vector<std::int64_t> shape;  // empty: one number
  std::shared_ptr<std::vector<std::byte>> bytes;

  // Zeros. Throws Refusal "limit" if all arrays alive would take more bytes than the limit that is
  // in force (ArrayLimit).
  static Array make(ElementType element, std::vector<std::int64_t> shape);

  std::int64_t size() const;  // the number of elements
  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t offset(const std::vector<std::int64_t>& coordinate) const;

  // Elements by their row-major index. `pred` takes one byte, and so does an integer of 4 bits,
  // with its sign: here elements do not share bytes, as they do in the memory of a GPU.
  double real(std::int64_t i) const;
  std::int64_t integer(std::int64_t i) const;
  void set_real(std::int64_t i, double value);
  void set_integer(std::int64_t i, std::int64_t value);

  // The same numbers in another type, rounded as `round_to` does.
  Array cast(ElementType to) const;

  // "f32 (2,3) [[0.5, 1, ...], ...]": the shape and the first elements.
  std::string to_string() const;
};

// The most bytes of arrays alive at once. The arrays that a thread makes while a limit is in force
// there count in it until they are gone; those of other threads in the limit of the process, 2^33.
class ArrayLimit {
 public:
  explicit ArrayLimit(std::int64_t most);

  class InForce {
   public:
    explicit InForce(const ArrayLimit& limit);
    ~InForce();
    InForce(const InForce&) = delete;
    InForce& operator=(const InForce&) = delete;

   private:
    const ArrayLimit* before_;
  };

 private:
  friend struct Array;
  struct Count;
  // Shared with the arrays, which may live longer than the limit.
  std::shared_ptr<Count> count_;
};

// The number of elements of the shape; nothing beyond 2^63. An extent of 0 makes it 0, whatever the
// others are.
std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape);

// The bytes of one element in an array.
std::size_t element_bytes(ElementType type);

}  // namespace lay::sema
