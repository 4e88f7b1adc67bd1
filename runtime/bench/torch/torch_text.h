// A kernel as a function of PyTorch, as somebody who knows PyTorch would write it:
//
//   Y[m] = sum[k](A[m,k] * x[k]) + bias[m]        def computed(A, x, bias):
//                                                     v0 = torch.mv(A, x)
//                                                     v1 = v0 + bias
//                                                     v2 = v1.contiguous()
//                                                     return v2,
//
// Every value has an axis for each index that it depends on. The axes of all values have one order,
// that of the output in memory with the reduced indices behind, so that values meet by
// broadcasting: v0[:, None] has no axis for the second index.
//
// Numbers are rounded where the kernel rounds them, with two exceptions that PyTorch's users make
// too: a product of bf16 (f16) matrices is rounded to bf16, and what follows is computed in bf16
// where the output is bf16; and a function of PyTorch's own takes and gives the output's type.
#pragma once

#include <string>
#include <vector>

#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// Thrown if PyTorch cannot express something: "PyTorch has no product of s8 and s8 of this form".
struct NotInTorch {
  std::string reason;
};

// One way in which PyTorch computes the problem.
struct TorchWay {
  // The name of its row: "torch", "torch.compile".
  std::string name;
  // A function of the module, "computed", and "eager" or the mode of torch.compile.
  std::string function, mode;
  // The functions that the work is left to: "torch.softmax", "torch.mm". Empty if it is computed
  // element by element.
  std::vector<std::string> calls;
  // The unit roundoff of the type that intermediate values are rounded to where the kernel does
  // not; 0 if there are none.
  double roundoff = 0;
  // It is the product of matrices of the same size alone, whose operands are prepared.
  bool is_equal_gemm = false;
};

struct TorchFunction {
  // A module that defines a function for each way. A function `computed_x` whose parameters are
  // made once, and not timed, has a function `prepared_x` that makes them of the inputs.
  std::string text;
  // The inputs. Each is a view with an axis for each mode of the tensor.
  std::vector<sema::TensorId> inputs;
  // The tensors that a function returns, in their order, with axes as their modes.
  std::vector<sema::TensorId> outputs;
  // Products of f32 are products of tf32.
  bool tf32 = false;
  std::vector<TorchWay> ways;
};

// Returns the functions that compute the outputs of a problem. Throws NotInTorch, and NoStrides for
// a tensor whose modes have several strides.
TorchFunction torch_function(const Problem& problem);

}  // namespace lay::bench
