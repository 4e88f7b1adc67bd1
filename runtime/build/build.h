// Kernels built for launchers: emitted, compiled, listed. What `lay build` writes into a folder and
// what the C library keeps in memory.
//
//   BuildOutput output{write, remark, log};
//   Build made = build_kernels(sources, "linear.lay", kernels, choices, output);
//   // write("linear.any.cu", ...), write("linear.any.sm_90a.cubin", ...), write("manifest.json",
//   ...)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/plan/narrow/narrow.h"
#include "frontend/sema/kernel/kernel.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "runtime/build/narrow.h"

namespace lay::runtime {

// What is built of kernels, and for which GPUs.
struct BuildChoices {
  std::vector<std::string> archs;  // sm_90a, ...; none: the GPU at hand, else sm_80 and sm_90a
  bool source_only = false;        // no PTX or cubin
  // PTX in place of cubins.
  bool ptx = false;
  // Also a launcher in C with the compiled kernels (runtime/bundle/bundle.h).
  bool bundle = false;
  std::string prefix;  // of the bundle's functions
  // The only variants, and the problems whose variants are built; empty: all.
  std::vector<std::string> variants;
  std::vector<GivenSizes> sizes;
  std::size_t most = plan::usual_variants;  // of the library, of each plan
  bool strict = false;  // what ptxas remarks about a kernel is an error, and so is a slow plan
};

// Who receives what a build makes and finds.
struct BuildOutput {
  // A file, once its contents are there.
  std::function<void(const std::string& name, const std::string& contents)> file;
  // Why a kernel is not built for a target, what is slow about it, what ptxas says.
  std::function<void(const Diagnostics&)> remark;
  std::function<void(const std::string& line)> log;
};

struct Build {
  // Nothing was built of a kernel, or a remark was an error.
  bool failed = false;
  // "not built: of_e4m3 for sm_80; promoted for sm_80"; empty where everything was.
  std::string not_built;
  // Why there is only source, if so; empty where nothing else was asked for.
  std::string missing;
};

// Builds the kernels for each target, and writes the manifest and the bundle of those that any
// target has. `script` is the script's name, "linear.lay". Every target has a plan of its own;
// variants that come out the same are built and listed as one. A target that a kernel cannot be
// built for is passed over with a warning. DiagnosticError where a choice is wrong, or a text does
// not compile; MachineLacks where `bundle` or `strict` is asked for and nothing can be compiled.
Build build_kernels(const Sources& sources, const std::string& script,
                    const std::vector<sema::KernelPtr>& kernels, const BuildChoices& choices,
                    const BuildOutput& output);

}  // namespace lay::runtime
