// The C library: programs, values, kernels, plans and builds, by the functions of lay/lay.h.
#include <lay/lay.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/liblay/session.h"
#include "tests/runtime/temporary.h"

namespace {

using lay::test::Session;

constexpr const char* kScale =
    "kernel scale<M, N, ld>(X: f32 (M,N):(ld,1), s: f32) -> Y: f32 (M,N)\n"
    "  where N % 4 == 0 and ld >= N\n"
    "{ Y[m,n] = X[m,n] * s }\n";
constexpr const char* kProduct =
    "kernel product<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

lay_value* array_of(lay_context* context, const std::vector<std::int64_t>& shape,
                    const std::vector<float>& elements) {
  lay_array array{};
  array.size = sizeof array;
  array.rank = static_cast<std::int32_t>(shape.size());
  array.element = "f32";
  array.shape = shape.data();
  array.data = elements.data();
  array.bytes = static_cast<std::int64_t>(elements.size() * sizeof(float));
  lay_value* value = nullptr;
  REQUIRE(lay_value_of_array(context, &array, &value) == LAY_RESULT_OK);
  return value;
}

std::vector<float> elements_of(const lay_value* value) {
  lay_array array{};
  array.size = sizeof array;
  REQUIRE(lay_value_to_array(value, &array) == LAY_RESULT_OK);
  REQUIRE(std::string(array.element) == "f32");
  std::vector<float> elements(static_cast<std::size_t>(array.bytes) / sizeof(float));
  std::memcpy(elements.data(), array.data, elements.size() * sizeof(float));
  return elements;
}

}  // namespace

TEST_CASE("a program keeps names, and each statement has its value and findings") {
  const Session session;
  CHECK(session.run("let a = (4,2):(1,4)\ndim M\nassume M % 8 == 0\nprove M % 4 == 0\na o 2:4\n") ==
        LAY_RESULT_OK);
  const std::string statements = lay_program_statements_json(session.program());
  const std::string nothing = R"("ok":true,"names":[],"findings":[]})";
  CHECK(statements ==
        R"json([{"line":1,"column":1,"ok":true,"names":["a"],"value":{"kind":"layout",)json"
        R"json("text":"(4,2):(1,4)","shape":[4,2],"stride":[1,4]},"findings":[]},)json"
        R"json({"line":2,"column":1,"ok":true,"names":["M"],"findings":[]},)json"
        R"json({"line":3,"column":1,)json" +
            nothing +
            R"json(,{"line":4,"column":1,"ok":true,"names":[],"findings":[{"kind":"verdict",)json"
            R"json("verdict":"proved","claim":"M % 4 == 0","origin":"prove","file":"test.lay",)json"
            R"json("line":4,"column":1,"end_line":4,"end_column":17,"witness":{},)json"
            R"json("decided_by":[]}]},)json"
            R"json({"line":5,"column":1,"ok":true,"names":[],"value":{"kind":"layout",)json"
            R"json("text":"2:4","shape":2,"stride":4},"findings":[]}])json");
  CHECK(session.evaluated("size(a)") == "8");
  CHECK(session.codes().empty());
  CHECK(std::string(lay_diagnostics_json(session.context())) == "[]");
  CHECK(std::string(lay_diagnostics_text(session.context())).empty());
}

TEST_CASE("a diagnostic has its place, its words and its JSON, and the next call forgets it") {
  const Session session;
  CHECK(session.run("let a = 1\nlet r = (6,2):(1,7) o (3,2):(2,3)\nlet b = r\nlet c = 3") ==
        LAY_RESULT_ERROR);
  REQUIRE(lay_diagnostic_count(session.context()) == 2);
  lay_diagnostic found{};
  found.size = sizeof found;
  REQUIRE(lay_diagnostic_get(session.context(), 0, &found) == LAY_RESULT_OK);
  CHECK(found.severity == LAY_SEVERITY_ERROR);
  CHECK(std::string(found.code) == "composition-carry");
  CHECK(std::string(found.message) == "this composition is not a layout");
  CHECK(std::string(found.file) == "test.lay");
  CHECK(std::array{found.line, found.column, found.end_line, found.end_column} ==
        std::array{2, 9, 2, 20});
  CHECK(std::string(found.text).starts_with("error[composition-carry]: this composition"));
  CHECK(std::string(found.json).starts_with(R"({"kind":"error","code":"composition-carry")"));
  // Texts of diagnostics are whole, and in their order.
  CHECK(std::string(lay_diagnostics_text(session.context())).starts_with(found.text));
  CHECK(std::string(lay_diagnostics_json(session.context()))
            .starts_with("[" + std::string(found.json) + ",{"));
  CHECK(session.codes() == "composition-carry poisoned");
  // The statements that hold are in force.
  CHECK(session.evaluated("a + c") == "4");
  CHECK(lay_diagnostic_count(session.context()) == 0);
  CHECK(session.evaluated("b") == "[poisoned]");
}

TEST_CASE("an expression sees the names that it is given, and leaves none behind") {
  const Session session;
  REQUIRE(session.run("let a = 1\nlet b = 10") == LAY_RESULT_OK);
  lay_value *five = nullptr, *text = nullptr, *sum = nullptr;
  REQUIRE(lay_value_of_integer(session.context(), 5, &five) == LAY_RESULT_OK);
  REQUIRE(lay_value_of_string(session.context(), "say \"it\"", &text) == LAY_RESULT_OK);
  const lay_binding names[] = {{"a", five}, {"word", text}};
  REQUIRE(lay_program_evaluate(session.program(), "(a + b, word)", names, 2, &sum) ==
          LAY_RESULT_OK);
  CHECK(std::string(lay_value_text(sum)) == R"((15,"say \"it\""))");
  CHECK(session.evaluated("a + b") == "11");
  CHECK(session.evaluated("word") == "[unknown-name]");
  // Only an expression: what would stay in force is refused.
  CHECK(session.evaluated("let z = 3") == "[syntax]");
  CHECK(session.evaluated("1\n2") == "[syntax]");
  CHECK(session.evaluated("") == "[syntax]");
  CHECK(session.evaluated("(") == "[unclosed-bracket]");
  CHECK(session.evaluated("z") == "[unknown-name]");

  REQUIRE(lay_program_define(session.program(), "five", five) == LAY_RESULT_OK);
  CHECK(session.evaluated("five * 2") == "10");
  CHECK(lay_program_define(session.program(), "5", five) == LAY_RESULT_MISUSE);
  CHECK(lay_program_define(session.program(), "a b", five) == LAY_RESULT_MISUSE);
  for (lay_value* value : {five, text, sum}) lay_value_free(value);
}

TEST_CASE("a guard follows its value through bindings") {
  const Session session;
  REQUIRE(session.run("dim M\nlet t = (M,8):(8,1) o (4,2):(2,1)") == LAY_RESULT_OK);
  lay_value *tiled = nullptr, *part = nullptr;
  REQUIRE(lay_program_evaluate(session.program(), "t", nullptr, 0, &tiled) == LAY_RESULT_OK);
  const std::string json = lay_value_json(tiled);
  const lay_binding names[] = {{"x", tiled}};
  REQUIRE(lay_program_evaluate(session.program(), "x o 2:1", names, 1, &part) == LAY_RESULT_OK);
  INFO(json);
  // What the composition asks of M is asked of what is made of it, too.
  const bool guarded = json.find("\"guards\":[") != std::string::npos;
  CHECK(guarded == (std::string(lay_value_json(part)).find("\"guards\":[") != std::string::npos));
  CHECK(guarded);
  lay_value_free(tiled);
  lay_value_free(part);
}

TEST_CASE("values give what they are, and refuse what they are not") {
  const Session session;
  lay_value *number = nullptr, *real = nullptr, *open = nullptr;
  REQUIRE(session.run("dim M") == LAY_RESULT_OK);
  REQUIRE(lay_value_of_integer(session.context(), -7, &number) == LAY_RESULT_OK);
  REQUIRE(lay_value_of_real(session.context(), 0.5, &real) == LAY_RESULT_OK);
  REQUIRE(lay_program_evaluate(session.program(), "M", nullptr, 0, &open) == LAY_RESULT_OK);
  std::int64_t integer = 0;
  double floating = 0;
  lay_array array{};
  array.size = sizeof array;
  CHECK(lay_value_to_integer(number, &integer) == LAY_RESULT_OK);
  CHECK(integer == -7);
  CHECK(lay_value_to_real(number, &floating) == LAY_RESULT_OK);
  CHECK(floating == -7);
  CHECK(lay_value_to_real(real, &floating) == LAY_RESULT_OK);
  CHECK(floating == 0.5);
  CHECK(lay_value_to_integer(real, &integer) == LAY_RESULT_MISUSE);
  CHECK(lay_value_to_integer(open, &integer) == LAY_RESULT_MISUSE);
  CHECK(lay_value_to_real(open, &floating) == LAY_RESULT_MISUSE);
  CHECK(lay_value_to_array(number, &array) == LAY_RESULT_MISUSE);
  CHECK(std::string(lay_value_kind(real)) == "real");
  CHECK(std::string(lay_value_text(open)) == "M");
  for (lay_value* value : {number, real, open}) lay_value_free(value);
}

TEST_CASE("a line is answered as lay eval answers it") {
  const Session session;
  const char* json = nullptr;
  CHECK(lay_program_answer(session.program(), "size((4,2):(1,4))", 1, &json) == LAY_RESULT_OK);
  CHECK(std::string(json) == R"({"ok":true,"kind":"int","text":"8","value":8})");
  CHECK(lay_program_answer(session.program(), "print \"hello\"", 2, &json) == LAY_RESULT_OK);
  CHECK(std::string(json) == R"({"ok":true,"kind":"unit","printed":"hello\n"})");
  CHECK(lay_program_answer(session.program(), "  nobody", 3, &json) == LAY_RESULT_ERROR);
  CHECK(std::string(json).starts_with(R"({"ok":false,"code":"unknown-name")"));
  CHECK(std::string(json).find(R"("line":3,"column":3)") != std::string::npos);
  CHECK(session.codes() == "unknown-name");
}

TEST_CASE("a claim is proved, refuted with its witness, or undecided") {
  const Session session;
  REQUIRE(session.run("dim M, N\nassume M % 8 == 0") == LAY_RESULT_OK);
  lay_value* layout = nullptr;
  REQUIRE(lay_program_evaluate(session.program(), "(4,2):(1,1)", nullptr, 0, &layout) ==
          LAY_RESULT_OK);
  const lay_binding names[] = {{"mine", layout}};
  const char* json = nullptr;
  const auto answer = [&](const char* claim) -> std::string {
    const lay_result result = lay_program_prove(session.program(), claim, names, 1, &json);
    return result == LAY_RESULT_OK ? json : "[" + session.codes() + "]";
  };
  CHECK(answer("M % 4 == 0") ==
        R"({"verdict":"proved","claim":"M % 4 == 0","witness":{},"decided_by":[],"text":""})");
  const std::string refuted = answer("injective(mine)");
  CHECK(refuted.starts_with(R"({"verdict":"refuted","claim":)"));
  CHECK(refuted.find(R"("witness":{"index":4,"coordinate":[0,1],"other_index":1,)") !=
        std::string::npos);
  CHECK(refuted.find("error[refuted]") != std::string::npos);
  CHECK(answer("N % 4 == 0").find(R"("witness":{"N":1})") != std::string::npos);
  CHECK(answer("nobody == 1") == "[unknown-name]");
  CHECK(json == nullptr);
  CHECK(answer("1 +") == "[syntax]");
  CHECK(session.run("prove mine == 1") == LAY_RESULT_ERROR);
  lay_value_free(layout);
}

TEST_CASE("an expression is drawn in each form, with names of the caller's") {
  const Session session;
  lay_value* layout = nullptr;
  REQUIRE(lay_program_evaluate(session.program(), "(4,2):(2,1)", nullptr, 0, &layout) ==
          LAY_RESULT_OK);
  const lay_binding names[] = {{"mine", layout}};
  const char* picture = nullptr;
  std::size_t bytes = 0;
  const auto begins = [&](const char* form, const std::string& with) {
    REQUIRE(lay_program_show(session.program(), "mine", names, 1, form, &picture, &bytes) ==
            LAY_RESULT_OK);
    CHECK(bytes == std::strlen(picture));
    CHECK(std::string(picture).find(with) != std::string::npos);
  };
  begins("text", "(4,2):(2,1)");
  begins("svg", "<svg");
  begins("html", "<!DOCTYPE html>");
  begins("tex", "tikzpicture");
  CHECK(lay_program_show(session.program(), "mine", names, 1, "gif", &picture, &bytes) ==
        LAY_RESULT_MISUSE);
  CHECK(picture == nullptr);
  CHECK(lay_program_show(session.program(), "nobody", names, 1, "svg", &picture, &bytes) ==
        LAY_RESULT_ERROR);
  CHECK(session.codes() == "unknown-name");
  lay_value_free(layout);
}

TEST_CASE("a kernel says its signature and runs on arrays") {
  const Session session;
  REQUIRE(session.run(kScale) == LAY_RESULT_OK);
  REQUIRE(lay_kernel_count(session.program()) == 1);
  const char* const name = lay_kernel_name(session.program(), 0);
  CHECK(lay_kernel_name(session.program(), 1) == nullptr);
  // The name is the program's for as long as that lives.
  REQUIRE(session.run(kProduct) == LAY_RESULT_OK);
  CHECK(std::string(lay_kernel_name(session.program(), 1)) == "product");
  CHECK(std::string(name) == "scale");
  lay_kernel* kernel = nullptr;
  CHECK(lay_kernel_new(session.program(), nullptr, &kernel) == LAY_RESULT_ERROR);
  REQUIRE(lay_kernel_new(session.program(), "scale", &kernel) == LAY_RESULT_OK);
  const std::string json = lay_kernel_json(kernel);
  CHECK(json.starts_with(
      R"json({"name":"scale","sizes":["M","N","ld"],"tensors":[{"name":"X","element":"f32",)json"
      R"json("layout":"(M,N):(ld,1)","access":"input","shape":["M","N"],"stride":["ld",1]})json"));
  CHECK(json.find(R"("condition":"N % 4 == 0")") != std::string::npos);
  CHECK(json.ends_with(R"("signature":["X","s","Y"]})"));

  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  lay_value* arguments[2] = {array_of(session.context(), {2, 4}, x), nullptr};
  REQUIRE(lay_value_of_real(session.context(), 0.5, &arguments[1]) == LAY_RESULT_OK);
  lay_value* y = nullptr;
  const lay_size ld = {"ld", 6};
  CHECK(lay_kernel_run(kernel, arguments, 2, &ld, 1, &y, 1) == LAY_RESULT_OK);
  INFO(lay_diagnostics_text(session.context()));
  REQUIRE(y);
  CHECK(elements_of(y) == std::vector<float>{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4});
  lay_value_free(y);

  // What is wrong with a call is said, and no output is made.
  const lay_size narrow = {"ld", 2};
  CHECK(lay_kernel_run(kernel, arguments, 2, &narrow, 1, &y, 1) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "guard");
  CHECK(y == nullptr);
  CHECK(lay_kernel_run(kernel, arguments, 1, nullptr, 0, &y, 1) == LAY_RESULT_ERROR);
  CHECK(y == nullptr);
  CHECK(lay_kernel_run(kernel, arguments, 2, nullptr, 0, &y, 0) == LAY_RESULT_MISUSE);
  std::swap(arguments[0], arguments[1]);
  CHECK(lay_kernel_run(kernel, arguments, 2, nullptr, 0, &y, 1) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "argument-kind");
  for (lay_value* value : arguments) lay_value_free(value);
  lay_kernel_free(kernel);
  CHECK(lay_kernel_new(session.program(), "other", &kernel) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "no-kernel");
  CHECK(kernel == nullptr);
}

TEST_CASE("several outputs come in the signature's order") {
  const Session session;
  REQUIRE(session.run("kernel both<N>(X: f32 N) -> (Y: f32 N, Z: f32 N)\n"
                      "{ Y[n] = X[n] + 1\n  Z[n] = X[n] * 2 }\n") == LAY_RESULT_OK);
  lay_kernel* kernel = nullptr;
  REQUIRE(lay_kernel_new(session.program(), "both", &kernel) == LAY_RESULT_OK);
  lay_value* x = array_of(session.context(), {3}, {1, 2, 3});
  lay_value* outputs[3] = {};
  CHECK(lay_kernel_run(kernel, &x, 1, nullptr, 0, outputs, 3) == LAY_RESULT_MISUSE);
  REQUIRE(lay_kernel_run(kernel, &x, 1, nullptr, 0, outputs, 2) == LAY_RESULT_OK);
  CHECK(elements_of(outputs[0]) == std::vector<float>{2, 3, 4});
  CHECK(elements_of(outputs[1]) == std::vector<float>{2, 4, 6});
  lay_value_free(outputs[0]);
  lay_value_free(outputs[1]);
  lay_value_free(x);
  lay_kernel_free(kernel);
}

TEST_CASE("a plan lists its variants, chooses one, forecasts it and says it in CUDA") {
  const Session session;
  REQUIRE(session.run(kProduct) == LAY_RESULT_OK);
  lay_kernel* kernel = nullptr;
  lay_plan* plan = nullptr;
  REQUIRE(lay_kernel_new(session.program(), nullptr, &kernel) == LAY_RESULT_OK);
  CHECK(lay_plan_new(kernel, "gtx1", &plan) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "unknown-target");
  CHECK(plan == nullptr);
  REQUIRE(lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_OK);
  lay_kernel_free(kernel);  // the plan does not need it

  const std::size_t count = lay_plan_variant_count(plan);
  REQUIRE(count > 1);
  CHECK(lay_plan_variant_name(plan, count) == nullptr);
  CHECK(std::string(lay_plan_text(plan)).find("schedule product for sm90") != std::string::npos);
  const lay_size sizes[] = {{"M", 4096}, {"", 512}};
  std::size_t chosen = count;
  REQUIRE(lay_plan_choose(plan, sizes, 2, &chosen) == LAY_RESULT_OK);
  REQUIRE(chosen < count);
  CHECK(std::string(lay_plan_variant_name(plan, chosen)).starts_with("sm90_"));
  double seconds = 0;
  const char* bound = nullptr;
  REQUIRE(lay_plan_forecast(plan, chosen, sizes, 2, &seconds, &bound) == LAY_RESULT_OK);
  CHECK(seconds > 1e-6);
  CHECK(seconds < 1e-3);
  CHECK(std::string(bound).size() > 1);
  std::size_t launches = 0;
  REQUIRE(lay_plan_launch_count(plan, chosen, &launches) == LAY_RESULT_OK);
  CHECK(launches >= 1);
  const char* source = nullptr;
  REQUIRE(lay_plan_source(plan, chosen, launches - 1, &source) == LAY_RESULT_OK);
  CHECK(std::string(source).find("__global__") != std::string::npos);

  CHECK(lay_plan_source(plan, chosen, launches, &source) == LAY_RESULT_MISUSE);
  CHECK(lay_plan_source(plan, count, 0, &source) == LAY_RESULT_MISUSE);
  const lay_size unknown = {"Q", 4};
  CHECK(lay_plan_choose(plan, &unknown, 1, &chosen) == LAY_RESULT_ERROR);
  lay_plan_free(plan);
}

TEST_CASE("a build has the files of lay build, in memory") {
  const Session session;
  REQUIRE(session.run(std::string(kScale) + kProduct) == LAY_RESULT_OK);
  lay_build_options options{};
  options.size = sizeof options;
  options.source_only = 1;
  options.script = "layer.lay";
  options.kernel = "scale";
  const char* archs[] = {"sm_80"};
  options.archs = archs;
  options.arch_count = 1;
  lay_build* build = nullptr;
  REQUIRE(lay_build_new(session.program(), &options, &build) == LAY_RESULT_OK);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lay_build_file_count(build); ++i)
    names.emplace_back(lay_build_file_name(build, i));
  REQUIRE(names.size() >= 2);
  CHECK(names.back() == "manifest.json");
  CHECK(std::all_of(names.begin(), names.end() - 1, [](const std::string& name) {
    return name.starts_with("scale.") && name.ends_with(".cu");
  }));
  std::size_t bytes = 0;
  const void* data = lay_build_file_data(build, names.size() - 1, &bytes);
  CHECK(std::string(static_cast<const char*>(data), bytes).find(R"("script": "layer.lay")") !=
        std::string::npos);
  CHECK(lay_build_file_name(build, names.size()) == nullptr);
  CHECK(lay_build_file_data(build, names.size(), &bytes) == nullptr);
  lay_build_free(build);

  options.kernel = "nobody";
  CHECK(lay_build_new(session.program(), &options, &build) == LAY_RESULT_ERROR);
  CHECK(build == nullptr);
  CHECK(session.codes() == "no-kernel");
  options.kernel = nullptr;
  archs[0] = "sm_1";
  CHECK(lay_build_new(session.program(), &options, &build) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "unknown-target");
}

TEST_CASE("a checking program runs nothing and decides what it can") {
  lay_options options = Session::usual();
  lay_context* context = lay_context_new(&options);
  lay_program* program = nullptr;
  lay_program_options checking{};
  checking.size = sizeof checking;
  checking.check = 1;
  REQUIRE(lay_program_new(context, &checking, &program) == LAY_RESULT_OK);
  const std::string text = std::string(kScale) + "let x = load(\"nowhere.npy\")\nscale(x, 2)\n";
  CHECK(lay_program_run(program, "check.lay", text.data(), text.size()) == LAY_RESULT_OK);
  lay_program_free(program);

  // Dims that are given are known to a run.
  const lay_size sizes[] = {{"M", 12}};
  lay_program_options known{};
  known.size = sizeof known;
  known.sizes = sizes;
  known.size_count = 1;
  REQUIRE(lay_program_new(context, &known, &program) == LAY_RESULT_OK);
  REQUIRE(lay_program_run(program, "dims.lay", "dim M, N", 8) == LAY_RESULT_OK);
  lay_value* value = nullptr;
  REQUIRE(lay_program_evaluate(program, "(2 * M, N)", nullptr, 0, &value) == LAY_RESULT_OK);
  CHECK(std::string(lay_value_text(value)) == "(24,N)");
  lay_value_free(value);
  lay_program_free(program);
  lay_context_free(context);
}

TEST_CASE("what was measured on the machine counts for plans that are made later") {
  using lay::test::put;
  const lay::test::TemporaryFolder policies, targets;
  const std::string path = policies / "tuned_sm90.lay";
  const std::string rows =
      "use atoms.sm90\n"
      "dim M, N, K, L\n"
      "record here {\n"
      "  gpu = \"h200\", a = bf16, b = bf16, acc = f32, c = bf16, along = \"kkn\"\n"
      "  masked = false, any_pitch = false, condition = M >= 3072 and M < 6144\n"
      "  tile = (128,64,64), mma = wgmma(n = 64, ab = bf16, acc = f32)\n"
      "}\n"
      "let rows = (here,)\n";
  put(path, rows);
  put(targets / "mine.lay", "let measured = (\n");
  const Session session;
  REQUIRE(session.run(kProduct) == LAY_RESULT_OK);
  lay_kernel* kernel = nullptr;
  REQUIRE(lay_kernel_new(session.program(), nullptr, &kernel) == LAY_RESULT_OK);
  const auto taken = [&](std::int64_t m) {
    lay_plan* plan = nullptr;
    REQUIRE(lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_OK);
    const lay_size sizes[] = {{"M", m}, {"N", 4096}, {"K", 4096}};
    std::size_t variant = 0;
    REQUIRE(lay_plan_choose(plan, sizes, 3, &variant) == LAY_RESULT_OK);
    const std::string name = lay_plan_variant_name(plan, variant);
    lay_plan_free(plan);
    return name;
  };
  CHECK(taken(4096) != "sm90_tuned");
  CHECK(lay_read_measured(nullptr, "", "") == LAY_RESULT_MISUSE);
  CHECK(lay_read_measured(session.context(), "", "") == LAY_RESULT_OK);
  CHECK(taken(4096) != "sm90_tuned");
  CHECK(lay_read_measured(session.context(), policies.path().c_str(), targets.path().c_str()) ==
        LAY_RESULT_OK);
  REQUIRE(lay_diagnostic_count(session.context()) == 1);
  lay_diagnostic wrong{};
  wrong.size = sizeof wrong;
  REQUIRE(lay_diagnostic_get(session.context(), 0, &wrong) == LAY_RESULT_OK);
  CHECK(wrong.severity == LAY_SEVERITY_WARNING);
  CHECK_THAT(wrong.message, Catch::Contains("mine.lay"));
  CHECK(taken(4096) == "sm90_tuned");
  CHECK(taken(512) != "sm90_tuned");
  // A file that is wrong is ignored, and so is what was read before it.
  put(path, "let rows = (\n");
  CHECK(lay_read_measured(session.context(), policies.path().c_str(), "") == LAY_RESULT_OK);
  REQUIRE(lay_diagnostic_count(session.context()) == 1);
  REQUIRE(lay_diagnostic_get(session.context(), 0, &wrong) == LAY_RESULT_OK);
  CHECK(wrong.severity == LAY_SEVERITY_WARNING);
  CHECK_THAT(wrong.message, Catch::Contains("tuned_sm90.lay"));
  CHECK(taken(4096) != "sm90_tuned");
  // And a folder without files has none.
  put(path, rows);
  CHECK(lay_read_measured(session.context(), policies.path().c_str(), "") == LAY_RESULT_OK);
  CHECK(taken(4096) == "sm90_tuned");
  CHECK(lay_read_measured(session.context(), targets.path().c_str(), "") == LAY_RESULT_OK);
  CHECK(taken(4096) != "sm90_tuned");
  lay_kernel_free(kernel);
}

TEST_CASE("sizes that a script states are searched in plans of the library") {
  const Session session;
  REQUIRE(session.run(std::string(kProduct) +
                      "schedule product for M = 1784, N = 1816, K = 8120\n") == LAY_RESULT_OK);
  lay_kernel* kernel = nullptr;
  REQUIRE(lay_kernel_new(session.program(), nullptr, &kernel) == LAY_RESULT_OK);
  lay_plan* plan = nullptr;
  REQUIRE(lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_OK);
  const lay_size sizes[] = {{"M", 1784}, {"N", 1816}, {"K", 8120}};
  std::size_t variant = 0;
  REQUIRE(lay_plan_choose(plan, sizes, 3, &variant) == LAY_RESULT_OK);
  CHECK(lay_plan_variant_name(plan, variant) == std::string("sm90_128x240_2x4_cooperative"));
  lay_plan_free(plan);
  lay_kernel_free(kernel);
}
