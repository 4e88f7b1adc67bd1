// Every way in which a call of a bundle can be wrong: its status, its sentence, and that nothing is
// launched.
#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "runtime/gpu/driver.h"
#include "tests/embed/built.h"
#include "tests/measure/machine.h"

extern "C" {
int cuCtxGetCurrent(void**);
int cuStreamCreate(void**, unsigned);
int cuStreamDestroy_v2(void*);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
}

namespace {

using namespace lay;

// As in linear.h.
enum Status : int {
  ok = 0,
  wrong_struct = 1,
  negative_size = 2,
  extent_too_large = 3,
  guard_failed = 4,
  null_pointer = 5,
  misaligned = 6,
  overlap = 7,
  grid_too_large = 8,
  workspace_too_small = 10,
  no_device = 21,
  not_prepared = 30,
};

const sema::Kernel& kernel(const std::string& name) {
  return *runtime::kernels_named(test::bundle_script(), name).front();
}

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

test::CallArguments linear() {
  test::CallArguments arguments(kernel("linear"));
  arguments.sizes = {{"M", 64}, {"N", 64}, {"K", 64}};
  arguments.tensors = {
      {"X", at(0x10000)}, {"W", at(0x20000)}, {"b", at(0x30000)}, {"Y", at(0x40000)}};
  return arguments;
}

test::CallArguments eighths() {
  test::CallArguments arguments(kernel("eighths"));
  arguments.sizes = {{"M", 4}, {"N", 8}, {"lda", 8}};
  arguments.tensors = {{"X", at(0x10000)}, {"Y", at(0x20000)}};
  return arguments;
}

void require_refused(const std::string& name, const std::vector<std::byte>& arguments,
                     Status status, const std::string& text) {
  const test::Answer answer = test::check(name, arguments);
  CHECK(answer.status == status);
  CHECK(answer.text == text);
  // The launch says the same and launches nothing.
  test::take_launched();
  const test::Answer launched = test::launch(name, arguments);
  CHECK(launched.status == status);
  CHECK(launched.text == text);
  CHECK(test::take_launched().empty());
}

}  // namespace

TEST_CASE("a bundle refuses wrong sizes and broken guards, with the values") {
  CHECK(test::check("linear", linear().bytes()).status == ok);
  require_refused("linear", linear().bytes(8), wrong_struct,
                  "linear: the struct of arguments is null or of another size than the bundle's");

  auto call = linear();
  call.sizes["K"] = -3;
  require_refused("linear", call.bytes(), negative_size, "K is -3");
  call.sizes["K"] = 3000000000;
  require_refused("linear", call.bytes(), extent_too_large,
                  "K is 3000000000, and the largest extent is 2147418111");

  auto guarded = eighths();
  guarded.sizes["N"] = 12;
  guarded.sizes["lda"] = 16;
  require_refused("eighths", guarded.bytes(), guard_failed,
                  "eighths: the guard `N % 8 == 0` does not hold: N = 12");
  guarded = eighths();
  guarded.sizes["lda"] = 7;
  require_refused("eighths", guarded.bytes(), guard_failed,
                  "eighths: the guard `N <= lda` does not hold: N = 8, lda = 7");
}

TEST_CASE("a bundle refuses sizes that no grid or no offset of 64 bits has") {
  test::know_kernels_of_bundle();
  runtime::Device device;
  auto call = eighths();
  call.sizes = {{"M", std::int64_t{1} << 30}, {"N", 1 << 20}, {"lda", 1 << 20}};
  call.tensors = {{"X", at(std::uintptr_t{1} << 60)}, {"Y", at(std::uintptr_t{1} << 61)}};
  require_refused("eighths", call.bytes(), grid_too_large,
                  "eighths needs 274877906944 blocks along x, and a device takes 2147483647");
  call.sizes = {{"M", 1 << 30}, {"N", 8}, {"lda", 1 << 28}};
  CHECK(test::check("eighths", call.bytes()).status == ok);
  call.sizes = {{"M", 2147418111}, {"N", 8}, {"lda", 2147418111}};
  require_refused("eighths", call.bytes(), extent_too_large,
                  "X: the offsets of its layout do not fit 64 bits at these sizes");
}

TEST_CASE("a bundle refuses wrong addresses") {
  auto call = linear();
  call.tensors["W"] = nullptr;
  require_refused("linear", call.bytes(), null_pointer, "W is a null pointer");
  call = linear();
  call.tensors["b"] = at(0x30002);
  require_refused("linear", call.bytes(), misaligned,
                  "b: its address must be a multiple of 4 bytes");
  call = linear();
  call.tensors["Y"] = at(0x30000 - 64 * 64 * 2 + 8);
  require_refused("linear", call.bytes(), overlap, "the output Y lies over b in memory");
  // One byte less, and they are apart.
  call.tensors["Y"] = at(0x30000 - 64 * 64 * 2);
  CHECK(test::check("linear", call.bytes()).status == ok);
}

TEST_CASE("a bundle refuses a workspace that is missing, short, or in the way") {
  test::CallArguments call(kernel("unsorted"));
  call.sizes = {{"T", 64}, {"E", 4}, {"N", 64}, {"K", 64}};
  call.tensors = {
      {"X", at(0x10000)}, {"expert", at(0x20000)}, {"W", at(0x30000)}, {"Y", at(0x80000)}};
  const auto bytes = call.bytes();
  std::int64_t needed = 0;
  REQUIRE(test::workspace("unsorted", bytes, needed).status == ok);
  REQUIRE(needed > 0);
  auto* const ask =
      test::loaded().symbol<int(const void*, std::int64_t*, char*)>("unsorted_workspace");
  std::array<char, 512> why{};
  CHECK(ask(bytes.data(), nullptr, why.data()) == null_pointer);
  CHECK(std::string(why.data()) == "unsorted: no place is given for the bytes");
  CHECK(ask(bytes.data(), nullptr, nullptr) == null_pointer);
  const std::string count = std::to_string(needed);
  test::know_kernels_of_bundle();
  runtime::Device device;
  test::take_launched();
  test::Answer answer = test::launch("unsorted", bytes);
  CHECK(answer.status == workspace_too_small);
  CHECK(answer.text == "unsorted needs a workspace of " + count + " bytes, and has 0");
  answer = test::launch("unsorted", bytes, at(0x100000), needed - 1);
  CHECK(answer.status == workspace_too_small);
  answer = test::launch("unsorted", bytes, at(0x100010), needed);
  CHECK(answer.status == misaligned);
  CHECK(answer.text == "unsorted: the address of its workspace must be a multiple of 128 bytes");
  answer = test::launch("unsorted", bytes, at(0x80000), needed);
  CHECK(answer.status == overlap);
  CHECK(answer.text == "the workspace lies over Y in memory");
  CHECK(test::take_launched().empty());
}

TEST_CASE("a bundle launches in the caller's context only, and loads nothing into a capture") {
  test::know_kernels_of_bundle();
  runtime::Device device;
  std::thread([] {
    // No context is current in a new thread.
    const test::Answer answer = test::launch("linear", linear().bytes());
    CHECK(answer.status == no_device);
    CHECK(answer.text ==
          "linear: no CUDA context is current in this thread, and the stream is null");
  }).join();
  // A stream has a context of its own, which is current only during the call.
  void* stream = nullptr;
  cuStreamCreate(&stream, 0);
  std::thread([stream] {
    test::CallArguments call(kernel("eighths"));
    static float x[8], y[8];
    call.sizes = {{"M", 1}, {"N", 8}, {"lda", 8}};
    call.tensors = {{"X", x}, {"Y", y}};
    const test::Answer answer = test::launch("eighths", call.bytes(), nullptr, 0, stream);
    CHECK(answer.status == ok);
    void* current = &call;
    cuCtxGetCurrent(&current);
    CHECK(current == nullptr);
  }).join();
  cuStreamDestroy_v2(stream);
  CHECK(test::prepare("linear", 7).status == no_device);
  CHECK(test::prepare("linear", 7).text == "device 7: there are 1 devices");

  test::loaded().symbol<void()>("rows_unload")();
  test::CallArguments call(kernel("rows"));
  call.sizes = {{"M", 4}, {"N", 8}};
  call.tensors = {{"X", at(0x10000)}, {"Y", at(0x20000)}};
  void* graph = nullptr;
  cuStreamBeginCapture_v2(nullptr, 0);
  const test::Answer refused = test::launch("rows", call.bytes());
  cuStreamEndCapture(nullptr, &graph);
  CHECK(refused.status == not_prepared);
  CHECK(refused.text == "rows was not prepared for device 0 before the stream's capture began");

  // Prepared where another context is current, which stays so.
  int other = 0;
  void* current = nullptr;
  cuCtxGetCurrent(&current);
  REQUIRE(test::prepare("rows", 0).status == ok);
  void* after = &other;
  cuCtxGetCurrent(&after);
  CHECK(after == current);
  cuStreamBeginCapture_v2(nullptr, 0);
  const test::Answer recorded = test::launch("rows", call.bytes());
  cuStreamEndCapture(nullptr, &graph);
  CHECK(recorded.status == ok);
}
