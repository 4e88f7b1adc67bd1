// cuBLAS as the opponent, loaded at run time, in the same context as our kernels.
#pragma once

#include <optional>
#include <string>

#include "runtime/driver.h"
#include "runtime/library.h"

namespace lay::bench {

class Cublas {
 public:
  // Nothing where the library is not on the machine: then `why_not` says so. A device's context must be current.
  static std::optional<Cublas> open(std::string* why_not);

  std::string version() const;

  // C = alpha * op(A) op(B) + beta * C in f32 (no TF32), all row-major: A as (M,K) or, transposed, as (K,M); B as (K,N)
  // or, transposed, as (N,K).
  void sgemm(bool a_transposed, bool b_transposed, int m, int n, int k, float alpha, runtime::Address a,
             runtime::Address b, float beta, runtime::Address c) const;
  // C = op(A) op(B) of bf16 into bf16, accumulated in f32; row-major as above.
  void gemm_bf16(bool a_transposed, bool b_transposed, int m, int n, int k, runtime::Address a, runtime::Address b,
                 runtime::Address c) const;

 private:
  runtime::Library library_;
  void* handle_ = nullptr;
  int (*version_)(void*, int*) = nullptr;
  int (*sgemm_)(void*, int, int, int, int, int, const float*, runtime::Address, int, runtime::Address, int,
                const float*, runtime::Address, int) = nullptr;
  int (*gemm_ex_)(void*, int, int, int, int, int, const void*, runtime::Address, int, int, runtime::Address, int, int,
                  const void*, runtime::Address, int, int, int, int) = nullptr;
};

}  // namespace lay::bench
