// The objects of lay/lay.h that belong to a program. Each keeps alive what it is made of, so that
// they may be freed in any order; what they return as text they make once and keep.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/target/target.h"
#include "frontend/picture/render.h"
#include "liblay/context.h"
#include "runtime/bench/tune/finding.h"
#include "runtime/bundle/bundle.h"
#include "runtime/execute/device_kernel.h"
#include "runtime/execute/program.h"

namespace lay::api {

// A program in its context.
struct ProgramState {
  ProgramState(ContextPtr of, sema::Options options);

  ContextPtr context;
  // Where pictures are kept that a call asked for; null: they are printed as text.
  std::vector<picture::Picture>* pictures = nullptr;
  // What an answer prints is kept for it; anything else is the callback's.
  std::string printed;
  bool is_answering = false;
  runtime::Program program;
  // Of the last text that was run.
  std::vector<sema::Outcome> outcomes;
};

using ProgramPtr = std::shared_ptr<ProgramState>;

// The value of an outcome as callers see it, with conditions that are decided by now.
sema::Value seen(const ProgramState& state, const sema::Value& value);

// A new handle of a value; `state` is null for one that belongs to no program.
lay_value* new_value(const ContextPtr& context, const ProgramPtr& state, sema::Value value);

// The value behind a handle that is used with a program. Misuse for null and for a value of another
// program.
const sema::Value& value_for(const ProgramPtr& state, const lay_value* value, const char* name);

// Numbers by name. Misuse for a null name.
std::map<std::string, std::int64_t> sizes_of(const lay_size* sizes, std::size_t count);

}  // namespace lay::api

struct lay_program {
  lay::api::ProgramPtr state;
  std::optional<std::string> statements;
  std::string answer, picture, verdict;
};

struct lay_value {
  lay::api::ContextPtr context;
  lay::api::ProgramPtr state;
  lay::sema::Value value;
  std::string element;
  std::optional<std::string> kind, text, json;
};

struct lay_kernel {
  lay::api::ProgramPtr state;
  // The kernel as a value of the language, and what is planned and built of it.
  lay::sema::Value family;
  lay::sema::KernelPtr kernel;
  std::optional<std::string> json;
  // What was found by timing, the newest first; `kernel` has these schedules before its own.
  std::vector<lay::bench::Finding> findings;
  std::string tuning;
};

struct lay_plan {
  // A launch as it was emitted and compiled so far.
  struct Launch {
    lay::cuda::Emitted emitted;
    std::string image;
  };

  lay::api::ProgramPtr state;
  lay::Target target;
  lay::plan::Plan plan;
  std::optional<std::string> text;
  // Of the variants that were asked for.
  std::map<std::size_t, std::vector<Launch>> launches;
};

struct lay_launcher {
  // A launch whose arguments were checked.
  struct Checked {
    lay::runtime::BoundLaunches bound;
    std::string variant;
  };

  lay::api::ProgramPtr state;
  lay::sema::KernelPtr kernel;
  std::unique_ptr<lay::runtime::Gpu> gpu;
  std::unique_ptr<lay::runtime::DeviceKernel> device_kernel;
  std::string variant;
  // How the outputs lie that a caller had not made, by tensor.
  std::map<std::size_t, lay::sema::Lying> made;
  // By the bytes of all arguments: a program most often launches again what it launched before.
  std::unordered_map<std::string, Checked> checked;
};

struct lay_build {
  std::vector<lay::runtime::BundleFile> files;
};
