// What a problem is, for runtime/bench/triton/contestant.py, as JSON:
//
//   {"capability": 90, "SMs": 132, "m": 4096, "n": 4096, "k": 4096, "batches": 1,
//    "a": {"type": "bf16", "elements": 16777216, "strides": {"m": 4096, "k": 1, "l": 0}},      b:
//    n, k, l; c: m, n, l "others": [{"type": "bf16", "elements": 4096, "strides": {"n": 1}}], x0,
//    x1, ...: strides that are not 0 "accumulator": "f32", "tf32": false, "value": {"lines": ["v7 =
//    ..."], "result": "v7"},                           triton_text.h "counts": null}        or
//    where a mask lets the sum count, as `value`: tiles that it leaves out are not multiplied
//
// Strides are in elements, batches one index. A tensor begins at a multiple of 256 bytes.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "runtime/bench/triton/triton_text.h"

namespace lay::bench {

struct TritonRequest {
  std::string json;
  std::map<std::string, sema::TensorId> tensors;  // a, b, c, x0, ...
};

std::variant<TritonRequest, NotStated> triton_request(const Problem& problem,
                                                      const plan::GemmForm& form, int capability,
                                                      int sms);

}  // namespace lay::bench
