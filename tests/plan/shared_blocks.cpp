// Tiles of shared memory for wgmma and TMA, from the blocks of the library's records, against the
// PTX ISA's swizzles computed place by place.
#include <catch2/catch.hpp>

#include "backend/plan/sm90/tma.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/shared_block.h"

using namespace lay;

namespace {

// PTX ISA, "Swizzling modes": of 128 bytes, 16-byte piece p of row r lies where piece p xor r % 8
// would; of 64, p xor r / 2 % 4; of 32, p xor r / 4 % 2. Rows follow one another.
std::int64_t swizzled(std::int64_t byte, int width) {
  const std::int64_t line = byte / 128, piece = byte / 16 % 8;
  const std::int64_t other = line % (width / 16);
  return line * 128 + (piece ^ other) * 16 + byte % 16;
}

}  // namespace

TEST_CASE("tiles of the library's blocks lie as the PTX ISA says") {
  using enum ElementType;
  CHECK(plan::box_widths() == std::vector{128, 64, 32});
  for (const int width : {128, 64, 32}) {
    for (const ElementType type : {u8, e4m3, s8, bf16, f16, f32, s32}) {
      const int bytes = bits(type) / 8, row = width / bytes;
      for (const bool along_k : {true, false}) {
        for (const std::array<int, 2> rows : {std::array{1, 8}, {2, 64}, {3, 24}}) {
          const int run = row * rows[0], across = rows[1];
          const int outer = along_k ? across : run, k = along_k ? run : across;
          INFO(width << " bytes of " << element_name(type) << ", " << outer << " x " << k);
          const AnyLayout layout = plan::operand_layout(outer, k, along_k, width, type);
          const auto places = values(layout);
          REQUIRE(places.size() == static_cast<std::size_t>(outer) * k);
          int wrong = 0;
          for (int j = 0; j < k; ++j) {
            for (int i = 0; i < outer; ++i) {
              // Columns of `width` bytes one behind the other.
              const int at = along_k ? j : i, which = along_k ? i : j;
              const std::int64_t byte =
                  (std::int64_t{at / row} * across + which) * width + at % row * bytes;
              wrong +=
                  places[static_cast<std::size_t>(j * outer + i)] * bytes != swizzled(byte, width);
            }
          }
          CHECK(wrong == 0);
        }
      }
    }
    int wrong = 0;
    const Layout bytes(4096, 1);
    const auto places = values(AnyLayout(Composed{plan::address_swizzle(width), 0, bytes}));
    for (std::int64_t byte = 0; byte < 4096; ++byte)
      wrong += places[static_cast<std::size_t>(byte)] != swizzled(byte, width);
    CHECK(wrong == 0);
  }
}

TEST_CASE("tiles have the modes that descriptors and schedules say") {
  const auto text = [](int outer, int k, bool along_k, int span) {
    return to_string(plan::operand_layout(outer, k, along_k, span, ElementType::bf16));
  };
  CHECK(text(128, 64, true, 128) == "Sw<3,3,3> o 0 o (128,64):(64,1)");
  CHECK(text(128, 128, true, 128) == "Sw<3,3,3> o 0 o (128,(64,2)):(64,(1,8192))");
  CHECK(text(128, 64, false, 128) == "Sw<3,3,3> o 0 o ((64,2),64):((1,4096),64)");
  CHECK(text(64, 16, false, 128) == "Sw<3,3,3> o 0 o (64,16):(1,64)");
  CHECK(text(8, 32, true, 64) == "Sw<2,3,3> o 0 o (8,32):(32,1)");
  CHECK(text(16, 16, true, 32) == "Sw<1,3,3> o 0 o (16,16):(16,1)");
  const sema::SharedBlock block = sema::shared_block(false, 64, ElementType::f32);
  CHECK(block.rows.to_string() == "(16,8):(1,16)");
  CHECK(block.address.to_string() == "Sw<2,4,3>");
  CHECK(block.elements.to_string() == "Sw<2,2,3>");
}
