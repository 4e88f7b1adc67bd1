// What stands behind a product in a kernel, as statements of Triton: the epilogue as it is, not one
// of a few.
//
//   relu(acc + bias[n])      v5 = tl.cast(x0, tl.float32)
//                            v6 = acc + v5
//                            v7 = tl.maximum(v6, 0)
//
// Names: acc is the sum; m, n and l are the coordinates (a column, a row and a number), x0, x1, ...
// the elements of other tensors at them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/plan/recognise.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

// Thrown where Triton has no words for something: "it reads D at computed coordinates".
struct NotStated {
  std::string reason;
};

// The name of a type in Triton ("tl.bfloat16"). NotStated.
std::string triton_type(ElementType type);

class TritonText {
 public:
  TritonText(const Problem& problem, const plan::GemmForm& form) : problem_(problem), form_(form) {}

  // Statements, in order, and the name of the value in the end.
  struct Value {
    std::vector<std::string> lines;
    std::string result;
  };
  // NotStated. Loads are numbered over all calls.
  Value of(sema::NodeId value);

  const std::vector<sema::NodeId>& loads() const { return loads_; }  // x0, x1, ...

 private:
  std::string term(sema::NodeId id);
  std::string apply(sema::NodeId id);
  std::string load(sema::NodeId id);

  const Problem& problem_;
  const plan::GemmForm& form_;
  Value value_;
  std::map<sema::NodeId, std::string> known_;
  std::vector<sema::NodeId> loads_;
};

}  // namespace lay::bench
