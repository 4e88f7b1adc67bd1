#include "runtime/bench/problem/data.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "frontend/algebra/memory/convert.h"
#include "runtime/bench/host_work.h"

namespace lay::bench {
namespace {

// The mixing function of SplitMix64: a counter becomes 64 random bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The type in whose bytes the host holds elements.
ElementType held(ElementType element) {
  if (element == ElementType::s4) return ElementType::s8;
  return element == ElementType::u4 ? ElementType::u8 : element;
}

// Odd integers from `low` to `high`.
struct Range {
  int low, high;
};

Range wide_range(ElementType element) {
  switch (element) {
    case ElementType::e5m2:
      return {5, 7};
    case ElementType::e4m3:
      return {9, 15};
    case ElementType::s8:
    case ElementType::u8:
      return {33, 127};
    case ElementType::s4:
    case ElementType::u4:
      return {3, 7};
    case ElementType::bf16:
      return {129, 255};
    default:
      return {1025, 2047};
  }
}

double number(ElementType element, Numbers numbers, std::uint64_t random) {
  const bool is_negative = (is_float(element) || is_signed(element)) && (random & 1) != 0;
  const auto below = [&](std::uint64_t n) { return static_cast<double>((random >> 16) % n); };
  double magnitude = 1;
  switch (numbers) {
    case Numbers::uniform:
      if (is_float(element)) return static_cast<double>(random >> 11) * 0x1p-52 - 1;
      return below(1ull << std::min(bits(element), 16)) -
             (is_signed(element) ? static_cast<double>(1ull << (std::min(bits(element), 16) - 1))
                                 : 0);
    case Numbers::small_integers:
      magnitude = 1 + below(3);
      break;
    case Numbers::wide_integers: {
      const Range range = wide_range(element);
      magnitude = range.low + 2 * below(static_cast<std::uint64_t>(range.high - range.low) / 2 + 1);
      break;
    }
    case Numbers::signs:
      break;
  }
  return is_negative ? -magnitude : magnitude;
}

// All values of a type of 4 to 16 bits.
const std::vector<double>& values_of(ElementType element) {
  static std::mutex mutex;
  static std::map<ElementType, std::vector<double>> tables;
  const std::lock_guard lock(mutex);
  auto& table = tables[element];
  if (table.empty()) {
    const std::uint64_t count = 1ull << bits(element);
    for (std::uint64_t i = 0; i < count; ++i) table.push_back(decode(element, i));
  }
  return table;
}

// Element i is number_of(64 random bits of i).
template <class NumberOf>
std::vector<std::byte> made(ElementType element, std::int64_t count, std::uint64_t seed,
                            const NumberOf& number_of) {
  const std::size_t width = sema::element_bytes(element);
  std::vector<std::byte> memory(static_cast<std::size_t>(count) * width);
  const std::uint64_t start = mixed(seed);
  in_parts(count, 1 << 16, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t encoded =
          encode(held(element), number_of(mixed(start + static_cast<std::uint64_t>(i))));
      std::memcpy(memory.data() + static_cast<std::size_t>(i) * width, &encoded, width);
    }
  });
  return memory;
}

}  // namespace

std::vector<std::byte> make_numbers(ElementType element, std::int64_t count, Numbers numbers,
                                    std::uint64_t seed) {
  return made(element, count, seed,
              [&](std::uint64_t random) { return number(element, numbers, random); });
}

std::vector<std::byte> make_positions(ElementType element, std::int64_t count, std::int64_t below,
                                      std::uint64_t seed) {
  return made(element, count, seed, [&](std::uint64_t random) {
    return static_cast<double>((random >> 16) % static_cast<std::uint64_t>(below));
  });
}

std::vector<std::byte> make_starts(ElementType element, std::int64_t count, std::int64_t segments,
                                   std::int64_t rows, std::uint64_t seed) {
  const auto chosen = make_positions(ElementType::s32, rows, segments, seed);
  const Reader segment(ElementType::s32, chosen);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(std::max(count, segments + 1)), 0);
  for (std::int64_t row = 0; row < rows; ++row)
    ++starts[static_cast<std::size_t>(segment[row]) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  const std::size_t width = sema::element_bytes(element);
  std::vector<std::byte> memory(static_cast<std::size_t>(count) * width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::uint64_t encoded = encode(element, static_cast<double>(starts[i]));
    std::memcpy(memory.data() + i * width, &encoded, width);
  }
  return memory;
}

double largest(ElementType element, Numbers numbers) {
  switch (numbers) {
    case Numbers::small_integers:
      return 3;
    case Numbers::wide_integers:
      return wide_range(element).high;
    case Numbers::uniform:
      return is_float(element) ? 1 : static_cast<double>(1ull << std::min(bits(element), 16));
    case Numbers::signs:
      break;
  }
  return 1;
}

Reader::Reader(ElementType element, const std::vector<std::byte>& memory)
    : element_(element),
      memory_(memory.data()),
      table_(bits(element) <= 16 ? &values_of(element) : nullptr) {}

double Reader::operator[](std::int64_t i) const {
  const std::size_t width = sema::element_bytes(element_);
  std::uint64_t read = 0;
  std::memcpy(&read, memory_ + static_cast<std::size_t>(i) * width, width);
  if (table_) return (*table_)[read & (table_->size() - 1)];
  return decode(element_, read);
}

}  // namespace lay::bench
