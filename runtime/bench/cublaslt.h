// cuBLASLt, loaded at run time: the library baseline. It computes
// D = f(alpha op(A) op(B) + beta C + bias) with column-major matrices.
//
//   std::string why;
//   if (auto library = CublasLt::open(&why)) {
//     Matmul matmul(*library, description);              // throws MatmulRefused
//     matmul.algorithms(12)                              the library's own ranking, best first
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

// A column-major matrix.
struct Matrix {
  ElementType element = ElementType::f32;
  // Column j begins at element j * leading.
  std::int64_t rows = 0, columns = 0, leading = 0;
  // In elements.
  std::int64_t batch_stride = 0;
};

enum class Activation { none, relu, gelu };

struct MatmulDescription {
  // C has the shape and strides of D; its element type may differ.
  Matrix a, b, c, d;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batches = 1;
  ElementType accumulator = ElementType::f32;
  // Multiplies f32 operands as tf32.
  bool tf32 = false;
  // Leaves sums of 8-bit floats to the tensor cores, without promotion to f32 on the way.
  bool fast = true;
  Activation activation = Activation::none;
  // A vector with one number for each row of D.
  std::optional<ElementType> bias;
  // The address of the bias of one set of operands: the heuristic looks at its alignment.
  runtime::Address bias_address = 0;
  std::int64_t bias_batch_stride = 0;
  double alpha = 1, beta = 0;
};

// Addresses; `bias` is looked at only if the description has one.
struct MatmulOperands {
  runtime::Address a = 0, b = 0, c = 0, d = 0, bias = 0;
};

// Thrown if the library has no kernel for a description; what() has the status that it returned.
struct MatmulRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CublasLtApi;

class CublasLt {
 public:
  // Loads the library. Returns nothing if it is missing or does not start; `why_not` then says
  // which. A device's context must be current.
  static std::optional<CublasLt> open(std::string* why_not);

  const std::string& version() const { return version_; }  // "13.1.0"
  const CublasLtApi& api() const { return *api_; }

 private:
  std::shared_ptr<const CublasLtApi> api_;
  std::string version_;
};

// An algorithm: cublasLtMatmulAlgo_t.
struct Algorithm {
  std::array<std::uint64_t, 8> bits{};
  // The bytes of workspace that it needs.
  std::size_t workspace = 0;
};

class Matmul {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  Matmul(const CublasLt& library, const MatmulDescription& description);
  ~Matmul();
  Matmul(Matmul&&) noexcept;

  // Returns at most `most` algorithms, in the order of the heuristic. Throws MatmulRefused if there
  // is none.
  std::vector<Algorithm> algorithms(int most) const;

  // Enqueues the product. `workspace` has workspace_bytes bytes. Throws MatmulRefused.
  void launch(runtime::StreamHandle stream, const MatmulOperands& operands,
              const Algorithm& algorithm, runtime::Address workspace) const;

 private:
  struct Descriptors;
  std::unique_ptr<Descriptors> made_;
};

}  // namespace lay::bench
