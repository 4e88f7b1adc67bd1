// The command line of `lay`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>

#include "frontend/export/export.h"
#include "frontend/source/text.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/calibrate/calibrate.h"
#include "runtime/bench/tune/tune.h"
#include "runtime/build/manifest.h"
#include "runtime/commands/command_table.h"
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
      "run", "Runs a script; its kernels on the GPU if there is one, else on the host.");
  auto o = std::make_shared<RunOptions>();
  auto in = std::make_shared<std::vector<std::string>>(),
       out = std::make_shared<std::vector<std::string>>(),
       set = std::make_shared<std::vector<std::string>>();
  run->add_option("file", o->file, "the script to read")->required();
  run->add_option("--in", *in, "an input array of the kernel; may be repeated")
      ->type_name("PARAMETER=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--out", *out, "where to write an output array of the kernel; may be repeated")
      ->type_name("PARAMETER=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--set", *set,
                  "a size or a scalar that the arrays do not determine; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  run->add_option("--kernel", o->kernel, "the kernel to run in a script that calls none");
  run->add_flag("--random", o->random, "fill the inputs that are not given with random numbers");
  run->add_option("--seed", o->seed, "the seed of the random inputs (default 1)");
  run->add_flag("--bits", o->bits, "write types that NumPy lacks as bits, not as float32");
  const std::map<std::string, MachineChoice> machines = {
      {"any", MachineChoice::any}, {"host", MachineChoice::host}, {"gpu", MachineChoice::gpu}};
  run->add_option("--on", o->on, "where kernels run (default any)")
      ->transform(CLI::CheckedTransformer(machines).description(""))
      ->type_name("gpu|host|any");
  run->add_flag(
      "--counts", o->counts,
      "count shared-memory wavefronts and global-memory sectors in the host interpreter, and "
      "compare them with the plan's");
  run->add_option(
      "--order", o->order,
      "the number of another order of warps and copies in the host interpreter (default 0)");
  run->add_flag(
      "--field", o->field,
      "also run each variant in exact arithmetic modulo primes, where it must equal `reference`");
  run->add_flag("--strict", o->strict, "treat warnings about slow kernels as errors");
  run->callback([=, &code] {
    o->in = pairs("--in", *in);
    o->out = pairs("--out", *out);
    o->set = pairs("--set", *set);
    code = run_script(*o);
  });
}

void add_check(CLI::App& app, int& code) {
  auto* check =
      app.add_subcommand("check", "Parses and checks a script, and prints every verdict.");
  auto o = std::make_shared<CheckOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  check->add_option("file", o->file, "the script to read")->required();
  check->add_option("--dump", o->dump, "print a stage of the compiler instead")
      ->check(CLI::IsMember({"tree", "typed", "plan", "ir", "cuda"}));
  check->add_flag("--json", o->json, "print errors, verdicts and guards, one JSON object a line");
  check->add_flag("--strict", o->strict, "treat warnings about slow kernels as errors");
  check->add_option("--set", *set, "a size to check for; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  check->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = check_script(*o);
  });
}

void add_build(CLI::App& app, int& code) {
  auto* build = app.add_subcommand("build",
                                   "Writes CUDA source, cubins or PTX, and a manifest of variants "
                                   "and guards: JSON that keeps to "
                                   "the schema lay-manifest-" +
                                       std::to_string(manifest_version) + ".");
  auto o = std::make_shared<BuildOptions>();
  build->add_option("file", o->file, "the script to read")->required();
  build->add_option("-o,--output", o->folder, "the folder to write to")->required();
  build
      ->add_option(
          "--arch", o->choices.archs,
          "an architecture or GPU to build for (sm_80, sm_90a, h200, ...); may be repeated")
      ->allow_extra_args(false);
  auto* source = build->add_flag("--source-only", o->choices.source_only,
                                 "write the CUDA source and the manifest only");
  auto* ptx = build->add_flag("--ptx", o->choices.ptx,
                              "write PTX, which the driver compiles, instead of cubins");
  auto* bundle = build->add_flag(
      "--bundle", o->choices.bundle,
      "also write a launcher in C that has the compiled kernels in it, for CMake and Python too");
  bundle->excludes(source);
  build
      ->add_option("--prefix", o->choices.prefix,
                   "what the names of the bundle's functions begin with")
      ->needs(bundle);
  build
      ->add_option("--depfile", o->depfile,
                   "also write, as a rule of make, which files the bundle's header was made from")
      ->needs(bundle);
  auto sizes = std::make_shared<std::vector<std::string>>();
  build->add_option("--kernel", o->kernel, "one kernel of the script (default all)");
  auto* variant = build
                      ->add_option("--variant", o->choices.variants,
                                   "a variant to build (default all); may be repeated")
                      ->allow_extra_args(false);
  build
      ->add_option(
          "--size", *sizes,
          "sizes, or one number for all: builds the variants that these take; a launch may "
          "bring any for a size that is left out here; may be repeated")
      ->type_name("M=4096,N=4096,K=64")
      ->allow_extra_args(false)
      ->excludes(variant);
  auto* most =
      build
          ->add_option("--most", o->choices.most,
                       "how many of the library's variants a kernel has at most, chosen over drawn "
                       "sizes (default 12)")
          ->check(CLI::PositiveNumber)
          ->excludes(variant);
  auto all = std::make_shared<bool>(false);
  build->add_flag("--all", *all, "build all of the library's variants")
      ->excludes(most)
      ->excludes(variant);
  build
      ->add_flag(
          "--strict", o->choices.strict,
          "fail where ptxas reports spills, local memory or serialization, or a kernel is slow")
      ->excludes(source)
      ->excludes(ptx);
  build->callback([=, &code] {
    for (const auto& each : *sizes) o->choices.sizes.push_back(problem_sizes(each));
    if (*all) o->choices.most = std::numeric_limits<std::size_t>::max();
    code = build_script(*o);
  });
}

void add_bench(CLI::App& app, int& code) {
  auto* bench = app.add_subcommand(
      "bench", "Checks and times kernels on the GPU beside cuBLASLt, Triton and PyTorch.");
  auto o = std::make_shared<lay::bench::Options>();
  auto sizes = std::make_shared<std::vector<std::string>>(),
       set = std::make_shared<std::vector<std::string>>();
  bench->add_option("file", o->file, "the script to read")->required();
  bench->add_option("--kernel", o->kernel, "one kernel of the script (default all)");
  bench
      ->add_option("--size", *sizes,
                   "the sizes of a problem, or one number for all (default: those that the script "
                   "states, else 4096); may be repeated")
      ->type_name("M=4096,N=4096,K=64")
      ->allow_extra_args(false);
  bench
      ->add_option("--set", *set,
                   "the value of a scalar (default 1, and 0 for beta); may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  bench->add_option("--rounds", o->rounds, "the number of timings of each candidate (default 5)")
      ->check(CLI::Range(1, 1000));
  bench->add_option("--milliseconds", o->milliseconds, "the length of each timing (default 100)")
      ->check(CLI::Range(0.1, 10000.0));
  bench
      ->add_option("--algorithms", o->algorithms,
                   "the number of cuBLASLt algorithms to try (default 12)")
      ->check(CLI::Range(1, 64));
  bench
      ->add_option(
          "--triton-seconds", o->triton_seconds,
          "the time limit for Triton to compile a problem (default 120, and 0 with --variant); "
          "0 leaves Triton out")
      ->check(CLI::Range(0.0, 3600.0));
  bench
      ->add_option(
          "--torch-seconds", o->torch_seconds,
          "the time limit for PyTorch to compile and compute a problem (default 120, and 0 with "
          "--variant); 0 leaves PyTorch out")
      ->check(CLI::Range(0.0, 3600.0));
  bench->add_flag("--torch-autotune", o->torch_autotune,
                  "time torch.compile in its mode max-autotune-no-cudagraphs too");
  bench->add_flag("--all-variants", o->all_variants,
                  "time every variant that fits, not only the one a launch takes");
  bench
      ->add_option("--variant", o->variants,
                   "time the variant of this name where it fits; may be repeated")
      ->type_name("NAME");
  bench->add_flag("--any-size", o->any_size,
                  "time what a launch takes of a plan for any sizes, without the schedules that "
                  "are searched for the sizes given or stated");
  bench->add_flag("--skip-scalar", o->skip_scalar,
                  "leave out kernels that compute reductions one thread an element, and time what "
                  "stands beside them");
  bench->add_flag("--once", o->once,
                  "launch each candidate once, unchecked and untimed, for a profiler");
  bench->add_flag("--json", o->json, "print JSON on standard output, the table on standard error");
  bench->callback([=, &code] {
    for (const auto& each : *sizes) o->sizes.push_back(problem_sizes(each));
    for (const auto& [name, value] : pairs("--set", *set))
      o->scalars[name] = number<double>("--set", value);
    code = lay::bench::bench_script(*o);
  });
}

void add_tune(CLI::App& app, int& code) {
  auto* tune = app.add_subcommand(
      "tune",
      "Autotunes: ranks schedules with a cost model, times the best ones, and saves the winners in "
      "your policy directory.");
  auto o = std::make_shared<lay::bench::TuneOptions>();
  auto sizes = std::make_shared<std::vector<std::string>>();
  tune->add_option("file", o->file, "the script to read")->required();
  tune->add_option("--kernel", o->kernel, "one kernel of the script (default all)");
  tune->add_option("--size", *sizes,
                   "the sizes of a problem, or one number for all (default: those that the script "
                   "states, else 4096); may be repeated")
      ->type_name("M=4096,N=4096,K=64")
      ->allow_extra_args(false);
  tune->add_option("-o,--output", o->folder,
                   "the folder to write policies to (default: your policy directory, which every "
                   "plan reads)")
      ->type_name("FOLDER");
  tune->add_flag("--beside", o->beside,
                 "save the winners in FILE.tuned.lay, for the kernels of this script only")
      ->excludes("--output");
  tune->add_option(
          "--candidates", o->effort.candidates,
          "the number of schedules to time before other rasterizations of the fastest (default 8)")
      ->check(CLI::Range(1, 1000));
  tune->add_option("--rounds", o->effort.rounds,
                   "the number of timings of each candidate (default 5)")
      ->check(CLI::Range(1, 1000));
  tune->add_option("--milliseconds", o->effort.milliseconds,
                   "the length of each timing (default 50)")
      ->check(CLI::Range(0.1, 10000.0));
  tune->callback([=, &code] {
    for (const auto& each : *sizes) o->sizes.push_back(problem_sizes(each));
    code = lay::bench::tune_script(*o);
  });
}

void add_calibrate(CLI::App& app, int& code) {
  auto* calibrate = app.add_subcommand(
      "calibrate",
      "Measures the GPU, and fits the costs by which launches choose to times of schedules there.");
  auto o = std::make_shared<lay::bench::CalibrateOptions>();
  const auto add_file = [&](const char* option, std::string& path, const char* text) {
    return calibrate->add_option(option, path, text)->type_name("FILE");
  };
  auto* from = add_file("--from", o->from, "times to fit to, without a GPU: prints the fit");
  calibrate->add_option("--gpu", o->gpu, "the GPU that times of --from are of (default h200)")
      ->needs(from);
  add_file("-o,--output", o->output, "the file to write (default: in your folder of GPUs)")
      ->excludes(from);
  add_file("--times", o->times, "write the times, too, as --from reads them")->excludes(from);
  calibrate->add_flag("--dry-run", o->dry_run, "keep nothing")->excludes("--output");
  calibrate->add_flag("--json", o->json, "print JSON; the tables go to standard error");
  calibrate->add_option("--seed", o->effort.seed, "draw other products (default 1)");
  calibrate->add_option("--seconds", o->effort.seconds, "begin no product later (default 85)")
      ->check(CLI::Range(1.0, 3600.0));
  calibrate->callback([=, &code] { code = lay::bench::calibrate(*o); });
}

void add_show(CLI::App& app, int& code) {
  auto* show = app.add_subcommand(
      "show", "Draws a picture on the terminal, or as SVG, PNG, HTML or LaTeX in a file.");
  auto o = std::make_shared<ShowOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  show->add_option(
          "expression", o->expression,
          "what to draw, as after `show` in the REPL: \"zipped_divide((8,8):(8,1), (2,4))\"")
      ->required();
  show->add_option("-o,--output", o->output, "the file to write: .svg, .png, .html, .tex or .txt");
  show->add_flag("--all", o->all, "draw all of a large picture, not its first 128 x 128");
  show->add_option("--to", o->to, "the format, whatever the name of the file")
      ->check(CLI::IsMember({"text", "svg", "png", "html", "tex", "latex"}));
  show->add_option("--file", o->file, "a script whose names the expression may use");
  show->add_option("--set", *set, "the value of a dim; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  show->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = show_expression(*o);
  });
}

void add_export(CLI::App& app, int& code) {
  auto* command = app.add_subcommand(
      "export", "Writes a layout as CuTe C++, CuTe DSL, Triton, NumPy or LaTeX.");
  auto o = std::make_shared<ExportOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  command->add_option("expression", o->expression, "the layout")->required();
  command->add_option("--to", o->to, "the target")
      ->required()
      ->check(CLI::IsMember(lay::exports::targets()));
  command->add_option("--tile", o->tile, "the tile that a thread-value layout covers: \"(16,8)\"");
  command->add_option("--name", o->name, "the name of the variable (default L)")
      ->check([](const std::string& name) {
        const bool is_name =
            !name.empty() &&
            name.find_first_not_of(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                std::string::npos &&
            !(name[0] >= '0' && name[0] <= '9');
        return is_name ? std::string() : "expected a name, not `" + name + "`";
      });
  command->add_option("--file", o->file, "a script whose names the expression may use");
  command->add_option("--set", *set, "the value of a dim; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = export_expression(*o);
  });
}

void add_format(CLI::App& app, int& code) {
  auto* fmt = app.add_subcommand(
      "fmt", "Formats scripts in place; without a file, standard input to standard output.");
  auto o = std::make_shared<FormatOptions>();
  fmt->add_option("files", o->files, "the scripts, or - for standard input");
  fmt->add_flag("--check", o->check,
                "change nothing; name the files that are not formatted, and exit with 1");
  fmt->callback([=, &code] { code = format_files(*o); });
}

void add_explain(CLI::App& app, int& code) {
  auto* explain =
      app.add_subcommand("explain", "Shows step by step how an expression gets its value.");
  auto o = std::make_shared<ExplainOptions>();
  auto set = std::make_shared<std::vector<std::string>>();
  explain
      ->add_option("expression", o->expression,
                   "\"(6,2):(8,2) o (4,3):(3,1)\"; statements may stand before it: \"dim M; assume "
                   "M % 8 == 0; M:1 o 4:2\"")
      ->required();
  explain->add_option("--file", o->file, "a script whose names the expression may use");
  explain->add_option("--set", *set, "the value of a dim; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  explain->callback([=, &code] {
    o->set = pairs("--set", *set);
    code = explain_expression(*o);
  });
}

void add_plan(CLI::App& app, int& code) {
  auto* plan = app.add_subcommand("plan",
                                  "Prints the complete schedule of each kernel, with predictions; "
                                  "of a long plan, what takes which sizes.");
  auto o = std::make_shared<PlanOptions>();
  plan->add_option("file", o->file, "the script to read")->required();
  auto sizes = std::make_shared<std::string>();
  auto* size =
      plan->add_option("--size", *sizes,
                       "sizes, or one number for all: prints the variant that takes them, a "
                       "roofline estimate and the bottleneck")
          ->type_name("M=4096,N=4096,K=64");
  plan->add_flag("--any-size", o->any_size,
                 "of a plan for any sizes, without the schedules that are searched for the sizes "
                 "given or stated");
  plan->add_flag("--all", o->all, "print the schedules of long plans, too")->excludes(size);
  plan->add_option("--kernel", o->kernel, "one kernel of the script (default all)");
  plan->add_option("--dump", o->dump, "print the tile program after a pass instead")
      ->check(CLI::IsMember({"form", "bind", "pipeline", "specialise", "expand"}));
  plan->add_option(
      "--variant", o->variant,
      "one variant to --dump (default all), or with --size to print in place of the one "
      "that takes the sizes");
  plan->add_option("--gpu", o->gpu, "the GPU to plan for: h200, a100, sm_86, ... (default h200)");
  plan->callback([=, &code] {
    if (!o->variant.empty() && o->dump.empty() && sizes->empty())
      throw CLI::RequiresError("--variant", "--dump or --size");
    if (!sizes->empty()) o->sizes = problem_sizes(*sizes);
    code = print_plans(*o);
  });
}

void add_simple(CLI::App& app, int& code) {
  auto topic = std::make_shared<std::string>();
  auto* help = app.add_subcommand(
      "help", "Prints the page of an error code or an operation; without a name, all names.");
  help->add_option("topic", *topic,
                   "an error code, an operation or a keyword: composition-carry, coalesce, ...");
  help->callback([=, &code] { code = print_help(*topic); });
  app.add_subcommand(
         "eval",
         "Evaluates one expression or statement a line, and answers one JSON object a line.")
      ->callback([&code] { code = evaluate_lines(); });
  app.add_subcommand("doctor", "Reports what was found: compiler, driver, GPU, cache.")
      ->callback([&code] { code = examine_machine(); });
  auto* cache =
      app.add_subcommand("cache", "Shows where compiled kernels are kept and how much they take.");
  auto clearing = std::make_shared<CacheOptions>();
  cache->add_flag("--clear", clearing->clear, "remove them");
  cache->callback([clearing, &code] { code = show_cache(*clearing); });
  app.add_subcommand("repl", "Starts the REPL, as `lay` without a command does.")
      ->callback([&code] { code = repl(); });
}

// The values in "TEXT:{a,b}" or "a|b", as the parser prints the type of an option; none otherwise.
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.rfind('}');
  const bool is_set = open != std::string::npos && close != std::string::npos && open < close;
  if (!is_set && type.find('|') == std::string::npos) return {};
  std::istringstream list(is_set ? type.substr(open + 1, close - open - 1) : type);
  std::vector<std::string> choices;
  for (std::string word; std::getline(list, word, is_set ? ',' : '|');) choices.push_back(word);
  return choices;
}

CommandOption option_entry(const CLI::Option& option) {
  CommandOption entry;
  for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.description = option.get_description();
  entry.required = option.get_required();
  const std::string type = option.get_type_name();
  entry.choices = choices_of(type);
  if (entry.names.empty())
    entry.value = option.get_name(true);
  else if (option.get_items_expected_max() > 0)
    entry.value = type.substr(0, type.find(":{"));
  return entry;
}

std::vector<CommandOption> option_entries(const CLI::App& app) {
  std::vector<CommandOption> entries;
  for (const CLI::Option* option : app.get_options()) entries.push_back(option_entry(*option));
  return entries;
}

// The commands of `app` but for the hidden ones, which are in no group.
CommandTable command_table(const CLI::App& app) {
  CommandTable table{app.get_name(), app.get_description(), app.get_footer(),
                     LAY_VERSION,    option_entries(app),   {}};
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_group().empty()) continue;
    table.commands.push_back({each->get_name(), each->get_description(), option_entries(*each)});
  }
  return table;
}

// Adds the command for what `cmake --install` writes: hidden, for it is asked once.
void add_generated(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  auto* completions = app.add_subcommand("completions", "the completion script of a shell");
  completions->group("");
  completions->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completions->callback(
      [&app, shell] { std::cout << completion_script(command_table(app), *shell); });
  auto* man = app.add_subcommand("man", "the man page");
  man->group("");
  man->callback([&app] { std::cout << man_page(command_table(app)); });
}

// A file that cannot be read is said, and plans are made without it.
void read_own_policies() try {
  const lay::Diagnostics wrong = read_measured_gpus(target_folder());
  if (!wrong.list().empty()) report(lay::Sources(), wrong);
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
  app.set_version_flag("--version", LAY_VERSION, "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(0, 1);
  add_run(app, code);
  add_check(app, code);
  add_plan(app, code);
  add_build(app, code);
  add_bench(app, code);
  add_tune(app, code);
  add_calibrate(app, code);
  add_show(app, code);
  add_explain(app, code);
  add_export(app, code);
  add_format(app, code);
  add_simple(app, code);
  add_generated(app);
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
