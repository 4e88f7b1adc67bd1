#include "runtime/bench/cublaslt.h"

#include <utility>

#include "runtime/gpu/library.h"

namespace lay::bench {

// The part of the library's interface that is used here. Handles are opaque; every result is a
// cublasStatus_t, 0 for success.
struct CublasLtApi {
  // cublasLtMatmulHeuristicResult_t
  struct Heuristic {
    std::array<std::uint64_t, 8> algorithm;
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
  };
  static_assert(sizeof(Heuristic) == 96);

  runtime::Library library;
  void* handle = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(int) = nullptr;
  int (*create)(void**) = nullptr;
  int (*matmul_create)(void**, int compute, int scale_type) = nullptr;
  int (*matmul_destroy)(void*) = nullptr;
  int (*matmul_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*layout_create)(void**, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t leading) = nullptr;
  int (*layout_destroy)(void*) = nullptr;
  int (*layout_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*preference_create)(void**) = nullptr;
  int (*preference_destroy)(void*) = nullptr;
  int (*preference_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*heuristics)(void* handle, void* matmul, void* a, void* b, void* c, void* d,
                    void* preference, int most, Heuristic*, int* found) = nullptr;
  int (*matmul)(void* handle, void* matmul, const void* alpha, runtime::Address a, void* a_layout,
                runtime::Address b, void* b_layout, const void* beta, runtime::Address c,
                void* c_layout, runtime::Address d, void* d_layout, const std::uint64_t* algorithm,
                runtime::Address workspace, std::size_t workspace_bytes,
                runtime::StreamHandle) = nullptr;
};

namespace {

bool bind(CublasLtApi& api) {
  const runtime::Library& from = api.library;
  return from.get(api.version, "cublasLtGetVersion") &&
         from.get(api.status_name, "cublasLtGetStatusName") &&
         from.get(api.create, "cublasLtCreate") &&
         from.get(api.matmul_create, "cublasLtMatmulDescCreate") &&
         from.get(api.matmul_destroy, "cublasLtMatmulDescDestroy") &&
         from.get(api.matmul_set, "cublasLtMatmulDescSetAttribute") &&
         from.get(api.layout_create, "cublasLtMatrixLayoutCreate") &&
         from.get(api.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
         from.get(api.layout_set, "cublasLtMatrixLayoutSetAttribute") &&
         from.get(api.preference_create, "cublasLtMatmulPreferenceCreate") &&
         from.get(api.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
         from.get(api.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
         from.get(api.heuristics, "cublasLtMatmulAlgoGetHeuristic") &&
         from.get(api.matmul, "cublasLtMatmul");
}

// cudaDataType
int data_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::tf32:
      return 0;
    case ElementType::f64:
      return 1;
    case ElementType::f16:
      return 2;
    case ElementType::s8:
      return 3;
    case ElementType::u8:
      return 8;
    case ElementType::s32:
      return 10;
    case ElementType::bf16:
      return 14;
    case ElementType::e4m3:
      return 28;
    case ElementType::e5m2:
      return 29;
    default:
      throw MatmulRefused("cuBLASLt has no elements of type " + std::string(element_name(type)));
  }
}

// cublasComputeType_t
int compute_type(const MatmulDescription& d) {
  switch (d.accumulator) {
    case ElementType::f32:
      return d.tf32 ? 77 : 68;
    case ElementType::f64:
      return 70;
    case ElementType::s32:
      return 72;
    case ElementType::f16:
      return 64;
    default:
      throw MatmulRefused("cuBLASLt has no accumulator of type " +
                          std::string(element_name(d.accumulator)));
  }
}

// cublasLtEpilogue_t: a bit for each part.
int epilogue(const MatmulDescription& d) {
  constexpr int plain = 1, relu = 2, bias = 4, gelu = 32;
  const int of = d.activation == Activation::relu   ? relu
                 : d.activation == Activation::gelu ? gelu
                                                    : 0;
  const int all = of + (d.bias ? bias : 0);
  return all == 0 ? plain : all;
}

// cublasLtMatmulDescAttributes_t
enum MatmulAttribute : int {
  transa = 3,
  transb = 4,
  epilogue_kind = 7,
  bias_pointer = 8,
  bias_batch = 10,
  fast = 25,
  bias_type = 26
};
// cublasLtMatrixLayoutAttribute_t
enum LayoutAttribute : int { batch_count = 5, batch_offset = 6 };
// cublasLtMatmulPreferenceAttributes_t
enum PreferenceAttribute : int { most_workspace = 1 };

// alpha or beta, in the scale type, which is the accumulator's.
struct Scale {
  Scale(double value, ElementType type) {
    if (type == ElementType::f64)
      f64 = value;
    else if (type == ElementType::s32)
      s32 = static_cast<std::int32_t>(value);
    else
      f32 = static_cast<float>(value);
  }
  union {
    double f64;
    float f32;
    std::int32_t s32;
  };
};
static_assert(sizeof(Scale) == sizeof(double));

}  // namespace

std::optional<CublasLt> CublasLt::open(std::string* why_not) {
  auto api = std::make_shared<CublasLtApi>();
  api->library =
      runtime::Library::find({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  if (!api->library) {
    *why_not = "no cuBLASLt: " + api->library.why();
  } else if (!bind(*api)) {
    *why_not = api->library.path() + " lacks a function of cuBLASLt that this program calls";
  } else if (const int status = api->create(&api->handle); status != 0) {
    *why_not = "cublasLtCreate: " + std::string(api->status_name(status));
  } else {
    CublasLt made;
    const std::size_t version = api->version();
    made.version_ = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
                    "." + std::to_string(version % 100);
    made.api_ = std::move(api);
    return made;
  }
  return std::nullopt;
}

struct Matmul::Descriptors {
  explicit Descriptors(const CublasLt& library, const MatmulDescription& what)
      : api(library.api()),
        keep(library),
        description(what),
        alpha(what.alpha, what.accumulator),
        beta(what.beta, what.accumulator) {}
  ~Descriptors() {
    for (void* each : layouts)
      if (each) api.layout_destroy(each);
    if (matmul) api.matmul_destroy(matmul);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  void require(int status, const char* call) const {
    if (status != 0) throw MatmulRefused(std::string(call) + ": " + api.status_name(status));
  }
  template <class T>
  void set(MatmulAttribute attribute, const T& value) const {
    require(api.matmul_set(matmul, attribute, &value, sizeof value),
            "cublasLtMatmulDescSetAttribute");
  }
  void add(std::size_t which, const Matrix& m) {
    void*& layout = layouts[which];
    require(api.layout_create(&layout, data_type(m.element), static_cast<std::uint64_t>(m.rows),
                              static_cast<std::uint64_t>(m.columns), m.leading),
            "cublasLtMatrixLayoutCreate");
    if (description.batches == 1) return;
    const auto count = static_cast<std::int32_t>(description.batches);
    require(api.layout_set(layout, batch_count, &count, sizeof count),
            "cublasLtMatrixLayoutSetAttribute");
    require(api.layout_set(layout, batch_offset, &m.batch_stride, sizeof m.batch_stride),
            "cublasLtMatrixLayoutSetAttribute");
  }

  const CublasLtApi& api;
  CublasLt keep;
  MatmulDescription description;
  Scale alpha, beta;
  void* matmul = nullptr;
  std::array<void*, 4> layouts{};  // a, b, c, d
};

Matmul::Matmul(const CublasLt& library, const MatmulDescription& what)
    : made_(std::make_unique<Descriptors>(library, what)) {
  Descriptors& made = *made_;
  made.require(
      made.api.matmul_create(&made.matmul, compute_type(what), data_type(what.accumulator)),
      "cublasLtMatmulDescCreate");
  const std::int32_t a = what.transpose_a, b = what.transpose_b, kind = epilogue(what);
  made.set(transa, a);
  made.set(transb, b);
  made.set(epilogue_kind, kind);
  if (what.bias) {
    made.set(bias_pointer, what.bias_address);
    if (*what.bias != what.d.element) {
      const std::int32_t type = data_type(*what.bias);
      made.set(bias_type, type);
    }
    if (what.batches > 1) made.set(bias_batch, what.bias_batch_stride);
  }
  if (bits(what.a.element) == 8 && is_float(what.a.element)) {
    const std::int8_t unpromoted = what.fast;
    made.set(fast, unpromoted);
  }
  const Matrix* all[] = {&what.a, &what.b, &what.c, &what.d};
  for (std::size_t i = 0; i < 4; ++i) made.add(i, *all[i]);
}

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;

std::vector<Algorithm> Matmul::algorithms(int most) const {
  const Descriptors& made = *made_;
  void* preference = nullptr;
  made.require(made.api.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  const std::uint64_t workspace = workspace_bytes;
  int status = made.api.preference_set(preference, most_workspace, &workspace, sizeof workspace);
  std::vector<CublasLtApi::Heuristic> found(static_cast<std::size_t>(most));
  int count = 0;
  if (status == 0)
    status = made.api.heuristics(made.api.handle, made.matmul, made.layouts[0], made.layouts[1],
                                 made.layouts[2], made.layouts[3], preference, most, found.data(),
                                 &count);
  made.api.preference_destroy(preference);
  made.require(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i)
    if (found[static_cast<std::size_t>(i)].state == 0)
      algorithms.push_back({found[static_cast<std::size_t>(i)].algorithm,
                            found[static_cast<std::size_t>(i)].workspace});
  if (algorithms.empty()) throw MatmulRefused("cublasLtMatmulAlgoGetHeuristic: no algorithm");
  return algorithms;
}

void Matmul::launch(runtime::StreamHandle stream, const MatmulOperands& operands,
                    const Algorithm& algorithm, runtime::Address workspace) const {
  const Descriptors& made = *made_;
  if (made.description.bias) made.set(bias_pointer, operands.bias);
  made.require(made.api.matmul(made.api.handle, made.matmul, &made.alpha, operands.a,
                               made.layouts[0], operands.b, made.layouts[1], &made.beta, operands.c,
                               made.layouts[2], operands.d, made.layouts[3], algorithm.bits.data(),
                               workspace, workspace_bytes, stream),
               "cublasLtMatmul");
}

}  // namespace lay::bench
