#include "tests/bench/cublas.h"

#include <stdexcept>

namespace lay::bench {

std::optional<Cublas> Cublas::open(std::string* why_not) {
  Cublas cublas;
  cublas.library_ = runtime::Library::find({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  int (*create)(void**) = nullptr;
  const runtime::Library& from = cublas.library_;
  if (!from) {
    *why_not = "no cuBLAS: " + from.why();
  } else if (!from.get(create, "cublasCreate_v2") || !from.get(cublas.version_, "cublasGetVersion_v2") ||
             !from.get(cublas.sgemm_, "cublasSgemm_v2") || !from.get(cublas.gemm_ex_, "cublasGemmEx")) {
    *why_not = from.path() + " is not a cuBLAS that this program knows";
  } else if (const int status = create(&cublas.handle_); status != 0) {
    *why_not = "cublasCreate: status " + std::to_string(status);
  } else {
    return cublas;
  }
  return std::nullopt;
}

std::string Cublas::version() const {
  int version = 0;
  version_(handle_, &version);
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// cuBLAS is column-major: what is row-major here is its transpose there, so it computes C' = op(B)' op(A)'.
void Cublas::sgemm(bool a_transposed, bool b_transposed, int m, int n, int k, float alpha, runtime::Address a,
                   runtime::Address b, float beta, runtime::Address c) const {
  const int status = sgemm_(handle_, b_transposed ? 1 : 0, a_transposed ? 1 : 0, n, m, k, &alpha, b,
                            b_transposed ? k : n, a, a_transposed ? m : k, &beta, c, n);
  if (status != 0) throw std::runtime_error("cublasSgemm: status " + std::to_string(status));
}

void Cublas::gemm_bf16(bool a_transposed, bool b_transposed, int m, int n, int k, runtime::Address a,
                       runtime::Address b, runtime::Address c) const {
  constexpr int bf16 = 14, compute_f32 = 68, default_algorithm = -1;  // cudaDataType, cublasComputeType, cublasGemmAlgo
  const float alpha = 1, beta = 0;
  const int status =
      gemm_ex_(handle_, b_transposed ? 1 : 0, a_transposed ? 1 : 0, n, m, k, &alpha, b, bf16, b_transposed ? k : n, a,
               bf16, a_transposed ? m : k, &beta, c, bf16, n, compute_f32, default_algorithm);
  if (status != 0) throw std::runtime_error("cublasGemmEx: status " + std::to_string(status));
}

}  // namespace lay::bench
