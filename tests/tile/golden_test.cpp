// The output of `lay plan --dump` for reductions.lay after each pass: the programs of all variants
// after form, and the first variant after bind and expand. LAY_BLESS=1 rewrites the goldens; `git
// diff` is the review.
#include "runtime/commands/tile_dump.h"
#include "tests/tile/programs.h"

namespace lay::test {

TEST_CASE("golden tile programs after each pass") {
  Sources sources;
  const auto script = source("tests/tile/reductions.lay");
  const std::string text = contents(script);
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run("reductions.lay", text)) REQUIRE(outcome.ok());
  REQUIRE(evaluator.kernels().size() == 6);
  for (const auto& kernel : evaluator.kernels()) {
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    const std::string first = plan.variants.front().name;
    for (const std::string pass : {"form", "bind", "expand"}) {
      const std::string variant = pass == "form" ? "" : first;
      check_golden(runtime::tile_dump(sources, plan, pass, variant),
                   source("tests/tile/" + kernel->name + "." + pass));
    }
  }
}

}  // namespace lay::test
