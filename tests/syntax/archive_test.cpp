// Tree -> bytes -> tree: the same tree, with its places in another file.
#include "frontend/syntax/archive/archive.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "frontend/syntax/format.h"
#include "frontend/syntax/parse.h"
#include "generated/tests/paths.h"

using namespace lay;
namespace fs = std::filesystem;

namespace {

// Every kind of statement and of expression, and numbers at the ends of their ranges.
constexpr const char* kEverything = R"lay(
use atoms.sm90
use "mine.lay"
dim M, N
assume M % 8 == 0 and not N < 3
assert M > 0, "positive"
let a = (-9223372036854775808, 9223372036854775807, _4, 0.5, 1e-3, "a\\n", true, _, ())
let b = (4,2):(1,n) o Sw<3,4,3> o 2:1 + 1 - 2 * 3 / 4 // 5 % 6
let c = [i@0@k for i in 0..M]
def f(x, y: int) -> int = if x == y or x != 1 then -x else g(x, y = 2)[0, _](1).field
def mean[n](x) = sum[n](x) / 2
record R(a: type) {
  shape = (8,8)
  layout = a
}
print a, b
show a, view = line
explain a
prove f(1, 2) >= 3
find layout(write = a)
kernel k<T: type, M, K>(A: inout T (M,K):(K,1), s: f32) -> C: T M where K > 0 {
  let r[m] = sum[k](A[m,k])
  C[m] = r[m] * s
}
schedule k for sm90 when M > 64 {
  tile = (64,64)
  smem A = (8,8):(8,1)
}
)lay";

void check_round_trip(const std::string& text) {
  Sources sources;
  const syntax::Parsed parsed = syntax::parse(sources, sources.add("a.lay", text));
  INFO(render(sources, parsed.diagnostics));
  REQUIRE(parsed.ok());
  const std::string bytes = syntax::archive(*parsed.tree);
  const syntax::Tree read = syntax::read_tree(bytes, 7);
  CHECK(read.file == 7);
  CHECK(syntax::dump(read) == syntax::dump(*parsed.tree));
  CHECK(syntax::archive(read) == bytes);
  REQUIRE(read.expressions.size() == parsed.tree->expressions.size());
  for (std::size_t i = 0; i < read.expressions.size(); ++i) {
    const Span before = parsed.tree->expressions[i].span, after = read.expressions[i].span;
    REQUIRE(after == Span{7, before.begin, before.end});
  }
}

}  // namespace

TEST_CASE("an archived tree is the tree") {
  check_round_trip("");
  check_round_trip(kEverything);
  int files = 0;
  for (const char* folder : {"stdlib", "examples", "tests/bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(LAY_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".lay") continue;
      INFO(entry.path());
      std::ifstream in(entry.path(), std::ios::binary);
      check_round_trip({std::istreambuf_iterator<char>(in), {}});
      ++files;
    }
  }
  CHECK(files > 30);
}

TEST_CASE("an archive that was cut or that goes on is refused") {
  Sources sources;
  const syntax::Parsed parsed =
      syntax::parse(sources, sources.add("a.lay", "let a = (4,2):(1,n)\n"));
  const std::string bytes = syntax::archive(*parsed.tree);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(syntax::read_tree(bytes.substr(0, size), 0), std::logic_error);
  }
  CHECK_THROWS_AS(syntax::read_tree(bytes + "a", 0), std::logic_error);
}
