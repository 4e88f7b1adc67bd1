// Arrays of the host and the memory of tensors.

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::sema {

std::vector<std::int64_t> array_shape(const Tensor& tensor, const Binding& sizes) {
  std::vector<std::int64_t> shape;
  for (int k = 0; k < tensor.layout.rank(); ++k) {
    auto extent = size(tensor.layout.shape[k]).evaluate(sizes);
    if (!extent) throw refusal("overflow", "a size of " + tensor.name + " does not fit 64 bits");
    shape.push_back(*extent);
  }
  return shape;
}

namespace {

// Extents and strides of the leaves, each with the axis it belongs to.
struct Walk {
  std::vector<std::int64_t> extents, strides;
  std::vector<int> axes;
};

Walk walk_of(const Tensor& tensor, const Binding& sizes) {
  Walk walk;
  for (int k = 0; k < tensor.layout.rank(); ++k) {
    bool one = !tensor.layout.shape.is_tuple();
    std::vector<Tuple> extents = leaves(one ? tensor.layout.shape : tensor.layout.shape[k]);
    std::vector<Tuple> strides = leaves(one ? tensor.layout.stride : tensor.layout.stride[k]);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      auto extent = extents[i].value().evaluate(sizes), stride = strides[i].value().evaluate(sizes);
      if (!extent || !stride)
        throw refusal("overflow", "a size of " + tensor.name + " does not fit 64 bits");
      walk.extents.push_back(*extent);
      walk.strides.push_back(*stride);
      walk.axes.push_back(k);
    }
  }
  return walk;
}

// Returns the extent of the blocks of offsets that a swizzle permutes.
std::int64_t swizzle_block(const Swizzle& swizzle) {
  const auto moved = static_cast<std::uint64_t>(swizzle.source_mask() | swizzle.target_mask());
  return moved == 0 ? 1 : std::int64_t{1} << std::bit_width(moved);
}

// f(row-major index in the array, offset in memory) for every element.
template <typename F>
void for_each_element(const Tensor& tensor, const Binding& sizes, F&& f) {
  Walk walk = walk_of(tensor, sizes);
  std::vector<std::int64_t> shape = array_shape(tensor, sizes), steps(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) steps[k - 1] = steps[k] * shape[k];
  std::size_t n = walk.extents.size();
  std::vector<std::int64_t> at(n, 0), array_steps(n);
  std::vector<std::int64_t> used(shape.size(), 1);
  for (std::size_t i = 0; i < n; ++i) {  // the left-most leaf of an axis runs fastest in it
    auto k = static_cast<std::size_t>(walk.axes[i]);
    array_steps[i] = steps[k] * used[k];
    used[k] *= walk.extents[i];
  }
  if (std::any_of(walk.extents.begin(), walk.extents.end(), [](std::int64_t e) { return e <= 0; }))
    return;
  std::int64_t index = 0, offset = 0;
  while (true) {
    f(index, tensor.swizzle(offset));
    std::size_t i = n;
    while (i-- > 0) {
      index += array_steps[i];
      offset += walk.strides[i];
      if (++at[i] < walk.extents[i]) break;
      index -= array_steps[i] * walk.extents[i];
      offset -= walk.strides[i] * walk.extents[i];
      at[i] = 0;
      if (i == 0) return;
    }
    if (n == 0) return;
  }
}

}  // namespace

std::int64_t memory_elements(const Tensor& tensor, const Binding& sizes) {
  Walk walk = walk_of(tensor, sizes);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < walk.extents.size(); ++i) {
    if (walk.extents[i] <= 0) return 0;
    last = checked_add(last, checked_mul(walk.extents[i] - 1, walk.strides[i]));
  }
  const std::int64_t block = swizzle_block(tensor.swizzle);
  return checked_mul(checked_add(last, block) / block, block);
}

std::int64_t memory_bytes(const Tensor& tensor, const Binding& sizes) {
  const std::int64_t elements = memory_elements(tensor, sizes);
  if (is_half_byte(tensor.element)) return elements / 2 + elements % 2;
  return checked_mul(elements, tensor.element_bytes());
}

namespace {

// Returns true if it is plain that no two elements share a place: each stride steps over all that
// the smaller ones reach.
bool steps_over(const Walk& walk) {
  std::vector<std::pair<std::int64_t, std::int64_t>> modes;
  for (std::size_t i = 0; i < walk.extents.size(); ++i) {
    if (walk.extents[i] > 1) modes.emplace_back(walk.strides[i], walk.extents[i]);
  }
  std::sort(modes.begin(), modes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : modes) {
    if (stride <= reach) return false;
    reach = checked_add(reach, checked_mul(stride, extent - 1));
  }
  return true;
}

std::string place_text(const std::vector<std::int64_t>& shape, std::int64_t index) {
  std::string text;
  for (std::size_t k = shape.size(); k-- > 0;) {
    text = std::to_string(index % shape[k]) + (text.empty() ? "" : ",") + text;
    index /= shape[k];
  }
  return "[" + text + "]";
}

}  // namespace

bool may_share_places(const Tensor& tensor, const Binding& sizes) {
  return !steps_over(walk_of(tensor, sizes));
}

void check_shared_places(const Tensor& tensor, const Binding& sizes, const Array& array) {
  if (!may_share_places(tensor, sizes)) return;
  const std::size_t width = element_bytes(tensor.element);
  const std::byte* data = array.bytes->data();
  std::unordered_map<std::int64_t, std::int64_t> first;  // which element came to a place first
  for_each_element(tensor, sizes, [&](std::int64_t index, std::int64_t offset) {
    const std::int64_t other = first.emplace(offset, index).first->second;
    if (std::memcmp(data + static_cast<std::size_t>(index) * width,
                    data + static_cast<std::size_t>(other) * width, width) == 0) {
      return;
    }
    throw refusal("shared-place",
                  tensor.name + place_text(array.shape, other) + " and " + tensor.name +
                      place_text(array.shape, index) + " are one element of " +
                      to_string(tensor.memory()) + ", and the array holds two values",
                  "an array that is constant along modes of stride 0, or a layout that has a place "
                  "for each element");
  });
}

std::vector<std::byte> pack(const Tensor& tensor, const Binding& sizes, const Array& array) {
  std::size_t width = element_bytes(array.element);
  std::int64_t bytes =
      checked_mul(memory_elements(tensor, sizes), static_cast<std::int64_t>(width));
  if (bytes > (std::int64_t{1} << 33))
    throw refusal("limit", tensor.name + " spans more than 8 GiB");
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  for_each_element(tensor, sizes, [&](std::int64_t index, std::int64_t offset) {
    std::memcpy(memory.data() + static_cast<std::size_t>(offset) * width,
                array.bytes->data() + static_cast<std::size_t>(index) * width, width);
  });
  return memory;
}

Array unpack(const Tensor& tensor, const Binding& sizes, const std::vector<std::byte>& memory) {
  return unpack(tensor, tensor.element, sizes, memory);
}

Array unpack(const Tensor& tensor, ElementType held, const Binding& sizes,
             const std::vector<std::byte>& memory) {
  std::size_t width = element_bytes(held);
  Array array = Array::make(held, array_shape(tensor, sizes));
  for_each_element(tensor, sizes, [&](std::int64_t index, std::int64_t offset) {
    std::memcpy(array.bytes->data() + static_cast<std::size_t>(index) * width,
                memory.data() + static_cast<std::size_t>(offset) * width, width);
  });
  return array;
}

std::vector<std::byte> on_device(ElementType element, std::vector<std::byte> memory) {
  if (!is_half_byte(element)) return memory;
  constexpr std::byte low{0x0f};
  const std::size_t count = memory.size();
  for (std::size_t i = 0; i < count; i += 2) {
    const std::byte next = i + 1 < count ? memory[i + 1] : std::byte{0};
    memory[i / 2] = (memory[i] & low) | next << 4;
  }
  memory.resize((count + 1) / 2);
  return memory;
}

}  // namespace lay::sema
