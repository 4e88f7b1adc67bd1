// Checked kernels built by hand: GEMMs of every operand order with epilogues, and kernels that are
// none.
#pragma once

#include <string>
#include <vector>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::test {

using namespace lay::sema;

// Adds to a kernel; nodes are ids.
struct KernelMaker {
  Kernel kernel;

  explicit KernelMaker(std::string name) { kernel.name = std::move(name); }

  Int dim(const std::string& name) {
    Int symbol = Int::dim(name);
    kernel.dims.push_back({name, symbol, {}});
    return symbol;
  }
  TensorId tensor(const std::string& name, ElementType type, Layout layout,
                  Access access = Access::input) {
    kernel.tensors.push_back({name, type, std::move(layout), access, {}});
    return static_cast<int>(kernel.tensors.size()) - 1;
  }
  ScalarId scalar(const std::string& name, ElementType type) {
    kernel.scalars.push_back({name, type, {}});
    return static_cast<int>(kernel.scalars.size()) - 1;
  }
  IndexId index(const std::string& name, Int extent, bool summed = false) {
    kernel.indices.push_back({name, extent, summed, {}});
    return static_cast<int>(kernel.indices.size()) - 1;
  }
  NodeId node(decltype(Node::what) what, ElementType type) {
    kernel.nodes.push_back({std::move(what), type, {}});
    return static_cast<int>(kernel.nodes.size()) - 1;
  }
  NodeId at(IndexId i) { return node(IndexValue{i}, ElementType::s32); }
  NodeId load(TensorId t, std::vector<IndexId> indices) {
    std::vector<NodeId> coordinate;
    for (IndexId i : indices) coordinate.push_back(at(i));
    return node(Load{t, coordinate}, kernel.tensor(t).element);
  }
  NodeId apply(ElementFunction f, std::vector<NodeId> operands, ElementType type) {
    return node(sema::Apply{f, std::move(operands)}, type);
  }
  NodeId sum(std::vector<IndexId> over, NodeId body, ElementType type) {
    return node(Reduce{ReduceFunction::sum, std::move(over), body}, type);
  }
  NodeId literal(double value, ElementType type) { return node(Literal{value}, type); }
  NodeId scalar_value(ScalarId s) {
    return node(ScalarValue{s}, kernel.scalars[static_cast<size_t>(s)].type);
  }
  void assign(TensorId target, std::vector<IndexId> indices, NodeId value) {
    kernel.assignments.push_back({target, std::move(indices), value, {}});
  }
  KernelPtr done() { return std::make_shared<const Kernel>(kernel); }
};

// C[m,n] = sum[k](A[m,k] * B[n,k]). Order of the operands: 'N' is column-major as BLAS has it (A
// (M,K):(1,lda), B as (K,N) column-major, that is (N,K):(ldb,1)), 'T' the transposed.
struct GemmWish {
  std::string order = "TN";  // of A and B
  ElementType type = ElementType::f32;
  enum Epilogue { plain, alpha_beta, bias, mask } epilogue = plain;
  bool column_major_output = false;
};

inline KernelMaker gemm(const GemmWish& wish) {
  KernelMaker k("gemm");
  const Int M = k.dim("M"), N = k.dim("N"), K = k.dim("K"), lda = k.dim("lda"), ldb = k.dim("ldb"),
            ldc = k.dim("ldc");
  const ElementType t = wish.type;
  const auto a = k.tensor("A", t,
                          wish.order[0] == 'T' ? layout(tuple(M, K), tuple(lda, 1))
                                               : layout(tuple(M, K), tuple(1, lda)));
  const auto b = k.tensor("B", t,
                          wish.order[1] == 'N' ? layout(tuple(N, K), tuple(ldb, 1))
                                               : layout(tuple(N, K), tuple(1, ldb)));
  const bool beta = wish.epilogue == GemmWish::alpha_beta;
  const auto bias = wish.epilogue == GemmWish::bias ? k.tensor("bias", t, layout(N, 1)) : -1;
  const auto c = k.tensor("C", t,
                          wish.column_major_output ? layout(tuple(M, N), tuple(1, ldc))
                                                   : layout(tuple(M, N), tuple(ldc, 1)),
                          beta ? Access::inout : Access::output);
  const auto guard = [&](const Predicate& p) {
    k.kernel.guards.push_back({Predicate(), p, "where", {}});
  };
  guard(less_equal(wish.order[0] == 'T' ? K : M, lda));
  guard(less_equal(wish.order[1] == 'N' ? K : N, ldb));
  guard(less_equal(wish.column_major_output ? M : N, ldc));
  const auto m = k.index("m", M), n = k.index("n", N), kk = k.index("k", K, true);
  const NodeId acc =
      k.sum({kk}, k.apply(ElementFunction::mul, {k.load(a, {m, kk}), k.load(b, {n, kk})}, t), t);
  NodeId value = acc;
  if (beta) {
    const NodeId alpha = k.scalar_value(k.scalar("alpha", t)),
                 scale = k.scalar_value(k.scalar("beta", t));
    const NodeId product = k.apply(ElementFunction::mul, {alpha, acc}, t);
    const NodeId zero = k.apply(ElementFunction::eq, {scale, k.literal(0, t)}, ElementType::pred);
    const NodeId old = k.apply(ElementFunction::mul, {scale, k.load(c, {m, n})}, t);
    const NodeId both = k.apply(ElementFunction::add, {product, old}, t);
    value = k.apply(ElementFunction::select, {zero, product, both}, t);
  } else if (bias >= 0) {
    const NodeId shifted = k.apply(ElementFunction::add, {acc, k.load(bias, {n})}, t);
    value = k.apply(ElementFunction::max, {shifted, k.literal(0, t)}, t);
  } else if (wish.epilogue == GemmWish::mask) {
    const NodeId below = k.apply(ElementFunction::le, {k.at(n), k.at(m)}, ElementType::pred);
    value = k.apply(ElementFunction::select, {below, acc, k.literal(0, t)}, t);
  }
  k.assign(c, {m, n}, value);
  return k;
}

}  // namespace lay::test
