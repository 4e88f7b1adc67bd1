// The commands of `lay`, one function each; main.cpp turns the command line into their options.
// Each returns an ExitCode, writes results to standard output and everything else to standard
// error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/build/build.h"
#include "runtime/execute/machine.h"

namespace lay::runtime {

// The options of `lay run`.
struct RunOptions {
  std::string file;
  // Parameter -> .npy file.
  std::map<std::string, std::string> in, out;
  // Dim or scalar parameter -> number.
  std::map<std::string, std::string> set;
  std::string kernel;  // where the script calls none and has several
  // Make the inputs that are not given.
  bool random = false;
  std::uint64_t seed = 1;
  // Write types that NumPy lacks as their bits.
  bool bits = false;
  MachineChoice on = MachineChoice::any;
  bool counts = false;      // of wavefronts and sectors, on the host
  std::uint64_t order = 0;  // of warps and copies, on the host
  bool field = false;       // also in field mode, where plans must equal the reference
  // Warnings about slow kernels are errors: nothing runs.
  bool strict = false;
};

// The options of `lay check`.
struct CheckOptions {
  std::string file;
  // Tree, typed, plan, ir, cuda: print this stage instead of the verdicts.
  std::string dump;
  std::map<std::string, std::string> set;
  bool json = false;
  // Warnings about slow kernels are errors.
  bool strict = false;
};

// The options of `lay build`.
struct BuildOptions {
  std::string file;
  std::string folder;  // -o
  // Where to write, as a rule of make, which files the bundle was made from; empty: nowhere.
  std::string depfile;
  // The only kernel; empty: all.
  std::string kernel;
  BuildChoices choices{};
};

// The options of `lay show`.
struct ShowOptions {
  std::string expression;  // what stands after `show`
  // A script whose names it may use.
  std::string file;
  // -o: a file whose ending says the form; empty: standard output.
  std::string output;
  // Text, svg, html, tex: the form, whatever the ending.
  std::string to;
  std::map<std::string, std::string> set;
  bool all = false;  // of a large picture, not a corner
};

// The options of `lay export`.
struct ExportOptions {
  std::string expression;
  // Cute, cutedsl, triton, numpy, latex.
  std::string to;
  std::string tile;        // of a thread-value layout, as Lay text: "(16,8)"
  std::string name = "L";  // of the variable that it becomes
  // A script whose names the expression may use.
  std::string file;
  std::map<std::string, std::string> set;
};

// The options of `lay fmt`; `check` only says which files would change.
struct FormatOptions {
  std::vector<std::string> files;  // none, or "-": standard input to standard output
  bool check = false;
};

// Evaluates the script; kernels that it calls run where options.on says. A script that calls none:
// its kernel is run once, on the arrays given.
int run_script(const RunOptions& options);

// Every obligation and claim of the script with its verdict; plans every kernel, so that schedules
// are held to their promises.
int check_script(const CheckOptions& options);

// The options of `lay plan`.
struct PlanOptions {
  std::string file;
  // As stdlib/targets calls it, or an architecture; empty: the default.
  std::string gpu;
  // The only one to be planned; empty: all.
  std::string kernel;
  // form, bind, expand: print the tile programs after this pass instead.
  std::string dump;
  // The only one to be dumped, or with sizes printed; empty: all, or the one that takes the sizes.
  std::string variant;
  // By dim; under no name: of every dim; none: all variants are printed.
  std::map<std::string, std::int64_t> sizes;
  // Long plans whole, too.
  bool all = false;
  // With sizes: of a plan for any sizes.
  bool any_size = false;
};
// The complete schedule of the kernels with its predictions, as Lay text, of a long plan a summary
// (plan_summary.h); with sizes the variant that takes them, as far as alignment allows, and what it
// takes there at the least and is expected to take (backend/plan/model/forecast.h). Error
// "unknown-variant".
int print_plans(const PlanOptions& options);

// CUDA source, PTX or cubin where a compiler is found, and the manifest, into a folder.
int build_script(const BuildOptions& options);

// The options of `lay explain`.
struct ExplainOptions {
  std::string expression;
  std::string file;  // a script whose names it may use
  std::map<std::string, std::string> set;
};
// The derivation of one expression; statements may stand before it, separated by `;`.
int explain_expression(const ExplainOptions& options);

// The page of an operation or an error code; of all topics their names.
int print_help(const std::string& topic);

// A line in, a line of JSON out.
int evaluate_lines();

// A picture of an expression, on the terminal or in a file.
int show_expression(const ShowOptions& options);

// A layout in the words of another tool, on standard output.
int export_expression(const ExportOptions& options);

// Formats the files in place.
int format_files(const FormatOptions& options);

// Prints what was found on this machine and what was not, and why.
int examine_machine();

// The options of `lay cache`.
struct CacheOptions {
  bool clear = false;  // remove all entries
};
// Prints where compiled kernels are kept and how much they take, or removes them.
int show_cache(const CacheOptions& options);

// Statements from a terminal with editing, or from a pipe without.
int repl();

}  // namespace lay::runtime
