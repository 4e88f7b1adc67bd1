// cuBLASLt, loaded at run time: the opponent. D = f(alpha op(A) op(B) + beta C + bias), all
// matrices column-major.
//
//   std::string why;
//   if (auto library = CublasLt::open(&why)) {
//     Matmul matmul(*library, description);              // throws MatmulRefused
//     matmul.algorithms()                                the library's own ranking, best first
//     matmul.launch(stream, operands, algorithm, workspace)
//   }
//
// Source: cuBLAS library documentation (the cuBLASLt API); numbers are those of cublasLt.h and
// library_types.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "frontend/algebra/memory/element.h"
#include "runtime/gpu/driver.h"

namespace lay::bench {

struct Matrix {
  ElementType element = ElementType::f32;
  std::int64_t rows = 0, columns = 0, leading = 0;  // column j begins at j * leading
  std::int64_t batch_stride = 0;                    // in elements
};

enum class Activation { none, relu, gelu };

struct MatmulDescription {
  Matrix a, b, c, d;  // c as d, but for its element and address
  bool transpose_a = false, transpose_b = false;
  std::int64_t batches = 1;
  ElementType accumulator = ElementType::f32;
  bool tf32 = false;  // f32 operands are multiplied as tf32
  bool fast =
      true;  // sums of 8-bit floats are the tensor cores' own, not promoted to f32 on the way
  Activation activation = Activation::none;
  std::optional<ElementType> bias;    // one number a row of D
  runtime::Address bias_address = 0;  // of one set of operands: the library looks at its alignment
  std::int64_t bias_batch_stride = 0;
  double alpha = 1, beta = 0;
};

struct MatmulOperands {
  runtime::Address a = 0, b = 0, c = 0, d = 0, bias = 0;
};

// The library has nothing for this: `what()` says what it answered.
struct MatmulRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CublasLtApi;

class CublasLt {
 public:
  // Nothing where the library is not on the machine or does not start: then `why_not` says so. A
  // device's context must be current.
  static std::optional<CublasLt> open(std::string* why_not);

  const std::string& version() const { return version_; }  // "13.1.0"
  const CublasLtApi& api() const { return *api_; }

 private:
  std::shared_ptr<const CublasLtApi> api_;
  std::string version_;
};

// One way to do it, as the library names it.
struct Algorithm {
  std::array<std::uint64_t, 8> bits{};
  std::size_t workspace = 0;  // bytes that it needs
};

class Matmul {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  Matmul(const CublasLt& library, const MatmulDescription& description);
  ~Matmul();
  Matmul(Matmul&&) noexcept;

  // At most `most`; MatmulRefused where there is none.
  std::vector<Algorithm> algorithms(int most) const;

  // `workspace` has workspace_bytes bytes. MatmulRefused.
  void launch(runtime::StreamHandle stream, const MatmulOperands& operands,
              const Algorithm& algorithm, runtime::Address workspace) const;

 private:
  struct Descriptors;
  std::unique_ptr<Descriptors> made_;
};

}  // namespace lay::bench
