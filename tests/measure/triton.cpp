// Triton as a candidate of `lay bench`, where Triton is a stub and Python the real one, or where
// `python3` is a script that answers anything: what is asked, what is launched, and every way to
// fail.
#include "runtime/bench/triton/triton.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "backend/plan/make.h"
#include "generated/tests/paths.h"
#include "runtime/compile/child.h"
#include "tests/measure/bench_run.h"
#include "tests/measure/machine.h"
#include "tests/measure/variable.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay;
using bench::NotMeasured;
using bench::Options;
using bench::Triton;
using nlohmann::json;
using test::Variable;

long scratch_seen = 0;

// Real Python with the stub.
struct Stub {
  Variable path{"PYTHONPATH", std::string(LAY_SOURCE_DIR) + "/tests/measure/stub"};
  Variable no_bytecode{"PYTHONDONTWRITEBYTECODE", "1"};
};

// A `python3` that is a shell script: $1 is the program, $2 the folder.
class FakePython {
 public:
  explicit FakePython(const std::string& script) {
    test::put(folder_ / "python3", "#!/bin/sh\nexport PATH=" + before_ + "\n" + script + "\n");
    std::filesystem::permissions(folder_ / "python3", std::filesystem::perms::owner_all);
  }
  std::string saved() const { return test::slurp(folder_ / "saved"); }
  std::string folder() const { return folder_.path(); }

 private:
  std::string before_ = std::getenv("PATH");
  test::TemporaryFolder folder_;
  Variable path_{"PATH", folder_.path().string()};
};

const std::string version = R"('{"triton": "3.6.0", "python": "3.12.3"}')";

// Says its version, and answers every question with this.
std::string answers(const std::string& reply) {
  return "if [ -f \"$2/request.json\" ]; then cp \"$2/request.json\" \"${0%/*}/saved\"; printf "
         "'\\177ELF0000' > "
         "\"$2/0.cubin\"; cat > \"$2/reply.json\" <<'END'\n" +
         reply + "\nEND\nelse echo " + version + " > \"$2/reply.json\"; fi";
}

std::string one_kernel(const std::string& changes) {
  json kernel = {{"name", "one"},     {"function", "stated"},
                 {"file", "0.cubin"}, {"grid", {1, 1, 1}},
                 {"threads", 128},    {"blocks_of_cluster", 1},
                 {"shared", 0},       {"arguments", json::array()}};
  kernel.merge_patch(json::parse(changes));
  return json{{"triton", "3.6.0"}, {"python", "3"}, {"kernels", {kernel}}}.dump();
}

Options linear(std::map<std::string, std::int64_t> sizes = {{"M", 40}, {"N", 24}, {"K", 20}}) {
  Options options;
  options.kernel = "linear";
  options.sizes = {std::move(sizes)};
  options.triton_seconds = 20;
  options.torch_seconds = 0;
  options.json = true;
  return options;
}

// The row of Triton; its failure where that is what it has.
json triton_row(const json& result) {
  for (const json& row : result["rows"])
    if (row["side"] == "triton") return row;
  FAIL("no row of Triton in " + result.dump(1));
  return {};
}

std::string failure(const Options& options) {
  const auto ended = test::bench(options);
  INFO(ended.error);
  CHECK(ended.code == 0);  // ours is right all the same
  return triton_row(json::parse(ended.out)["results"][0])["failure"];
}

bench::TritonRequest request_of(const std::string& kernel,
                                const std::map<std::string, std::int64_t>& sizes,
                                const std::map<std::string, double>& scalars = {}) {
  const auto problem = bench::problem_of(test::kernel_named(kernel), sizes, scalars);
  const auto form = plan::recognise(*problem.kernel, plan::facts_of(*problem.kernel));
  const auto made = bench::triton_request(problem, std::get<plan::GemmForm>(form), 90, 132);
  if (const auto* no = std::get_if<bench::NotInTriton>(&made)) throw NotMeasured(no->reason);
  return std::get<bench::TritonRequest>(made);
}

template <class T>
T value(void* at) {
  return *static_cast<T*>(at);
}

}  // namespace

// relu(X W' + bias), with the parameters that candidate.py writes: a, b, c, x0, M, N, K, strides,
// and two pointers more.
extern "C" bool fake_kernel_stated(const unsigned* launch, void** parameters) {
  const auto* x = value<const float*>(parameters[0]);
  const auto* w = value<const float*>(parameters[1]);
  auto* y = value<float*>(parameters[2]);
  const auto* bias = value<const float*>(parameters[3]);
  const auto m = value<std::int32_t>(parameters[4]), n = value<std::int32_t>(parameters[5]),
             k = value<std::int32_t>(parameters[6]);
  const auto x_m = value<std::int32_t>(parameters[7]), w_n = value<std::int32_t>(parameters[8]),
             y_m = value<std::int32_t>(parameters[9]);
  if (auto* scratch = value<unsigned char*>(parameters[10])) {
    std::fill(scratch, scratch + 64 * launch[0] * launch[1] * launch[2],
              static_cast<unsigned char>(1));
    ++scratch_seen;
  }
  for (std::int32_t i = 0; i < m; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int32_t l = 0; l < k; ++l) sum = std::fma(x[i * x_m + l], w[j * w_n + l], sum);
      y[i * y_m + j] = std::max(sum + bias[j], 0.0f);
    }
  return value<void*>(parameters[11]) == nullptr;
}

TEST_CASE("Triton's kernel is compiled by Python, checked and timed beside ours") {
  const Stub stub;
  scratch_seen = 0;
  const auto ended = test::bench(linear());
  INFO(ended.error);
  REQUIRE(!ended.out.empty());
  const json whole = json::parse(ended.out), row = triton_row(whole["results"][0]);
  CHECK(ended.code == 0);
  CHECK(whole["triton"].get<std::string>().find("3.6.0, Python 3.") == 0);
  CHECK(row["right"] == true);
  CHECK(row["ms"] == 0.25);
  CHECK(row["ratio"] == 1);
  CHECK(row["graph"].size() == 5);
  CHECK(row["detail"].get<std::string>().find(
            "pointers 128x128x16, 2 stages, 8 warps, the best of 3") == 0);
  CHECK(row["verdict"].get<std::string>().find("same bits on integers") == 0);
  CHECK(scratch_seen > 0);
  CHECK(ended.error.find(", Triton 3.6.0, Python 3.") != std::string::npos);

  // Several problems have a mean of their own for it.
  Options several = linear();
  several.sizes.push_back({{"M", 20}, {"N", 24}, {"K", 36}});
  CHECK(test::bench(several).error.find(
            "geometric mean of 2 ratios to Triton 1.000; 0 above 1.01, 0 below 0.99") !=
        std::string::npos);
}

TEST_CASE("of Triton's configurations the fastest that is right is taken") {
  const json kernels = json::parse(one_kernel("{}"));
  json reply = kernels;
  reply["kernels"].clear();
  // Known kernels of ours: one that is slow, one whose result is wrong, one whose cubin is none,
  // one as it should be.
  const std::vector<json> arguments{{{"tensor", "a"}}, {{"tensor", "b"}}, {{"tensor", "x0"}},
                                    {{"tensor", "c"}}, {{"i32", 64}},     {{"i32", 64}},
                                    {{"i32", 16}}};
  const auto add = [&](const char* name, const char* function, const char* file,
                       std::vector<json> with) {
    json kernel = kernels["kernels"][0];
    kernel["name"] = name, kernel["function"] = function, kernel["file"] = file,
    kernel["arguments"] = with;
    reply["kernels"].push_back(kernel);
  };
  add("slow", "lay_linear_simt_64x64_any", "0.cubin", arguments);
  auto exchanged = arguments;
  std::swap(exchanged[0], exchanged[1]);
  add("wrong", "lay_linear_scalar", "0.cubin", exchanged);
  add("empty", "lay_linear_simt_64x128_ring", "1.cubin", arguments);
  add("absent", "lay_no_such", "0.cubin", arguments);
  add("good", "lay_linear_simt_64x128_ring", "0.cubin", arguments);
  json large = kernels["kernels"][0];
  large["name"] = "large", large["shared"] = 278552;
  reply["kernels"].push_back(large);
  reply["kernels"].push_back({{"name", "refused"}, {"failure", "out of\nresources"}});
  test::know_script_kernels();
  test::set_cost("lay_linear_simt_64x64_any", 3);
  const FakePython python(answers(reply.dump()));
  const auto ended = test::bench(linear({{"M", 64}, {"N", 64}, {"K", 16}}));
  test::set_cost("lay_linear_simt_64x64_any", 1);
  INFO(ended.error);
  const json result = json::parse(ended.out)["results"][0];
  CHECK(triton_row(result)["detail"] == "good, the best of 3");
  const std::string notes = result["notes"].dump();
  CHECK(notes.find("Triton: left out empty: its file is no cubin; absent: cuModuleGetFunction") !=
        std::string::npos);
  CHECK(notes.find("; large: it needs 278552 bytes of shared memory; refused: out of resources; "
                   "wrong: WRONG on ") != std::string::npos);
}

TEST_CASE("what is not there is said in a line, and the rest is measured") {
  Options options = linear();
  const auto missing = [&] {
    const auto ended = test::bench(options);
    INFO(ended.error);
    CHECK(ended.code == 0);
    const json whole = json::parse(ended.out);
    CHECK(whole["triton"] == "");
    for (const json& row : whole["results"][0]["rows"]) CHECK(row["side"] != "triton");
    for (const json& each : whole["missing"])
      if (each.get<std::string>().find("no Triton") == 0) {
        CHECK(ended.error.find(each.get<std::string>() + "\n") != std::string::npos);
        return each.get<std::string>();
      }
    return std::string("nothing is missing");
  };
  {
    const test::TemporaryFolder empty;
    const Variable path("PATH", empty.path().string());
    CHECK(missing() == "no Triton: there is no python3 in PATH");
  }
  {
    const Stub stub;
    const Variable old("STUB_TRITON_VERSION", "2.1.0");
    CHECK(missing() == "no Triton: Triton 2.1.0 is older than 3.4");
  }
  {
    const FakePython python("echo 'Traceback: something' >&2; exit 3");
    CHECK(missing() ==
          "no Triton: " + python.folder() + "/python3 ended with status 3: Traceback: something");
  }
  {
    const FakePython python("exit 0");
    CHECK(missing() == "no Triton: " + python.folder() + "/python3 gave no answer");
  }
  {
    const FakePython python("kill -9 $$");
    CHECK(missing() == "no Triton: " + python.folder() + "/python3 was ended by a signal");
  }
  {
    const FakePython python("echo 'garbage {' > \"$2/reply.json\"");
    CHECK(missing() == "no Triton: the answer of Python is no JSON");
  }
  options.triton_seconds = 0;
  CHECK(missing() == "nothing is missing");  // not asked
  options.triton_seconds = {};
  options.variants = {"simt_64x64_any"};
  CHECK(missing() == "nothing is missing");
}

TEST_CASE("a Python that hangs is ended, and not asked again") {
  const FakePython python(
      "if [ -f \"$2/request.json\" ]; then echo x >> \"${0%/*}/saved\"; sleep 600; fi; echo " +
      version + " > \"$2/reply.json\"");
  Options options = linear();
  options.triton_seconds = 0.4;
  options.sizes.push_back({{"M", 20}, {"N", 24}, {"K", 36}});
  const auto ended = test::bench(options);
  INFO(ended.error);
  CHECK(ended.code == 0);
  const json results = json::parse(ended.out)["results"];
  const std::string why = python.folder() + "/python3 did not answer within 0.4 s";
  CHECK(triton_row(results[0])["failure"] == why);
  CHECK(triton_row(results[1])["failure"] == "not asked again: " + why);
  CHECK(python.saved() == "x\n");
}

TEST_CASE("compilers that refuse or crash leave out what they compiled") {
  const Stub stub;
  const auto fails = [&](const char* how) {
    const Variable wrong("STUB_TRITON", how);
    const auto ended = test::bench(linear());
    INFO(ended.error);
    const json result = json::parse(ended.out)["results"][0];
    CHECK(triton_row(result)["failure"] == "no configuration compiles and is right");
    return result["notes"].dump();
  };
  CHECK(fails("refuses").find("Triton: left out pointers 128x128x16, 2 stages, 8 warps: "
                              "RuntimeError: out of resources") != std::string::npos);
  CHECK(fails("crashes").find("the compiler ended with 139") != std::string::npos);
}

TEST_CASE("answers that are none are errors that say what is wrong") {
  const auto wrong = [](const std::string& changes) {
    const FakePython python(answers(one_kernel(changes)));
    return failure(linear());
  };
  CHECK(wrong(R"({"file": "../0.cubin"})") ==
        "the answer of Python has the file name `../0.cubin`");
  CHECK(wrong(R"({"file": null})") == "the answer of Python lacks `file`");
  CHECK(wrong(R"({"grid": [1, 0, 1]})") ==
        "the answer of Python has a `grid` of 0, not 1 to 2147483647");
  CHECK(wrong(R"({"grid": 3})") == "the answer of Python has a `grid` that is not three numbers");
  CHECK(wrong(R"({"threads": "many"})") ==
        "the answer of Python has a `threads` that is no whole number");
  CHECK(wrong(R"({"shared": 18446744073709551615})") ==
        "the answer of Python has a `shared` of 18446744073709551615, not 0 to 2147483647");
  CHECK(wrong(R"({"arguments": [{"tensor": "z"}]})") == "the answer of Python names a tensor `z`");
  CHECK(wrong(R"({"arguments": [{"f32": 1}]})") == "the answer of Python has an argument `f32`");
  CHECK(wrong(R"({"arguments": [3]})") ==
        "the answer of Python has an argument that is not one of tensor, i32, i64, scratch");
  CHECK(wrong(R"({"arguments": [{"i32": 4294967296}]})").find("has a `i32` of 4294967296") !=
        std::string::npos);
  CHECK(wrong(R"({"blocks_of_cluster": 2})") == "no configuration compiles and is right");
  const FakePython list(answers("[]"));
  CHECK(failure(linear()) == "the answer of Python is no JSON object");
}

TEST_CASE("what is asked says sizes, strides, types and the epilogue as it is") {
  const auto linear_request = request_of("linear", {{"M", 40}, {"N", 24}, {"K", 20}});
  const json asked = json::parse(linear_request.json);
  CHECK(asked["m"] == 40);
  CHECK(asked["a"]["strides"] == json{{"m", 20}, {"k", 1}, {"l", 0}});
  CHECK(asked["c"]["strides"] == json{{"m", 24}, {"n", 1}, {"l", 0}});
  CHECK(asked["others"] == json{{{"type", "f32"}, {"elements", 24}, {"strides", {{"n", 1}}}}});
  CHECK(asked["counts"].is_null());
  CHECK(asked["value"]["lines"].size() == 2);
  CHECK(asked["value"]["lines"][0].get<std::string>().find(" = acc + x0") != std::string::npos);
  CHECK(asked["value"]["lines"][1].get<std::string>().find(" = tl.maximum(") != std::string::npos);
  CHECK(linear_request.tensors.at("x0") == 2);

  const json blas = json::parse(
      request_of("blas", {{"M", 36}, {"N", 28}, {"K", 12}}, {{"alpha", 0.5}, {"beta", -2}}).json);
  CHECK(blas["a"]["strides"] == json{{"m", 1}, {"k", 36}, {"l", 0}});
  CHECK(blas["c"]["strides"] == json{{"m", 1}, {"n", 36}, {"l", 0}});
  CHECK(blas["others"][0]["strides"] == json{{"m", 1}, {"n", 36}});
  CHECK(blas["value"].dump().find("(-2.0) * x0") != std::string::npos);

  const json masked = json::parse(request_of("masked", {{"N", 30}, {"K", 16}}).json);
  CHECK(masked["counts"]["lines"][0].get<std::string>().find(" = n <= m") != std::string::npos);
  CHECK(masked["value"].dump().find("tl.where(") != std::string::npos);
  const json batched =
      json::parse(request_of("batched", {{"L", 3}, {"M", 20}, {"N", 16}, {"K", 24}}).json);
  CHECK(batched["batches"] == 3);
  CHECK(batched["b"]["strides"] == json{{"n", 1}, {"k", 16}, {"l", 384}});
  CHECK(json::parse(request_of("row_bias", {{"M", 12}, {"N", 20}, {"K", 16}}).json)["value"]
            .dump()
            .find("tl.sigmoid(") != std::string::npos);

  const std::string smooth =
      json::parse(request_of("smooth", {{"M", 8}, {"N", 8}, {"K", 8}}).json)["value"].dump();
  CHECK(smooth.find("tl.erf(acc * 0.7071067811865476)") != std::string::npos);
  CHECK(smooth.find("tl.sigmoid(acc)") != std::string::npos);

  const auto reason = [](const std::string& kernel) {
    try {
      request_of(kernel, {{"M", 8}, {"N", 8}, {"K", 8}});
    } catch (const NotMeasured& no) {
      return std::string(no.what());
    }
    return std::string("stated");
  };
  CHECK(reason("in_f64") == "Triton has no type f64");
  CHECK(reason("rounded") == "an operand is converted to bf16 first");
  CHECK(reason("shifted") == "it reads D at computed coordinates");
}
