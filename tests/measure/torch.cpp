// PyTorch as a candidate of `lay bench`: kernels as functions of PyTorch, and the talk with a
// `python3` that is a script which answers anything.
#include "runtime/bench/torch/torch.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "generated/tests/paths.h"
#include "runtime/bench/problem/strides.h"
#include "tests/golden/golden.h"
#include "tests/measure/bench_run.h"
#include "tests/measure/variable.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay;
using bench::Options;
using nlohmann::json;
using test::Variable;

// Returns a kernel at small sizes.
bench::Problem problem_of(const sema::KernelPtr& kernel) {
  std::map<std::string, std::int64_t> sizes;
  const std::map<std::string, std::int64_t> known{{"M", 64}, {"N", 48}, {"K", 32}, {"L", 4}};
  for (const sema::Dim& dim : kernel->dims) sizes[dim.name] = known.at(dim.name);
  std::map<std::string, double> scalars;
  for (const sema::Scalar& scalar : kernel->scalars)
    if (scalar.name == "scale") scalars[scalar.name] = 0.5;
  return bench::problem_of(kernel, sizes, scalars);
}

// Returns a kernel as functions of PyTorch, or why there are none.
std::string translated(const sema::KernelPtr& kernel) {
  std::string text = "== " + kernel->name + "\n";
  try {
    const bench::TorchFunction function = bench::torch_function(problem_of(kernel));
    text += function.text;
    for (const bench::TorchWay& way : function.ways) {
      text += "# " + way.name + ": " + way.function;
      for (const std::string& call : way.calls) text += ", " + call;
      if (way.roundoff > 0) text += "; rounds to " + std::to_string(way.roundoff);
      text += "\n";
    }
    if (function.tf32) text += "# products in tf32\n";
  } catch (const bench::NotInTorch& no) {
    text += "# none: " + no.reason + "\n";
  } catch (const bench::NoStrides& none) {
    text += "# none: " + none.reason + "\n";
  }
  return text;
}

// Returns the module of a kernel; nothing where PyTorch has none.
std::string module_of(const sema::KernelPtr& kernel) {
  try {
    return bench::torch_function(problem_of(kernel)).text;
  } catch (const bench::NotInTorch&) {
    return "";
  } catch (const bench::NoStrides&) {
    return "";
  }
}

// A `python3` that is a shell script. It says its version; then `on` answers the lines by cases of
// `"do":"..."`, and the others are answered as they should be: each launch takes 0.5 ms, and all
// outputs are 0.
class FakePython {
 public:
  explicit FakePython(const std::string& on,
                      const std::string& hello = R"({"torch": "2.9.0", "python": "3.12.3"})") {
    const std::string answers = R"sh(
    *'"do":"problem"'*)
      output=$(printf '%s' "$line" | sed 's/.*"outputs":.*"file":"\([^"]*\)".*/\1/')
      bytes=$(printf '%s' "$line" | sed 's/.*"outputs":.*"bytes":\([0-9]*\).*/\1/')
      echo '{}';;
    *'"do":"compute"'*) head -c "$bytes" /dev/zero > "$output"; echo '{"detail": ""}';;
    *'"do":"graphs"'*) echo '{"ms": 0.5}';;
    *'"do":"singles"'*) echo '{"ms": [0.5, 0.75]}';;
  esac
done
)sh";
    test::put(folder_ / "python3",
              "#!/bin/sh\nexport PATH=" + before_ + "\necho '" + hello +
                  "'\nwhile read -r line; do\n  printf '%s\\n' \"$line\" >> \"${0%/*}/saved\"\n" +
                  "  case \"$line\" in\n    " + on + answers);
    std::filesystem::permissions(folder_ / "python3", std::filesystem::perms::owner_all);
  }
  std::string saved() const { return test::slurp(folder_ / "saved"); }
  std::string path() const { return folder_ / "python3"; }

 private:
  std::string before_ = std::getenv("PATH");
  test::TemporaryFolder folder_;
  Variable path_{"PATH", folder_.path().string()};
};

// Real Python with the stub.
struct Stub {
  Variable path{"PYTHONPATH", std::string(LAY_SOURCE_DIR) + "/tests/measure/stub"};
  Variable no_bytecode{"PYTHONDONTWRITEBYTECODE", "1"};
};

json result_of(const std::string& kernel, double seconds = 20,
               const std::vector<std::string>& variants = {}) {
  Options options;
  options.kernel = kernel;
  options.variants = variants;
  options.sizes = {{{"M", 33}, {"N", 17}}};
  options.triton_seconds = 0;
  options.torch_seconds = seconds;
  options.json = true;
  const auto ended = test::bench(options);
  INFO(ended.error);
  REQUIRE(!ended.out.empty());
  CHECK(ended.code == 0);  // ours is right all the same
  return json::parse(ended.out);
}

json row(const json& whole, const std::string& name) {
  for (const json& each : whole["results"][0]["rows"])
    if (each["name"] == name) return each;
  FAIL("no row " + name + " in " + whole.dump(1));
  return {};
}

}  // namespace

TEST_CASE("kernels are functions of PyTorch as its users write them") {
  for (const std::string name : {"torch", "torch_products"}) {
    std::string all;
    for (const sema::KernelPtr& kernel : test::kernels_of(name + ".lay")) all += translated(kernel);
    test::check_expected(test::source_root() / "tests/measure" / (name + ".expected"), all);
  }
}

TEST_CASE("functions of PyTorch are Python") {
  const std::string python = runtime::find_program("python3");
  if (python.empty()) {
    WARN("there is no python3 in PATH");
    return;
  }
  const test::TemporaryFolder folder;
  std::string files;
  int modules = 0;
  for (const std::string name : {"torch", "torch_products"})
    for (const sema::KernelPtr& kernel : test::kernels_of(name + ".lay")) {
      const std::string text = module_of(kernel);
      if (text.empty()) continue;
      const auto path = folder / (kernel->name + ".py");
      test::put(path, text);
      files += " " + std::string(path);
      ++modules;
    }
  CHECK(modules > 50);
  // Each name that a function reads is one of its own, a parameter, or the module's.
  test::put(folder / "check.py", R"py(import ast, builtins, sys
for path in sys.argv[1:]:
    tree = ast.parse(open(path).read(), path)
    known = set(dir(builtins)) | {"torch", "F", "one"}
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        here = known | {argument.arg for argument in function.args.args}
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        here |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        for name in names:
            assert name.id in here, (path, function.name, name.id)
)py");
  const std::string command = python + " " + std::string(folder / "check.py") + files;
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("each way in PyTorch has a row, and one that is missing says why") {
  const FakePython python(
      R"sh(*'"function":"computed_cudnn"'*) echo '{"failure": "No available kernel"}'; continue;;)sh");
  // The fake driver knows no kernels of several launches: none of ours takes part.
  const json whole = result_of("attention", 20, {"none"});
  CHECK(row(whole, "torch cuDNN")["failure"] == "No available kernel");
  const json flash = row(whole, "torch flash");
  CHECK(flash["side"] == "torch");
  CHECK(flash["detail"] == "torch.nn.functional.scaled_dot_product_attention");
  CHECK(flash["right"] == false);  // its outputs are 0
  CHECK(flash["ms"] == 0.5);
  for (const json& each : whole["results"][0]["rows"]) CHECK(each["side"] != "torch.compile");
}

TEST_CASE("PyTorch's function is computed by Python, checked and timed there") {
  const FakePython python("");
  const json whole = result_of("nothing");
  CHECK(whole["torch"] == "2.9.0, Python 3.12.3");
  for (const char* name : {"torch", "torch.compile"}) {
    const json made = row(whole, name);
    INFO(made.dump(1));
    REQUIRE(!made.contains("failure"));
    CHECK(made["side"] == name);
    CHECK(made["right"] == true);
    CHECK(made["ms"] == 0.5);
    CHECK(made["ratio"] == 2);
    CHECK(made["graph"].size() == 5);
    CHECK(made["single_ms"] == 0.625);
  }
  // There are as many sets and launches as ours have, and as long untimed as timed.
  const std::string saved = python.saved();
  const std::string sets = std::to_string(whole["results"][0]["sets"].get<int>());
  CHECK(saved.find("\"sets\":" + sets + ",\"launches\":20") != std::string::npos);
  CHECK(saved.find("\"do\":\"compute\",\"mode\":\"eager\"") != std::string::npos);
  CHECK(saved.find("\"do\":\"compute\",\"mode\":\"default\"") != std::string::npos);
  CHECK(saved.find("\"do\":\"graphs\",\"mode\":\"default\",\"untimed\":1,\"replays\":1") !=
        std::string::npos);
  CHECK(saved.find("max-autotune") == std::string::npos);
}

TEST_CASE("a result of PyTorch that is wrong is said, and does not fail") {
  const FakePython python("");
  const json whole = result_of("twice");
  CHECK(row(whole, "torch")["right"] == false);
  CHECK(row(whole, "torch")["verdict"].get<std::string>().find("WRONG: Y[") == 0);
}

TEST_CASE("what PyTorch fails at stands in its row") {
  {
    const FakePython python(
        R"sh(*'"mode":"default"'*) echo '{"failure": "no gcc"}'; continue;;)sh");
    const json whole = result_of("nothing");
    CHECK(row(whole, "torch")["ms"] == 0.5);
    CHECK(row(whole, "torch.compile")["failure"] == "no gcc");
  }
  {
    const FakePython python(R"sh(*'"do":"singles"'*) echo 'out of memory' >&2; exit 3;;)sh");
    const json whole = result_of("nothing");
    const std::string why = python.path() + " ended with status 3: out of memory";
    CHECK(row(whole, "torch")["failure"] == why);
    CHECK(row(whole, "torch.compile")["failure"] == "not asked again: " + why);
  }
  {
    const FakePython python(R"sh(*'"do":"problem"'*) echo '{"failure": "no"}'; continue;;)sh");
    CHECK(row(result_of("nothing"), "torch")["failure"] == "no");
  }
  {
    const FakePython python(R"sh(*'"do":"graphs"'*) echo '{"ms": "soon"}'; continue;;)sh");
    CHECK(row(result_of("nothing"), "torch")["failure"] ==
          "the answer of Python has a time that is no number");
  }
  {
    const FakePython python(R"sh(*'"do":"compute"'*) echo '{"detail": ""}'; continue;;)sh");
    CHECK(row(result_of("nothing"), "torch")["failure"] == "Python did not write all of an output");
  }
}

TEST_CASE("a PyTorch that hangs is ended, and not asked again") {
  const FakePython python(R"sh(*'"do":"compute"'*) sleep 600;;)sh");
  const json whole = result_of("nothing", 0.4);
  const std::string why = python.path() + " did not answer within 0.4 s";
  CHECK(row(whole, "torch")["failure"] == why);
  CHECK(row(whole, "torch.compile")["failure"] == "not asked again: " + why);
}

TEST_CASE("where there is no PyTorch a line says why") {
  const auto missing = [&] {
    const json whole = result_of("nothing");
    CHECK(whole["torch"] == "");
    for (const json& each : whole["results"][0]["rows"]) CHECK(each["side"] != "torch");
    for (const json& each : whole["missing"])
      if (each.get<std::string>().find("no PyTorch") == 0) return each.get<std::string>();
    return std::string("nothing is missing");
  };
  {
    const test::TemporaryFolder empty;
    const Variable path("PATH", empty.path().string());
    CHECK(missing() == "no PyTorch: there is no python3 in PATH");
  }
  {
    const FakePython python("", R"({"missing": "PyTorch 2.9.0 finds no GPU"})");
    CHECK(missing() == "no PyTorch: PyTorch 2.9.0 finds no GPU");
  }
  {
    const FakePython python("", "garbage {");
    CHECK(missing() == "no PyTorch: the answer of Python is no JSON object");
  }
  {
    const FakePython python("", "'; exit 0; echo '");
    CHECK(missing() == "no PyTorch: the answer of Python is no JSON object");
  }
  {
    const Stub stub;
    const Variable without("STUB_TORCH", "no GPU");
    CHECK(missing() == "no PyTorch: PyTorch 2.9.stub finds no GPU");
  }
}

TEST_CASE("operands that are prepared for a product are not timed with it") {
  const Stub stub;
  const json whole = result_of("over_two");
  const json made = row(whole, "torch equal GEMM");
  INFO(made.dump(1));
  CHECK(made["side"] == "equal gemm");
  CHECK(made["right"] == true);
  CHECK(made["ms"] == 0.25);
  CHECK(made["detail"] == "torch.mm");
  // The stub has no einsum.
  CHECK(row(whole, "torch")["failure"].get<std::string>().find("einsum") != std::string::npos);
}

TEST_CASE("the program in Python computes and times on the stub of PyTorch") {
  const Stub stub;
  const json whole = result_of("row_sum");
  CHECK(whole["torch"].get<std::string>().find("2.9.stub, Python 3.") == 0);
  for (const char* name : {"torch", "torch.compile"}) {
    const json made = row(whole, name);
    INFO(made.dump(1));
    CHECK(made["right"] == true);
    CHECK(made["ms"] == 0.25);
    CHECK(made["single_ms"] == 0.25);
    CHECK(made["detail"] == "torch.sum");
  }
  {
    const Variable fails("STUB_TORCH", "records nothing");
    const json made = row(result_of("row_sum"), "torch");
    CHECK(made["detail"] == "torch.sum; launched by Python: RuntimeError: capture failed");
    CHECK(made["ms"] == 0.25);
  }
  {
    const Variable fails("STUB_TORCH", "does not compile");
    const json apart = result_of("row_sum");
    CHECK(row(apart, "torch")["ms"] == 0.25);
    CHECK(row(apart, "torch.compile")["failure"] == "RuntimeError: no compiler");
  }
  {
    const Variable fails("STUB_TORCH", "raises");
    CHECK(row(result_of("row_sum"), "torch")["failure"] == "RuntimeError: out of memory");
  }
}
