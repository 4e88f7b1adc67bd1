// The numbers that tensors hold while a kernel is checked and measured. They are made from a seed,
// one after another in memory.
#pragma once

#include <cstddef>
#include <vector>

#include "frontend/algebra/memory/element.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// Kinds of numbers.
enum class Numbers {
  uniform,         // in [-1, 1); integers over their whole range
  small_integers,  // -3 .. 3 without 0 (unsigned: 1 .. 3): every sum is exact
  wide_integers,   // odd integers that need every bit of the type's significand
  signs,           // 1 and -1 (unsigned: 1)
};

// Returns the bytes of `count` elements. Element i depends on the seed and i alone.
std::vector<std::byte> make_numbers(ElementType element, std::int64_t count, Numbers numbers,
                                    std::uint64_t seed);

// Returns the bytes of `count` coordinates, 0 .. below - 1.
std::vector<std::byte> make_positions(ElementType element, std::int64_t count, std::int64_t below,
                                      std::uint64_t seed);

// Returns the bytes of `count` starts of segments that have `rows` rows together: 0 first, each as
// large as the last or larger, and `rows` from the last segment's end on. Each row falls into a
// segment at random, as a router's tokens do, so that few rows leave segments empty.
std::vector<std::byte> make_starts(ElementType element, std::int64_t count, std::int64_t segments,
                                   std::int64_t rows, std::uint64_t seed);

// Returns the largest magnitude that make_numbers gives for the type.
double largest(ElementType element, Numbers numbers);

// Memory of the tensors, one block each, by TensorId.
using HostData = std::vector<std::vector<std::byte>>;

// Reads elements of one block as numbers. A type of up to 16 bits is decoded once for all its
// values, so that reading is a table look-up.
class Reader {
 public:
  Reader(ElementType element, const std::vector<std::byte>& memory);
  double operator[](std::int64_t i) const;

 private:
  ElementType element_;
  const std::byte* memory_;
  // By the bits of an element; null for wider types.
  const std::vector<double>* table_ = nullptr;
};

}  // namespace lay::bench
