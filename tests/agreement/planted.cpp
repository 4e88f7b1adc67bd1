#include "tests/agreement/planted.h"

#include <catch2/catch.hpp>

#include "backend/ir/text/parse.h"
#include "tests/agreement/calls.h"

namespace lay::test {

void find_planted(const std::string& text, const sema::KernelCall& call,
                  const sema::Array& expected, const std::vector<Planted>& faults) {
  REQUIRE(trouble(ir::parse(text), call, expected) == "");
  for (const Planted& fault : faults) {
    INFO(fault.what << ": " << fault.from << " in\n" << text);
    const size_t at = text.find(fault.from, fault.where), length = std::string(fault.from).size();
    REQUIRE(at != std::string::npos);
    const std::string found = trouble(
        ir::parse(text.substr(0, at) + fault.to + text.substr(at + length)), call, expected);
    INFO(found);
    CHECK(found.starts_with(fault.found));
  }
}

}  // namespace lay::test
