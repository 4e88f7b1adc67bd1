// The launchers of the C library, on a driver whose GPU is the host interpreter and whose memory is
// the host's: right results from shapes and strides, and what is refused.
#include <dlfcn.h>
#include <lay/lay.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "runtime/gpu/device.h"
#include "tests/embed/built.h"
#include "tests/measure/machine.h"

namespace {

using namespace lay;

constexpr const char* kScripts =
    "kernel scale<M, N, ld>(X: f32 (M,N):(ld,1), s: f32) -> Y: f32 (M,N)\n"
    "  where N % 4 == 0 and ld >= N\n"
    "{ Y[m,n] = X[m,n] * s }\n"
    "kernel product<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
    "kernel sums<M, N>(X: f32 (M,N)) -> Y: f32 N { Y[n] = sum[m](X[m,n]) }\n"
    "kernel columns<M, N>(X: f32 (M,N)) -> Y: f32 (M,N):(1,M)\n"
    "{ Y[m,n] = X[m,n] }\n"
    "kernel halves<M, N>(X: s4 (M,N)) -> Y: f32 (M,N) { Y[m,n] = X[m,n] }\n";

// A kernel's launcher, whose launches the driver knows.
class Launcher {
 public:
  explicit Launcher(const std::string& name) {
    test::use_own_cache();
    const lay_options options = {
        sizeof(lay_options), LAY_MACHINE_HOST, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
    context_ = lay_context_new(&options);
    REQUIRE(lay_program_new(context_, nullptr, &program_) == LAY_RESULT_OK);
    REQUIRE(lay_program_run(program_, "k.lay", kScripts, std::strlen(kScripts)) == LAY_RESULT_OK);
    REQUIRE(lay_kernel_new(program_, name.c_str(), &kernel_) == LAY_RESULT_OK);
    const lay_result made = lay_launcher_new(kernel_, 0, &launcher);
    INFO(lay_diagnostics_text(context_));
    REQUIRE(made == LAY_RESULT_OK);
    static const bool known = [] {
      static runtime::Program program{sema::Host{}};
      for (const auto& outcome : program.evaluator.run("k.lay", kScripts)) REQUIRE(outcome.ok());
      for (const auto& kernel : program.evaluator.kernels())
        test::know_launches(program.sources, plan::make_plan(kernel, *runtime::device_target()));
      return true;
    }();
    CHECK(known);
  }
  ~Launcher() {
    lay_launcher_free(launcher);
    lay_kernel_free(kernel_);
    lay_program_free(program_);
    lay_context_free(context_);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  std::string code() const {
    lay_diagnostic found{};
    found.size = sizeof found;
    return lay_diagnostic_get(context_, 0, &found) == LAY_RESULT_OK ? found.code : "";
  }
  lay_value* real(double number) const {
    lay_value* value = nullptr;
    REQUIRE(lay_value_of_real(context_, number, &value) == LAY_RESULT_OK);
    return value;
  }
  lay_kernel* kernel() const { return kernel_; }

  lay_launcher* launcher = nullptr;

 private:
  lay_context* context_ = nullptr;
  lay_program* program_ = nullptr;
  lay_kernel* kernel_ = nullptr;
};

// Memory as a driver aligns it.
class Floats {
 public:
  explicit Floats(std::size_t count)
      : data_(static_cast<float*>(std::aligned_alloc(512, (count * 4 + 511) / 512 * 512))) {
    for (std::size_t i = 0; i < count; ++i) data_.get()[i] = static_cast<float>(i % 13) - 6;
  }
  float* data() const { return data_.get(); }
  float operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data_;
};

lay_tensor tensor(const std::vector<std::int64_t>& shape, float* address,
                  const std::int64_t* strides = nullptr) {
  return {sizeof(lay_tensor),
          static_cast<std::int32_t>(shape.size()),
          "f32",
          shape.data(),
          strides,
          address};
}
// The first address in the bytes that is a multiple of 128, as a workspace needs it.
void* aligned(std::vector<char>& bytes) {
  return bytes.data() + (128 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 128) % 128;
}

// An output that is to be made.
lay_tensor unmade() {
  return {sizeof(lay_tensor), 0, nullptr, nullptr, nullptr, nullptr};
}

}  // namespace

TEST_CASE("a launcher says how an output lies, and computes it") {
  const Launcher product("product");
  const std::int64_t m = 40, n = 24, k = 16;
  const std::vector<std::int64_t> a_shape = {m, k}, b_shape = {n, k};
  const Floats a(640), b(384), c(960);
  lay_tensor tensors[] = {tensor(a_shape, a.data()), tensor(b_shape, b.data()), unmade()};
  std::int64_t bytes = -1;
  REQUIRE(lay_launcher_prepare(product.launcher, tensors, 3, nullptr, 0, &bytes) == LAY_RESULT_OK);
  REQUIRE(tensors[2].rank == 2);
  CHECK(std::string(tensors[2].element) == "f32");
  CHECK((tensors[2].shape[0] == m && tensors[2].shape[1] == n));
  CHECK((tensors[2].strides[0] == n && tensors[2].strides[1] == 1));
  CHECK_FALSE(std::string(lay_launcher_variant(product.launcher)).empty());
  tensors[2].address = c.data();
  std::vector<char> workspace(static_cast<std::size_t>(bytes) + 128);
  REQUIRE(lay_launcher_launch(product.launcher, tensors, 3, nullptr, 0, nullptr, 0,
                              aligned(workspace), bytes, nullptr) == LAY_RESULT_OK);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(j * k + l)];
      REQUIRE(c[static_cast<std::size_t>(i * n + j)] == sum);
    }
  // Addresses that suit no vectors take another variant, with the same result.
  const std::string before = lay_launcher_variant(product.launcher);
  const Floats shifted(961);
  std::memcpy(shifted.data() + 1, a.data(), 640 * 4);
  tensors[0].address = shifted.data() + 1;
  const Floats again(960);
  tensors[2].address = again.data();
  REQUIRE(lay_launcher_prepare(product.launcher, tensors, 3, nullptr, 0, &bytes) == LAY_RESULT_OK);
  CHECK(std::string(lay_launcher_variant(product.launcher)) != before);
  workspace.resize(static_cast<std::size_t>(bytes) + 128);
  REQUIRE(lay_launcher_launch(product.launcher, tensors, 3, nullptr, 0, nullptr, 0,
                              aligned(workspace), bytes, nullptr) == LAY_RESULT_OK);
  CHECK(std::equal(c.data(), c.data() + 960, again.data()));
}

TEST_CASE("elements of 4 bits are given as such, or as bytes of two") {
  const Launcher halves("halves");
  alignas(16) const std::uint8_t bytes[] = {0x18, 0x7f, 0x32, 0xe0, 0x54, 0xc6};
  const float expected[] = {-8, 1, -1, 7, 2, 3, 0, -2, 4, 5, 6, -4};
  const std::vector<std::int64_t> shape = {3, 4}, joined = {3, 2}, lines = {2, 3}, turned = {4, 3};
  const std::int64_t across[] = {1, 2}, apart[] = {4, 2};
  const Floats y(12);
  const auto launch = [&](const char* element, const std::vector<std::int64_t>& of,
                          const std::int64_t* strides, const std::vector<std::int64_t>& to) {
    lay_tensor tensors[] = {
        {sizeof(lay_tensor), 2, element, of.data(), strides, const_cast<std::uint8_t*>(bytes)},
        tensor(to, y.data())};
    return lay_launcher_launch(halves.launcher, tensors, 2, nullptr, 0, nullptr, 0, nullptr, 0,
                               nullptr);
  };
  for (const bool joins : {true, false}) {
    std::fill_n(y.data(), 12, 99.0f);
    REQUIRE(launch(joins ? "u8" : "s4", joins ? joined : shape, nullptr, shape) == LAY_RESULT_OK);
    CHECK(std::equal(expected, expected + 12, y.data()));
  }
  CHECK(launch("s8", shape, nullptr, shape) == LAY_RESULT_ERROR);
  CHECK(halves.code() == "argument-kind");
  // Bytes along the other axis are (4,3):(1,4), and those without an axis of neighbours nothing.
  CHECK(launch("u8", lines, across, turned) == LAY_RESULT_ERROR);
  CHECK(halves.code() == "stride-mismatch");
  CHECK(launch("u8", joined, apart, shape) == LAY_RESULT_ERROR);
  CHECK(halves.code() == "stride-mismatch");
}

TEST_CASE("strides fix sizes, and are held to the layout") {
  const Launcher scale("scale");
  const std::vector<std::int64_t> shape = {3, 8};
  const Floats x(64), y(24);
  lay_value* half = scale.real(0.5);
  const std::int64_t wide[] = {20, 1}, other[] = {20, 2}, narrow[] = {4, 1};
  lay_tensor tensors[] = {tensor(shape, x.data(), wide), tensor(shape, y.data())};
  REQUIRE(lay_launcher_launch(scale.launcher, tensors, 2, nullptr, 0, &half, 1, nullptr, 0,
                              nullptr) == LAY_RESULT_OK);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 8; ++j) CHECK(y[i * 8 + j] == x[i * 20 + j] / 2);

  const auto refused = [&](const std::string& code, lay_result result = LAY_RESULT_ERROR) {
    INFO(code);
    test::take_launched();
    CHECK(lay_launcher_launch(scale.launcher, tensors, 2, nullptr, 0, &half, 1, nullptr, 0,
                              nullptr) == result);
    CHECK(scale.code() == code);
    CHECK(test::take_launched().empty());
  };
  tensors[0].strides = other;
  refused("stride-mismatch");
  tensors[0].strides = narrow;  // ld >= N
  refused("guard");
  tensors[0].strides = wide;
  const std::vector<std::int64_t> odd = {3, 6}, short_one = {2, 8};
  tensors[0].shape = odd.data();
  refused("shape-mismatch");
  tensors[1].shape = odd.data();
  refused("guard");
  tensors[0].shape = tensors[1].shape = shape.data();
  tensors[1].address = nullptr;
  refused("null-pointer");
  tensors[1].address = x.data() + 2;
  refused("overlap");
  tensors[1].address = reinterpret_cast<char*>(y.data()) + 2;
  refused("misaligned");
  tensors[1].address = y.data();
  const std::vector<std::int64_t> deep = {3, 8, 1};
  tensors[1].shape = deep.data();
  tensors[1].rank = 3;
  refused("shape-mismatch");
  tensors[1].rank = 2;
  tensors[1].element = "f16";
  refused("argument-kind");
  tensors[1].element = "f99";
  refused("misuse", LAY_RESULT_MISUSE);
  tensors[1].element = "f32";
  tensors[1].shape = nullptr;
  refused("misuse", LAY_RESULT_MISUSE);
  tensors[1].shape = short_one.data();
  refused("shape-mismatch");
  CHECK(lay_launcher_launch(scale.launcher, tensors, 1, nullptr, 0, &half, 1, nullptr, 0,
                            nullptr) == LAY_RESULT_MISUSE);
  CHECK(lay_launcher_launch(scale.launcher, tensors, 2, nullptr, 0, nullptr, 0, nullptr, 0,
                            nullptr) == LAY_RESULT_MISUSE);
  lay_value_free(half);

  // An axis of one element may have any stride; no element at all is a success without a launch.
  half = scale.real(2);
  const std::vector<std::int64_t> one = {1, 4}, none = {0, 4};
  const std::int64_t odd_strides[] = {7, 1};
  lay_tensor row[] = {tensor(one, x.data(), odd_strides), tensor(one, y.data())};
  CHECK(lay_launcher_launch(scale.launcher, row, 2, nullptr, 0, &half, 1, nullptr, 0, nullptr) ==
        LAY_RESULT_OK);
  CHECK(y[3] == x[3] * 2);
  lay_tensor empty[] = {tensor(none, nullptr), tensor(none, nullptr)};
  CHECK(lay_launcher_launch(scale.launcher, empty, 2, nullptr, 0, &half, 1, nullptr, 0, nullptr) ==
        LAY_RESULT_OK);
  lay_value_free(half);
}

TEST_CASE("an output of another order says its strides") {
  const Launcher columns("columns");
  const std::vector<std::int64_t> shape = {6, 4};
  const Floats x(24), y(24);
  lay_tensor tensors[] = {tensor(shape, x.data()), unmade()};
  std::int64_t bytes = 0;
  REQUIRE(lay_launcher_prepare(columns.launcher, tensors, 2, nullptr, 0, &bytes) == LAY_RESULT_OK);
  CHECK((tensors[1].strides[0] == 1 && tensors[1].strides[1] == 6));
  tensors[1].address = y.data();
  REQUIRE(lay_launcher_launch(columns.launcher, tensors, 2, nullptr, 0, nullptr, 0, nullptr, 0,
                              nullptr) == LAY_RESULT_OK);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(y[i + 6 * j] == x[i * 4 + j]);
}

TEST_CASE("a launcher refuses a workspace that is missing, short, or in the way") {
  const Launcher sums("sums");
  const std::vector<std::int64_t> shape = {2048, 4}, row = {4};
  const Floats x(8192), y(4);
  lay_tensor tensors[] = {tensor(shape, x.data()), tensor(row, y.data())};
  std::int64_t bytes = 0;
  REQUIRE(lay_launcher_prepare(sums.launcher, tensors, 2, nullptr, 0, &bytes) == LAY_RESULT_OK);
  REQUIRE(bytes > 0);
  std::vector<char> space(static_cast<std::size_t>(bytes) + 256);
  char* const begin = static_cast<char*>(aligned(space));
  const auto launched = [&](void* workspace, std::int64_t size) {
    test::take_launched();
    return lay_launcher_launch(sums.launcher, tensors, 2, nullptr, 0, nullptr, 0, workspace, size,
                               nullptr);
  };
  const auto refused = [&](const std::string& code, void* workspace, std::int64_t size) {
    INFO(code);
    CHECK(launched(workspace, size) == LAY_RESULT_ERROR);
    CHECK(sums.code() == code);
    CHECK(test::take_launched().empty());
  };
  refused("too-small", nullptr, bytes);
  refused("too-small", begin, bytes - 1);
  refused("misaligned", begin + 64, bytes);
  refused("overlap", x.data(), bytes);
  CHECK(launched(begin, bytes) == LAY_RESULT_OK);
  CHECK(!test::take_launched().empty());
}

TEST_CASE("a launcher leaves the thread's context as it was") {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(driver);
  const auto get = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto set = reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuCtxSetCurrent"));
  REQUIRE((get && set));
  test::use_own_cache();
  int somebody = 0;
  for (void* const before : {static_cast<void*>(nullptr), static_cast<void*>(&somebody)}) {
    REQUIRE(set(before) == 0);
    const auto is_kept = [&] {
      void* now = driver;
      return get(&now) == 0 && now == before;
    };
    {
      const Launcher columns("columns");
      CHECK(is_kept());
      const std::vector<std::int64_t> shape = {6, 4};
      const Floats x(24), y(24);
      lay_tensor tensors[] = {tensor(shape, x.data()), unmade()};
      std::int64_t bytes = 0;
      REQUIRE(lay_launcher_prepare(columns.launcher, tensors, 2, nullptr, 0, &bytes) ==
              LAY_RESULT_OK);
      CHECK(is_kept());
      tensors[1].address = y.data();
      for (int i = 0; i < 2; ++i) {
        REQUIRE(lay_launcher_launch(columns.launcher, tensors, 2, nullptr, 0, nullptr, 0, nullptr,
                                    0, nullptr) == LAY_RESULT_OK);
        CHECK(is_kept());
      }
      tensors[1].address = x.data();
      CHECK(lay_launcher_launch(columns.launcher, tensors, 2, nullptr, 0, nullptr, 0, nullptr, 0,
                                nullptr) == LAY_RESULT_ERROR);
      CHECK(is_kept());
    }
    CHECK(is_kept());
  }
  set(nullptr);
  dlclose(driver);
}

TEST_CASE("a launcher of a device that there is not says so") {
  const Launcher scale("scale");
  lay_launcher* none = nullptr;
  CHECK(lay_launcher_new(scale.kernel(), 7, &none) == LAY_RESULT_UNAVAILABLE);
  CHECK(scale.code() == "unavailable");
  CHECK(none == nullptr);
}
