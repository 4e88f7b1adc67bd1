// How fast the host interpreter is, in lane operations a second on one core, with and without
// checks:
//
//   interpret_bench
//
// Two kernels: a SIMT GEMM (128x128x8 tiles, 8x8 a lane), where nearly all work is in the fused
// outer product, and a pointwise kernel of index arithmetic and single loads and stores, where
// nearly all of it is decoding.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/text/parse.h"

namespace {

using namespace lay;
using interpret::Memory;

const std::string kGemm = R"(kernel gemm from "gemm.lay" {
  size M, N, K
  global A : f32 (M,K):(1,M) read align 16
  global B : f32 (N,K):(1,N) read align 16
  global C : f32 (M,N):(1,M) write align 16
  shared sA : f32 (128,8):(1,128) align 16
  shared sB : f32 (128,8):(1,128) align 16
  register acc : f32 (8,8):(1,8)
  register a : f32 (4,2):(1,4)
  register b : f32 (4,2):(1,4)
  register fragment_a : f32 8:1
  register fragment_b : f32 8:1
  barrier all block
  launch grid (ceil_div(M,128),ceil_div(N,128),1) cluster (1,1,1) threads 256
  role all threads 0..256 {
    let m0 : s32 block = block_x * 128
    let n0 : s32 block = block_y * 128
    let tm : s32 thread = thread % 16 * 4
    let tn : s32 thread = thread / 16 * 4
    fill acc = 0.0
    for k0 : s32 grid in 0..K step 8 {
      let row : s32 thread = thread % 32 * 4
      let k : s32 thread = k0 + thread / 32
      copy sA[row,thread / 32] <- A[m0 + row,k] count 4 when m0 + row < M and k < K else zero
      copy sB[row,thread / 32] <- B[n0 + row,k] count 4 when n0 + row < N and k < K else zero
      sync all
      for kk : s32 grid in 0..8 unrolled {
        for h : s32 grid in 0..2 unrolled {
          copy fragment_a[h * 4] <- sA[tm + h * 64,kk] count 4
          copy fragment_b[h * 4] <- sB[tn + h * 64,kk] count 4
        }
        mma simt acc[] += fragment_a[] * fragment_b[]
      }
      sync all
    }
    for j : s32 grid in 0..8 unrolled {
      for i : s32 grid in 0..2 unrolled {
        let m : s32 thread = m0 + tm + i * 64
        let n : s32 thread = n0 + tn + j / 4 * 64 + j % 4
        if m < M and n < N {
          copy C[m,n] <- acc[i * 4,j] count 4
        }
      }
    }
  }
})";

const std::string kPointwise = R"(kernel pointwise from "pointwise.lay" {
  size M, N
  global X : f32 (M,N):(N,1) read align 4
  global Y : f32 (M,N):(N,1) write align 4
  launch grid (ceil_div(M*N,256),1,1) cluster (1,1,1) threads 256
  role all threads 0..256 {
    let i : s32 thread = block_x * 256 + thread
    if i < [M*N] {
      let m : s32 thread = i / N
      let n : s32 thread = i % N
      let x : f32 thread = X[m,n]
      Y[m,n] = select(n <= m, x * x + 0.5 * x, 0.0)
    }
  }
})";

Memory memory(std::vector<float>& v, bool constant) {
  return {v.data(), static_cast<std::int64_t>(v.size() * sizeof(float)), constant};
}

void measure(const char* name, const ir::Kernel& kernel,
             const std::vector<interpret::Argument>& arguments, bool checks) {
  const std::clock_t start = std::clock();  // the processor's time: the machine may have other work
  const interpret::Report report = interpret::run(kernel, arguments, {.checks = checks});
  const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (report.fault) {
    std::printf("%s: %s\n", name, report.fault->message.c_str());
    return;
  }
  const double operations = static_cast<double>(report.lane_operations),
               steps = static_cast<double>(report.steps);
  std::printf("%-10s %-15s %8.3f s %8.0f M lane operations/s %7.1f ns an instruction\n", name,
              checks ? "with checks" : "without checks", taken, operations / taken / 1e6,
              taken / steps * 1e9);
}

}  // namespace

int main() {
  constexpr std::int64_t kSize = 512;
  std::vector<float> a(kSize * kSize, 1.0f), b(kSize * kSize, 2.0f), c(kSize * kSize);
  for (const bool checks : {false, true}) {
    measure("gemm", ir::parse(kGemm),
            {kSize, kSize, kSize, memory(a, true), memory(b, true), memory(c, false)}, checks);
    measure("pointwise", ir::parse(kPointwise), {kSize, kSize, memory(a, true), memory(c, false)},
            checks);
  }
}
