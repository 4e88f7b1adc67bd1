// The functions of bundles for TVM-FFI, called as libtvm_ffi calls them, beside one that is none
// (libtvm_ffi.c): the launches of the functions of the header, and a sentence for every refusal.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "backend/plan/make.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "runtime/execute/program.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/driver.h"
#include "tests/embed/built.h"
#include "tests/embed/memory.h"
#include "tests/measure/machine.h"

extern "C" {
int cuCtxGetCurrent(void**);
int cuStreamCreate(void**, unsigned);
int cuStreamDestroy_v2(void*);
}

namespace {

using namespace lay;
using test::Memory;
using test::shell;
using test::TemporaryFolder;

// Type indices of TVM-FFI.
enum Type : std::int32_t {
  none = 0,
  integer = 1,
  boolean = 2,
  real = 3,
  view = 7,
  string = 65,
  object = 70
};

// The structs of TVM-FFI and of DLPack, where an address has 64 bits.
struct DlTensor {
  void* data;
  std::int32_t device_type, device, rank;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(DlTensor) == 48 && offsetof(DlTensor, code) == 20 &&
              offsetof(DlTensor, shape) == 24 && offsetof(DlTensor, byte_offset) == 40);
struct TensorObject {
  std::uint64_t references;
  std::int32_t type;
  std::uint32_t padding;
  void (*deleter)(void*, int);
  DlTensor tensor;
};
static_assert(offsetof(TensorObject, tensor) == 24);
struct Any {
  std::int32_t type;
  std::uint32_t padding;
  union {
    std::int64_t integer;
    double real;
    void* pointer;
  };
};
static_assert(sizeof(Any) == 16 && offsetof(Any, integer) == 8);

// The library in this process, where all of it sees its functions.
class Libtvm {
 public:
  Libtvm() {
    library_ = dlopen(test::made_libtvm_ffi(folder_).c_str(), RTLD_NOW | RTLD_GLOBAL);
    REQUIRE(library_);
  }
  template <class Function>
  Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

 private:
  TemporaryFolder folder_;
  void* library_;
};
const Libtvm& libtvm() {
  static const Libtvm library;
  return library;
}

std::string error(int part) {
  return libtvm().symbol<const char*(int)>("ffi_error")(part);
}
long held() {
  return libtvm().symbol<long()>("ffi_tensors")();
}
void set_allocator(bool refuses, int off) {
  libtvm().symbol<void(int, int)>("ffi_set_allocator")(refuses, off);
}
void set_stream(void* stream) {
  libtvm().symbol<void(int, void*)>("ffi_set_stream")(0, stream);
}

// What a call said: 0, or -1 and an error.
struct Said {
  int code;
  std::string kind, text;
};
bool operator==(const Said& a, const Said& b) {
  return a.code == b.code && a.kind == b.kind && a.text == b.text;
}
std::ostream& operator<<(std::ostream& out, const Said& said) {
  return out << said.code << " " << said.kind << ": " << said.text;
}
const Said done{0, "", ""};
Said value_error(const std::string& text) {
  return {-1, "ValueError", text};
}
Said type_error(const std::string& text) {
  return {-1, "TypeError", text};
}

Said called(const test::Loaded& bundle, const std::string& name,
            const std::vector<Any>& arguments) {
  libtvm().symbol<void()>("ffi_clear")();
  using Function = int(void*, const Any*, std::int32_t, Any*);
  auto* const function = reinterpret_cast<Function*>(bundle.address("__tvm_ffi_" + name));
  Any result{none, 0, {0}};
  const int code =
      function(nullptr, arguments.data(), static_cast<std::int32_t>(arguments.size()), &result);
  CHECK(result.type == none);
  return {code, error(0), error(1)};
}

// DLPack's codes.
std::uint8_t code_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return 4;
    case ElementType::s32:
      return 0;
    default:
      return 2;
  }
}

Any number(std::int64_t value) {
  return {integer, 0, {value}};
}

// A tensor of the caller's.
struct Tensor {
  TensorObject object{};
  std::vector<std::int64_t> shape, strides;

  DlTensor& dl() { return object.tensor; }
  Any as(Type type) {
    dl().rank = static_cast<std::int32_t>(shape.size());
    dl().shape = shape.data();
    dl().strides = strides.empty() ? nullptr : strides.data();
    object.references = 1;
    object.type = type == view ? 0 : type;
    Any made{type, 0, {0}};
    made.pointer = type == view ? static_cast<void*>(&object.tensor) : &object;
    return made;
  }
};

// A call of a kernel: a tensor for each of its own, as it lies at the sizes, in the signature's
// order.
class Call {
 public:
  Call(const test::Loaded& bundle, const sema::Kernel& kernel,
       const std::map<std::string, std::int64_t>& sizes)
      : bundle_(bundle), kernel_(kernel) {
    for (const auto& dim : kernel.dims) sizes_[*dim.symbol.dim_id()] = sizes.at(dim.name);
    for (const auto& tensor : kernel.tensors) {
      Tensor& made = tensors[tensor.name];
      made.shape = sema::array_shape(tensor, sizes_);
      if (const auto strides = sema::array_strides(tensor, sizes_)) made.strides = *strides;
      const auto bytes =
          static_cast<std::size_t>(sema::memory_elements(tensor, sizes_) * tensor.element_bytes());
      std::mt19937 random(7);
      contents_[tensor.name] = test::random_bytes(tensor.element, bytes, 3, random);
      const auto& memory = memory_.emplace(tensor.name, Memory(bytes, 0)).first->second;
      made.dl() = {memory.begin(),
                   2,
                   0,
                   0,
                   code_of(tensor.element),
                   static_cast<std::uint8_t>(bits(tensor.element)),
                   1,
                   nullptr,
                   nullptr,
                   0};
    }
  }

  std::map<std::string, Tensor> tensors;
  std::map<std::string, Any> scalars;
  std::vector<Any> more;  // behind the signature's arguments
  Type kind = view;

  std::vector<Any> arguments() {
    std::vector<Any> made;
    for (const sema::SignatureEntry& entry : kernel_.signature) {
      const auto id = static_cast<std::size_t>(entry.id);
      made.push_back(entry.is_scalar ? scalars.at(kernel_.scalars[id].name)
                                     : tensors.at(kernel_.tensors[id].name).as(kind));
    }
    made.insert(made.end(), more.begin(), more.end());
    return made;
  }
  Said said() { return called(bundle_, kernel_.name, arguments()); }

  // Fills the memory with the same numbers every time.
  void fill() {
    for (const auto& [name, bytes] : contents_)
      std::memcpy(memory_.at(name).begin(), bytes.data(), bytes.size());
  }
  std::vector<std::string> results() const {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : contents_)
      all.emplace_back(memory_.at(name).begin(), bytes.size());
    return all;
  }

  // The call by the function of the header.
  test::CallArguments plain(const std::map<std::string, float>& numbers = {}) const {
    test::CallArguments made(kernel_);
    for (const auto& dim : kernel_.dims) made.sizes[dim.name] = sizes_.at(*dim.symbol.dim_id());
    made.scalars = numbers;
    for (const auto& [name, memory] : memory_) made.tensors[name] = memory.begin();
    return made;
  }

 private:
  const test::Loaded& bundle_;
  const sema::Kernel& kernel_;
  Binding sizes_;
  std::map<std::string, std::vector<std::byte>> contents_;
  std::map<std::string, Memory> memory_;
};

const sema::Kernel& kernel(const std::string& name) {
  return *runtime::kernels_named(test::bundle_script(), name).front();
}

// The plain call and the other one: the same launches, the same bits.
void require_same(const std::string& name, const std::map<std::string, std::int64_t>& sizes,
                  std::optional<std::pair<std::string, Any>> scalar = std::nullopt,
                  float value = 0) {
  test::know_kernels_of_bundle();
  const runtime::Device device;
  Call call(test::loaded(), kernel(name), sizes);
  std::map<std::string, float> numbers;
  if (scalar) {
    call.scalars[scalar->first] = scalar->second;
    numbers[scalar->first] = value;
  }
  const auto packed = call.plain(numbers).bytes();
  std::int64_t bytes = 0;
  REQUIRE(test::workspace(name, packed, bytes).status == 0);
  const Memory workspace(static_cast<std::size_t>(bytes), 0);
  std::memset(workspace.begin(), 0xff, static_cast<std::size_t>(bytes));
  call.fill();
  test::take_launched();
  REQUIRE(test::launch(name, packed, workspace.begin(), bytes).status == 0);
  const auto wanted = test::take_launched();
  REQUIRE(!wanted.empty());
  const auto results = call.results();
  for (const Type kind : {view, object}) {
    call.kind = kind;
    call.fill();
    CHECK(call.said() == done);
    CHECK(test::take_launched() == wanted);
    CHECK(call.results() == results);
    CHECK(held() == 0);
  }
}

}  // namespace

TEST_CASE("a call by TVM-FFI launches what the call of the header launches") {
  for (const std::int64_t m : {1, 5, 64, 130}) {
    CAPTURE(m);
    require_same("linear", {{"M", m}, {"N", 72}, {"K", 64}});
    require_same("turned", {{"M", m}, {"N", 20}}, std::pair("alpha", Any{integer, 0, {2}}), 2);
    require_same("rows", {{"M", m}, {"N", 96}});
    require_same("eighths", {{"M", m}, {"N", 24}, {"lda", m == 1 ? 24 : 31}});
    require_same("unsorted", {{"T", m}, {"E", 3}, {"N", 64}, {"K", 64}});
  }
  Any half{real, 0, {0}};
  half.real = 0.5;
  require_same("turned", {{"M", 9}, {"N", 20}}, std::pair("alpha", half), 0.5f);
  require_same("stepped", {{"B", 1}, {"H", 3}, {"F", 16}});
}

TEST_CASE("sizes come from shapes and strides, also where these say little") {
  test::know_kernels_of_bundle();
  const runtime::Device device;
  // An axis of one element says nothing: lda is the least that the guards allow.
  Call one(test::loaded(), kernel("eighths"), {{"M", 1}, {"N", 24}, {"lda", 24}});
  one.tensors.at("X").strides = {1, 1};
  one.tensors.at("Y").strides = {77, 1};
  test::take_launched();
  CHECK(one.said() == done);
  CHECK(test::take_launched().size() == 1);
  // Without strides a tensor is compact, the last axis fastest.
  Call compact(test::loaded(), kernel("eighths"), {{"M", 3}, {"N", 24}, {"lda", 24}});
  for (auto& [name, tensor] : compact.tensors) tensor.strides.clear();
  CHECK(compact.said() == done);
  CHECK(test::take_launched().size() == 1);
  // No output, no launch, whatever the strides of nothing are.
  Call empty(test::loaded(), kernel("eighths"), {{"M", 4}, {"N", 0}, {"lda", 24}});
  for (auto& [name, tensor] : empty.tensors) {
    tensor.strides = {1, 1};
    tensor.dl().data = nullptr;
  }
  CHECK(empty.said() == done);
  CHECK(test::take_launched().empty());
  // An offset in bytes is part of the address.
  Call behind(test::loaded(), kernel("rows"), {{"M", 4}, {"N", 8}});
  DlTensor& x = behind.tensors.at("X").dl();
  x.data = static_cast<char*>(x.data) - 16;
  x.byte_offset = 16;
  CHECK(behind.said() == done);
  CHECK(test::take_launched().size() == 1);
  x.byte_offset = 18;
  CHECK(behind.said() == value_error("X: its address must be a multiple of 4 bytes"));
}

namespace {

// Kernels whose sizes are solved, given, or said by no strides.
constexpr const char* kSolved =
    "kernel solved<H, T, S>(X: f32 (2*H+1,4):(4*S+1,1)) -> Y: f32 ((2*H+1)*T,4)\n"
    "{ Y[n,m] = X[0,m] }\n"
    "kernel given<N, P>(X: f32 N) -> Y: f32 N { Y[n] = X[n] * P }\n"
    "kernel modes<A, B>(X: f32 ((4,A),B):((1,4),4*A)) -> Y: f32 (B,4*A) { Y[b,a] = X[a,b] }\n"
    "kernel blocks<A, B>(X: f32 ((4,A),B):((A,1),4*A)) -> Y: f32 (B,4*A) { Y[b,a] = X[a,b] }\n"
    "kernel _mine<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] }\n";

struct Solved {
  Solved() {
    test::put(folder / "kernels.lay", kSolved);
    test::build_bundle(folder.path().string(), "", folder / "kernels.lay");
    bundle.emplace(folder.path().string());
    for (const auto& outcome : program.evaluator.run("kernels.lay", kSolved)) REQUIRE(outcome.ok());
    for (const auto& each : program.evaluator.kernels())
      test::know_launches(program.sources, plan::make_plan(each, *runtime::device_target()));
  }
  const sema::Kernel& kernel(const std::string& name) const {
    for (const auto& each : program.evaluator.kernels())
      if (each->name == name) return *each;
    throw std::logic_error("no kernel " + name);
  }
  Call call(const std::string& name, const std::map<std::string, std::int64_t>& sizes) const {
    return {*bundle, kernel(name), sizes};
  }
  // The launches of the packed call are those of the other.
  void require_same(const std::string& name, Call& call) const {
    INFO(name);
    test::take_launched();
    const auto plain = call.plain().bytes();
    auto* const launch =
        bundle->symbol<int(const void*, void*, std::int64_t, void*, void*)>(name + "_launch");
    call.fill();
    REQUIRE(launch(plain.data(), nullptr, 0, nullptr, nullptr) == 0);
    const auto wanted = test::take_launched();
    const auto results = call.results();
    call.fill();
    CHECK(call.said() == done);
    CHECK(test::take_launched() == wanted);
    CHECK(call.results() == results);
  }

  TemporaryFolder folder;
  runtime::Program program{sema::Host{}};
  std::optional<test::Loaded> bundle;
};

}  // namespace

TEST_CASE("sizes are solved from expressions, and what no tensor fixes is given") {
  test::loaded();  // sets the cache's folder
  const Solved with;
  const runtime::Device device;
  Call call = with.call("solved", {{"H", 3}, {"T", 2}, {"S", 5}});
  with.require_same("solved", call);
  call.tensors.at("X").shape[0] = 8;
  CHECK(call.said() == value_error("axis 0 of X has 8 elements, expected 2*H + 1 = 7"));
  call.tensors.at("X").shape[0] = 7;
  call.tensors.at("X").strides[0] = 22;
  CHECK(call.said() == value_error("axis 0 of X has the stride 22, expected 4*S + 1 = 21"));
  call.tensors.at("X").strides[0] = 21;
  call.tensors.at("Y").shape[0] = 15;
  CHECK(call.said() == value_error("axis 0 of Y has 15 elements, expected 2*H*T + T = 14"));
  call.tensors.at("Y").shape[0] = call.tensors.at("X").shape[0] = std::int64_t{1} << 62;
  CHECK(call.said().kind == "ValueError");

  Call given = with.call("given", {{"N", 12}, {"P", 3}});
  given.more = {number(3)};
  with.require_same("given", given);
  given.more = {};
  CHECK(given.said() == type_error("given takes 3 arguments (X, Y, P), got 2"));
  given.more = {number(-1)};
  CHECK(given.said() == value_error("P is -1"));
  given.more = {{real, 0, {0}}};
  CHECK(given.said() == type_error("P is a float, expected an integer"));

  Call modes = with.call("modes", {{"A", 3}, {"B", 2}});
  with.require_same("modes", modes);
  modes.tensors.at("X").strides[0] = 2;
  CHECK(modes.said() == value_error("axis 0 of X has the stride 2, expected 1"));
  Call blocks = with.call("blocks", {{"A", 3}, {"B", 2}});
  blocks.tensors.at("X").strides = {1, 12};
  CHECK(blocks.said() ==
        value_error("X lies as ((4,A),B):((A,1),4*A), which no strides describe: call the function "
                    "of the header"));
  // What begins with `_` behind the prefix is TVM-FFI's own.
  CHECK(shell("nm -D " + with.folder.path().string() + "/libprobe.so | grep __tvm_ffi__")
            .out.empty());
  for (const std::string compiler : {"gcc", "clang"})
    if (test::is_found(compiler))
      test::require_runs("cd " + with.folder.path().string() + " && " + compiler +
                             " -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only kernels.c",
                         "");
}

TEST_CASE("a call by TVM-FFI refuses what is wrong with a sentence, and launches nothing") {
  test::know_kernels_of_bundle();
  const runtime::Device device;
  const std::map<std::string, std::int64_t> sizes = {{"M", 64}, {"N", 32}, {"K", 64}};
  const auto refused = [&](const Said& said, auto change) {
    Call call(test::loaded(), kernel("linear"), sizes);
    std::vector<Any> arguments;
    if constexpr (std::is_invocable_v<decltype(change), Call&>) {
      change(call);
      arguments = call.arguments();
    } else {
      arguments = call.arguments();
      change(arguments);
    }
    test::take_launched();
    CHECK(called(test::loaded(), "linear", arguments) == said);
    CHECK(test::take_launched().empty());
    CHECK(held() == 0);
  };
  using Anys = std::vector<Any>;
  const std::string takes = "linear takes 4 arguments (X, W, b, Y), got ";
  refused(type_error(takes + "3"), [](Anys& all) { all.pop_back(); });
  refused(type_error(takes + "5"), [](Anys& all) { all.push_back(number(1)); });
  refused(type_error(takes + "0"), [](Anys& all) { all.clear(); });
  refused(type_error("W is an integer, expected a tensor of bf16"),
          [](Anys& all) { all[1] = number(1); });
  refused(type_error("W is None, expected a tensor of bf16"), [](Anys& all) {
    all[1] = {none, 0, {0}};
  });
  refused(type_error("b is a string, expected a tensor of f32"),
          [](Anys& all) { all[2].type = string; });
  refused(type_error("b is of TVM-FFI's type 71, expected a tensor of f32"),
          [](Anys& all) { all[2].type = 71; });
  refused(type_error("X is a null tensor"), [](Anys& all) { all[0].pointer = nullptr; });

  const auto of = [](const char* name, auto change) {
    return [name, change](Call& call) { change(call.tensors.at(name)); };
  };
  const auto element = [&](int code, int width, int lanes = 1) {
    return of("X", [=](Tensor& t) {
      t.dl().code = static_cast<std::uint8_t>(code);
      t.dl().bits = static_cast<std::uint8_t>(width);
      t.dl().lanes = static_cast<std::uint16_t>(lanes);
    });
  };
  refused(type_error("X has elements of f16, expected bf16"), element(2, 16));
  refused(type_error("X has elements of s8, expected bf16"), element(0, 8));
  refused(type_error("X has elements of u32, expected bf16"), element(1, 32));
  refused(type_error("X has elements of bool, expected bf16"), element(6, 8));
  refused(type_error("X has elements of e4m3, expected bf16"), element(10, 8));
  refused(type_error("X has elements of e5m2, expected bf16"), element(12, 8));
  refused(type_error("X has elements of DLPack's type 5 of 64 bits, expected bf16"),
          element(5, 64));
  refused(type_error("X has elements of DLPack's type 3 of 64 bits, expected bf16"),
          element(3, 64));
  refused(type_error("X has elements of bf16 x 2 lanes, expected bf16"), element(4, 16, 2));
  // The bits of a float, as of frameworks without the type.
  Call raw(test::loaded(), kernel("linear"), sizes);
  raw.tensors.at("X").dl().code = 1;
  CHECK(raw.said() == done);

  refused(value_error("b has 2 axes, expected 1"), of("b", [](Tensor& t) {
            t.shape = {32, 1}, t.strides = {1, 1};
          }));
  const auto no_shape = [](Anys& all) { static_cast<DlTensor*>(all[3].pointer)->shape = nullptr; };
  refused(value_error("Y has a null pointer for its shape"), no_shape);
  refused(value_error("axis 1 of W has 63 elements, expected K = 64"),
          of("W", [](Tensor& t) { t.shape[1] = 63; }));
  refused(value_error("axis 0 of Y has 65 elements, expected M = 64"),
          of("Y", [](Tensor& t) { t.shape[0] = 65; }));
  refused(value_error("M is -1"), [](Call& call) {
    for (const char* name : {"X", "Y"}) call.tensors.at(name).shape[0] = -1;
  });
  refused(value_error("axis 0 of X has the stride 72, expected K = 64"),
          of("X", [](Tensor& t) { t.strides[0] = 72; }));
  refused(value_error("axis 1 of Y has the stride 64, expected 1"), of("Y", [](Tensor& t) {
            t.strides = {1, 64};
            t.strides[0] = 32;
          }));
  refused(value_error("X is on cpu:0, expected cuda"),
          of("X", [](Tensor& t) { t.dl().device_type = 1; }));
  refused(value_error("b is on device 3 of DLPack's type 10, expected cuda"),
          of("b", [](Tensor& t) {
            t.dl().device_type = 10;
            t.dl().device = 3;
          }));
  refused(value_error("b is on cuda:1, and X on cuda:0"),
          of("b", [](Tensor& t) { t.dl().device = 1; }));
  refused(value_error("W is a null pointer"), of("W", [](Tensor& t) { t.dl().data = nullptr; }));
  refused(value_error("b: its address must be a multiple of 4 bytes"),
          of("b", [](Tensor& t) { t.dl().byte_offset = 2; }));
  refused(value_error("the output Y lies over X in memory"),
          [](Call& call) { call.tensors.at("Y").dl().data = call.tensors.at("X").dl().data; });

  Call broken(test::loaded(), kernel("eighths"), {{"M", 4}, {"N", 12}, {"lda", 12}});
  CHECK(broken.said() == value_error("eighths: the guard `N % 8 == 0` does not hold: N = 12"));
  Call text(test::loaded(), kernel("turned"), {{"M", 4}, {"N", 12}});
  text.scalars["alpha"] = {string, 0, {0}};
  CHECK(text.said() == type_error("alpha is a string, expected a number of f32"));
}

TEST_CASE("a call by TVM-FFI has its workspace from the allocator of the environment") {
  test::know_kernels_of_bundle();
  const runtime::Device device;
  Call call(test::loaded(), kernel("unsorted"), {{"T", 64}, {"E", 3}, {"N", 64}, {"K", 64}});
  set_allocator(true, 0);
  test::take_launched();
  CHECK(call.said() == Said{-1, "MemoryError", "the allocator has no memory"});
  set_allocator(false, 16);
  CHECK(call.said() ==
        value_error("unsorted: the address of its workspace must be a multiple of 128 bytes"));
  CHECK(test::take_launched().empty());
  CHECK(held() == 0);
  set_allocator(false, 0);
  CHECK(call.said() == done);
  CHECK(!test::take_launched().empty());
  CHECK(held() == 0);
}

TEST_CASE("a call by TVM-FFI is in the stream of the environment, on the tensors' device") {
  test::know_kernels_of_bundle();
  const runtime::Device device;
  Call call(test::loaded(), kernel("rows"), {{"M", 4}, {"N", 8}});
  void* stream = nullptr;
  cuStreamCreate(&stream, 0);
  test::take_launched();
  for (void* const each : {stream, static_cast<void*>(nullptr)}) {
    // No context is current in a new thread: the device's is, during the call.
    std::thread([&] {
      set_stream(each);
      CHECK(call.said() == done);
      void* current = &call;
      cuCtxGetCurrent(&current);
      CHECK(current == nullptr);
    }).join();
  }
  cuStreamDestroy_v2(stream);
  CHECK(test::take_launched().size() == 2);
}
