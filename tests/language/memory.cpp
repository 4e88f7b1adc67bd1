// The numbers of the hardware stand in the prelude; what the planner and the interpreter count with is the same.

#include <catch2/catch.hpp>

#include "frontend/algebra/banks.h"
#include "tests/language/script.h"

TEST_CASE("the memories of the prelude are those of the planner and the interpreter") {
  const lay::SharedMemory shared;
  const lay::GlobalMemory global;
  lay::sema::test::Script script(
      "print shared_memory.banks, shared_memory.bank_bytes, shared_memory.lanes\n"
      "print global_memory.sector_bytes, global_memory.lanes");
  CHECK(script.errors == "");
  CHECK(script.printed == std::to_string(shared.banks) + " " + std::to_string(shared.bank_bytes) + " " +
                              std::to_string(shared.lanes) + "\n" + std::to_string(global.sector_bytes) + " " +
                              std::to_string(global.lanes) + "\n");
}
