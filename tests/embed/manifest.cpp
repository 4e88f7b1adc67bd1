// The manifests of many kernels, held to their schema.
#include "runtime/build/manifest.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "generated/tests/paths.h"
#include "runtime/commands/commands.h"
#include "tests/embed/built.h"

namespace {

using lay::test::Ran;
using lay::test::shell;
using lay::test::slurp;
using lay::test::TemporaryFolder;

constexpr const char* kSchema = LAY_SOURCE_DIR "/runtime/build/lay-manifest-5.schema.json";

// Guards with sizes that break them, and a scalar; an output that is read.
constexpr const char* kGuarded =
    "kernel parts<M, N, ld>(X: f32 (M,N):(ld,1), s: f16, u: u8) -> Y: f32 (M,N)\n"
    "  where N % 8 == 0 and ld >= N\n"
    "{ Y[m,n] = X[m,n] * s + u }\n"
    "kernel added<M, N, K>(X: f32 (K,N)) -> Y: inout f32 (M,N) { Y[m,n] = Y[m,n] + X[m,n] }\n";

}  // namespace

TEST_CASE("manifests keep to their schema, which refuses damaged ones") {
  const TemporaryFolder folder;
  lay::test::put(folder / "guarded.lay", kGuarded);
  const std::string of = LAY_SOURCE_DIR "/";
  const std::vector<std::string> scripts = {
      folder / "guarded.lay",
      of + "examples/07_hopper_gemm.lay",
      of + "examples/08_bias_gelu.lay",
      of + "examples/09_residual.lay",
      of + "examples/10_causal_mask.lay",
      of + "examples/11_scaled_fp8.lay",
      of + "examples/digits/digits.lay",
      of + "tests/embed/kernels.lay",  // columns of pixels, stages
      of + "tests/bench/permute.lay",
      of + "tests/bench/products.lay",  // attention, grouped and scaled products
      of + "tests/bench/rows.lay",
      of + "tests/bench/sgemm.lay",
  };
  std::string manifests;
  for (const std::string& script : scripts) {
    INFO(script);
    const std::string out = folder / std::filesystem::path(script).stem().string();
    lay::runtime::BuildOptions options;
    options.file = script;
    options.folder = out;
    options.choices.bundle = script == scripts.front();
    options.choices.source_only = script.find("/bench/") != std::string::npos;
    options.choices.archs = {"sm_80", "h200"};
    REQUIRE(lay::runtime::build_script(options) == 0);
    manifests += " " + out + "/manifest.json";
  }
  const std::string guarded = slurp(folder / "guarded/manifest.json");
  CHECK(guarded == slurp(folder / "guarded/guarded.json"));
  CHECK(guarded.find("\"schema\": \"lay-manifest-" +
                     std::to_string(lay::runtime::manifest_version) + "\"") != std::string::npos);
  if (shell("python3 -c 'import jsonschema; jsonschema.Draft202012Validator'").code != 0) {
    WARN("skipped: python3 has no jsonschema (python3-jsonschema)");
    return;
  }
  const Ran held = shell("python3 " + of + "tests/embed/manifest_schema.py " + kSchema + manifests);
  INFO(held.out);
  CHECK(held.code == 0);
  CHECK(held.out == "0 wrong\n");
}
