#include "runtime/build/build.h"

#include "liblay/objects.h"
#include "runtime/commands/script.h"

using namespace lay::api;
using namespace lay;

lay_result lay_build_new(lay_program* program, const lay_build_options* options,
                         lay_build** build) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(build, "build");
    *build = nullptr;
    runtime::BuildChoices choices;
    std::string script = "kernels.lay";
    std::string kernel;
    if (options) {
      if (options->size != sizeof(lay_build_options))
        throw Misuse{"`options->size` is not sizeof(lay_build_options)"};
      if (options->arch_count > 0) require(options->archs, "options->archs");
      for (std::size_t i = 0; i < options->arch_count; ++i) {
        require(options->archs[i], "options->archs[]");
        choices.archs.emplace_back(options->archs[i]);
      }
      choices.bundle = options->bundle != 0;
      choices.source_only = options->source_only != 0;
      if (choices.bundle && choices.source_only)
        throw Misuse{"`options` ask for a bundle without images"};
      if (options->prefix) choices.prefix = options->prefix;
      if (options->most > 0) choices.most = options->most;
      if (options->script) script = options->script;
      if (options->kernel) kernel = options->kernel;
    }
    const auto kernels = runtime::kernels_named(state.program, kernel);
    if (kernels.empty()) throw DiagnosticError("no-kernel", "the program has no kernel to build");
    auto made = std::make_unique<lay_build>();
    runtime::BuildOutput output;
    output.file = [&](const std::string& name, const std::string& contents) {
      made->files.push_back({name, contents});
    };
    output.remark = [&](const Diagnostics& found) {
      state.context->add(&state.program.sources, found);
    };
    output.log = [&](const std::string& line) {
      if (const auto& log = state.context->settings().log) log(line);
    };
    const runtime::Build built =
        runtime::build_kernels(state.program.sources, script, kernels, choices, output);
    if (!built.missing.empty() && !choices.source_only)
      output.log("only source was built: " + built.missing);
    if (!built.failed) *build = made.release();
  });
}

void lay_build_free(lay_build* build) {
  delete build;
}

size_t lay_build_file_count(const lay_build* build) {
  return build ? build->files.size() : 0;
}

const char* lay_build_file_name(const lay_build* build, size_t file) {
  if (!build || file >= build->files.size()) return nullptr;
  return build->files[file].name.c_str();
}

const void* lay_build_file_data(const lay_build* build, size_t file, size_t* bytes) {
  if (!build || !bytes || file >= build->files.size()) return nullptr;
  *bytes = build->files[file].text.size();
  return build->files[file].text.data();
}
