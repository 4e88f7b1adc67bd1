// lay/lay.hpp: what the C functions do, in objects.
#include <catch2/catch.hpp>
#include <lay/lay.hpp>
#include <string>
#include <vector>

namespace {

lay::Context on_host() {
  lay_options options{};
  options.size = sizeof options;
  options.machine = LAY_MACHINE_HOST;
  return lay::Context(options);
}

}  // namespace

TEST_CASE("the view for C++ evaluates, runs, plans and builds") {
  const lay::Context context = on_host();
  const lay::Program program(context);
  program.run("tiles.lay", "let a = (4,2):(1,4)");
  CHECK(program.evaluate("a o 2:4").text() == "2:4");
  CHECK(program.evaluate("size(a)").integer() == 8);
  const lay::Value n = lay::Value::of(context, std::int64_t{3});
  CHECK(program.evaluate("n + size(a)", {{"n", &n}}).text() == "11");
  CHECK(program.prove("injective(a)").starts_with("{\"verdict\":\"proved\""));
  CHECK(program.show("a", "svg").find("<svg") != std::string::npos);
  program.define("half", lay::Value::of(context, 0.5));
  CHECK(program.evaluate("half").real() == 0.5);
  CHECK(program.evaluate("half").kind() == "real");
  CHECK(program.statements_json().find("\"names\":[\"a\"]") != std::string::npos);

  program.run("k.lay", "kernel twice<N>(X: f32 N) -> Y: f32 N\n{ Y[n] = X[n] * 2 }");
  CHECK(program.kernels() == std::vector<std::string>{"twice"});
  const lay::Kernel kernel = program.kernel();
  const std::vector<float> x = {1, 2, 3};
  const lay::Value argument = lay::Value::of(context, "f32", {3}, x.data(), sizeof(float) * 3);
  const std::vector<lay::Value> outputs = kernel.run({&argument});
  const lay_array y = outputs.at(0).array();
  CHECK(y.bytes == 12);
  CHECK(static_cast<const float*>(y.data)[2] == 6);
  CHECK(kernel.json().starts_with("{\"name\":\"twice\""));

  const lay::Plan plan = kernel.plan("sm_90a");
  const std::size_t variant = plan.choose({{"N", 1 << 20}});
  CHECK(variant < plan.variants().size());
  CHECK(plan.launches(variant) == 1);
  CHECK(plan.source(variant).find("twice") != std::string::npos);
  CHECK(plan.text().find("schedule twice") != std::string::npos);
  CHECK(plan.forecast(variant, {{"N", 1 << 20}}) > 0);
  lay_build_options options{};
  options.size = sizeof options;
  options.source_only = 1;
  CHECK(program.build(options).back().name == "manifest.json");

  // What a tuning says is seen on a device (tests/embed/tune.cpp).
  const lay_tune_options unsized{};
  CHECK_THROWS_AS(kernel.tune({{"N", 64}}, &unsized), lay::Error);
}

TEST_CASE("the view for C++ throws what went wrong") {
  const lay::Context context = on_host();
  const lay::Program program(context);
  try {
    program.run("bad.lay", "let a = 1\n  let r = (6,2):(1,7) o (3,2):(2,3)");
    FAIL("it must throw");
  } catch (const lay::Error& error) {
    CHECK(error.result() == LAY_RESULT_ERROR);
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].code == "composition-carry");
    CHECK(error.diagnostics()[0].line == 2);
    CHECK(std::string(error.what()).starts_with("error[composition-carry]"));
  }
  CHECK_THROWS_AS(program.evaluate("3").array(), lay::Error);
  CHECK_THROWS_WITH(program.evaluate("4:1").integer(), "expected a known integer, got 4:1");
  CHECK_THROWS_AS(program.kernel(), lay::Error);
  lay_options wrong{};
  CHECK_THROWS_AS(lay::Context(wrong), lay::Error);
}
