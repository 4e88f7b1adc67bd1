// The command line of `lay`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>

#include "frontend/export/export.h"
#include "frontend/source/text.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/tune/tune.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/report.h"

namespace {

using namespace lay::runtime;

constexpr const char* footer = R"(exit codes:
  0  all went well
  1  the script, an expression or an array is wrong, or a claim was refuted
  2  the command line is wrong
  3  this machine cannot do it: no memory, or no GPU where one was asked for
  4  a mistake inside lay itself; please report it)";

// NAME=VALUE pairs, each name once.
std::map<std::string, std::string> pairs(const std::string& option,
                                         const std::vector<std::string>& words) {
  std::map<std::string, std::string> result;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throw CLI::ValidationError(option, "expected NAME=VALUE, not `" + word + "`");
    if (!result.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      throw CLI::ValidationError(option, "`" + word.substr(0, equals) + "` is given twice");
  }
  return result;
}

// A number that stands for all of a name's value.
template <class Number>
Number number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw CLI::ValidationError(option, "`" + text + "` is not a number");
  return value;
}

// The sizes of one problem: "M=4096,N=4096,K=64", or "4096" for all, under no name.
std::map<std::string, std::int64_t> problem_sizes(const std::string& text) {
  if (text.find('=') == std::string::npos) return {{"", number<std::int64_t>("--size", text)}};
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, value] : pairs("--size", words))
    sizes[name] = number<std::int64_t>("--size", value);
  return sizes;
}

void add_run(CLI::App& app, int& code) {
  auto* run = app.add_subcommand(
      "run", "run a script; kernels run on the GPU if there is one, else on the host");
  auto o = std::make_shared<RunOptions>();
  auto in = std::make_shared<std::vector<std::string>>(),
       out = std::make_shared<std::vector<std::string>>(),
       set = std::make_shared<std::vector<std::string>>();
  run->add_option("file", o->file, "the script")->required();
  run->add_option("--in", *in, "an input of the kernel, may be repeated")
      ->type_name("PARAMETER=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--out", *out, "an output of the kernel, may be repeated")
      ->type_name("PARAMETER=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--set", *set, "a size or scalar that the arrays leave open, may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  run->add_option("--kernel", o->kernel, "which kernel to run, where the script calls none");
  run->add_flag("--random", o->random, "make the inputs that are not given");
  run->add_option("--seed", o->seed, "of the random inputs (1)");
  run->add_flag("--bits", o->bits, "write types that NumPy lacks as their bits, not as float32");
  const std::map<std::string, MachineChoice> machines = {
      {"any", MachineChoice::any}, {"host", MachineChoice::host}, {"gpu", MachineChoice::gpu}};
  run->add_option("--on", o->on, "where kernels run; any is the default")
      ->transform(CLI::CheckedTransformer(machines).description(""))
      ->type_name("gpu|host|any");
  run->add_flag("--counts", o->counts,
                "wavefronts of shared and sectors of global memory, beside the plan's; in the host "
                "interpreter");
  run->add_option("--order", o->order,
                  "another order of warps and copies in the host interpreter, by number (0)");
  run->callback([=, &code] {
    o->in = pairs("--in", *in);
    o->out = pairs("--out", *out);
    o->set = pairs("--set", *set);
    code = run_script(*o);
  });
}

void add_check(CLI::App& app, int& code) {
  auto* check = app.add_subcommand("check", "parse, check, prove: every verdict");
  auto o = std::make_shared<CheckOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  check->add_option("file", o->file, "the script")->required();
  check->add_option("--dump", o->dump, "print a stage instead: tree, typed, plan, ir or cuda")
      ->check(CLI::IsMember({"tree", "typed", "plan", "ir", "cuda"}));
  check->add_flag("--json", o->json,
                  "errors, verdicts and guards on standard output, a JSON object a line");
  check->add_option("--set", *set, "a size to check for, may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  check->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = check_script(*o);
  });
}

void add_build(CLI::App& app, int& code) {
  auto* build = app.add_subcommand("build", "CUDA source, PTX and cubin, and the manifest");
  auto o = std::make_shared<BuildOptions>();
  build->add_option("file", o->file, "the script")->required();
  build->add_option("-o,--output", o->folder, "the folder to write to")->required();
  build->add_option("--arch", o->archs, "sm_80, sm_90a, h200, ...: a cubin for each")
      ->allow_extra_args(false);
  auto* source =
      build->add_flag("--source-only", o->source_only, "the CUDA source and the manifest alone");
  auto* ptx = build->add_flag("--ptx", o->ptx, "PTX, which a driver compiles, in place of cubins");
  build
      ->add_flag("--strict", o->strict,
                 "spills, local memory and what else ptxas remarks are errors, not warnings")
      ->excludes(source)
      ->excludes(ptx);
  build->callback([=, &code] { code = build_script(*o); });
}

void add_bench(CLI::App& app, int& code) {
  auto* bench = app.add_subcommand(
      "bench", "the kernels, checked and timed on the GPU, beside cuBLASLt and Triton");
  auto o = std::make_shared<lay::bench::Options>();
  auto sizes = std::make_shared<std::vector<std::string>>(),
       set = std::make_shared<std::vector<std::string>>();
  bench->add_option("file", o->file, "the script")->required();
  bench->add_option("--kernel", o->kernel, "one of its kernels; all without");
  bench
      ->add_option("--size", *sizes,
                   "the sizes of one problem, or one number for all; may be repeated (4096)")
      ->type_name("M=4096,N=4096,K=64")
      ->allow_extra_args(false);
  bench->add_option("--set", *set, "a scalar, may be repeated; 1 without, and 0 for beta")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  bench->add_option("--rounds", o->rounds, "how often each side is timed (5)")
      ->check(CLI::Range(1, 1000));
  bench->add_option("--milliseconds", o->milliseconds, "how long, each time (100)")
      ->check(CLI::Range(0.1, 10000.0));
  bench->add_option("--algorithms", o->algorithms, "that cuBLASLt is asked for (12)")
      ->check(CLI::Range(1, 64));
  bench
      ->add_option("--triton-seconds", o->triton_seconds,
                   "that Python may take to compile a problem in Triton (120, and 0 with "
                   "--variant): 0 is without")
      ->check(CLI::Range(0.0, 3600.0));
  bench->add_flag("--all-variants", o->all_variants,
                  "every variant that fits, not only the one a launch takes");
  bench->add_option("--variant", o->variants, "that of this name, where it fits; may be repeated")
      ->type_name("NAME");
  bench->add_flag("--once", o->once,
                  "launch each side once, neither checked nor timed: for a profiler");
  bench->add_flag("--json", o->json, "JSON on standard output, the table on standard error");
  bench->callback([=, &code] {
    for (const auto& each : *sizes) o->sizes.push_back(problem_sizes(each));
    for (const auto& [name, value] : pairs("--set", *set))
      o->scalars[name] = number<double>("--set", value);
    code = lay::bench::bench_script(*o);
  });
}

void add_tune(CLI::App& app, int& code) {
  auto* tune =
      app.add_subcommand("tune", "search schedules of the kernels, and keep what wins as policies");
  auto o = std::make_shared<lay::bench::TuneOptions>();
  auto sizes = std::make_shared<std::vector<std::string>>();
  tune->add_option("file", o->file, "the script")->required();
  tune->add_option("--kernel", o->kernel, "one of its kernels; all without");
  tune->add_option("--size", *sizes,
                   "the sizes of one problem, or one number for all; may be repeated (4096)")
      ->type_name("M=4096,N=4096,K=64")
      ->allow_extra_args(false);
  tune->add_option("-o,--output", o->folder,
                   "the folder of policies; without it the user's, which every plan reads")
      ->type_name("FOLDER");
  tune->add_flag("--beside", o->beside,
                 "keep what wins in FILE.tuned.lay, for the kernels of this script alone")
      ->excludes("--output");
  tune->add_option("--candidates", o->candidates,
                   "that are timed, before other orders of the fastest (8)")
      ->check(CLI::Range(1, 1000));
  tune->add_option("--rounds", o->rounds, "how often each is timed (5)")
      ->check(CLI::Range(1, 1000));
  tune->add_option("--milliseconds", o->milliseconds, "how long, each time (50)")
      ->check(CLI::Range(0.1, 10000.0));
  tune->callback([=, &code] {
    for (const auto& each : *sizes) o->sizes.push_back(problem_sizes(each));
    code = lay::bench::tune_script(*o);
  });
}

void add_show(CLI::App& app, int& code) {
  auto* show =
      app.add_subcommand("show", "a picture: on the terminal, or as SVG, HTML or LaTeX in a file");
  auto o = std::make_shared<ShowOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  show->add_option("expression", o->expression,
                   "what stands after `show`: \"zipped_divide((8,8):(8,1), (2,4))\"")
      ->required();
  show->add_option("-o,--output", o->output, "the file to write: .svg, .html, .tex or .txt");
  show->add_option("--to", o->to, "the form, whatever the file is called")
      ->check(CLI::IsMember({"text", "svg", "html", "tex", "latex"}));
  show->add_option("--file", o->file, "a script whose names the expression may use");
  show->add_option("--set", *set, "a size, may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  show->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = show_expression(*o);
  });
}

void add_export(CLI::App& app, int& code) {
  auto* command =
      app.add_subcommand("export", "a layout as CuTe C++, CuTe DSL, Triton, NumPy or LaTeX");
  auto o = std::make_shared<ExportOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  command->add_option("expression", o->expression, "the layout")->required();
  command->add_option("--to", o->to, "the target")
      ->required()
      ->check(CLI::IsMember(lay::exports::targets()));
  command->add_option("--tile", o->tile, "the tile that a thread-value layout covers: \"(16,8)\"");
  command->add_option("--name", o->name, "of the variable (L)")->check([](const std::string& name) {
    const bool is_name =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
            std::string::npos &&
        !(name[0] >= '0' && name[0] <= '9');
    return is_name ? std::string() : "expected a name, not `" + name + "`";
  });
  command->add_option("--file", o->file, "a script whose names the expression may use");
  command->add_option("--set", *set, "a size, may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = export_expression(*o);
  });
}

void add_format(CLI::App& app, int& code) {
  auto* fmt = app.add_subcommand(
      "fmt", "the one formatting, in place; standard input to standard output without a file");
  auto o = std::make_shared<FormatOptions>();
  fmt->add_option("files", o->files, "scripts, or - for standard input");
  fmt->add_flag("--check", o->check,
                "change nothing; name the files that are not formatted and return 1");
  fmt->callback([=, &code] { code = format_files(*o); });
}

void add_explain(CLI::App& app, int& code) {
  auto* explain =
      app.add_subcommand("explain", "how an expression comes by its value, step by step");
  auto o = std::make_shared<ExplainOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  explain
      ->add_option("expression", o->expression,
                   "\"(6,2):(8,2) o (4,3):(3,1)\"; statements may stand before it: \"dim M; assume "
                   "M % 8 == 0; M:1 o 4:2\"")
      ->required();
  explain->add_option("--file", o->file, "a script whose names the expression may use");
  explain->add_option("--set", *set, "a size, may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  explain->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = explain_expression(*o);
  });
}

void add_plan(CLI::App& app, int& code) {
  auto* plan = app.add_subcommand("plan", "the complete schedule of each kernel, with predictions");
  auto o = std::make_shared<PlanOptions>();
  plan->add_option("file", o->file, "the script")->required();
  auto sizes = std::make_shared<std::string>();
  plan->add_option("--size", *sizes,
                   "sizes, or one number for all: the one variant that a launch takes then")
      ->type_name("M=4096,N=4096,K=64");
  plan->add_option("--kernel", o->kernel, "one of its kernels; all without");
  plan->add_option("--gpu", o->gpu, "h200, a100, sm_86, ...: the GPU to plan for (h200)");
  plan->callback([=, &code] {
    if (!sizes->empty()) o->sizes = problem_sizes(*sizes);
    code = print_plans(*o);
  });
}

void add_simple(CLI::App& app, int& code) {
  auto topic = std::make_shared<std::string>();
  auto* help = app.add_subcommand(
      "help", "the page of an error code or an operation; all names without one");
  help->add_option("topic", *topic, "composition-carry, coalesce, ...");
  help->callback([=, &code] { code = print_help(*topic); });
  app.add_subcommand("eval", "one expression or statement a line in, one JSON object a line out")
      ->callback([&code] { code = evaluate_lines(); });
  app.add_subcommand("doctor", "what was found: compiler, driver, GPU, cache")->callback([&code] {
    code = examine_machine();
  });
  app.add_subcommand("repl", "the REPL, as without a command")->callback([&code] {
    code = repl();
  });
}

// A file that cannot be read is said, and plans are made without it.
void read_own_policies() try {
  read_policies(policy_folder());
} catch (const lay::DiagnosticError& e) {
  report(lay::Sources(), e.diagnostic);
}

// Where the first word names no command: what was meant.
void advise(CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(known->get_name());
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return;
  if (word.ends_with(".lay"))
    std::cerr << "A script runs by `lay run " << word << "`.\n";
  else if (const auto near = lay::nearest(word, names))
    std::cerr << "Did you mean `lay " << *near << "`?\n";
}

int command(int argc, char** argv) {
  int code = exit_ok;
  CLI::App app("Lay: layouts, and the GPU kernels they make. Without a command: the REPL.");
  app.name("lay");
  app.footer(footer);
  app.set_version_flag("--version", LAY_VERSION);
  app.require_subcommand(0, 1);
  add_run(app, code);
  add_check(app, code);
  add_plan(app, code);
  add_build(app, code);
  add_bench(app, code);
  add_tune(app, code);
  add_show(app, code);
  add_explain(app, code);
  add_export(app, code);
  add_format(app, code);
  add_simple(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (app.exit(e) == 0) return exit_ok;
    if (argc > 1) advise(app, argv[1]);
    return exit_usage;
  }
  return app.get_subcommands().empty() ? repl() : code;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    read_own_policies();
    const int code = command(argc, argv);
    std::cout.flush();
    return std::cout ? code : exit_machine;
  } catch (const lay::DiagnosticError& e) {
    report(lay::Sources(), e.diagnostic);
    return exit_program;
  } catch (const MachineLacks& e) {
    std::cerr << "lay: " << e.what() << "\n";
    return exit_machine;
  } catch (const std::bad_alloc&) {
    std::cerr << "lay: out of memory\n";
    return exit_machine;
  } catch (const std::exception& e) {
    std::cerr << "lay: internal error: " << e.what()
              << "\nThis is a mistake in lay; please report it.\n";
    return exit_internal;
  }
}
