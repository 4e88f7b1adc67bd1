// lay_compile_bench: processor time from a script's text to a cubin, for every kernel that its
// plans launch, without a GPU; the cache is not used.
//
//   lay_compile_bench tests/bench/hopper.lay [SCRIPT...] [--arch sm_90a] [--rounds 2] [--kernel
//   NAME] [--variant NAME]
//
// Every round is a process of its own, since NVRTC keeps what it has compiled; NVRTC is loaded
// before, and loading it is the first line. The best round counts; where that is late there are up
// to four times as many rounds, since other work of the machine only adds. Exits with 1 where it
// stays half a second, or where ptxas remarks on a kernel.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <set>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/plan/make.h"
#include "runtime/compile/compile.h"
#include "runtime/gpu/device.h"
#include "tests/bench/kernels.h"

namespace {

using namespace lay;

constexpr double aim_seconds = 0.5;

struct Asked {
  std::vector<std::string> scripts, kernels, variants;  // no kernels or variants: all
  std::string architecture = "sm_90a";
  int rounds = 2;
};

// One launch of one variant.
struct Place {
  std::size_t kernel = 0, variant = 0, launch = 0;
};

struct Times {
  double front = 0, all = 0;  // seconds up to the emitted text, and up to the cubin
  bool compiled = false, remarks = false;
};

bool among(const std::vector<std::string>& asked, const std::string& name) {
  return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// From the script to the image of one launch; every other kernel of the script is read and checked
// too.
Times compile_one(const std::string& script, const Place& place, const Target& target) {
  const double begin = processor_seconds();
  const auto kernels = bench::kernels_of(script);
  const plan::Plan plan = plan::make_plan(kernels[place.kernel], target);
  const auto launches = ir::lower_all(plan, plan.variants[place.variant]);
  auto emitted = cuda::emit(launches[place.launch], target);
  Times times;
  times.front = processor_seconds() - begin;
  if (const auto* text = std::get_if<cuda::Emitted>(&emitted)) {
    const runtime::Compilation made = runtime::compile(*text, target);
    times.compiled = made.ok();
    times.remarks = !made.remarks.empty();
  }
  times.all = processor_seconds() - begin;
  return times;
}

// The same in a process of its own.
Times compile_apart(const std::string& script, const Place& place, const Target& target) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no further process");
  if (child == 0) {
    Times times;
    try {
      times = compile_one(script, place, target);
    } catch (const std::exception& error) {
      std::cerr << error.what() << "\n";
    }
    _exit(write(ends[1], &times, sizeof times) == static_cast<ssize_t>(sizeof times) ? 0 : 1);
  }
  close(ends[1]);
  Times times;
  const bool complete = read(ends[0], &times, sizeof times) == static_cast<ssize_t>(sizeof times);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return complete ? times : Times{};
}

Times best(const std::string& script, const Place& place, const Target& target, int rounds) {
  Times least;
  constexpr int patience = 4;
  for (int round = 0; round < rounds || (least.all >= aim_seconds && round < patience * rounds);
       ++round) {
    const Times times = compile_apart(script, place, target);
    if (round == 0 || !times.compiled || times.all < least.all) least = times;
    if (!times.compiled) break;
  }
  return least;
}

// Returns true if every kernel of the script stays below the aim and goes without remarks.
bool measure(const std::string& script, const Asked& asked, const Target& target, double& worst) {
  bool well = true;
  const auto kernels = bench::kernels_of(script);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string& name = kernels[k]->name;
    if (!among(asked.kernels, name)) continue;
    const plan::Plan plan = plan::make_plan(kernels[k], target);
    for (const plan::Problem& problem : plan.problems)
      std::printf("%-16s not planned: %s\n", name.c_str(), problem.message.c_str());
    std::set<std::string> known;  // a launch that several variants begin with is compiled once
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      if (!among(asked.variants, plan.variants[v].name)) continue;
      const auto launches = ir::lower_all(plan, plan.variants[v]);
      for (std::size_t l = 0; l < launches.size(); ++l) {
        if (!known.insert(ir::print(launches[l])).second) continue;
        const Times times = best(script, {k, v, l}, target, asked.rounds);
        const bool late = times.all >= aim_seconds;
        std::printf("%-16s %-28s %6.3f %6.3f%s\n", name.c_str(),
                    launches[l].name.substr(name.size() + 1).c_str(), times.front, times.all,
                    !times.compiled ? "  does not compile"
                    : times.remarks ? "  ptxas remarks"
                    : late          ? "  late"
                                    : "");
        std::fflush(stdout);
        worst = std::max(worst, times.all);
        well = well && times.compiled && !times.remarks && !late;
      }
    }
  }
  return well;
}

Asked read_arguments(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rounds" && i + 1 < argc)
      asked.rounds = std::max(1, std::atoi(argv[++i]));
    else if (word == "--arch" && i + 1 < argc)
      asked.architecture = argv[++i];
    else if (word == "--kernel" && i + 1 < argc)
      asked.kernels.emplace_back(argv[++i]);
    else if (word == "--variant" && i + 1 < argc)
      asked.variants.emplace_back(argv[++i]);
    else
      asked.scripts.push_back(word);
  }
  if (asked.scripts.empty()) throw std::runtime_error("lay_compile_bench SCRIPT...");
  return asked;
}

}  // namespace

int main(int argc, char** argv) try {
  const Asked asked = read_arguments(argc, argv);
  const Target target = runtime::target_named(asked.architecture);
  const double begin = processor_seconds();
  std::string why;
  if (!runtime::can_compile(&why)) {
    std::cerr << "nothing compiles here: " << why << "\n";
    return 3;
  }
  std::printf(
      "%s; NVRTC loaded in %.3f s; up to the text, and up to the cubin, seconds of processor time, "
      "better of %d\n",
      target.architecture.c_str(), processor_seconds() - begin, asked.rounds);
  double worst = 0;
  bool well = true;
  for (const std::string& script : asked.scripts)
    well = measure(script, asked, target, worst) && well;
  std::printf("largest %.3f s, aim %.3f s\n", worst, aim_seconds);
  return well ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
