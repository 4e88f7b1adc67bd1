// The pass `form`: which kernels become tile programs, what is rows and what columns, and how often
// streamed columns are walked.
#include "tests/tile/programs.h"

namespace lay::test {

namespace {

std::string reason(const std::string& script) {
  const auto kernels = kernels_in("script.lay", script);
  REQUIRE(kernels.size() == 1);
  const auto made = tile::form(*kernels[0], plan::facts_of(*kernels[0]), tile::Columns::streamed);
  const auto* no = std::get_if<tile::NotTiled>(&made);
  return no ? no->reason : "";
}

std::string axes_of(const tile::Program& program) {
  std::string text;
  for (const tile::Axis& axis : program.axes)
    text += (text.empty() ? "" : " | ") + axis.name + " of " + axis.extent.to_string();
  return text;
}

}  // namespace

TEST_CASE("kernels that are no tile programs say why") {
  const struct {
    const char* kernel;
    const char* reason;
  } rows[] = {
      {"kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = X[m,n] + 1 }",
       "it has no reduction"},
      {"kernel f<M, N, K>(X: f32 (M,N), Z: f32 (M,K)) -> s: f32 M\n"
       "{ s[m] = sum[n](X[m,n]) + sum[k](Z[m,k]) }",
       "its reductions run over different extents"},
      {"kernel f<M, N, K>(A: f32 (M,K), x: f32 K) -> Y: f32 (M,N)\n"
       "{ Y[m,n] = sum[k](A[m,k] * x[k]) }",
       "an output runs over other indices than the reductions"},
      {"kernel f<M>(x: f32 M) -> y: f32 M\n"
       "{ y[i] = if i > 0 then sum[k](x[i-1] * x[k]) else 7 }",
       "a reduction under a condition may read outside of a tensor elsewhere"},
      {"kernel f<M, N>(X: f32 (M,N)) -> (s: f32 M, Y: f32 N)\n"
       "{ s[m] = sum[n](X[m,n])\n  Y[c] = sum[r](X[r,c]) }",
       "its reductions run over different extents"},
      {"kernel f<M>(X: f32 (M,M)) -> s: f32 M\n"
       "{ s[m] = sum[i](X[m,i] + max[j](X[i,j])) }",
       "a reduction depends on an index that another one runs over"},
  };
  for (const auto& row : rows) {
    INFO(row.kernel);
    CHECK(reason(row.kernel) == row.reason);
  }
}

TEST_CASE("rows are what reductions depend on, columns what they run over") {
  const auto axes = [](const std::string& kernel) {
    return axes_of(formed(kernel, tile::Columns::streamed));
  };
  CHECK(axes("kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }") ==
        "m of M | n of N");
  CHECK(axes("kernel f<M, N>(X: f32 (M,N)) -> t: f32 N { t[n] = sum[m](X[m,n]) }") ==
        "n of N | m of M");
  // The output's index is the column's name.
  CHECK(axes("kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n"
             "{ Y[m,n] = X[m,n] - sum[k](X[m,k]) }") == "m of M | n of N");
  // The index that memory runs along is the last of its side.
  CHECK(axes("kernel f<A, B, C>(X: f32 (A,B,C):(1,A,A*B)) -> s: f32 (A,C)\n"
             "{ s[a,c] = sum[b](X[a,b,c]) }") == "c_a of A*C | b of B");
  // Columns are named in another order by the output, and of equal extents the modes tell.
  CHECK(axes("kernel f<B, P, G, D>(X: f32 (B,P,G,D)) -> Y: f32 (B,P,G,D)\n"
             "{ Y[n,p,c,e] = X[n,p,c,e] - sum[d,q](X[n,q,c,d]) }") == "n_c of B*G | p_e of P*D");
  const auto square = formed(
      "kernel f<M, N>(X: f32 (N,M,N)) -> Y: f32 (N,M,N)\n"
      "{ Y[a,m,b] = X[a,m,b] - sum[j,i](X[i,m,j]) }",
      tile::Columns::kept);
  CHECK(std::count_if(square.tiles.begin(), square.tiles.end(), [](const tile::Tile& each) {
          return each.space == tile::Space::global && each.assignment < 0;
        }) == 1);
  // Two outputs name their columns differently.
  const auto two = formed(
      "kernel f<M, N>(X: f32 (M,N)) -> (Y: f32 (M,N), Z: f32 (M,N), s: f32 M)\n"
      "{ let total = sum[k](X[m,k])\n  Y[m,n] = X[m,n] - total\n  Z[m,j] = X[m,j] * total\n"
      "  s[m] = total }",
      tile::Columns::kept);
  CHECK(two.axes.size() == 2);
  CHECK(two.axes[1].extent.to_string() == "N");
}

TEST_CASE("reductions share walks of the columns unless one needs another") {
  const auto walks = [](const std::string& body) {
    return tile::walks_of_columns(
        formed("kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N)\n{\n" + body + "\n}\n",
               tile::Columns::streamed));
  };
  CHECK(walks("  let a = sum[k](X[m,k])\n  Y[m,n] = X[m,n] * a") == 2);
  CHECK(walks("  let a = sum[k](X[m,k])\n  let b = max[k](X[m,k])\n  Y[m,n] = X[m,n] * a + b") ==
        2);
  CHECK(walks("  let a = max[k](X[m,k])\n  let b = sum[k](exp(X[m,k] - a))\n"
              "  Y[m,n] = X[m,n] / b") == 3);
  CHECK(tile::walks_of_columns(
            formed("kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }",
                   tile::Columns::streamed)) == 1);
}

TEST_CASE("the axis that most bytes lie along is found") {
  const auto along = [](const std::string& kernel) {
    const auto program = formed(kernel, tile::Columns::kept);
    Facts facts = plan::facts_of(*program.kernel);
    return tile::contiguous_axis(program, facts);
  };
  CHECK(along("kernel f<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }") ==
        tile::column_axis);
  CHECK(along("kernel f<M, N>(X: f32 (M,N)) -> t: f32 N { t[n] = sum[m](X[m,n]) }") ==
        tile::row_axis);
  CHECK(along("kernel f<M, N>(X: f32 (M,N):(1,M)) -> s: f32 M { s[m] = sum[n](X[m,n]) }") ==
        tile::row_axis);
}

}  // namespace lay::test
