// Bundles as a user builds them: by `lay build --bundle`, here with compilers and a driver that are
// none (driver/fake/), and by the C compiler of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/sema/kernel/kernel.h"
#include "runtime/commands/script.h"
#include "tests/embed/shell.h"
#include "tests/runtime/temporary.h"

namespace lay::test {

// Gives this process a cache of compiled kernels of its own.
void use_own_cache();

// A script, or tests/embed/kernels.lay, as a bundle in the folder; for the GPU of the fake driver,
// or the architecture.
void build_bundle(const std::string& folder, const std::string& prefix = "",
                  const std::string& script = "", const std::string& arch = "");

// Compiles a program of the folder with the bundle `kernels` there and runs it on the fake driver,
// which has every kernel. The program includes the header `fake`, which is written beside it, as is
// `packed` with the structs of TVM-FFI's calls, and says by fake_run what a kernel does. Checks
// that it writes `out`.
void require_runs_on_fake(const std::string& folder, const std::string& program,
                          const std::string& flags, const std::string& out,
                          const std::string& arguments = "");

// libtvm_ffi.c as a library of the folder, compiled with the flags; its path.
std::string made_libtvm_ffi(const TemporaryFolder& folder, const std::string& flags = "");

// The bundle as a shared library in this process; loaded once.
class Loaded {
 public:
  explicit Loaded(const std::string& folder);

  // A function of a kernel: symbol<int(const void*, char*)>("linear_check").
  template <class Function>
  Function* symbol(const std::string& name) const {
    return reinterpret_cast<Function*>(address(name + "_lay2"));
  }
  // A function of another name.
  void* address(const std::string& name) const;

 private:
  void* library_ = nullptr;
};

// The library that the tests share.
const Loaded& loaded();

// A kernel's struct of arguments, laid out as the header says: sizes, scalars, tensors.
class CallArguments {
 public:
  explicit CallArguments(const sema::Kernel& kernel) : kernel_(&kernel) {}

  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, float> scalars;
  std::map<std::string, void*> tensors;

  // `size` instead of the struct's, where it is not 0.
  std::vector<std::byte> bytes(std::uint32_t size = 0) const;

 private:
  const sema::Kernel* kernel_;
};

// tests/embed/kernels.lay, evaluated once.
const runtime::Script& bundle_script();

// A kernel's plan for the GPU of the fake driver, with the variants that `build_bundle` builds.
plan::Plan plan_of_bundle(const sema::KernelPtr& kernel);

// The launches of the bundle's kernels can run on the fake driver from now on.
void know_kernels_of_bundle();

// A status and its sentence.
struct Answer {
  int status = 0;
  std::string text;
};
Answer check(const std::string& kernel, const std::vector<std::byte>& arguments);
Answer workspace(const std::string& kernel, const std::vector<std::byte>& arguments,
                 std::int64_t& bytes);
Answer prepare(const std::string& kernel, int device);
Answer launch(const std::string& kernel, const std::vector<std::byte>& arguments,
              void* workspace = nullptr, std::int64_t bytes = 0, void* stream = nullptr);

}  // namespace lay::test
