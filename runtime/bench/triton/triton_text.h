// The epilogue of a GEMM as statements of Triton, whatever it computes:
//
//   relu(acc + bias[n])      v5 = tl.cast(x0, tl.float32)
//                            v6 = acc + v5
//                            v7 = tl.maximum(v6, 0)
//
// `acc` is the sum. m, n and l are the coordinates: a column, a row and a number. x0, x1, ... are
// the elements of other tensors at these coordinates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/plan/recognise.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// Thrown if Triton cannot express something: "it reads D at computed coordinates".
struct NotInTriton {
  std::string reason;
};

// Returns the name of a type in Triton: "tl.bfloat16". Throws NotInTriton.
std::string triton_type(ElementType type);

class TritonText {
 public:
  TritonText(const Problem& problem, const plan::GemmForm& form) : problem_(problem), form_(form) {}

  struct Value {
    // Statements, in order.
    std::vector<std::string> lines;
    // The name of the value that the last statement makes.
    std::string result;
  };
  // Returns the statements that compute a node. Throws NotInTriton. Loads keep their numbers over
  // several calls.
  Value of(sema::NodeId value);

  // Returns the loads x0, x1, ...
  const std::vector<sema::NodeId>& loads() const { return loads_; }

 private:
  std::string term(sema::NodeId id);
  std::string apply(sema::NodeId id);
  std::string load(sema::NodeId id);

  const Problem& problem_;
  const plan::GemmForm& form_;
  Value value_;
  // The text of each node that was visited: a node that is used twice is computed once.
  std::map<sema::NodeId, std::string> known_;
  std::vector<sema::NodeId> loads_;
};

}  // namespace lay::bench
