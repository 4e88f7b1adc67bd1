#include "runtime/io/arrays.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "frontend/source/diagnostic.h"
#include "runtime/io/csv.h"
#include "runtime/io/npy.h"

namespace lay::runtime {
namespace {

// Types that both sides have, bit for bit.
constexpr std::array<std::pair<NpyType, ElementType>, 14> same = {{
    {{'b', 1}, ElementType::pred},
    {{'i', 1}, ElementType::s8},
    {{'i', 2}, ElementType::s16},
    {{'i', 4}, ElementType::s32},
    {{'i', 8}, ElementType::s64},
    {{'u', 1}, ElementType::u8},
    {{'u', 2}, ElementType::u16},
    {{'u', 4}, ElementType::u32},
    {{'u', 8}, ElementType::u64},
    {{'f', 2}, ElementType::f16},
    {{'f', 4}, ElementType::f32},
    {{'f', 8}, ElementType::f64},
    {{'V', 1}, ElementType::b8},
    {{'V', 2}, ElementType::b16},
}};

// Integers of 4 bits are written as those of 8, whose bytes they have on the host.
std::optional<NpyType> npy_type(ElementType type) {
  if (type == ElementType::s4) type = ElementType::s8;
  if (type == ElementType::u4) type = ElementType::u8;
  for (const auto& [npy, element] : same)
    if (element == type) return npy;
  return std::nullopt;
}

// Reverses the modes: the fastest one in the file is the slowest one in the array.
std::vector<std::byte> row_major(const NpyArray& array) {
  const auto bytes = static_cast<std::size_t>(array.type.size);
  const std::size_t rank = array.shape.size();
  std::vector<std::size_t> stride(rank);  // in the file, in elements
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    stride[i] = count;
    count *= static_cast<std::size_t>(array.shape[i]);
  }
  std::vector<std::byte> result(array.data.size());
  std::vector<std::int64_t> at(rank, 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < count; ++to) {
    std::memcpy(&result[to * bytes], &array.data[from * bytes], bytes);
    for (std::size_t i = rank; i-- > 0;) {
      from += stride[i];
      if (++at[i] < array.shape[i]) break;
      from -= stride[i] * static_cast<std::size_t>(array.shape[i]);
      at[i] = 0;
    }
  }
  return result;
}

// The mixing function of SplitMix64: a counter becomes 64 random bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

sema::Array load_array(const std::string& path) {
  if (path.ends_with(".csv")) return read_csv(path);
  NpyArray file = read_npy(path);
  if (file.fortran_order && file.shape.size() > 1) file.data = row_major(file);
  for (const auto& [npy, element] : same)
    if (npy == file.type)
      return {element, std::move(file.shape),
              std::make_shared<std::vector<std::byte>>(std::move(file.data))};
  throw std::logic_error("internal: read_npy gave a type that is not in the table");
}

void save_array(const std::string& path, const sema::Array& array) {
  if (const auto type = npy_type(array.element)) {
    write_npy(path, {*type, array.shape, false, *array.bytes});
  } else if (is_float(array.element)) {
    save_array(path, array.cast(ElementType::f32));
  } else {
    Diagnostic d;
    d.code = "npy";
    d.message = "NumPy has no elements of type " + std::string(element_name(array.element));
    throw DiagnosticError(std::move(d));
  }
}

sema::Array random_array(ElementType element, const std::vector<std::int64_t>& shape,
                         std::uint64_t seed) {
  sema::Array array = sema::Array::make(element, shape);
  const std::int64_t count = array.size();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mixed(mixed(seed) + static_cast<std::uint64_t>(i));
    if (is_float(element))
      array.set_real(i, static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    else if (element == ElementType::pred)
      array.set_integer(i, static_cast<std::int64_t>(bits >> 63));
    else
      array.set_integer(i, static_cast<std::int64_t>(bits >> 60) - (is_signed(element) ? 8 : 0));
  }
  return array;
}

}  // namespace lay::runtime
