#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "backend/cuda/limits.h"
#include "runtime/commands.h"
#include "runtime/compile.h"
#include "runtime/device.h"
#include "runtime/exit_code.h"
#include "runtime/file.h"
#include "runtime/manifest.h"
#include "runtime/report.h"
#include "runtime/script.h"
#include "runtime/stages.h"

namespace lay::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string code, std::string message, Span where = {}) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.primary = where;
  throw DiagnosticError(std::move(d));
}

// The targets asked for; else that of the GPU at hand; else one of each generation that is common.
std::vector<const cuda::Target*> targets_of(const std::vector<std::string>& names) {
  std::vector<const cuda::Target*> targets;
  std::string known;
  for (const auto& target : cuda::targets()) known += (known.empty() ? "" : ", ") + std::string(target.name);
  for (const auto& name : names) {
    targets.push_back(cuda::find_target(name));
    if (!targets.back()) fail("unknown-target", "there is no target `" + name + "`: the targets are " + known);
  }
  if (targets.empty())
    if (const auto* device = device_target()) targets.push_back(device);
  if (targets.empty()) targets = {cuda::find_target("sm_80"), cuda::find_target("sm_90a")};
  return targets;
}

// The line of the script where a span stands, as a span: where a message of the CUDA compiler is shown.
Span line_span(const Sources& sources, const Span& inside, int line) {
  if (!inside.known() || line < 1) return inside;
  const Source& source = sources[inside.file];
  const auto index = static_cast<std::size_t>(line - source.first_line);
  if (index >= source.lines.size()) return inside;
  const auto begin = source.lines[index];
  return {inside.file, begin, begin + static_cast<std::uint32_t>(sources.line_text(inside.file, index).size())};
}

class Builder {
 public:
  Builder(const Script& script, const BuildOptions& options)
      : script_(script), options_(options), targets_(targets_of(options.archs)) {
    if (!options.source_only) can_compile_ = can_compile(&why_not_);
  }

  BuiltKernel build(const sema::KernelPtr& kernel) {
    BuiltKernel built{planned(kernel), {}};
    for (const auto& variant : built.plan.variants) {
      if (source_target(variant)) built.variants.push_back(build(built.plan, variant));
    }
    return built;
  }

  // Why there is only source, if so.
  std::string missing() const { return options_.source_only || can_compile_ ? "" : why_not_; }

  void write(const std::string& name, const std::string& text) const {
    write_file((fs::path(options_.folder) / name).string(), {text});
    std::cout << (fs::path(options_.folder) / name).string() << "\n";
  }

 private:
  static bool runs_on(const plan::Variant& variant, const cuda::Target& target) {
    return variant.capability == 0 || variant.capability == 10 * target.major + target.minor;
  }

  // The first target that the variant is for, or nothing.
  const cuda::Target* source_target(const plan::Variant& variant) const {
    for (const auto* target : targets_)
      if (runs_on(variant, *target)) return target;
    return nullptr;
  }

  BuiltVariant build(const plan::Plan& plan, const plan::Variant& variant) {
    BuiltVariant built{&variant, {}};
    for (ir::Kernel& kernel : lowered(script_.sources, plan, variant)) {
      // Named like the function: the kernel's name and the variant's, or that of what comes first.
      const std::string stem = plan.kernel->name + "." + kernel.name.substr(plan.kernel->name.size() + 1);
      auto& known = built_[stem];  // a launch that several variants begin with is built once
      if (known.files.empty()) known = build(plan, variant, std::move(kernel), stem);
      built.launches.push_back(known);
    }
    return built;
  }

  BuiltLaunch build(const plan::Plan& plan, const plan::Variant& variant, ir::Kernel kernel, const std::string& stem) {
    BuiltLaunch built{std::move(kernel), {}, {}};
    const cuda::Target& first = *source_target(variant);
    built.emitted = emitted(*plan.kernel, built.kernel, first);
    write(stem + ".cu", built.emitted.text);
    built.files.push_back({stem + ".cu", "source", std::string(first.name)});
    if (!can_compile_) return built;
    const std::string kind = options_.ptx ? "ptx" : "cubin";
    for (const auto* target : targets_) {
      if (!runs_on(variant, *target)) continue;
      const std::string name = stem + "." + std::string(target->name) + "." + kind;
      write(name, image(*plan.kernel, built.kernel, *target, stem + ".cu"));
      built.files.push_back({name, kind, std::string(target->name)});
    }
    return built;
  }

  std::string image(const sema::Kernel& kernel, const ir::Kernel& lowered, const cuda::Target& target,
                    const std::string& file) {
    CompileOptions compilation;
    compilation.kind = options_.ptx ? ImageKind::ptx : ImageKind::cubin;
    compilation.cache = &cache_;
    compilation.file = file;
    Compilation made = compile(emitted(kernel, lowered, target), target, compilation);
    if (!made.warning.empty()) std::cerr << "warning: " << made.warning << "\n";
    if (made.ok()) return std::move(made.image);
    for (const auto& message : made.messages)
      if (message.is_error)
        fail("cuda-compiler",
             made.compiler + " refuses what was emitted for " + std::string(target.name) + ": " + message.text,
             line_span(script_.sources, kernel.where, message.script_line));
    fail("cuda-compiler", made.compiler + " failed: " + made.log, kernel.where);
  }

  const Script& script_;
  const BuildOptions& options_;
  std::vector<const cuda::Target*> targets_;
  bool can_compile_ = false;
  std::string why_not_;
  Cache cache_;
  std::map<std::string, BuiltLaunch> built_;  // by the stem of their files
};

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) fail("file", "`" + folder + "`: the folder cannot be made");
}

}  // namespace

int build_script(const BuildOptions& options) {
  ScriptOptions checking;
  checking.evaluation = {sema::Mode::check, {}};
  const auto script = evaluate_script(options.file, checking);
  report(script->sources, script->outcomes);
  int code = exit_code_of(script->outcomes);
  if (code != exit_ok) return code;
  try {
    const auto kernels = script->evaluator->kernels();
    if (kernels.empty()) fail("no-kernel", "`" + options.file + "` has no kernel to build");
    Builder builder(*script, options);
    make_folder(options.folder);
    std::vector<BuiltKernel> built;
    for (const auto& kernel : kernels) built.push_back(builder.build(kernel));
    builder.write("manifest.json", manifest(fs::path(options.file).filename().string(), built));
    if (const auto missing = builder.missing(); !missing.empty())
      std::cerr << "only source was written: " << missing << "\n";
  } catch (const DiagnosticError& e) {
    report(script->sources, e.diagnostic);
    code = exit_program;
  }
  return code;
}

}  // namespace lay::runtime
