#include "runtime/gpu/bound_launches.h"

#include <utility>

#include "frontend/algebra/memory/convert.h"

namespace lay::runtime {

Parameters::Parameters(const ir::Kernel& kernel, const LaunchArguments& arguments) {
  for (const Region& region : arguments.buffers) add(region.address);
  std::size_t scalar = 0;
  for (const ir::Param& param : kernel.params) {
    if (param.is_size)
      add(static_cast<std::int32_t>(*param.symbol.evaluate(arguments.sizes)));
    else
      add_scalar(arguments.scalars.at(scalar++), param.type);
  }
}

void Parameters::add_scalar(const std::variant<std::int64_t, double>& value, ElementType type) {
  const auto as_double = [&] {
    return std::visit([](auto v) { return static_cast<double>(v); }, value);
  };
  const auto as_integer = [&] {
    return std::visit([](auto v) { return static_cast<std::int64_t>(v); }, value);
  };
  switch (type) {
    case ElementType::f64:
      return add(as_double());
    case ElementType::f32:
    case ElementType::tf32:
      return add(static_cast<float>(as_double()));
    case ElementType::f16:
      return add(f32_to_f16(static_cast<float>(as_double())));
    case ElementType::bf16:
      return add(f32_to_bf16(static_cast<float>(as_double())));
    default:
      return add(as_integer());  // little-endian: the low bytes are the value of any narrower type
  }
}

std::vector<void*> Parameters::pointers() {
  std::vector<void*> all;
  for (auto& value : values_) all.push_back(&value);
  for (auto& map : maps_) all.push_back(&map);
  return all;
}

void BoundLaunches::add(const LoadedKernel& loaded, std::array<std::int64_t, 3> grid,
                        const ir::Kernel& kernel, bool overlaps, Parameters values) {
  One& made =
      launches_.emplace_back(One{&loaded,
                                 {static_cast<unsigned>(grid[0]), static_cast<unsigned>(grid[1]),
                                  static_cast<unsigned>(grid[2])},
                                 static_cast<unsigned>(kernel.launch.threads),
                                 overlaps,
                                 std::move(values),
                                 {}});
  made.pointers = made.values.pointers();
}

void BoundLaunches::launch(StreamHandle stream) const {
  for (const One& one : launches_)
    one.loaded->launch(one.grid, one.threads, one.pointers, stream, one.overlaps);
}

}  // namespace lay::runtime
