// Kernels that reduce, drawn at random: types, functions, order in memory, leading dimensions,
// masks, outputs, sizes, and thread-value layouts of schedules. Every variant of the plan runs in
// the interpreter of threads without a fault and gives what the reference gives; so do the tile
// programs that it is lowered from.
#include <numeric>
#include <random>

#include "backend/tile/bind.h"
#include "backend/tile/interpret.h"
#include "tests/plan/script_calls.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

struct Draw {
  std::mt19937 random;

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
    return names.size() == 1 ? all : "(" + all + ")";
  }

  // Strides of modes of these extents in an order drawn at random, without gaps or with a leading
  // dimension `ld`.
  std::string strides(const std::vector<std::string>& extents, bool leading) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::string> made(extents.size());
    std::string stride = "1";
    for (std::size_t i = 0; i < order.size(); ++i) {
      made[order[i]] = stride;
      const bool wide = leading && i == 0;
      if (wide) fastest = extents[order[i]];
      stride = (stride == "1" ? "" : stride + "*") + (wide ? "ld" : extents[order[i]]);
    }
    return listed(made);
  }

  struct Kernel {
    std::string text, call;
  };

  std::string array(const std::string& type, const std::string& shape) {
    const bool integers = type == "s32";
    return "random(" + type + ", " + shape + ", " + std::to_string(below(1000)) +
           (integers ? ", -50, 50)" : ")");
  }

  Kernel kernel() {
    const int rows = below(3), columns = 1 + below(2);
    const std::string type = pick<std::string>({"f32", "f32", "f16", "bf16", "s32", "f64"});
    const bool integers = type == "s32";
    std::vector<std::string> extents, at_reduced, at_out, row_extents, row_at, sizes;
    std::vector<std::string> reduced;
    for (int i = 0; i < rows + columns; ++i) {
      const bool is_row = i < rows;
      const std::string number = std::to_string(i);
      extents.push_back("D" + number);
      sizes.push_back(std::to_string(
          is_row ? pick<int>({1, 2, 3, 8, 16, 17, 40, 70})
                 : pick<int>(columns > 1 ? std::vector<int>{1, 3, 8, 16, 25}
                                         : std::vector<int>{1, 2, 7, 16, 31, 64, 129, 264, 520})));
      at_out.push_back((is_row ? "r" : "c") + number);
      at_reduced.push_back((is_row ? "r" : "k") + number);
      if (is_row) {
        row_extents.push_back(extents.back());
        row_at.push_back(at_out.back());
      } else {
        reduced.push_back("k" + number);
      }
    }
    const bool leading = one_in(3) && extents.size() > 1;
    fastest.clear();
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    const auto ordered = [&](const std::vector<std::string>& names) {
      std::vector<std::string> made;
      for (const std::size_t i : order) made.push_back(names[i]);
      return made;
    };
    const auto element = [&](const std::string& tensor, const std::vector<std::string>& at) {
      std::string all;
      for (const std::string& each : at) all += (all.empty() ? "" : ",") + each;
      return tensor + "[" + all + "]";
    };
    const std::vector<std::string> x_extents = ordered(extents);
    std::string parameters =
        "X: " + type + " " + listed(x_extents) + ":" + strides(x_extents, leading);
    std::string arguments = array(type, listed(ordered(sizes)));
    std::string body = element("X", ordered(at_reduced));
    if (one_in(3)) {
      const std::vector<std::string> along(extents.begin() + rows, extents.end());
      parameters += ", w: " + type + " " + listed(along);
      arguments += ", " + array(type, listed({sizes.begin() + rows, sizes.end()}));
      body += " * " + element("w", reduced);
    }
    const std::string extreme = one_in(2) ? "argmax" : "argmin";
    const std::string function =
        pick<std::string>({"sum", "sum", "sum", "max", "min", integers ? "sum" : "prod", "any",
                           columns == 1 ? extreme : "max", columns == 1 ? extreme : "min"});
    const bool position = function == extreme;
    const std::string reduce = function + "[" + joined(reduced) + "](";
    if (position && one_in(2)) {  // many equal extremes
      body = (function == "argmax" ? "min(" : "max(") + body + (integers ? ", 20)" : ", 0.5)");
    } else if (function == "any") {
      body = body + " > " + (integers ? "40" : "0.7");
    } else if (rows > 0 && one_in(3)) {
      body = "if " + reduced.back() + " <= " + row_at.back() + " then " + body + " else " +
             (integers ? "1" : "0.5");
    }
    const std::string value =
        function == "any" ? "(if " + reduce + body + ") then 3 else 2)" : reduce + body + ")";
    const std::string out = integers            ? "s32"
                            : position          ? pick<std::string>({"f32", "f16"})
                            : type == "f64"     ? "f64"
                            : function == "any" ? "f32"
                                                : pick<std::string>({"f32", "f32", "bf16", "f16"});
    std::string text, statements = "  let total = " + value + "\n";
    std::vector<std::string> outputs;
    const bool elementwise = one_in(2);
    if (elementwise) {
      outputs.push_back("Y: " + out + " " + listed(extents));
      const std::string x = element("X", ordered(at_out));
      statements += "  " + element("Y", at_out) + " = " +
                    (position ? "if total == " + at_out.back() + " then " + x + " else 0"
                              : x + pick<std::string>({" - ", " * "}) + "total") +
                    "\n";
    }
    if (!elementwise || one_in(2)) {
      outputs.push_back("s: " + (position ? "s32" : out) + " " +
                        (rows > 0 ? listed(row_extents) : "1"));
      statements += "  " + (rows > 0 ? element("s", row_at) : "s[i]") + " = total + 1\n";
    }
    std::string dims = joined(extents);
    if (leading) dims += ", ld";
    text = "kernel f<" + dims + ">(" + parameters + ") -> " +
           (outputs.size() == 1 ? outputs[0] : "(" + outputs[0] + ", " + outputs[1] + ")") +
           (leading ? "\n  where ld >= " + fastest : "") + "\n{\n" + statements + "}\n";
    return {text, "f(" + arguments + ")\n"};
  }

  // A schedule whose threads are drawn; no other than blocks that the target has room for.
  std::string schedule() {
    tile::Shape shape;
    shape.along = one_in(2) ? tile::row_axis : tile::column_axis;
    shape.row_threads = 1 << below(6);
    shape.column_threads = 1 << below(6);
    while (shape.row_threads * shape.column_threads < 32) shape.column_threads *= 2;
    shape.row_repeats = 1 << below(3);
    shape.column_repeats = 1 << below(3);
    shape.vector = 1 << below(4);
    shape.blocks = one_in(4) ? 1 << below(3) : 1;
    const tile::Distribution threads = shape.distribution();
    if (tile::fault_of(threads, 1024, 8)) return "";
    const bool kept = !one_in(3);
    return "schedule f for simt {\n  threads = " + threads.layout.to_string() + "\n  columns = \"" +
           (kept ? "kept\"\n  stages = " + std::to_string(below(4)) : "streamed\"") + "\n}\n";
  }

  static std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
    return all;
  }

  std::string fastest;  // the extent under a leading dimension
};

struct Ran {
  int launches = 0, programs = 0;
  int ahead = 0;  // of the launches, those whose blocks take tile after tile
};

// So few that blocks take several tiles of rows.
Target few_sms() {
  Target target = default_target();
  target.sms = 1;
  target.sm_blocks = 2;
  return target;
}

// A plan that refuses to copy rows ahead is made again without the entry.
plan::Plan plan_of(const sema::KernelCall& call) {
  plan::Plan plan = plan::make_plan(call.kernel, few_sms());
  const bool refuses = std::ranges::any_of(plan.problems, [](const plan::Problem& problem) {
    return problem.message == "no rows can be copied ahead as this schedule says";
  });
  if (!refuses) return plan;
  auto without = std::make_shared<sema::Kernel>(*call.kernel);
  for (sema::Schedule& schedule : without->schedules)
    std::erase_if(schedule.entries, [](const auto& entry) { return entry.key == "stages"; });
  return plan::make_plan(without, few_sms());
}

void check_call(const sema::KernelCall& call, Ran& ran) {
  const auto expected = sema::run_reference(call);
  const std::int64_t terms = terms_of(call);
  const auto plan = plan_of(call);
  const sema::KernelCall exact = sema::in_field(call);
  const auto expected_in_field = sema::run_reference(exact);
  for (const plan::Problem& problem : plan.problems) FAIL_CHECK(problem.message);
  for (const plan::Variant& variant : plan.variants) {
    if (!holds(variant.when, call.sizes)) continue;
    INFO("variant " << variant.name);
    const auto actual = outputs(plan, variant, call);
    REQUIRE(actual.size() == expected.outputs.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
      CHECK(difference(actual[i], expected.outputs[i], terms) == "");
    check_in_field(plan, variant, exact, expected_in_field);
    ++ran.launches;
    ran.ahead += plan::scheduled_program(variant) && plan::scheduled_program(variant)->sms > 0;
    const tile::Program* program = plan::scheduled_program(variant);
    if (!program || !variant.before.empty()) continue;
    const auto by_tiles = tile::interpret(*program, call);
    for (std::size_t i = 0; i < actual.size(); ++i)
      CHECK(difference(by_tiles.outputs[i], expected.outputs[i], terms) == "");
    CHECK_FALSE(
        sema::difference(*call.kernel, expected_in_field, tile::interpret(*program, exact)));
    ++ran.programs;
  }
}

void check_drawn(std::uint32_t seed, int count, bool scheduled) {
  Draw draw{std::mt19937(seed), ""};
  Ran ran;
  for (int i = 0; i < count; ++i) {
    const Draw::Kernel kernel = draw.kernel();
    const std::string script =
        kernel.text + (scheduled ? draw.schedule() : std::string()) + kernel.call;
    INFO(script);
    const std::string messages =
        for_each_call(script, [&](const sema::KernelCall& call) { check_call(call, ran); });
    CHECK(messages == "");
  }
  CHECK(ran.launches >= count);
  CHECK(ran.programs >= count / 2);
  if (scheduled) CHECK(ran.ahead >= count / 8);
}

}  // namespace

TEST_CASE("reductions drawn at random run in every variant as the reference says") {
  check_drawn(20261125, 30, false);
}

TEST_CASE("reductions with threads drawn at random run as the reference says") {
  check_drawn(20261126, 44, true);
}

}  // namespace lay::test
