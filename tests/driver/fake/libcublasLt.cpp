// A cuBLASLt that multiplies on the host, in f64, what the fake driver calls device memory: f32,
// bf16 and s8. The second of its three algorithms is the fastest: they take the time of 3, 2 and 4
// launches.
//
// $FAKE_CUBLASLT = "refuses" makes it have no algorithm, "wrong" makes its results wrong.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int success = 0, invalid_value = 7, not_supported = 15;

struct Layout {
  int type;
  std::int64_t rows, columns, leading, batches = 1, stride = 0;
};
struct Matmul {
  int scale_type;
  std::map<int, std::int64_t> attributes;  // by number, zero-extended
  std::int64_t of(int attribute, std::int64_t otherwise) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? otherwise : found->second;
  }
};
struct Heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

bool is(const char* wish) {
  const char* said = std::getenv("FAKE_CUBLASLT");
  return said && std::string(said) == wish;
}

int bytes(int type) {
  return type == 0 || type == 10 ? 4 : type == 14 ? 2 : 1;  // f32, s32; bf16; s8
}

double read(const char* at, int type, std::int64_t i) {
  at += i * bytes(type);
  if (type == 3) return *reinterpret_cast<const signed char*>(at);
  if (type == 10) return *reinterpret_cast<const std::int32_t*>(at);
  std::uint32_t word = 0;
  if (type == 14) {
    std::uint16_t half;
    std::memcpy(&half, at, 2);
    word = std::uint32_t{half} << 16;
  } else {
    std::memcpy(&word, at, 4);
  }
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

void write(char* at, int type, std::int64_t i, double value) {
  at += i * bytes(type);
  if (type == 10) {
    *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(value);
    return;
  }
  const float narrow = static_cast<float>(value);
  std::uint32_t word;
  std::memcpy(&word, &narrow, 4);
  if (type == 14) {
    const auto half = static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
    std::memcpy(at, &half, 2);
  } else {
    std::memcpy(at, &word, 4);
  }
}

double scale(const void* at, int type) {
  if (type == 10) return *static_cast<const std::int32_t*>(at);
  return static_cast<double>(*static_cast<const float*>(at));
}

double activated(double x, std::int64_t epilogue) {
  if (epilogue & 2) return x > 0 ? x : 0;
  if (epilogue & 32)
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}

// Time passes on the fake driver.
bool recording(std::uint64_t launches) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto launch = reinterpret_cast<bool (*)()>(dlsym(driver, "fake_launch"));
  bool recorded = false;
  for (std::uint64_t i = 0; i < launches; ++i) recorded = launch();
  return recorded;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() {
  return 130102;
}
const char* cublasLtGetStatusName(int status) {
  return status == not_supported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
int cublasLtCreate(void** handle) {
  return *handle = handle, success;
}
int cublasLtMatmulDescCreate(void** made, int, int scale_type) {
  return *made = new Matmul{scale_type, {}}, success;
}
int cublasLtMatmulDescDestroy(void* made) {
  return delete static_cast<Matmul*>(made), success;
}
int cublasLtMatmulDescSetAttribute(void* made, int attribute, const void* value, std::size_t size) {
  // The attributes' sizes as they are documented: of pointers and strides 8, of the
  // fast-accumulation flag 1, else 4.
  const std::size_t expected = attribute == 8 || attribute == 10 ? 8 : attribute == 25 ? 1 : 4;
  if (size != expected) return invalid_value;
  std::int64_t wide = 0;
  std::memcpy(&wide, value, size);
  static_cast<Matmul*>(made)->attributes[attribute] = wide;
  return success;
}
int cublasLtMatrixLayoutCreate(void** made, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
  if (leading < static_cast<std::int64_t>(rows)) return invalid_value;
  *made = new Layout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                     leading};
  return success;
}
int cublasLtMatrixLayoutDestroy(void* made) {
  return delete static_cast<Layout*>(made), success;
}
int cublasLtMatrixLayoutSetAttribute(void* made, int attribute, const void* value,
                                     std::size_t size) {
  auto& layout = *static_cast<Layout*>(made);
  if (attribute == 5 && size == 4)
    return layout.batches = *static_cast<const std::int32_t*>(value), success;
  if (attribute == 6 && size == 8)
    return layout.stride = *static_cast<const std::int64_t*>(value), success;
  return invalid_value;
}
int cublasLtMatmulPreferenceCreate(void** made) {
  return *made = new char, success;
}
int cublasLtMatmulPreferenceDestroy(void* made) {
  return delete static_cast<char*>(made), success;
}
int cublasLtMatmulPreferenceSetAttribute(void*, int attribute, const void*, std::size_t size) {
  return attribute == 1 && size == 8 ? success : invalid_value;
}
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int most,
                                   Heuristic* found, int* count) {
  if (is("refuses")) return not_supported;
  for (*count = 0; *count < 3 && *count < most; ++*count)
    found[*count] = {{*count * 7ull + 1}, 1024, 0, 1.0f, {}};
  return success;
}

int cublasLtMatmul(void*, void* matmul, const void* alpha, const char* a, void* a_layout,
                   const char* b, void* b_layout, const void* beta, const char* c, void* c_layout,
                   char* d, void* d_layout, const std::uint64_t* algorithm, void* workspace,
                   std::size_t workspace_bytes, void*) {
  if (!workspace || workspace_bytes < 1024) return invalid_value;
  if (recording(*algorithm == 1 ? 3 : *algorithm == 8 ? 2 : 4)) return success;
  const auto& how = *static_cast<Matmul*>(matmul);
  const auto &la = *static_cast<Layout*>(a_layout), &lb = *static_cast<Layout*>(b_layout),
             &lc = *static_cast<Layout*>(c_layout), &ld = *static_cast<Layout*>(d_layout);
  const bool ta = how.of(3, 0) != 0, tb = how.of(4, 0) != 0;
  const std::int64_t epilogue = how.of(7, 1), inner = ta ? la.rows : la.columns;
  if (inner != (tb ? lb.columns : lb.rows) || ld.rows != (ta ? la.columns : la.rows))
    return invalid_value;
  const auto* bias = reinterpret_cast<const char*>(how.of(8, 0));
  const int bias_type = static_cast<int>(how.of(26, ld.type));
  const double by = scale(alpha, how.scale_type), plus = scale(beta, how.scale_type);
  for (std::int64_t batch = 0; batch < ld.batches; ++batch)
    for (std::int64_t j = 0; j < ld.columns; ++j)
      for (std::int64_t i = 0; i < ld.rows; ++i) {
        double sum = is("wrong") ? 100 : 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum +=
              read(a, la.type, batch * la.stride + (ta ? k + i * la.leading : i + k * la.leading)) *
              read(b, lb.type, batch * lb.stride + (tb ? j + k * lb.leading : k + j * lb.leading));
        double value = by * sum;
        if (plus != 0) value += plus * read(c, lc.type, batch * lc.stride + i + j * lc.leading);
        if (epilogue & 4) value += read(bias, bias_type, i);
        write(d, ld.type, batch * ld.stride + i + j * ld.leading, activated(value, epilogue));
      }
  return success;
}

}  // extern "C"
