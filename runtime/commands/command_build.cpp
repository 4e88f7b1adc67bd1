#include <filesystem>
#include <iostream>

#include "runtime/build/build.h"
#include "runtime/bundle/bundle.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

namespace fs = std::filesystem;

// The path as a rule of make writes it.
std::string in_make(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

// TARGET: FILE FILE
std::string make_rule(const std::string& target, const std::vector<std::string>& files) {
  std::string text = in_make(target) + ":";
  for (const std::string& file : files) text += " " + in_make(file);
  return text + "\n";
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw DiagnosticError("file", "`" + folder + "`: the folder cannot be made");
}

}  // namespace

int build_script(const BuildOptions& options) {
  ScriptOptions checking;
  checking.evaluation = {sema::Mode::check, {}};
  const auto script = evaluate_script(options.file, checking);
  report(script->sources, script->outcomes);
  if (const int code = exit_code_of(script->outcomes); code != exit_ok) return code;
  BuildOutput output;
  bool is_written = false;
  output.file = [&](const std::string& name, const std::string& contents) {
    if (!is_written) make_folder(options.folder);
    is_written = true;
    const std::string path = (fs::path(options.folder) / name).string();
    write_file(path, {contents});
    std::cout << path << "\n";
  };
  output.remark = [&](const Diagnostics& found) { report(script->sources, found); };
  output.log = log_to_stderr;
  try {
    const auto kernels = kernels_named(*script, options.kernel);
    if (kernels.empty())
      throw DiagnosticError("no-kernel", "`" + options.file + "` has no kernel to build");
    const Build built =
        build_kernels(script->sources, options.file, kernels, options.choices, output);
    if (!options.depfile.empty() && is_written) {
      const std::string header = bundle_stem(options.file) + ".h";
      write_file(options.depfile,
                 {make_rule((fs::path(options.folder) / header).string(), script->files)});
    }
    if (!built.not_built.empty()) std::cerr << built.not_built << "\n";
    if (!built.missing.empty()) std::cerr << "only source was written: " << built.missing << "\n";
    return built.failed ? exit_program : exit_ok;
  } catch (const DiagnosticError& e) {
    report(script->sources, e.diagnostic);
    return exit_program;
  }
}

}  // namespace lay::runtime
