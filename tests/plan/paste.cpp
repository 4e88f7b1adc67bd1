// A plan as `lay plan` prints it is Lay: pasted behind its script it checks, the plan of both
// prints the same text, and a launch of any sizes runs what it ran before.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/target/target.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "generated/tests/paths.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The script's text with those that it uses from beside it in their place.
std::string whole_text(const fs::path& path) {
  std::istringstream lines(text_of(path));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::string use = "use \"";
    text +=
        line.starts_with(use)
            ? whole_text(path.parent_path() / line.substr(use.size(), line.rfind('"') - use.size()))
            : line;
    text += "\n";
  }
  return text;
}

// Calls `take` with each `schedule` of the text, whole; returns the text without them.
std::string each_schedule(const std::string& text,
                          const std::function<void(const std::string&)>& take) {
  std::istringstream lines(text);
  std::string rest, schedule;
  for (std::string line; std::getline(lines, line);) {
    if (schedule.empty() && !line.starts_with("schedule ")) {
      rest += line + "\n";
      continue;
    }
    schedule += line + "\n";
    if (!line.ends_with("}")) continue;
    take(schedule);
    schedule.clear();
  }
  return rest;
}

// The entries of the schedules of a kernel, without what they are for and without comments.
std::vector<std::string> entries_of(const std::string& text, const std::string& kernel) {
  std::vector<std::string> schedules;
  each_schedule(text, [&](const std::string& schedule) {
    if (!schedule.starts_with("schedule " + kernel + " ")) return;
    std::istringstream lines(schedule);
    std::string entries, line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const auto first = line.find_first_not_of(' ');
      // Which portfolio it is depends on the schedules before.
      if (first == std::string::npos ||
          (line.compare(first, 2, "//") != 0 && line.compare(first, 9, "portfolio") != 0))
        entries += line + "\n";
    }
    schedules.push_back(entries);
  });
  return schedules;
}

struct Planned {
  std::string text, problems;
  std::optional<plan::Plan> plan;
};

Planned planned(const sema::test::Script& script, const std::string& kernel, const Target& target) {
  Planned result;
  for (const auto& each : script.evaluator.kernels()) {
    if (each->name != kernel) continue;
    plan::Plan plan = plan::make_plan(each, target);
    for (const plan::Problem& problem : plan.problems) result.problems += problem.message + "\n";
    if (plan.problems.empty()) result.text += plan::print_plan(plan);
    result.plan = std::move(plan);
  }
  return result;
}

// Returns what a launch of these sizes runs, with tensors as the allocator aligns them: the
// schedules without their names and conditions, of copies that come first too.
std::string taken(const plan::Plan& plan, const Binding& sizes) {
  const auto body = [](const plan::Plan& of, const plan::Variant& variant) {
    std::string text;
    for (const std::string& line : plan::schedule_lines(of, variant))
      if (line.starts_with("  ")) text += line + "\n";
    return text;
  };
  const auto fitting = plan::fitting_variants(plan, sizes);
  if (fitting.empty()) return "nothing";
  std::string text;
  for (const auto& before : fitting.front()->before)
    text += body(*before, before->variants.at(0)) + "then\n";
  return text + body(plan, *fitting.front());
}

// Sizes of a kernel by name, around those that tiles, vectors and whole GPUs turn at.
std::map<std::string, std::int64_t> drawn_sizes(const sema::Kernel& kernel, std::mt19937& random) {
  constexpr int sizes[] = {1, 7, 16, 60, 64, 100, 128, 384, 1000, 1024, 2048, 4096, 4100, 8192};
  std::map<std::string, std::int64_t> drawn;
  for (const auto& dim : kernel.dims) drawn[dim.name] = sizes[random() % std::size(sizes)];
  return drawn;
}

// Launches run the same before and after the paste.
void check_launches(const plan::Plan& before, const plan::Plan& after) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const auto sizes = drawn_sizes(*before.kernel, random);
    const std::vector<std::optional<std::vector<std::int64_t>>> shapes(
        before.kernel->tensors.size());
    const Binding were = sema::solve_sizes(*before.kernel, shapes, sizes),
                  are = sema::solve_sizes(*after.kernel, shapes, sizes);
    try {
      sema::check_guards(*before.kernel, were);
    } catch (const Refusal&) {
      continue;  // no launch has these sizes
    }
    std::string said;
    for (const auto& [name, size] : sizes) said += name + "=" + std::to_string(size) + " ";
    INFO(said);
    REQUIRE(taken(before, were) == taken(after, are));
  }
}

// The whole plan behind the script: no error, and a plan.
void check_whole(const sema::test::Script& script, const std::string& text,
                 const std::string& kernel, const Planned& before, const Target& target) {
  const sema::test::Script pasted(text + before.text, sema::Mode::check);
  CHECK(pasted.errors == script.errors);
  const Planned after = planned(pasted, kernel, target);
  CHECK(after.problems == "");
  CHECK(after.text == before.text);
  if (after.problems.empty()) check_launches(*before.plan, *after.plan);
}

// One of the schedules, drawn, alone in place of those of the script: the plan has it, entry for
// entry. What it is taken for may be said in fewer words, since a schedule's `when` is known where
// it is planned.
void check_alone(const std::string& text, const std::string& kernel, const Planned& before,
                 const Target& target) {
  const std::string bare = each_schedule(text, [](const std::string&) {});
  std::string uses;
  std::istringstream lines(before.text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("use ")) uses += line + "\n";
  std::set<std::string> seen;  // entries; variants differ by what they are taken for as well
  std::vector<std::string> schedules;
  each_schedule(before.text, [&](const std::string& schedule) {
    if (!schedule.starts_with("schedule " + kernel + " ")) return;  // of a repack
    if (seen.insert(entries_of(schedule, kernel).at(0)).second) schedules.push_back(schedule);
  });
  if (schedules.empty()) return;
  // Of another plan another one.
  const std::size_t drawn = std::hash<std::string>{}(before.text) % schedules.size();
  const std::string& schedule = schedules[drawn];
  INFO(schedule);
  const sema::test::Script pasted(bare + uses + schedule, sema::Mode::check);
  const Planned after = planned(pasted, kernel, target);
  CHECK(after.problems == "");
  const auto now = entries_of(after.text, kernel);
  CHECK(std::find(now.begin(), now.end(), entries_of(schedule, kernel).at(0)) != now.end());
}

// The GPU that a kernel is planned for here: that of its schedules, else one drawn by its name.
// These are the longest of all tests, and plans for both GPUs would double them.
std::string gpu_of(const sema::Kernel& kernel) {
  for (const sema::Schedule& schedule : kernel.schedules) {
    if (schedule.target == "sm90") return "h200";
    if (schedule.target == "sm80") return "a100";
  }
  return std::hash<std::string>{}(kernel.name) % 2 == 0 ? "h200" : "a100";
}

// The kernels of a GPU in the scripts of a folder, but for those `apart`, a folder inside that has
// a test of its own.
void check_folder(const char* folder, int least, const char* gpu, const fs::path& apart = {}) {
  const Target target = *find_target(gpu);
  int seen = 0;
  std::set<std::string> known;  // plans that were checked before: scripts share kernels
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(LAY_SOURCE_DIR) / folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".lay" || (!apart.empty() && path.parent_path().filename() == apart))
      continue;
    ++seen;
    const std::string text = whole_text(path);
    const sema::test::Script script(text, sema::Mode::check);
    for (const auto& kernel : script.evaluator.kernels()) {
      if (gpu_of(*kernel) != gpu) continue;
      INFO(path.string() << ", kernel " << kernel->name << ", " << target.name);
      const Planned before = planned(script, kernel->name, target);
      if (before.text.empty() || !known.insert(before.text).second) continue;
      check_whole(script, text, kernel->name, before, target);
      check_alone(text, kernel->name, before, target);
    }
  }
  CHECK(seen >= least);
}

}  // namespace

// A folder a test, for a GPU with TMA and one without, so that they run side by side.
TEST_CASE("printed plans paste back behind their scripts: examples on h200") {
  check_folder("examples", 12, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: examples on a100") {
  check_folder("examples", 12, "a100");
}
TEST_CASE("printed plans paste back behind their scripts: tests/agreement on h200") {
  check_folder("tests/agreement", 13, "h200", "products");
}
TEST_CASE("printed plans paste back behind their scripts: tests/agreement on a100") {
  check_folder("tests/agreement", 13, "a100", "products");
}
TEST_CASE("printed plans paste back behind their scripts: tests/agreement/products on h200") {
  check_folder("tests/agreement/products", 8, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: tests/agreement/products on a100") {
  check_folder("tests/agreement/products", 8, "a100");
}
TEST_CASE("printed plans paste back behind their scripts: tests/bench on h200") {
  check_folder("tests/bench", 6, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: tests/bench on a100") {
  check_folder("tests/bench", 6, "a100");
}
TEST_CASE("printed plans paste back behind their scripts: tests/emitted on h200") {
  check_folder("tests/emitted", 2, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: tests/emitted on a100") {
  check_folder("tests/emitted", 2, "a100");
}
TEST_CASE("printed plans paste back behind their scripts: tests/language on h200") {
  check_folder("tests/language", 16, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: tests/language on a100") {
  check_folder("tests/language", 16, "a100");
}
TEST_CASE("printed plans paste back behind their scripts: tests/measure on h200") {
  check_folder("tests/measure", 3, "h200");
}
TEST_CASE("printed plans paste back behind their scripts: tests/measure on a100") {
  check_folder("tests/measure", 3, "a100");
}

TEST_CASE("`smem` names a factor of the product or, where a tensor is both, A or B") {
  const auto messages = [](const std::string& entries) {
    sema::test::Script script(
        "kernel f<M, N, K>(X: f32 (M,K):(K,1), A: f32 (N,K):(K,1)) -> Y: f32 (M,N):(N,1) "
        "{ Y[m,n] = sum[k](X[m,k] * A[n,k]) }\n"
        "kernel g<M, K>(X: f32 (M,K):(K,1)) -> Y: f32 (M,M):(M,1) "
        "{ Y[m,n] = sum[k](X[m,k] * X[n,k]) }\n" +
        entries);
    std::string text = script.messages;
    for (const auto& kernel : script.evaluator.kernels()) {
      for (const auto& problem : plan::make_plan(kernel).problems) text += problem.message;
    }
    return text;
  };
  const std::string tile = "tile = (64,64,16)\n";
  CHECK(messages("schedule f for simt { " + tile + "smem X = (64,16):(1,68) }") == "");
  // The tensor A is the second factor.
  CHECK(messages("schedule f for simt { tile = (128,64,16)\nsmem A = (64,16):(1,68) }") == "");
  CHECK(messages("schedule f for simt { " + tile + "smem B = (64,16):(1,68) }") == "");
  CHECK(messages("schedule g for simt { " + tile + "smem B = (64,16):(1,68) }") == "");
  CHECK(messages("schedule f for simt { " + tile + "smem Y = (64,16):(1,68) }") ==
        "`smem` takes a factor of the product: expected X or A, got Y");
  CHECK(messages("schedule g for simt { " + tile + "smem X = (64,16):(1,68) }") ==
        "`smem` takes a factor of the product: expected A or B, as X is both factors, got X");
  CHECK(messages("schedule f for simt { " + tile + "smem W = (64,16):(1,68) }")
            .find("the kernel has no tensor W") != std::string::npos);
}

}  // namespace lay::test
