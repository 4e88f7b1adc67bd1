// Tile programs run by plain loops over tiles, against the reference: whole rows kept and columns
// streamed, unbound with small tiles and bound as every variant of the plan has them. The lowered
// variants run in the interpreter of threads beside them.
#include "backend/tile/interpret.h"

#include "tests/plan/script_calls.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

void check_outputs(const sema::KernelResult& actual, const sema::KernelResult& expected,
                   std::int64_t terms) {
  REQUIRE(actual.outputs.size() == expected.outputs.size());
  for (std::size_t i = 0; i < actual.outputs.size(); ++i)
    CHECK(difference(actual.outputs[i], expected.outputs[i], terms) == "");
}

// The launches of a variant one after the other; tensors in workspace go by name.
sema::KernelResult run_variant(const plan::Plan& plan, const plan::Variant& variant,
                               const sema::KernelCall& call) {
  std::map<std::string, sema::Array> arrays;
  for (std::size_t i = 0; i < call.kernel->tensors.size(); ++i)
    arrays.emplace(call.kernel->tensors[i].name, call.tensors[i]);
  const auto launch = [&](const plan::Plan& of, const plan::Variant& one) {
    const sema::Kernel& kernel = plan::executed(of, one);
    sema::KernelCall made{one.kernel ? one.kernel : of.kernel, call.sizes, {}, call.scalars};
    for (const sema::Tensor& tensor : kernel.tensors) {
      const auto shape = sema::array_shape(tensor, call.sizes);
      const auto known = arrays.find(tensor.name);
      const bool fits = known != arrays.end() && known->second.shape == shape;
      made.tensors.push_back(fits ? known->second : sema::Array::make(tensor.element, shape));
      if (known != arrays.end() && !fits) {
        std::size_t id = 0;
        while (call.kernel->tensors[id].name != tensor.name) ++id;
        made.tensors.back() = sema::unpack(
            tensor, call.sizes, sema::pack(call.kernel->tensors[id], call.sizes, known->second));
      }
    }
    const auto result = tile::interpret(one.programs, made);
    std::size_t output = 0;
    for (const sema::Tensor& tensor : kernel.tensors)
      if (tensor.access != sema::Access::input)
        arrays.insert_or_assign(tensor.name, result.outputs[output++]);
  };
  for (const auto& before : variant.before) launch(*before, before->variants.at(0));
  launch(plan, variant);
  sema::KernelResult result;
  for (const sema::Tensor& tensor : call.kernel->tensors) {
    if (tensor.access == sema::Access::input) continue;
    sema::Array made = arrays.at(tensor.name);
    const auto shape = sema::array_shape(tensor, call.sizes);
    if (made.shape != shape) {
      for (const sema::Tensor& other : plan::executed(plan, variant).tensors)
        if (other.name == tensor.name)
          made = sema::unpack(tensor, call.sizes, sema::pack(other, call.sizes, made));
    }
    result.outputs.push_back(made);
  }
  return result;
}

// Returns how many programs ran.
int check_call(const sema::KernelCall& call) {
  const auto expected = sema::run_reference(call);
  const std::int64_t terms = terms_of(call);
  int ran = 0;
  for (const auto columns : {tile::Columns::kept, tile::Columns::streamed}) {
    const tile::Program program = formed(call.kernel, columns);
    for (const tile::TileSizes sizes : {tile::TileSizes{1, 1}, tile::TileSizes{3, 5}}) {
      CAPTURE(columns == tile::Columns::kept, sizes.rows, sizes.columns);
      check_outputs(tile::interpret(program, call, sizes), expected, terms);
      ++ran;
    }
  }
  const auto plan = plan::make_plan(call.kernel);
  REQUIRE(plan.problems.empty());
  for (const plan::Variant& variant : plan.variants) {
    if (!holds(variant.when, call.sizes)) continue;
    CAPTURE(variant.name);
    check_outputs(run_variant(plan, variant, call), expected, terms);
    check_outputs({outputs(plan, variant, call), {}}, expected, terms);
    ++ran;
  }
  return ran;
}

struct Row {
  const char* what;
  const char* kernel;  // f
  const char* call;
};

const Row rows[] = {
    {"row sum", "kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }",
     "f(random(f32, (7,37)))"},
    {"row sum, exactly", "kernel f<M, N>(X: s32 (M,N)) -> s: s32 M { s[m] = sum[n](X[m,n]) }",
     "f(random(s32, (7,37)))"},
    {"column sum", "kernel f<M, N>(X: f32 (M,N)) -> t: f32 N { t[n] = sum[m](X[m,n]) }",
     "f(random(f32, (41,9)))"},
    {"everything", "kernel f<M, N>(X: f32 (M,N)) -> t: f32 1 { t[i] = sum[m,n](X[m,n]) }",
     "f(random(f32, (13,11)))"},
    {"mean", "kernel f<M, N>(X: bf16 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) / N }",
     "f(random(bf16, (5,64)))"},
    {"max, min, product",
     "kernel f<M, N>(X: f32 (M,N)) -> (a: f32 M, b: f32 M, c: f32 M)\n"
     "{ a[m] = max[n](X[m,n])\n  b[m] = min[n](X[m,n])\n  c[m] = prod[n](X[m,n]) }",
     "f(random(f32, (5,23)))"},
    {"rms norm",
     "kernel f<M, N>(X: bf16 (M,N), w: f32 N, eps: f32) -> Y: bf16 (M,N)\n"
     "{ Y[m,n] = X[m,n] * rsqrt(sum[k](X[m,k] * X[m,k]) / N + eps) * w[n] }",
     "f(random(bf16, (6,33)), random(f32, 33, 2), 0.001)"},
    {"softmax",
     "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n"
     "{ let most = max[k](X[m,k])\n"
     "  Y[m,n] = exp(X[m,n] - most) / sum[k](exp(X[m,k] - most)) }",
     "f(random(f32, (5,29)))"},
    {"layer norm",
     "kernel f<M, N>(X: f32 (M,N), w: f32 N, b: f32 N) -> Y: f32 (M,N)\n"
     "{ let mean = sum[k](X[m,k]) / N\n"
     "  let spread = sum[k]((X[m,k] - mean) * (X[m,k] - mean)) / N\n"
     "  Y[m,n] = (X[m,n] - mean) * rsqrt(spread + 0.001) * w[n] + b[n] }",
     "f(random(f32, (4,31)), random(f32, 31, 2), random(f32, 31, 3))"},
    {"matrix times vector",
     "kernel f<M, K>(A: bf16 (M,K), x: bf16 K) -> y: f32 M { y[m] = sum[k](A[m,k] * x[k]) }",
     "f(random(bf16, (9,40)), random(bf16, 40, 2))"},
    {"transposed matrix times vector",
     "kernel f<M, K>(A: f16 (K,M), x: f16 K) -> y: f32 M { y[m] = sum[k](A[k,m] * x[k]) }",
     "f(random(f16, (40,9)), random(f16, 40, 2))"},
    {"batches",
     "kernel f<B, M, K>(A: f32 (B,M,K), x: f32 (B,K)) -> y: f32 (B,M)\n"
     "{ y[b,m] = sum[k](A[b,m,k] * x[b,k]) }",
     "f(random(f32, (3,5,17)), random(f32, (3,17), 2))"},
    {"two indices reduced, the middle one kept",
     "kernel f<A, B, C>(X: s32 (A,B,C)) -> s: s32 B { s[b] = sum[a,c](X[a,b,c]) }",
     "f(random(s32, (4,5,6)))"},
    {"mask",
     "kernel f<M, N>(X: f32 (M,N)) -> s: f32 M\n"
     "{ s[m] = sum[n](if n <= m then X[m,n] * X[m,n] else 0) }",
     "f(random(f32, (11,19)))"},
    {"two outputs",
     "kernel f<M, N>(X: f32 (M,N)) -> (Y: f32 (M,N), s: f32 M)\n"
     "{ let total = sum[k](X[m,k])\n  Y[m,n] = X[m,n] - total\n  s[m] = total * 2 }",
     "f(random(f32, (6,21)))"},
    {"an element above, kept for two places that ask for it under a condition",
     "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n"
     "{ let total = sum[k](if m > 0 then exp(X[m-1,k]) else 0)\n"
     "  Y[m,n] = (if m > 0 then exp(X[m-1,n]) * 2 else 0) + total }",
     "f(random(f32, (6,21)))"},
    {"a value of a row under a condition",
     "kernel f<M, N>(X: f32 (M,N), v: f32 M) -> Y: f32 (M,N)\n"
     "{ let total = sum[k](X[m,k])\n"
     "  Y[m,n] = if m > 0 then X[m,n] * (total * v[m-1]) else 0 }",
     "f(random(f32, (6,21)), random(f32, 6, 2))"},
    {"f64", "kernel f<M, N>(X: f64 (M,N)) -> s: f64 M { s[m] = sum[n](X[m,n] * X[m,n]) }",
     "f(random(f64, (3,50)))"},
    {"the first of the greatest, along rows and columns",
     "kernel f<M, N>(X: f32 (M,N)) -> (p: s32 M, v: f32 M)\n"
     "{ p[m] = argmax[n](min(X[m,n], 0.6))\n  v[m] = max[n](min(X[m,n], 0.6)) }",
     "f(random(f32, (7,45)))"},
    {"the first of the least, along columns",
     "kernel f<M, N>(X: bf16 (M,N)) -> p: s32 N { p[n] = argmin[m](X[m,n]) }",
     "f(random(bf16, (300,9)))"},
    {"the first NaN",
     "kernel f<M, N>(X: f32 (M,N)) -> p: s32 M { p[m] = argmax[n](log(X[m,n] - 0.03)) }",
     "f(random(f32, (9,33)))"},
    {"the position of the least where all are infinite",
     "kernel f<M, N>(X: f64 (M,N)) -> p: s32 M { p[m] = argmin[n](if X[m,n] < 2 then inf else 0) }",
     "f(random(f64, (3,70)))"},
    {"the greatest of everything", "kernel f<N>(x: f16 N) -> p: s32 1 { p[i] = argmax[n](x[n]) }",
     "f(random(f16, 2000))"},
    {"positions, extremes and conditions of parts",
     "kernel f<M, N>(X: f32 (M,N)) -> (p: s32 M, q: s32 M, a: f32 M)\n"
     "{ p[m] = argmax[n](min(X[m,n], 0.9))\n  q[m] = argmin[n](log(X[m,n] - 0.01))\n"
     "  a[m] = if any[n](X[m,n] > 0.999) then max[n](X[m,n]) else 0 }\n"
     "schedule f for simt { threads = (32,(2,2)):(1@1,(64@1,32@1)), parts = 5 }",
     "f(random(f32, (4,1500)))"},
    {"an extreme that no value exceeds, in parts without a column",
     "kernel f<M, N>(X: f16 (M,N)) -> p: s32 M { p[m] = argmax[n](if X[m,n] < 2 then -inf else 0) "
     "}\n"
     "schedule f for simt { threads = (32,4):(1@1,32@1), parts = 7 }",
     "f(random(f16, (3,300)))"},
    {"cross-entropy",
     "kernel f<M, N>(X: bf16 (M,N), target: s32 M) -> loss: f32 M\n"
     "{ let most = max[n](X[m,n])\n"
     "  loss[m] = most + log(sum[n](exp(X[m,n] - most))) - X[m,target[m]] }",
     "f(random(bf16, (5,40)), random(s32, 5, 3, 0, 39))"},
    {"backward of softmax",
     "kernel f<M, N>(Y: bf16 (M,N), dY: bf16 (M,N)) -> dX: f32 (M,N)\n"
     "{ dX[m,n] = Y[m,n] * (dY[m,n] - sum[k](Y[m,k] * dY[m,k])) }",
     "f(random(bf16, (5,72)), random(bf16, (5,72), 2))"},
    {"backward of layer norm",
     "kernel f<M, N>(X: bf16 (M,N), w: bf16 N, dY: bf16 (M,N), eps: f32) -> dX: f32 (M,N)\n"
     "{ let mean = sum[k](X[m,k]) / N\n"
     "  let r = rsqrt(sum[k]((X[m,k] - mean) * (X[m,k] - mean)) / N + eps)\n"
     "  let a = sum[k](dY[m,k] * w[k]) / N\n"
     "  let b = sum[k](dY[m,k] * w[k] * (X[m,k] - mean) * r) / N\n"
     "  dX[m,n] = r * (dY[m,n] * w[n] - a - (X[m,n] - mean) * r * b) }",
     "f(random(bf16, (6,40)), random(bf16, 40, 2), random(bf16, (6,40), 3), 0.01)"},
    {"gradients of a norm's weights",
     "kernel f<M, N>(X: f16 (M,N), dY: f16 (M,N), mean: f32 M, r: f32 M) -> (g: f32 N, b: f32 N)\n"
     "{ g[n] = sum[m](dY[m,n] * (X[m,n] - mean[m]) * r[m])\n  b[n] = sum[m](dY[m,n]) }",
     "f(random(f16, (70,24)), random(f16, (70,24), 2), random(f32, 70, 3), random(f32, 70, 4))"},
    {"batch norm",
     "kernel f<B, C, H, W>(X: f32 (B,C,H,W), g: f32 C) -> Y: f32 (B,C,H,W)\n"
     "{ let mean = sum[i,p,q](X[i,c,p,q]) / (B*H*W)\n"
     "  let spread = sum[q,p,i]((X[i,c,p,q] - mean) * (X[i,c,p,q] - mean)) / (B*H*W)\n"
     "  Y[n,c,h,w] = (X[n,c,h,w] - mean) * rsqrt(spread + 0.01) * g[c] }",
     "f(random(f32, (3,4,5,8)), random(f32, 4, 2))"},
    {"group norm, channels last",
     "kernel f<B, P, G, D>(X: f16 (B,P,G,D), g: f32 (G,D)) -> Y: f16 (B,P,G,D)\n"
     "{ let mean = sum[d,q](X[n,q,c,d]) / (P*D)\n"
     "  let spread = sum[d,q]((X[n,q,c,d] - mean) * (X[n,q,c,d] - mean)) / (P*D)\n"
     "  Y[n,p,c,e] = (X[n,p,c,e] - mean) * rsqrt(spread + 0.01) * g[c,e] }",
     "f(random(f16, (2,6,3,8)), random(f32, (3,8), 2))"},
    {"a norm of gathered rows",
     "kernel f<M, N, V>(E: bf16 (V,N), t: s32 M, w: f32 N) -> Y: bf16 (M,N)\n"
     "{ Y[m,n] = E[t[m],n] * rsqrt(sum[k](E[t[m],k] * E[t[m],k]) / N + 0.01) * w[n] }",
     "f(random(bf16, (11,40)), random(s32, 7, 2, 0, 10), random(f32, 40, 3))"},
    {"rows gathered by two coordinates, and one below",
     "kernel f<M, N, V>(E: f32 (V,2,N), t: s64 M) -> s: f32 M\n"
     "{ s[m] = sum[n](E[t[m] + 1,t[m] % 2,n] * E[t[m],1,n]) }",
     "f(random(f32, (9,2,33)), random(s64, 13, 2, 0, 7))"},
    {"rows gathered and mapped",
     "kernel f<M, N, V>(E: bf16 (V,N), P: f32 (M,N), t: s32 M) -> (Y: f16 (M,N), Z: f32 (M,N))\n"
     "{ Y[m,n] = E[t[m],n] + P[m,n]\n  Z[m,j] = E[t[m],j] * 2 }",
     "f(random(bf16, (11,48)), random(f32, (9,48), 4), random(s32, 9, 2, 0, 10))"},
    {"the row above, where there is one",
     "kernel f<M, N>(X: bf16 (M,N)) -> Y: bf16 (M,N)\n"
     "{ Y[m,n] = if 1 <= m then X[m-1,n] else 7 }",
     "f(random(bf16, (9,48)))"},
    {"a window of rows with a border",
     "kernel f<B, S, C>(X: f16 (B,S,S,C)) -> Y: f16 (B,S,S,3,3,C)\n"
     "{ Y[b,p,q,r,s,c] = if 1 <= p + r and p + r <= S and 1 <= q + s and q + s <= S\n"
     "  then X[b,p+r-1,q+s-1,c] else 0 }",
     "f(random(f16, (2,3,3,24)))"},
    {"rows that two conditions choose from two tensors",
     "kernel f<M, N>(A: f32 (2*M,N), B: s32 (M,N)) -> Y: f32 (M,2,N)\n"
     "{ Y[m,i,n] = if i == 0 then (if m < 3 then A[m+i+1,n] else A[2*m,n]) else B[m+i-1,n] * 2 }",
     "f(random(f32, (14,40)), random(s32, (7,40), 2, 0, 9))"},
    {"a sum over rows beside one another",
     "kernel f<M, N>(X: bf16 (M,N), w: f32 N) -> s: f32 M\n"
     "{ s[m] = sum[k]((if 1 <= m then X[m-1,k] else w[k]) * X[m,k]) }",
     "f(random(bf16, (9,48)), random(f32, 48, 2))"},
    {"nothing to sum", "kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) + 1 }",
     "f(zeros(f32, (3,0)))"},
};

}  // namespace

TEST_CASE("tile programs mean what the reference says") {
  for (const Row& row : rows) {
    INFO(row.what);
    int ran = 0;
    const std::string messages =
        for_each_call(std::string(row.kernel) + "\n" + row.call + "\n",
                      [&](const sema::KernelCall& call) { ran += check_call(call); });
    CHECK(messages == "");
    CHECK(ran >= 5);
  }
}

TEST_CASE("the interpreter finds elements that are stored twice, never, or not written") {
  const std::string script =
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = X[m,n] / sum[k](X[m,k]) }\n"
      "f(random(f32, (5,9)))\n";
  int called = 0;
  const auto check = [&](const sema::KernelCall& call) {
    ++called;
    const tile::Program right = formed(call.kernel, tile::Columns::streamed);
    const auto broken = [&](auto change, const std::string& message) {
      tile::Program program = right;
      auto& grid = std::get<tile::For>(program.body[0].node).body;
      change(grid, std::get<tile::For>(grid.back().node).body);
      CHECK_THROWS_WITH(tile::interpret(program, call), Catch::Contains(message));
    };
    broken([](tile::Block&, tile::Block& last) { last.pop_back(); },
           "an element of `Y` is never stored");
    broken([](tile::Block&, tile::Block& last) { last.push_back(last.back()); },
           "an element of `Y` is stored twice");
    broken([](tile::Block&, tile::Block& last) { last.erase(last.begin() + 1); },
           "`out_Y` is read where it was not written");
  };
  CHECK(for_each_call(script, check) == "");
  CHECK(called == 1);
}

}  // namespace lay::test
