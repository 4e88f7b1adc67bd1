// Rows of the library for products that share a factor, which are told how many there are.
#include <algorithm>
#include <catch2/catch.hpp>

#include "frontend/sema/library.h"

namespace lay::sema {

namespace {

using enum ElementType;

const ScheduleEntry& entry_of(const Policy& row, const std::string& key) {
  const auto found = std::find_if(row.entries.begin(), row.entries.end(),
                                  [&](const ScheduleEntry& each) { return each.key == key; });
  REQUIRE(found != row.entries.end());
  return *found;
}

std::vector<Policy> rows_of(int products, int arithmetic = 9, bool inputs = false) {
  return library_policies("sm90_fused", {.a = bf16,
                                         .b = bf16,
                                         .accumulator = f32,
                                         .arithmetic = arithmetic,
                                         .inputs = inputs,
                                         .products = products});
}

bool has(const std::vector<Policy>& rows, const std::string& name) {
  return std::any_of(rows.begin(), rows.end(), [&](const Policy& row) { return row.name == name; });
}

}  // namespace

TEST_CASE("policies of several products") {
  const std::vector<Policy> rows = rows_of(2);
  REQUIRE(has(rows, "fused_128x128_2x1"));
  const auto wide = std::find_if(rows.begin(), rows.end(),
                                 [](const Policy& r) { return r.name == "fused_128x128_2x1"; });
  // 16 * 56 pairs of tiles along M of 4096 x 14336, 66 at once, take 28 turns of 64 steps. A step
  // has the products of 128 x 256, and loads 128 rows of A and twice 128 of B, of which a block
  // of the pair asks for half.
  const ProblemSize size{4096, 14336, 4096, 1, 132};
  const Int cost = under(std::get<Tuple>(entry_of(*wide, "cost").value).value(), size);
  REQUIRE(cost.is_literal());
  const int loads = 2 * (59 * 128 + 2 * 59 * 128 / 2) + 100 * (128 + 2 * 128);
  const int products = 100 * 128 * 256 / 32;
  const int step =
      (products < loads ? 100 * loads + 21 * products : 100 * products + 21 * loads) / 100;
  CHECK(cost.value() ==
        28 * (64 * step + (102 + 20 * 9) * 128 * 128 / 10 + 29000) + 62000 + 360000);
  // Sums of all products stay in registers.
  CHECK(has(rows, "fused_128x160"));
  CHECK(!has(rows, "fused_128x192"));
  CHECK(!has(rows_of(2, 9, true), "fused_128x160"));
  CHECK(has(rows_of(2, 0), "fused_128x192"));
  CHECK(!has(rows_of(3), "fused_128x128"));
  CHECK(has(rows_of(3), "fused_128x96"));
  CHECK(has(rows_of(4), "fused_128x64"));
  // A factor of another type, and sums in parts, have none.
  CHECK(library_policies("sm90_fused", {.a = bf16, .b = s8, .accumulator = f32, .products = 2})
            .empty());
  const ProductKind in_parts{
      .a = bf16, .b = bf16, .accumulator = f32, .in_parts = true, .products = 2};
  CHECK(library_policies("sm90_fused", in_parts).empty());
}

}  // namespace lay::sema
