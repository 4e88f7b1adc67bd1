// Every code of frontend/syntax has in tests/errors/syntax a failing program CODE.lay, the whole
// message CODE.expected and the cure CODE.cured.lay. LAY_BLESS=1 rewrites the messages.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "frontend/syntax/parse.h"
#include "generated/tests/paths.h"

using namespace lay;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = LAY_SOURCE_DIR;
const fs::path kGoldens = kRoot / "tests/errors/syntax";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Small limits, so that the programs that pass them are small.
Diagnostics parse(const std::string& name, Sources& sources) {
  syntax::Limits limits;
  limits.bytes = 1000;
  limits.brackets = 16;
  return syntax::parse(sources, sources.add(name, read(kGoldens / name)), limits).diagnostics;
}

// The codes as they stand in the sources: string literals in kebab-case.
std::set<std::string> codes() {
  std::set<std::string> result = {"syntax", "overflow"};
  const std::regex code("\"([a-z]+(-[a-z0-9]+)+)\"");
  for (const auto& file : fs::directory_iterator(kRoot / "frontend/syntax")) {
    const std::string text = read(file.path());
    for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i)
      result.insert((*i)[1]);
  }
  result.erase("format-refused");  // a mistake of the formatter: no text is known that shows it
  return result;
}

}  // namespace

TEST_CASE("every syntax error has its program, its message and its cure") {
  for (const std::string& code : codes()) {
    INFO(code);
    REQUIRE(fs::exists(kGoldens / (code + ".lay")));
    Sources sources;
    const Diagnostics found = parse(code + ".lay", sources);
    REQUIRE_FALSE(found.list().empty());
    CHECK(found.list().front().code == code);
    const std::string message = render(sources, found);
    const fs::path expected = kGoldens / (code + ".expected");
    if (std::getenv("LAY_BLESS") != nullptr) std::ofstream(expected, std::ios::binary) << message;
    CHECK(message == read(expected));
    const Diagnostics cured = parse(code + ".cured.lay", sources);
    CHECK(render(sources, cured).empty());
  }
}
