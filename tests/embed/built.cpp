#include "tests/embed/built.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "backend/plan/make.h"
#include "generated/tests/paths.h"
#include "runtime/build/narrow.h"
#include "runtime/commands/commands.h"
#include "runtime/compile/sha256.h"
#include "runtime/gpu/device.h"
#include "tests/measure/machine.h"

namespace lay::test {
namespace {

// What a program says to the fake driver: it has every kernel, and fake_run of its own runs them.
constexpr const char* kFake = R"(#include <stdio.h>

#include "kernels.h"

void* fake_find(const char* name);
int fake_run(void* kernel, const unsigned* launch, void** values);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxSetCurrent(void* context);

void* fake_find(const char* name) { return (void*)name; }

/* Makes the device's context current in this thread. */
static void enter(void) {
  void* context;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}
)";

// An argument of TVM-FFI, and a tensor of DLPack.
constexpr const char* kPackedTypes = R"(#include <stdint.h>

typedef struct {
  void* data;
  int32_t device[2], ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} tensor;
typedef struct {
  int32_t type, padding;
  union {
    int64_t integer;
    double real;
    void* pointer;
  } value;
} any; /* integers are of type 1, truths 2, floats 3, tensors 7 */
)";

struct Message {
  std::array<char, 512> text{};
};

Answer answer(int status, const Message& why) {
  return {status, why.text.data()};
}

}  // namespace

void use_own_cache() {
  static const TemporaryFolder cache;
  static const int set = setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  REQUIRE(set == 0);
}

void build_bundle(const std::string& folder, const std::string& prefix, const std::string& script,
                  const std::string& arch) {
  use_own_cache();
  runtime::BuildOptions options;
  options.file = script.empty() ? LAY_SOURCE_DIR "/tests/embed/kernels.lay" : script;
  options.folder = folder;
  options.choices.bundle = true;
  options.choices.prefix = prefix;
  if (!arch.empty()) options.choices.archs = {arch};
  REQUIRE(runtime::build_script(options) == 0);
}

const runtime::Script& bundle_script() {
  static const auto read = [] {
    runtime::ScriptOptions options;
    options.evaluation = {sema::Mode::check, {}};
    return runtime::evaluate_script(LAY_SOURCE_DIR "/tests/embed/kernels.lay", options);
  }();
  return *read;
}

plan::Plan plan_of_bundle(const sema::KernelPtr& kernel) {
  return plan::narrowed_plan(plan::make_plan(kernel, *runtime::device_target()),
                             runtime::purpose_of(*kernel, {}, plan::usual_variants));
}

void know_kernels_of_bundle() {
  static bool is_known = false;
  if (std::exchange(is_known, true)) return;
  for (const auto& kernel : runtime::kernels_named(bundle_script(), ""))
    know_launches(bundle_script().sources, plan_of_bundle(kernel));
}

Loaded::Loaded(const std::string& folder) {
  put(folder + "/probe.c",
      "#include \"kernels.c\"\n"
      "uint16_t probe_f16(float value);\nuint16_t probe_bf16(float value);\n"
      "uint16_t probe_f16(float value) { return lay_f16(value); }\n"
      "uint16_t probe_bf16(float value) { return lay_bf16(value); }\n");
  // Half a minute of the compiler, for each test is a process: who compiled these texts keeps the
  // library for the others.
  const std::string command = "cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -shared -fPIC ";
  const std::string kept = LAY_BINARY_DIR "/tests/bundles", made = folder + "/libprobe.so";
  std::string texts = command;
  for (const char* file : {"/probe.c", "/kernels.h", "/kernels.c"}) texts += slurp(folder + file);
  const std::string library = kept + "/" + runtime::hex(runtime::sha256(texts)) + ".so";
  if (!std::filesystem::exists(library)) {
    const Ran compiled =
        shell(command + folder + "/probe.c -o " + made + " -pthread -ldl && mkdir -p " + kept +
              " && cp " + made + " " + kept + "/$$.tmp && mv " + kept + "/$$.tmp " + library);
    INFO(compiled.out);
    REQUIRE(compiled.code == 0);
  }
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(library_);
}

void* Loaded::address(const std::string& name) const {
  void* found = dlsym(library_, name.c_str());
  INFO(name);
  REQUIRE(found);
  return found;
}

const Loaded& loaded() {
  static const TemporaryFolder folder;
  static const Loaded library = [] {
    build_bundle(folder.path().string());
    return Loaded(folder.path().string());
  }();
  return library;
}

std::vector<std::byte> CallArguments::bytes(std::uint32_t size) const {
  std::vector<std::byte> made(sizeof size);
  const auto add = [&](const auto& value) {
    made.resize((made.size() + alignof(decltype(value)) - 1) / alignof(decltype(value)) *
                alignof(decltype(value)));
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    made.insert(made.end(), begin, begin + sizeof value);
  };
  for (const auto& dim : kernel_->dims) add(sizes.at(dim.name));
  for (const auto& scalar : kernel_->scalars) add(scalars.at(scalar.name));
  for (const auto& tensor : kernel_->tensors) add(tensors.at(tensor.name));
  made.resize((made.size() + 7) / 8 * 8);
  if (size == 0) size = static_cast<std::uint32_t>(made.size());
  std::memcpy(made.data(), &size, sizeof size);
  return made;
}

Answer check(const std::string& kernel, const std::vector<std::byte>& arguments) {
  Message why;
  auto* const function = loaded().symbol<int(const void*, Message*)>(kernel + "_check");
  return answer(function(arguments.data(), &why), why);
}

Answer workspace(const std::string& kernel, const std::vector<std::byte>& arguments,
                 std::int64_t& bytes) {
  Message why;
  auto* const function =
      loaded().symbol<int(const void*, std::int64_t*, Message*)>(kernel + "_workspace");
  return answer(function(arguments.data(), &bytes, &why), why);
}

Answer prepare(const std::string& kernel, int device) {
  Message why;
  auto* const function = loaded().symbol<int(int, Message*)>(kernel + "_prepare");
  return answer(function(device, &why), why);
}

Answer launch(const std::string& kernel, const std::vector<std::byte>& arguments, void* workspace,
              std::int64_t bytes, void* stream) {
  Message why;
  auto* const function =
      loaded().symbol<int(const void*, void*, std::int64_t, void*, Message*)>(kernel + "_launch");
  return answer(function(arguments.data(), workspace, bytes, stream, &why), why);
}

void require_runs_on_fake(const std::string& folder, const std::string& program,
                          const std::string& flags, const std::string& out,
                          const std::string& arguments) {
  const std::string fakes = LAY_BINARY_DIR "/tests/fake";
  put(folder + "/fake.h", kFake);
  put(folder + "/packed.h", kPackedTypes);
  require_runs("cd " + folder + " && cc " + flags + " " + program +
                   " kernels.c -o program -rdynamic -pthread -L" + fakes +
                   " -l:libcuda.so.1 -ldl && LD_LIBRARY_PATH=" + fakes + " ./program" + arguments,
               out);
}

std::string made_libtvm_ffi(const TemporaryFolder& folder, const std::string& flags) {
  const std::string file = folder / "libtvm_ffi.so";
  const Ran compiled = shell("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -g -shared -fPIC " +
                             flags + " " LAY_SOURCE_DIR "/tests/embed/libtvm_ffi.c -o " + file +
                             " -Wl,-soname,libtvm_ffi.so");
  INFO(compiled.out);
  REQUIRE(compiled.code == 0);
  return file;
}

}  // namespace lay::test
