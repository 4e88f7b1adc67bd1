// A product that liblay plans, compiles and launches: its guards without a GPU, and with one right
// in a graph, on streams and from threads. tests/embed/gpu/run.sh builds it.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <lay/lay.hpp>
#include <memory>
#include <string>
#include <vector>

#include "flow.h"

namespace {

lay_tensor tensor(const char* element, const std::int64_t* shape, void* address) {
  lay_tensor made{};
  made.size = sizeof made;
  made.rank = 2;
  made.element = element;
  made.shape = shape;
  made.address = address;
  return made;
}

// A kernel with its launcher, in a context of its own: one for each thread.
class Compiled {
 public:
  explicit Compiled(const std::string& script) : program_(context_) {
    program_.run("product.lay", script);
  }
  lay::Kernel kernel() const { return program_.kernel("product"); }

  std::int64_t workspace(const problem& of) {
    const Shapes shapes(of);
    std::vector<lay_tensor> tensors = shapes.tensors(of);
    tensors[2].shape = nullptr;  // the launcher says how the output lies
    tensors[2].rank = 0;
    const std::int64_t bytes = launcher().prepare(tensors);
    if (tensors[2].rank != 2 || tensors[2].shape[0] != of.M || tensors[2].shape[1] != of.N)
      throw std::runtime_error("the launcher describes C wrongly");
    return bytes;
  }
  void launch(const problem& of, device_stream stream) {
    const Shapes shapes(of);
    launcher().launch(shapes.tensors(of), stream, of.workspace, of.workspace_bytes);
  }

 private:
  struct Shapes {
    explicit Shapes(const problem& of) : a{of.M, of.K}, b{of.N, of.K}, c{of.M, of.N} {}
    std::vector<lay_tensor> tensors(const problem& of) const {
      return {tensor("bf16", a, of.A), tensor("bf16", b, of.B), tensor("f32", c, of.C)};
    }
    std::int64_t a[2], b[2], c[2];
  };
  // Made when it is first needed, since it needs a GPU.
  const lay::Launcher& launcher() {
    if (!launcher_) launcher_ = std::make_unique<lay::Launcher>(kernel().launcher(0));
    return *launcher_;
  }

  lay::Context context_;
  lay::Program program_;
  std::unique_ptr<lay::Launcher> launcher_;
};

// Calls a function of a Compiled for the flow, which is C.
template <typename Call>
int reported(Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// What the library answers without a GPU: the guard that an argument breaks, and the variants of a
// GPU that need not be there.
void ask(const lay::Context& context, const std::string& script) {
  const lay::Program program(context);
  program.run("product.lay", script);
  const lay::Kernel kernel = program.kernel("product");
  const std::vector<std::uint16_t> zeros(4 * 10);
  const lay::Value a = lay::Value::of(context, "bf16", {4, 10}, zeros.data(), 2 * zeros.size());
  try {
    kernel.run({&a, &a});
  } catch (const lay::Error& error) {
    std::printf("%-12s%s\n", error.diagnostics()[0].code.c_str(),
                error.diagnostics()[0].message.c_str());
  }
  const lay::Plan plan = kernel.plan("h200");
  const std::size_t variant = plan.choose({{"M", 64}, {"N", 256}, {"K", 4092}});
  std::printf("h200        %s, %d launches\n", plan.variants()[variant].c_str(),
              static_cast<int>(plan.launches(variant)));
}

int test(const std::string& script) {
  lay_options options{};
  options.size = sizeof options;
  options.machine = LAY_MACHINE_HOST;
  ask(lay::Context(options), script);
  driver on;
  if (const char* lacks = driver_open(&on)) {
    std::printf("no GPU      %s\n", lacks);
    return 0;
  }
  std::vector<std::unique_ptr<Compiled>> compiled;
  program by{};
  by.on = &on;
  for (void*& self : by.self) {
    compiled.push_back(std::make_unique<Compiled>(script));
    self = compiled.back().get();
  }
  by.workspace = [](void* self, const problem* of) {
    std::int64_t bytes = -1;
    reported([&] { bytes = static_cast<Compiled*>(self)->workspace(*of); });
    return bytes;
  };
  by.launch = [](void* self, const problem* of, device_stream stream) {
    return reported([&] { static_cast<Compiled*>(self)->launch(*of, stream); });
  };
  return run(&by);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: launcher SCRIPT\n");
    return 2;
  }
  std::ifstream file(words[1]);
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  int code = 1;
  return reported([&] { code = test(script); }) == 0 ? code : 1;
}
