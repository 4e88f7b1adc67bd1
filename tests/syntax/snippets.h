#pragma once
// Texts that the tests of frontend/syntax share.

#include <string>
#include <string_view>
#include <vector>

// Every construct of the language at least once.
inline const std::string_view kTour = R"lay(// the tour
use atoms.sm90
use "mine.lay"

let a = (4,2):(1,4)                     // layout: shape : stride
let b = ((2,2),2):((4,1),2)
let c = layout((4,2), right)
let s = Sw<3,4,-3>
let d = Sw<3,3,3> o 0 o (8,64):(64,1)   // composed
let e = (4,3):(1@0,1@1@0)
let f = [a(i, 0) for i in 0..4]
let g = (2,), (
let h = -1@0 + (M/2)@i * 3 // 2 - x[0,1].shape % 7 / 1
let p = (_4,(_8),-1):(_1,_4,2)
def tile(l: Layout, t) -> Layout = zipped_divide(l, t)
let w = find swizzle(write = W, read = R, bits = 16)
record wgmma(n, ab: type, acc) {
  shape = (64, n, 16), C = ((4,8,4),(2,2,n/8)):((128,1,16),(64,8,512))
  name = "say \"hi\"\n"; flag = true
}
dim M, N, K
assume M % 128 == 0 and K % 64 == 0
print a, b(_, 1); show a
explain a ∘ 2:2
assert a(7) == 7, "the last one"
prove injective(a) or not (M >= 3) and 1e-3 < 0.5
let q = if a != b then 1 else
  if a <= b then 2
  else 3

kernel linear<T: type, M, N, K, lda>(
  A: T (M,K):(lda,1),   // rows
  B: bf16 (N,K):(K,1), alpha: f32
) -> (C: inout bf16 (M,N):(N,1), D: f32 M:1)
where K % 8 == 0 and lda >= K
{
  let acc = sum[k : f32](A[m,k] * B[n,k])
  C[m,n] = if n <= m then gelu(alpha * acc) else 0; D[m] = sum[k, n](A[m,k] * B[n,k])
}

schedule linear for sm90 when M >= 256 {
  tile    = (128, 256, 64)
  smem A  = tile_to_shape(Sw<3,3,3> o (8,64):(64,1), (128,64))
  order   = (8, tiles_n) : (1@0, 1@1)  // block to tile
}
a(7)
)lay";

// The tour without the line that holds an error.
inline std::string tour() {
  std::string text(kTour);
  const std::size_t begin = text.find("let g"), end = text.find("let h");
  return text.erase(begin, end - begin);
}
