// The numbers of the hardware stand in the prelude; what the planner and the interpreter count with
// is the same.

#include <catch2/catch.hpp>

#include "frontend/algebra/memory/banks.h"
#include "tests/language/script.h"

TEST_CASE("the memories of the prelude are those of the planner and the interpreter") {
  const lay::SharedMemory shared;
  const lay::GlobalMemory global;
  lay::sema::test::Script script(
      "print shared_memory.banks, shared_memory.bank_bytes, shared_memory.lanes\n"
      "print global_memory.sector_bytes, global_memory.lanes");
  CHECK(script.errors == "");
  CHECK(script.printed == std::to_string(shared.banks) + " " + std::to_string(shared.bank_bytes) +
                              " " + std::to_string(shared.lanes) + "\n" +
                              std::to_string(global.sector_bytes) + " " +
                              std::to_string(global.lanes) + "\n");
}

TEST_CASE("fit takes arrays: every index keeps a mode of its own") {
  using lay::ElementType;
  using lay::sema::Array;
  Array table = Array::make(ElementType::s32, {4, 6}), reals = Array::make(ElementType::f32, {3});
  for (std::int64_t i = 0; i < 24; ++i) table.set_integer(i, i / 6 % 2 * 8 + i / 12 * 100 + i % 6);
  for (std::int64_t i = 0; i < 3; ++i) reals.set_real(i, 2.0 * static_cast<double>(i));
  lay::sema::test::Script script(
      "print fit(load(\"table.npy\")) == ((2,2),6):((8,100),1)\n"
      "print fit(load(\"reals.npy\")) == 3:2\n"
      "print fit(load(\"half.npy\"))",
      lay::sema::Mode::run, {},
      {{"table.npy", table}, {"reals.npy", reals}, {"half.npy", [] {
                                                      Array half =
                                                          Array::make(ElementType::f32, {2});
                                                      half.set_real(1, 0.5);
                                                      return half;
                                                    }()}});
  CHECK(script.printed == "true\ntrue\n");
  CHECK(script.errors == "argument-kind");
}

TEST_CASE(
    "accesses of tiled copies go over the whole tile, and those of another tile are refused") {
  const std::string copies =
      "use atoms.sm80\n"
      "let M = tiled_mma(mma(16, 16, f16, f32), (2,2,1), (32,32,16))\n"
      "let load = tiled_copy(copy_atom(cp_async(16), f16), (16,8):(8,1), (1,8))\n"
      "let ldm = tiled_copy_A(copy_atom(ldmatrix(4), f16), M)\n";
  const std::string by_hand =
      "let by_hand = find swizzle(write = partition_D(load, make_identity_layout((64,64))), "
      "read = partition_S(ldm, make_identity_layout((64,64))), bits = f16)\n";
  const std::string found = "let found = find swizzle(write = load, read = ldm, bits = f16, ";
  lay::sema::test::Script script(copies + by_hand + found +
                                 "tile = (64,64))\n"
                                 "assert found.layout == by_hand.layout\n"
                                 "assert found.wavefronts == by_hand.wavefronts\n"
                                 "assert found.conflicts == 0\n"
                                 "print banks(found.layout, load, f16).conflicts, "
                                 "banks(found.layout, ldm, f16).conflicts, "
                                 "sectors((1024,1024):(1024,1), load, f16).efficiency");
  CHECK(script.messages == "");
  CHECK(script.printed == "0 0 1.0\n");
  const auto said = [&](const std::string& text) {
    return lay::sema::test::Script(copies + text).messages;
  };
  CHECK_THAT(said("find swizzle(write = layout_D(load), read = layout_S(ldm), bits = 16, "
                  "tile = (64,64))"),
             Catch::Contains("reaches 1024 and misses index 1024"));
  CHECK_THAT(said(found + "tile = (24,64))"), Catch::Contains("outside the tile"));
  // A tiled multiply-add as it is: the operand whose tile has the layout's extents.
  CHECK_THAT(said("banks((32,16):(16,1), M, f16)"), Catch::Contains("layout_A(M) or layout_B(M)"));
  CHECK_THAT(said("banks((8,16):(16,1), M, f16)"), Catch::Contains("no operand"));
  CHECK_THAT(said("banks((512,):(1,), M, f16)"), Catch::Contains("no operand"));
  CHECK(said("assert banks((32,32):(32,1), M, f32).wavefronts == "
             "banks((32,32):(32,1), layout_C(M), f32).wavefronts\n"
             "let wide = tiled_mma(M.atom, (2,2,1), (64,32,16))\n"
             "assert banks((64,16):(16,1), wide, f16).conflicts == "
             "banks((64,16):(16,1), layout_A(wide), f16).conflicts\n"
             "assert banks((32,16):(16,1), wide, f16).wavefronts == "
             "banks((32,16):(16,1), layout_B(wide), f16).wavefronts\n"
             "assert sectors((64,32):(32,1), wide, f32).sectors == "
             "sectors((64,32):(32,1), layout_C(wide), f32).sectors") == "");
}
