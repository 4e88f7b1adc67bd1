// Memory that kernels of bundles work on, with numbers in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/memory/element.h"

namespace lay::test {

// Small numbers of the element, experts below `below`.
inline std::vector<std::byte> random_bytes(ElementType element, std::size_t size,
                                           std::int64_t below, std::mt19937& random) {
  std::vector<std::byte> bytes(size);
  const std::size_t count = size / static_cast<std::size_t>(bits(element) / 8);
  for (std::size_t i = 0; i < count; ++i) {
    const int drawn = static_cast<int>(random() % 9) - 4;
    const auto put = [&](auto value) {
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    };
    if (element == ElementType::bf16)
      put(f32_to_bf16(static_cast<float>(drawn)));
    else if (element == ElementType::f32)
      put(static_cast<float>(drawn) / 4);
    else
      put(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(below)));
  }
  return bytes;
}

// Memory whose address is a multiple of 256 and of no more, plus `off` bytes.
class Memory {
 public:
  Memory(std::size_t bytes, std::size_t off)
      : whole_(static_cast<char*>(std::aligned_alloc(512, (bytes + off + 1279) / 512 * 512))),
        begin_(whole_.get() + 256 + off) {}
  char* begin() const { return begin_; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> whole_;
  char* begin_;
};

}  // namespace lay::test
