// The table of products: the baselines of each of its kernels, and the scripts that print it from
// measurements, here of a `lay` that is a shell script.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "frontend/algebra/support/refusal.h"
#include "generated/tests/paths.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/bench/torch/torch_text.h"
#include "runtime/compile/child.h"
#include "tests/golden/golden.h"
#include "tests/measure/bench_run.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay;

bool has_tools() {
  const bool has =
      !runtime::find_program("python3").empty() && !runtime::find_program("bash").empty();
  if (!has) WARN("there is no python3 or no bash in PATH");
  return has;
}

// Runs products.sh with a `lay` whose script prints for each kernel what `answers` does.
std::string table_of(const std::string& answers, const std::string& environment,
                     const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string lay = std::string(folder / "lay");
  test::put(lay, "#!/bin/sh\nkernel=$4\ncase $kernel in\n" + answers + "\nesac\n");
  std::filesystem::permissions(lay, std::filesystem::perms::owner_all);
  const std::string out = std::string(folder / "out");
  const std::string command = environment + " bash " + LAY_SOURCE_DIR +
                              "/tests/bench/products.sh " + lay + " " + arguments + " > " + out +
                              " 2>&1";
  CHECK(std::system(command.c_str()) == 0);
  return test::slurp(out);
}

// The JSON of `lay bench` for one problem.
std::string answer(const std::string& kernel, const std::string& sizes, const std::string& rows) {
  return kernel +
         ") echo '{\"device\": {\"name\": \"Fake GPU\"}, \"torch\": \"2.11.0\", \"missing\": [], "
         "\"results\": [{\"kernel\": \"" +
         kernel + "\", \"sizes\": " + sizes + ", \"notes\": [], \"rows\": [" + rows + "]}]}';;\n";
}

std::string row(const std::string& side, const std::string& name, double ms, bool right = true) {
  const std::string expected = side == "lay" ? ", \"expected_ms\": 1.25" : "";
  return "{\"side\": \"" + side + "\", \"name\": \"" + name + "\", \"ms\": " + std::to_string(ms) +
         expected + ", \"right\": " + (right ? "true" : "false") +
         ", \"verdict\": \"WRONG: Y[0]\"}";
}

}  // namespace

TEST_CASE("kernels of the table of products have their baselines") {
  const std::map<std::string, std::int64_t> known{{"M", 64}, {"N", 48}, {"K", 32}, {"L", 4},
                                                  {"B", 2},  {"H", 4},  {"S", 64}, {"D", 16},
                                                  {"T", 64}, {"E", 4},  {"C", 16}, {"F", 32}};
  std::string all;
  for (const sema::KernelPtr& kernel : test::kernels_of("../bench/products.lay")) {
    std::map<std::string, std::int64_t> sizes;
    for (const sema::Dim& dim : kernel->dims) sizes[dim.name] = known.at(dim.name);
    all += kernel->name + "\n";
    for (const auto& way : bench::torch_function(bench::problem_of(kernel, sizes, {})).ways) {
      all += "  " + way.name + ":";
      for (const std::string& call : way.calls) all += " " + call;
      all += "\n";
    }
  }
  test::check_expected(test::source_root() / "tests/measure/products.expected", all);
}

TEST_CASE("the table of products says what was measured, what was not, and why") {
  if (!has_tools()) return;
  const std::string answers =
      answer("swiglu", R"({"M": 4096, "N": 14336, "K": 4096})",
             row("lay", "lay sm90_tall", 1.5) + "," + row("torch", "torch", 1.8) + "," +
                 row("torch.compile", "torch.compile", 1.65)) +
      answer("attention_128", R"({"B": 4, "H": 16, "S": 4096})",
             row("lay", "lay fused", 0.25) + "," +
                 R"({"side": "torch", "name": "torch cuDNN", "failure": "No available kernel"},)" +
                 row("torch", "torch flash", 0.125)) +
      answer("grouped", R"({"T": 2048, "E": 16, "N": 4096, "K": 7168})",
             R"({"side": "lay", "name": "lay scalar", "failure": "left out"},)" +
                 row("torch", "torch", 0.25)) +
      answer("conv", R"({"B": 32, "S": 56, "C": 128, "F": 128})",
             row("lay", "lay sm90_tall", 0.5, false) + "," + row("torch", "torch", 0.25)) +
      "scaled_rows) echo 'out of memory' >&2; exit 4;;\n";
  const std::string kernels = "swiglu attention_128 grouped conv scaled_rows";
  test::check_expected(test::source_root() / "tests/measure/products_table.expected",
                       table_of(answers, "", kernels));
}

TEST_CASE("a limit on time leaves out the last kernels of the table of products") {
  if (!has_tools()) return;
  const std::string table = table_of("*) exit 1;;", "LIMIT=0", "swiglu conv");
  CHECK(table == "not run within 0 s: swiglu conv conv_strided\n");
}
