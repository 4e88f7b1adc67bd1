// `lay bench` on a machine whose GPU is the host interpreter and whose libraries are fakes:
// protocol, table, JSON and every way to fail.
#include "runtime/bench/bench.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "frontend/source/diagnostic.h"
#include "tests/measure/bench_run.h"
#include "tests/measure/machine.h"

namespace {

using lay::bench::Options;
using lay::test::Ended;
using nlohmann::json;

// Without Triton and PyTorch, which triton.cpp and torch.cpp are about.
Ended bench(Options options) {
  options.triton_seconds = options.torch_seconds = 0;
  return lay::test::bench(std::move(options));
}

json result_of(const std::string& kernel, std::map<std::string, std::int64_t> sizes,
               std::map<std::string, double> scalars = {}) {
  Options options;
  options.kernel = kernel;
  options.sizes = {std::move(sizes)};
  options.scalars = std::move(scalars);
  options.json = true;
  const Ended ended = bench(options);
  INFO(ended.error);
  REQUIRE(!ended.out.empty());
  return json::parse(ended.out)["results"][0];
}

// The row of that name.
json row(const json& result, const std::string& name) {
  for (const json& each : result["rows"])
    if (each["name"] == name) return each;
  FAIL("no row " + name + " in " + result.dump(1));
  return {};
}

bool has_note(const json& result, const std::string& words) {
  for (const json& note : result["notes"])
    if (note.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("rows of segments are measured, or left out where they run one thread an element") {
  const std::map<std::string, std::int64_t> sizes{{"T", 13}, {"E", 3}, {"N", 4}, {"K", 5}};
  const json result = result_of("ragged", sizes);
  INFO(result.dump(1));
  CHECK(result["right"] == true);
  REQUIRE(result["rows"][0]["name"] == "lay scalar");
  CHECK(result["rows"][0]["right"] == true);

  Options options;
  options.kernel = "ragged";
  options.sizes = {sizes};
  options.skip_scalar = true;
  options.json = true;
  const Ended ended = bench(options);
  CHECK(ended.code == 0);
  const json left_out = json::parse(ended.out)["results"][0]["rows"][0];
  CHECK(left_out["failure"] == "left out: it runs one thread an element");

  // Another plan is not.
  options.kernel = "linear";
  options.sizes = {{{"M", 40}, {"N", 24}, {"K", 20}}};
  CHECK(json::parse(bench(options).out)["results"][0]["rows"][0].contains("ms"));
}

TEST_CASE("a kernel beside cuBLASLt, fused and with an epilogue of its own") {
  const json result = result_of("linear", {{"M", 40}, {"N", 24}, {"K", 20}});
  INFO(result.dump(1));
  CHECK(result["right"] == true);
  CHECK(result["form"] == "f32 K-major x f32 K-major -> f32 row-major + bias, relu");
  CHECK(result["operations"] == 2 * 40 * 24 * 20);
  CHECK(result["sets"] == 15);  // of 9056 bytes, together twice the cache of 64 KiB
  const json ours = result["rows"][0];
  CHECK(ours["side"] == "lay");
  CHECK(ours["ms"] == 0.25);  // the fake driver's launch
  CHECK(ours["single_ms"] == 0.25);
  CHECK(ours["graph"].size() == 5);
  CHECK(ours["spread"] == 0);
  CHECK(ours["sm_mhz"] == 1700);
  CHECK(ours["watts"] == 650);
  CHECK(ours["verdict"].get<std::string>().find("same bits on integers") == 0);
  // The fake library's first algorithm takes three launches' time, its second two; the epilogue is
  // one more.
  CHECK(row(result, "cuBLASLt first")["ratio"] == 3);
  CHECK(row(result, "cuBLASLt best")["ratio"] == 2);
  CHECK(row(result, "cuBLASLt best")["detail"] == "#2 of 3");
  CHECK(row(result, "cuBLASLt, epilogue first")["ratio"] == 4);
  CHECK(row(result, "cuBLASLt, epilogue best")["single_ratio"] == 3);
  for (const json& each : result["rows"]) CHECK(each["right"] == true);
}

TEST_CASE("for a profiler each side is launched once, neither checked nor timed") {
  Options options;
  options.kernel = "linear";
  options.sizes = {{{"M", 40}, {"N", 24}, {"K", 20}}};
  options.once = true;
  options.algorithms = 2;
  const Ended ended = bench(options);
  INFO(ended.out << ended.error);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("each candidate launched once, neither checked nor timed\n") !=
        std::string::npos);
  for (const char* line :
       {"\n  lay simt_64x64_ring_split_2 launched\n", "\n  cuBLASLt #1                launched",
        "\n  cuBLASLt #2                launched", "\n  cuBLASLt, epilogue #2      launched"})
    CHECK(ended.out.find(line) != std::string::npos);
  CHECK(ended.out.find("ratio") == std::string::npos);
  options.json = true;
  const json rows = json::parse(bench(options).out)["results"][0]["rows"];
  CHECK(rows.size() == 5);
  for (const json& each : rows) {
    CHECK(each["launched"] == true);
    CHECK(!each.contains("ms"));
  }
}

TEST_CASE("alpha, beta and column-major matrices are the library's too") {
  const json result =
      result_of("blas", {{"M", 36}, {"N", 28}, {"K", 12}}, {{"alpha", 0.5}, {"beta", 2}});
  INFO(result.dump(1));
  CHECK(result["form"] == "f32 M-major x f32 N-major -> f32 column-major + beta C");
  CHECK(result["scalars"]["beta"] == 2);
  CHECK(result["rows"].size() == 3);
  for (const json& each : result["rows"]) CHECK(each["right"] == true);
  const json usual = result_of("blas", {{"M", 36}, {"N", 28}, {"K", 12}});
  CHECK(usual["scalars"] == json{{"alpha", 1}, {"beta", 0}});
  for (const json& each : usual["rows"]) CHECK(each["right"] == true);
}

TEST_CASE("batches are strided batches") {
  const json result = result_of("batched", {{"L", 3}, {"M", 20}, {"N", 16}, {"K", 24}});
  INFO(result.dump(1));
  CHECK(result["form"] == "bf16 K-major x bf16 N-major -> bf16 row-major, 3 batches");
  for (const json& each : result["rows"]) CHECK(each["right"] == true);
  CHECK(result["rows"].size() == 3);
}

TEST_CASE(
    "what the library cannot fuse runs as a product and an epilogue, what is no product runs "
    "alone") {
  const json masked = result_of("masked", {{"N", 30}, {"K", 16}});
  INFO(masked.dump(1));
  CHECK(has_note(masked, "cuBLASLt has no such epilogue: "));
  CHECK(masked["rows"].size() == 3);
  CHECK(row(masked, "cuBLASLt, epilogue first")["right"] == true);
  const json along_m = result_of("row_bias", {{"M", 12}, {"N", 20}, {"K", 16}});
  INFO(along_m.dump(1));
  CHECK(has_note(along_m, "cuBLASLt does not fuse the epilogue: "));
  CHECK(row(along_m, "cuBLASLt, epilogue best")["right"] == true);
  const json alone = result_of("twice", {{"M", 33}, {"N", 17}});
  CHECK(has_note(alone, "not a GEMM: it has no reduction"));
  CHECK(alone["rows"].size() == 2);
  CHECK(row(alone, "copy of X")["side"] == "copy");
  CHECK(row(alone, "copy of X")["ratio"] == 0);  // no time passes for a copy on the fake driver
  CHECK(alone["rows"][0]["right"] == true);
}

TEST_CASE("a row sum runs alone and is compared with the host") {
  const json sums = result_of("row_sum", {{"M", 33}, {"N", 129}});
  INFO(sums.dump(1));
  CHECK(has_note(sums, "not a GEMM: "));
  REQUIRE(sums["rows"].size() == 2);
  CHECK(sums["rows"][0]["right"] == true);
  // The kernel reads X and writes a little; a copy of half of that reads and writes as much.
  CHECK(row(sums, "copy of part of X")["bytes"] == 33 * 129 * 4 + 33 * 4);
  lay::test::break_variant("_scalar");
  const json wrong = result_of("row_sum", {{"M", 33}, {"N", 129}});
  lay::test::break_variant("");
  CHECK(wrong["right"] == false);
}

TEST_CASE("weights of 4 bits lie two to a byte on the GPU, and the libraries have none") {
  for (const std::int64_t k : {64, 7}) {
    const json result = result_of("halves", {{"M", 3}, {"N", 5}, {"K", k}});
    INFO(result.dump(1));
    CHECK(result["right"] == true);
    CHECK(result["bytes"] == 2 * 3 * k + (5 * k + 1) / 2 + 4 * 5 + 2 * 3 * 5);
    CHECK(result.dump().find("cuBLASLt has no elements of type s4") != std::string::npos);
  }
}

TEST_CASE("the library fuses gelu by tanh, and not the one by erf") {
  const json tanh = result_of("by_tanh", {{"M", 36}, {"N", 20}, {"K", 16}});
  INFO(tanh.dump(1));
  CHECK(tanh["form"].get<std::string>().ends_with("+ bias, gelu_tanh"));
  CHECK(tanh["rows"].size() == 5);
  CHECK(row(tanh, "cuBLASLt first")["ratio"] == 3);
  const json erf = result_of("by_erf", {{"M", 36}, {"N", 20}, {"K", 16}});
  INFO(erf.dump(1));
  CHECK(erf["form"].get<std::string>().ends_with("+ bias, gelu"));
  CHECK(has_note(erf, "cuBLASLt does not fuse the epilogue: its gelu is by tanh"));
  CHECK(erf["rows"].size() == 3);
  for (const json& result : {tanh, erf}) {
    for (const json& each : result["rows"]) CHECK(each["right"] == true);
  }
}

TEST_CASE("what is searched for the sizes is timed, or with any_size what any sizes take") {
  Options options;
  options.kernel = "linear";
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  CHECK(bench(options).out.find("lay simt_64x64_ring ") != std::string::npos);
  options.any_size = true;
  CHECK(bench(options).out.find("lay simt_64x128_ring ") != std::string::npos);
}

TEST_CASE("a wrong result is said, and fails") {
  lay::test::break_variant("_simt_64x64_ring");
  Options options;
  options.kernel = "linear";
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  const Ended ended = bench(options);
  lay::test::break_variant("");
  INFO(ended.out);
  CHECK(ended.code == 1);
  CHECK(ended.out.find("WRONG on integers: Y at offset 0: expected ") != std::string::npos);
}

TEST_CASE("a kernel that writes its inputs is found, however right its result") {
  Options options;
  options.kernel = "linear";
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  CHECK(bench(options).code == 0);
  lay::test::spoil_input("_simt_64x64_ring");
  const Ended ended = bench(options);
  lay::test::spoil_input("");
  INFO(ended.out);
  CHECK(ended.code == 1);
  CHECK(ended.out.find("WRONG: writes its input X, at offset 1") != std::string::npos);
}

TEST_CASE("a library that refuses or is wrong stands in its row") {
  setenv("FAKE_CUBLASLT", "refuses", 1);
  const json refused = result_of("linear", {{"M", 16}, {"N", 24}, {"K", 8}});
  setenv("FAKE_CUBLASLT", "wrong", 1);
  const json wrong = result_of("linear", {{"M", 16}, {"N", 24}, {"K", 8}});
  unsetenv("FAKE_CUBLASLT");
  CHECK(refused["right"] == true);
  CHECK(row(refused, "cuBLASLt")["failure"] ==
        "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED");
  CHECK(wrong["right"] == true);
  CHECK(row(wrong, "cuBLASLt first")["right"] == false);
  CHECK(row(wrong, "cuBLASLt first")["verdict"].get<std::string>().find("WRONG: Y[") == 0);
}

TEST_CASE("the table has a line a side, and a mean of several problems") {
  Options options;
  options.kernel = "blas";
  options.sizes = {{{"", 16}}, {{"M", 20}, {"N", 16}, {"K", 16}}};
  options.all_variants = true;
  const Ended ended = bench(options);
  INFO(ended.out);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("Fake GPU, driver 13.0, cuBLASLt 13.1.2; graphs of 20 launches, medians of "
                       "5 interleaved rounds") == 0);
  CHECK(ended.out.find(
            "blas M=20 N=16 K=16 alpha=1 beta=0  f32 M-major x f32 N-major -> f32 column-major") !=
        std::string::npos);
  CHECK(ended.out.find("lay simt_64x64_any") != std::string::npos);
  CHECK(ended.out.find("ratio 2.000, single 2.000") != std::string::npos);
  CHECK(ended.out.find("geometric mean of 2 ratios to the best baseline 2.000; 2 above 1.01, 0 "
                       "below 0.99, least 2.000") != std::string::npos);
}

TEST_CASE("sizes that do not fit are said") {
  Options options;
  options.kernel = "linear";
  options.sizes = {{{"M", 16}, {"Q", 16}}, {{"M", 16}, {"N", 16}}};
  const Ended ended = bench(options);
  CHECK(ended.code == 1);
  CHECK(ended.out.find("linear M=16 Q=16\n  not measured: it has no size `Q`") !=
        std::string::npos);
  CHECK(ended.out.find("not measured: nothing says what K of linear is") != std::string::npos);
  options.kernel = "absent";
  CHECK_THROWS_AS(bench(options), lay::DiagnosticError);
}
