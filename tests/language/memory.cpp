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
