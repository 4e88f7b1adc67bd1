#include "runtime/io/csv.h"

#include <catch2/catch.hpp>

#include "frontend/source/diagnostic.h"
#include "runtime/io/arrays.h"
#include "tests/runtime/temporary.h"

using lay::ElementType;
using lay::test::put;
using lay::test::TemporaryFolder;

namespace {

lay::sema::Array read(const std::string& text) {
  TemporaryFolder folder;
  const std::string file = folder / "x.csv";
  put(file, text);
  return lay::runtime::load_array(file);
}

std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const lay::DiagnosticError& e) {
    CHECK(e.diagnostic.code == "csv");
    return e.diagnostic.message.substr(e.diagnostic.message.find("` ") + 2);
  }
  return "";
}

}  // namespace

TEST_CASE("a table of numbers as text") {
  const auto table = read("0, 1, 2\n8,9,10\n\n");
  CHECK(table.element == ElementType::s64);
  CHECK(table.shape == std::vector<std::int64_t>{2, 3});
  CHECK(table.integer(5) == 10);
  CHECK(read("1,2,3").shape == std::vector<std::int64_t>{3});
  CHECK(read("1\r\n2\r\n-3\r\n").shape == std::vector<std::int64_t>{3});
  CHECK(read("1\r\n2\r\n-3\r\n").integer(2) == -3);
  CHECK(read("1,0.5\n2,3").element == ElementType::f64);
  CHECK(read("1,0.5\n2,3").real(1) == 0.5);
  CHECK(read("\xEF\xBB\xBF"
             "7,8\n9,10")
            .integer(0) == 7);
  CHECK(read("9223372036854775807").integer(0) == INT64_MAX);
}

TEST_CASE("what is no table of numbers is refused at its line") {
  CHECK(refused("") == "has no numbers");
  CHECK(refused("\n\n") == "has no numbers");
  CHECK(refused("1,2\n3,x\n") == "has no number at line 2, column 2, but `x`");
  CHECK(refused("1,2\n3\n") == "has 1 number in line 2 and 2 in the first");
  CHECK(refused("1,,2") == "has no number at line 1, column 2, but ``");
  CHECK(refused("1,2,") == "has no number at line 1, column 3, but ``");
  CHECK(refused("a,b\n1,2") == "has no number at line 1, column 1, but `a`");
}
