// Pieces of C++ expressions: what is folded, and what must not be.
#include "backend/cuda/code.h"

#include <catch2/catch.hpp>

using namespace lay::cuda;

TEST_CASE("a remainder of multiples of a power of two is 0") {
  const Code i = name("i"), j = name("j");
  const auto times = [](const Code& a, int by) { return product(a, integer(by)); };
  const auto rest = [](const Code& a, int by) { return remainder(a, integer(by)).text; };

  CHECK(rest(times(i, 8), 2) == "0");
  CHECK(rest(times(i, 8), 16) == "i * 8 % 16");
  CHECK(rest(sum(times(i, 32), times(j, 8)), 8) == "0");
  CHECK(rest(sum(times(i, 32), times(j, 8)), 16) == "(i * 32 + j * 8) % 16");
  CHECK(rest(difference(times(i, 4), integer(2)), 2) == "0");
  CHECK(rest(quotient(times(i, 32), integer(4)), 8) == "0");
  CHECK(rest(quotient(times(i, 32), integer(64)), 2) == "i * 32 / 64 % 2");
  CHECK(rest(times(times(i, 2), 2), 4) == "0");
  CHECK(rest(widened(times(i, 4)), 4) == "0");
  CHECK(rest(sum(times(i, 4), integer(0)), 4) == "0");
  CHECK(rest(sum(times(i, 4), integer(1)), 4) == "(i * 4 + 1) % 4");
}

TEST_CASE("a product that may have wrapped is no multiple of an odd number") {
  const Code i = name("i");
  CHECK(remainder(product(i, integer(6)), integer(3)).text == "i * 6 % 3");
  CHECK(remainder(product(i, integer(6)), integer(6)).text == "i * 6 % 6");
}
