#include "runtime/gpu/tensor_map.h"

#include "frontend/algebra/layouts/operations.h"

namespace lay::runtime {
int tensor_map_type(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::s8:
    case ElementType::e4m3:
    case ElementType::e5m2:
    case ElementType::b8:
      return 0;
    case ElementType::u16:
    case ElementType::s16:
    case ElementType::b16:
      return 1;
    case ElementType::u32:
    case ElementType::b32:
      return 2;
    case ElementType::s32:
      return 3;
    case ElementType::u64:
    case ElementType::b64:
      return 4;
    case ElementType::s64:
      return 5;
    case ElementType::f16:
      return 6;
    case ElementType::f32:
    case ElementType::tf32:
      return 7;
    case ElementType::f64:
      return 8;
    case ElementType::bf16:
      return 9;
    default:
      throw std::logic_error("internal: no tensor map of " + std::string(element_name(type)));
  }
}

namespace {

std::uint64_t number(const Int& value, const Binding& sizes) {
  const auto known = value.evaluate(sizes);
  if (!known)
    throw std::logic_error("internal: " + value.to_string() + " has no value at a launch");
  return static_cast<std::uint64_t>(*known);
}

TiledTensor tiled_tensor(const ir::Kernel& kernel, const ir::TensorMap& map, const Binding& sizes,
                         Address tensor) {
  const ir::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(map.tensor.index)];
  const Layout& layout = std::get<Layout>(buffer.layout);
  const auto bytes = static_cast<std::uint64_t>(bits(buffer.element) / 8);
  TiledTensor tiled;
  tiled.data_type = tensor_map_type(buffer.element);
  tiled.address = tensor;
  for (std::size_t i = 0; i < map.order.size(); ++i) {
    const Layout mode = layout.shape.is_tuple() ? layout[map.order[i]] : layout;
    tiled.extents.push_back(number(size(mode.shape), sizes));
    if (i > 0) tiled.strides.push_back(number(mode.stride.value(), sizes) * bytes);
    tiled.box.push_back(static_cast<std::uint32_t>(map.box[i]));
  }
  for (std::size_t i = 0; i < map.im2col.size(); ++i) {
    // The last base pixel along the mode, from the tensor's last element.
    const ir::BasePixels& along = map.im2col[i];
    const auto first = static_cast<std::int64_t>(number(along.first, sizes)),
               count = static_cast<std::int64_t>(number(along.count, sizes)),
               extent = static_cast<std::int64_t>(tiled.extents[i + 1]);
    tiled.lower.push_back(static_cast<int>(first));
    tiled.upper.push_back(static_cast<int>(first + (count - 1) * along.step - (extent - 1)));
    if (i == 0) tiled.steps.assign(map.order.size(), 1);
    tiled.steps[i + 1] = static_cast<std::uint32_t>(along.step);
  }
  tiled.swizzle =
      map.swizzle ? static_cast<int>(map.swizzle->b) : 0;  // 1: of 32 bytes, 2: of 64, 3: of 128
  return tiled;
}

}  // namespace

TensorMapBits TensorMaps::find(const ir::Kernel& kernel, const ir::TensorMap& map,
                               const Binding& sizes, Address tensor) {
  constexpr std::size_t many = 4096;
  const TiledTensor wanted = tiled_tensor(kernel, map, sizes, tensor);
  const std::lock_guard lock(mutex_);
  if (const auto known = encoded_.find(wanted); known != encoded_.end()) return known->second;
  if (encoded_.size() >= many) encoded_.clear();
  return encoded_.emplace(wanted, encode(wanted)).first->second;
}

}  // namespace lay::runtime
