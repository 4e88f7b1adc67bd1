// A problem as JSON, for runtime/bench/triton/candidate.py:
//
//   {"capability": 90, "sms": 132, "m": 4096, "n": 4096, "k": 4096, "batches": 1,
//    "a": {"type": "bf16", "elements": 16777216, "strides": {"m": 4096, "k": 1, "l": 0}},
//    "b": ..., "c": ...,                                    with n, k, l and m, n, l
//    "others": [{"type": "bf16", "elements": 4096, "strides": {"n": 1}}],
//    "accumulator": "f32", "tf32": false,
//    "value": {"lines": ["v7 = ..."], "result": "v7"},      triton_text.h
//    "counts": null}
//
// `others` are x0, x1, ... of the value, with the strides that are not 0. `counts` is the condition
// of a mask, in the form of `value`: tiles where it is false throughout are not multiplied. Strides
// are in elements; all batch indices together are one, l. Tensors begin at a multiple of 256 bytes.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "runtime/bench/triton/triton_text.h"

namespace lay::bench {

struct TritonRequest {
  std::string json;
  // The tensors by their names in the request: a, b, c, x0, ...
  std::map<std::string, sema::TensorId> tensors;
};

// Returns the request for a GEMM, or the reason why candidate.py cannot express it.
std::variant<TritonRequest, NotInTriton> triton_request(const Problem& problem,
                                                        const plan::GemmForm& form, int capability,
                                                        int sms);

}  // namespace lay::bench
