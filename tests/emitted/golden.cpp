// Kernels as IR text beside the CUDA they are emitted as. LAY_BLESS=1 rewrites the goldens; `git
// diff` is the review.
#include <algorithm>

#include "backend/ir/text/parse.h"
#include "backend/ir/verify/verify.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> kernels() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(source("tests/emitted")))
    if (entry.path().extension() == ".ir") paths.push_back(entry.path());
  paths.push_back(source("tests/ir/hopper_persistent.ir"));
  std::sort(paths.begin(), paths.end());
  return paths;
}

lay::cuda::Emitted emitted(const fs::path& path, std::string_view target) {
  return lay::test::emitted(lay::ir::parse(contents(path)), target);
}

}  // namespace

TEST_CASE("the golden kernels are ones that the verifier accepts") {
  for (const fs::path& path : kernels()) {
    INFO(path.filename().string());
    for (const lay::ir::Problem& problem : lay::ir::verify(lay::ir::parse(contents(path)))) {
      FAIL_CHECK(problem.message + " in " + problem.statement);
    }
  }
}

TEST_CASE("emitted text is the golden one") {
  REQUIRE(!kernels().empty());
  for (const fs::path& path : kernels()) {
    check_golden(emitted(path, "sm_90a").text,
                 source("tests/emitted") / path.filename().replace_extension(".cu"));
  }
}

TEST_CASE("every line of emitted text has its line of the script, or none") {
  for (const fs::path& path : kernels()) {
    INFO(path.filename().string());
    const auto made = emitted(path, "sm_90a");
    CHECK(made.lines.size() ==
          static_cast<std::size_t>(std::count(made.text.begin(), made.text.end(), '\n')));
  }
}

TEST_CASE("emitted text compiles for every target, without local memory") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  for (const fs::path& path : kernels())
    for (const char* target : {"sm_80", "sm_90a"}) {
      INFO(path.filename().string() << " for " << target);
      const bool newer = path.stem() == "types" || path.stem() == "cluster_sum" ||
                         path.stem() == "hopper_persistent";  // 8-bit floats, clusters, TMA, wgmma
      if (newer && target == std::string("sm_80")) continue;
      const auto made = lay::runtime::compile(emitted(path, target), *lay::find_target(target));
      check_compiled(made);
    }
}
