// The derivation of `explain` is what the operation gives: its last line is the value that `print`
// writes.

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"

using namespace lay;
using namespace lay::sema;

namespace {

// Evaluates lines in a session of its own and keeps what they print.
class Talk {
 public:
  std::vector<std::string> printed;
  std::vector<std::string> codes;

  void run(const std::string& text) {
    for (const Outcome& outcome : evaluator_.run("test.lay", text)) {
      for (const Diagnostic& d : outcome.diagnostics.list()) {
        if (d.severity == Severity::error) codes.push_back(d.code);
      }
    }
  }
  // The value of an expression as explained and as evaluated; the error's code where it has none.
  std::pair<std::string, std::string> both(const std::string& expression) {
    return {of("explain " + expression, true), of(expression, false)};
  }

 private:
  std::string of(const std::string& statement, bool explained) {
    printed.clear();
    for (const Outcome& outcome : evaluator_.run("test.lay", statement)) {
      for (const Diagnostic& d : outcome.diagnostics.list()) {
        if (d.severity == Severity::error) return d.code;
      }
      if (!explained) return text(*outcome.value);
    }
    REQUIRE(printed.size() == 1);
    return last_value(printed[0]);
  }

  // "  = R" at the margin of the last operation, or "NAME(...) = R" where it has no steps.
  static std::string last_value(const std::string& derivation) {
    std::string value;
    std::size_t at = 0;
    while (at < derivation.size()) {
      const std::size_t end = std::min(derivation.find('\n', at), derivation.size());
      const std::string line = derivation.substr(at, end - at);
      if (line.rfind("  = ", 0) == 0) value = line.substr(4);
      if (line[0] != ' ' && line.find(") = ") != line.npos)
        value = line.substr(line.rfind(") = ") + 4);
      if (line.rfind("nothing to derive: this is ", 0) == 0) value = line.substr(27);
      at = end + 1;
    }
    return value;
  }

  Sources sources_;
  Host host() {
    Host host;
    host.print = [this](const std::string& text) { printed.push_back(text); };
    return host;
  }
  Evaluator evaluator_{sources_, host()};
};

struct Random {
  std::uint64_t state = 5;
  int below(int n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  }
  std::string extent() { return std::to_string(1 + below(8)); }

  // A layout of rank 1 to 3 with compact or arbitrary strides; extents and strides may be symbols.
  std::string layout(const std::vector<std::string>& symbols) {
    const int rank = 1 + below(3);
    std::string shape = "(", stride = "(", next = "1";
    const bool compact = below(2) == 0;
    for (int i = 0; i < rank; ++i) {
      const bool symbolic = !symbols.empty() && below(3) == 0;
      const std::string e =
          symbolic ? symbols[static_cast<std::size_t>(below(static_cast<int>(symbols.size())))]
                   : extent();
      shape += e + ",";
      stride += (compact ? next : std::to_string(below(13))) + ",";
      next += "*" + e;
    }
    return shape + "):" + stride + ")";
  }
};

std::string expression(Random& random, const std::vector<std::string>& symbols) {
  const std::string a = random.layout(symbols), b = random.layout(symbols), n = random.extent();
  switch (random.below(14)) {
    case 0:
      return "coalesce(" + a + ")";
    case 1:
      return "complement(" + a + ")";
    case 2:
      return "complement(" + a + ", 64)";
    case 3:
      return "right_inverse(" + a + ")";
    case 4:
      return "left_inverse(" + a + ")";
    case 5:
      return "logical_divide(" + a + ", " + n + ")";
    case 6:
      return "zipped_divide(" + a + ", (" + n + ",))";
    case 7:
      return "logical_product(" + a + ", " + n + ")";
    case 8:
      return "blocked_product(" + a + ", " + b + ")";
    case 9:
      return "upcast(" + a + ", " + n + ")";
    case 10:
      return "downcast(" + a + ", " + n + ")";
    case 11:
      return "recast(" + a + ", f16, u32)";
    case 12:
      return "(" + a + ")(" + n + ")";
    default:
      return a + " o " + b;
  }
}

}  // namespace

TEST_CASE("what is explained is what is computed") {
  Talk talk;
  Random random;
  int values = 0, refusals = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::string e = expression(random, {});
    INFO(e);
    const auto [explained, computed] = talk.both(e);
    REQUIRE(explained == computed);
    (computed.find(':') == std::string::npos ? refusals : values) += 1;
  }
  CHECK(values > 1'000);
  CHECK(refusals > 50);
}

TEST_CASE("symbols are explained as they are computed") {
  Talk talk;
  talk.run("dim M, N\nassume M % 4 == 0");
  Random random;
  for (int i = 0; i < 400; ++i) {
    const std::string e = expression(random, {"M", "N"});
    INFO(e);
    const auto [explained, computed] = talk.both(e);
    REQUIRE(explained == computed);
  }
}

TEST_CASE("swizzles are explained as they are computed") {
  Talk talk;
  for (const char* e :
       {"Sw<3,4,3> o Sw<2,7,3>", "Sw<2,4,3> o Sw<1,6,3>", "Sw<3,4,3>(200)", "upcast(Sw<3,4,3>, 8)",
        "downcast(Sw<3,4,3>, 8)", "upcast(Sw<3,1,3>, 8)", "(8,8):(8,1) o Sw<2,0,3>",
        "(Sw<3,3,3> o 0 o (8,64):(64,1))(5,9)", "(Sw<3,3,3> o 8 o (8,64):(64,1)) o 4:2",
        "((4,2):(1,4))(_, 1)", "(Sw<3,3,3> o 0 o (8,64):(64,1))(_, 3)", "(4,3):(1@0,1@1) o 12:1",
        "recast(Sw<3,4,3> o 0 o (8,64):(64,1), u8, u32)"}) {
    INFO(e);
    const auto [explained, computed] = talk.both(e);
    CHECK(explained == computed);
  }
}

TEST_CASE(
    "what a derivation says of an operation it says once, and refers to nothing that it does not "
    "show") {
  Talk talk;
  talk.run("explain Sw<0,1,3> o (8,8):(8,1)");
  REQUIRE(talk.printed.size() == 1);
  CHECK(talk.printed[0].find("as above") == std::string::npos);
  CHECK(talk.printed[0].find("Sw<0,1,3> changes nothing") != std::string::npos);
}

TEST_CASE("a check says nothing, and a failing step is shown before the error") {
  Talk talk;
  talk.run("explain (6,2):(1,7) o (3,2):(2,3)");
  REQUIRE(talk.codes == std::vector<std::string>{"composition-carry"});
  REQUIRE(talk.printed.size() == 1);
  CHECK(talk.printed[0].find("reach 4 + 3 = 7 in 6:1, not below 6") != std::string::npos);
}
