#include "runtime/build/build.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <future>
#include <map>
#include <set>

#include "backend/ir/text/print.h"
#include "backend/plan/make.h"
#include "backend/target/target.h"
#include "runtime/build/manifest.h"
#include "runtime/bundle/bundle.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/workers.h"
#include "runtime/execute/machine.h"
#include "runtime/execute/stages.h"
#include "runtime/gpu/device.h"

namespace lay::runtime {
namespace {

// A GPU, or an architecture by the one that stands for it, as it was asked for: "a100", "sm_80".
struct Asked {
  std::string word;
  Target target;
};

// The targets asked for; else that of the GPU at hand; else one of each generation that is common.
std::vector<Asked> targets_of(const std::vector<std::string>& words) {
  std::vector<Asked> asked;
  const auto ask = [&](const std::string& word) { asked.push_back({word, target_named(word)}); };
  for (const std::string& word : words) {
    const bool again = std::any_of(asked.begin(), asked.end(),
                                   [&](const Asked& each) { return each.word == word; });
    if (!again) ask(word);
  }
  if (asked.empty())
    if (const auto device = device_target()) asked.push_back({device->architecture, *device});
  if (asked.empty()) {
    ask("sm_80");
    ask("sm_90a");
  }
  return asked;
}

// The line of the script where a span stands, as a span: where a message of the CUDA compiler is
// shown.
Span line_span(const Sources& sources, const Span& inside, int line) {
  if (!inside.known() || line < 1) return inside;
  const Source& source = sources[inside.file];
  const auto index = static_cast<std::size_t>(line - source.first_line);
  if (index >= source.lines.size()) return inside;
  const auto begin = source.lines[index];
  return {inside.file, begin,
          begin + static_cast<std::uint32_t>(sources.line_text(inside.file, index).size())};
}

class Builder {
 public:
  Builder(const Sources& sources, const BuildChoices& options, const BuildOutput& output)
      : sources_(sources), options_(options), output_(output), targets_(targets_of(options.archs)) {
    if (!options.source_only) can_compile_ = can_compile(&why_not_);
    for (const auto& [is_asked, option] :
         {std::pair{options.strict, "--strict"}, {options.bundle, "--bundle"}})
      if (is_asked && !can_compile_)
        throw MachineLacks(std::string(option) + ": nothing can be compiled here: " + why_not_);
  }

  // Every target has a plan of its own; variants that come out the same are built and listed as
  // one. A target that the kernel cannot be built for is passed over, with a warning; one that can
  // be built for none has no variants.
  BuiltKernel build(const sema::KernelPtr& kernel) {
    BuiltKernel built{kernel, {}, {}, {}};
    std::vector<Diagnostics> refused;
    std::vector<plan::Plan> planned = plans(kernel);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Asked& asked = targets_[i];
      plan::Plan& whole = planned[i];
      const Diagnostics remarks = warnings_of_planned(whole, asked.target);
      auto plan = std::make_unique<const plan::Plan>(narrowed(std::move(whole)));
      std::vector<BuiltVariant> variants;
      if (Diagnostics problems = text_of(*plan, asked, built.stages, variants); !problems.ok()) {
        refused.push_back(std::move(problems));
        refusals_.push_back({kernel->name, asked.word});
        continue;
      }
      output_.remark(remarks);
      failed_ = failed_ || !remarks.ok();
      built.plans.push_back(std::move(plan));
      add(built, std::move(variants), asked);
    }
    report_refused(refused, built.variants.empty() ? Severity::error : Severity::warning);
    return built;
  }

  // "not built: of_e4m3 for sm_80; promoted for sm_80"; empty where everything was.
  std::string not_built() const {
    std::string text;
    for (const auto& [kernel, target] : refusals_)
      text += (text.empty() ? "not built: " : "; ") + kernel + " for " + target;
    return text;
  }

  // Why there is only source, if so.
  std::string missing() const { return options_.source_only || can_compile_ ? "" : why_not_; }

  // Returns true if a kernel was remarked on, by ptxas or for its plan, and that is an error.
  bool failed() const { return failed_; }

 private:
  void report(Diagnostic remark) const {
    Diagnostics alone;
    alone.add(std::move(remark));
    output_.remark(alone);
  }

  // The kernel's plan for each target. A variant that none of them has is refused before anything
  // is written.
  std::vector<plan::Plan> plans(const sema::KernelPtr& kernel) const {
    std::vector<plan::Plan> made;
    std::vector<std::string> known;
    bool all_planned = true;
    for (const Asked& asked : targets_) {
      made.push_back(plan::make_plan(kernel, asked.target));
      for (const GivenSizes& given : options_.sizes)
        add_for_given(made.back(), given, asked.target);
      if (options_.sizes.empty()) add_for_open_sizes(made.back(), asked.target);
      all_planned = all_planned && made.back().problems.empty();
      for (const plan::Variant& variant : made.back().variants) known.push_back(variant.name);
    }
    for (const std::string& name : options_.variants)
      if (all_planned && std::find(known.begin(), known.end(), name) == known.end())
        refuse_variant(*kernel, name, known);
    return made;
  }

  // What is slow about a plan without problems. Sizes that are not built count, too: they say what
  // the kernel is.
  Diagnostics warnings_of_planned(const plan::Plan& plan, const Target& target) const {
    return plan.problems.empty() ? warnings_of(plan, target, options_.strict) : Diagnostics();
  }

  // The plan with the variants that were asked for.
  plan::Plan narrowed(plan::Plan plan) const {
    const auto& names = options_.variants;
    if (names.empty() && plan.problems.empty())
      plan = plan::narrowed_plan(plan, purpose_of(*plan.kernel, options_.sizes, options_.most));
    std::erase_if(plan.variants, [&](const plan::Variant& variant) {
      return !names.empty() && std::find(names.begin(), names.end(), variant.name) == names.end();
    });
    return plan;
  }

  // The text of every variant; or what stands against it.
  Diagnostics text_of(const plan::Plan& plan, const Asked& asked, std::vector<BuiltStage>& stages,
                      std::vector<BuiltVariant>& variants) {
    Diagnostics problems = problems_of(plan);
    if (!problems.ok()) return problems;
    try {
      for (const plan::Variant& variant : plan.variants)
        variants.push_back(text_of(plan, variant, asked, *plan.kernel, stages));
    } catch (const DiagnosticError& error) {
      problems.add(error.diagnostic);
    }
    return problems;
  }

  // Plans before are stages up to the last one of several variants; those behind it are launches
  // of the variant's own.
  BuiltVariant text_of(const plan::Plan& plan, const plan::Variant& variant, const Asked& asked,
                       const sema::Kernel& kernel, std::vector<BuiltStage>& stages) {
    BuiltVariant built{&variant, {asked.word}, {}, {}};
    const auto several = [](const auto& before) { return before->variants.size() > 1; };
    const auto last = std::find_if(variant.before.rbegin(), variant.before.rend(), several);
    for (auto at = variant.before.begin(); at != last.base(); ++at)
      built.stages.push_back(stage_of(*at, asked, kernel, stages));
    plan::Variant own = variant;
    own.before.erase(own.before.begin(),
                     own.before.begin() + static_cast<std::ptrdiff_t>(built.stages.size()));
    for (ir::Kernel& launch : lowered(sources_, plan, own)) {
      cuda::Emitted text = emitted(kernel, launch, asked.target);
      built.launches.push_back({std::move(launch), std::move(text), {}});
    }
    return built;
  }

  // The number of a stage, which is built where it is met first.
  std::size_t stage_of(const std::shared_ptr<const plan::Plan>& plan, const Asked& asked,
                       const sema::Kernel& kernel, std::vector<BuiltStage>& stages) {
    const auto known = std::find_if(stages.begin(), stages.end(),
                                    [&](const BuiltStage& stage) { return stage.plan == plan; });
    if (known != stages.end()) return static_cast<std::size_t>(known - stages.begin());
    BuiltStage made{plan, {}};
    for (const plan::Variant& variant : plan->variants)
      made.variants.push_back(text_of(*plan, variant, asked, kernel, stages));
    compile_ahead(kernel, made.variants, asked);
    for (BuiltVariant& variant : made.variants)
      for (BuiltLaunch& launch : variant.launches) add_files(kernel, launch, launch.emitted, asked);
    stages.push_back(std::move(made));
    return stages.size() - 1;
  }

  void add(BuiltKernel& built, std::vector<BuiltVariant> variants, const Asked& asked) {
    compile_ahead(*built.kernel, variants, asked);
    auto next = built.variants.begin();
    for (BuiltVariant& variant : variants) {
      std::vector<cuda::Emitted> texts;
      for (const BuiltLaunch& launch : variant.launches) texts.push_back(launch.emitted);
      next = merged(built, next, std::move(variant));
      if (next->targets.back() != asked.word) next->targets.push_back(asked.word);
      for (std::size_t i = 0; i < texts.size(); ++i)
        add_files(*built.kernel, next->launches[i], texts[i], asked);
      ++next;
    }
  }

  // Reports once what several targets refuse for the same reason.
  void report_refused(const std::vector<Diagnostics>& refused, Severity severity) const {
    std::set<std::string> said;
    for (const Diagnostics& problems : refused) {
      for (Diagnostic each : problems.list()) {
        if (!said.insert(each.code + each.message).second) continue;
        each.severity = severity;
        report(std::move(each));
      }
    }
  }

  // The same variant from `from` on, or this one put there: so each target's variants keep their
  // order.
  static std::vector<BuiltVariant>::iterator merged(BuiltKernel& built,
                                                    std::vector<BuiltVariant>::iterator from,
                                                    BuiltVariant variant) {
    const auto found = std::find_if(from, built.variants.end(), [&](const BuiltVariant& known) {
      return same(known, variant);
    });
    return found != built.variants.end() ? found : built.variants.insert(from, std::move(variant));
  }

  static bool same(const BuiltVariant& a, const BuiltVariant& b) {
    return a.variant->name == b.variant->name && a.stages == b.stages &&
           a.variant->when == b.variant->when && a.variant->aligned == b.variant->aligned &&
           a.variant->cost == b.variant->cost &&
           std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(), b.launches.end(),
                      [](const BuiltLaunch& x, const BuiltLaunch& y) {
                        return ir::print(x.kernel) == ir::print(y.kernel);
                      });
  }

  // A launch's name is the function's: the kernel's and the variant's, or that of what comes first.
  static std::string variant_name(const sema::Kernel& kernel, const BuiltLaunch& launch) {
    return launch.kernel.name.substr(kernel.name.size() + 1);
  }

  // Begins to compile all of the variants, in threads. Files are written one by one, each when its
  // image is there.
  void compile_ahead(const sema::Kernel& kernel, const std::vector<BuiltVariant>& variants,
                     const Asked& asked) {
    if (!can_compile_) return;
    for (const BuiltVariant& variant : variants)
      for (const BuiltLaunch& launch : variant.launches) {
        const std::string stem = kernel.name + "." + variant_name(kernel, launch),
                          key = stem + " " + asked.word;
        if (files_.contains(key) || images_.contains(key)) continue;
        CompileOptions compilation;
        compilation.kind = options_.ptx ? ImageKind::ptx : ImageKind::cubin;
        compilation.cache = &cache_;
        compilation.file = source_name(stem, launch.emitted, asked);
        images_[key] = workers_.run([text = launch.emitted, &target = asked.target, compilation] {
          return compile(text, target, compilation);
        });
      }
  }

  // The text that is emitted for another target may differ.
  std::string source_name(const std::string& stem, const cuda::Emitted& text,
                          const Asked& asked) const {
    const auto known = texts_.find(stem + ".cu");
    const bool differs = known != texts_.end() && known->second != text.text;
    return stem + (differs ? "." + asked.word : "") + ".cu";
  }

  // The launch's source and image for a target. A launch that several variants begin with is
  // written once.
  void add_files(const sema::Kernel& kernel, BuiltLaunch& launch, const cuda::Emitted& text,
                 const Asked& asked) {
    const std::string variant = variant_name(kernel, launch);
    std::vector<BuiltFile>& files = files_[kernel.name + "." + variant + " " + asked.word];
    if (files.empty()) files = written(kernel, text, variant, asked);
    launch.files.insert(launch.files.end(), files.begin(), files.end());
  }

  std::vector<BuiltFile> written(const sema::Kernel& kernel, const cuda::Emitted& made,
                                 const std::string& variant, const Asked& asked) {
    std::vector<BuiltFile> files;
    const std::string stem = kernel.name + "." + variant;
    const std::string source = source_name(stem, made, asked);
    if (texts_.emplace(source, made.text).second) output_.file(source, made.text);
    files.push_back({source, "source", asked.word});
    if (!can_compile_) return files;
    const std::string kind = options_.ptx ? "ptx" : "cubin",
                      name = stem + "." + asked.word + "." + kind;
    auto compiled =
        std::make_shared<const std::string>(image(kernel, variant, stem + " " + asked.word, asked));
    output_.file(name, *compiled);
    files.push_back({name, kind, asked.word, std::move(compiled)});
    return files;
  }

  // The image that is compiled under the key, once it is there.
  std::string image(const sema::Kernel& kernel, const std::string& variant, const std::string& key,
                    const Asked& asked) {
    const Target& target = asked.target;
    Compilation made = images_.at(key).get();
    if (!made.warning.empty()) output_.log("warning: " + made.warning);
    if (made.ok()) {
      for (const std::string& remark : made.remarks) remarked(kernel, variant, target, remark);
      return std::move(made.image);
    }
    for (const auto& message : made.messages)
      if (message.is_error)
        throw DiagnosticError("cuda-compiler",
                              made.compiler + " refuses what was emitted for " +
                                  target.architecture + ": " + message.text,
                              line_span(sources_, kernel.where, message.script_line));
    throw DiagnosticError("cuda-compiler", made.compiler + " failed: " + made.log, kernel.where);
  }

  void remarked(const sema::Kernel& kernel, const std::string& variant, const Target& target,
                const std::string& remark) {
    Diagnostic d;
    d.code = "ptxas-remark";
    d.message = "kernel `" + kernel.name + "`, variant `" + variant + "` for " +
                target.architecture + ": ptxas: " + remark;
    d.primary = kernel.where;
    d.severity = options_.strict ? Severity::error : Severity::warning;
    failed_ = failed_ || options_.strict;
    report(std::move(d));
  }

  const Sources& sources_;
  const BuildChoices& options_;
  const BuildOutput& output_;
  bool failed_ = false;
  std::vector<Asked> targets_;
  std::vector<std::pair<std::string, std::string>> refusals_;  // kernel and target, as asked for
  bool can_compile_ = false;
  std::string why_not_;
  Cache cache_;
  std::map<std::string, std::string> texts_;                // name -> text of what was written
  std::map<std::string, std::future<Compilation>> images_;  // by stem and word
  std::map<std::string, std::vector<BuiltFile>>
      files_;        // of a launch for a target, by stem and word
  Workers workers_;  // ends before what its tasks read
};

// The names of a bundle's files and functions; a prefix is the beginning of a name in C.
BundleNames bundle_names(const std::string& script, const BuildChoices& options) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  const std::string& prefix = options.prefix;
  if (!std::all_of(prefix.begin(), prefix.end(), is_part) ||
      (!prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix.front()))))
    throw DiagnosticError(
        "bundle-prefix",
        "--prefix `" + prefix + "`: expected letters, digits and `_`, with no digit in front");
  return {std::filesystem::path(script).filename().string(), bundle_stem(script), prefix};
}

}  // namespace

Build build_kernels(const Sources& sources, const std::string& script,
                    const std::vector<sema::KernelPtr>& kernels, const BuildChoices& choices,
                    const BuildOutput& output) {
  for (const GivenSizes& sizes : choices.sizes) {
    require_dims(kernels, sizes);
    for (const auto& kernel : kernels)
      if (plan::given_dims(*kernel, sizes) == kernel->dims.size()) solved_sizes(*kernel, sizes);
  }
  const BundleNames names = bundle_names(script, choices);
  Builder builder(sources, choices, output);
  Build result;
  std::vector<BuiltKernel> built;
  for (const auto& kernel : kernels) {
    BuiltKernel made = builder.build(kernel);
    if (made.variants.empty())
      result.failed = true;
    else
      built.push_back(std::move(made));
  }
  if (!built.empty()) output.file("manifest.json", manifest(names.script, built));
  if (choices.bundle && !built.empty())
    for (const BundleFile& file : bundle(names, built)) output.file(file.name, file.text);
  result.failed = result.failed || builder.failed();
  result.not_built = builder.not_built();
  result.missing = builder.missing();
  return result;
}

}  // namespace lay::runtime
