// A tile program as text: complete given its kernel, readable, the same for the same program.
// parse.h reads it back.
//
//   program softmax
//     axis m = (m) of M by 4
//     axis n = (n) of N by 1024
//     threads ((32,4),(8,4)):((8@1,1@0),(1@1,256@1)) vector 8
//     tile X: bf16 (m,n) in global = %2
//     tile tile_X: bf16 (m,n) in registers = %2
//     tile all_sum: f32 (m) in registers = %5
//     ...
//     value %2: bf16 = X[m,n]
//     value %5: f32 = sum[n](exp(f32(X[m,n])))
//     ...
//   for m in grid step 4 {
//     for n whole 1024 {
//       copy tile_X[m,n] <- X[m,n] by 8 along mode 1
//       reduce all_sum[m] = sum over n of exp(f32(tile_X[m,n]))
//       map out_Y[m,n] = exp(f32(tile_X[m,n])) / all_sum[m]
//       copy Y[m,n] <- out_Y[m,n] by 8 along mode 1
//     }
//   }
//
// An elementwise program has blocks, and tiles in shared memory and threads of other tiles:
//
//     threads (16,(4,4)):(4@1,(1@1,1@0)) vector 4 along j
//     blocks (ceil_div(M,64),ceil_div(N,64)):(1@1,1@0) of 256 threads
//     tile X_ahead: f32 (i,j) in registers = %2 by threads (...):(...) vector 4 along i
//     tile X_shared: f32 (i,j) in shared = %2 as (64,64):(65,1)
//
// A product has those of the clusters that take its tiles, stages, and perhaps a producer:
//
//     threads (...):(...) vector 1
//     blocks in groups of 8 rows of 384 threads
//     warpgroups 2 registers (56,224)
//     tile tile_A: f32 (m,k) in shared = %3 as (128,16):(1,128) stages 4
//   for k in sequence step 16 by 2 blocks {
//
// On Hopper's tensor cores it says clusters, boxes, what goes through shared memory in parts,
// accumulators that take turns, and the way through k:
//
//     blocks in groups of 8 rows in clusters of (2,1) of 384 threads
//     tile tile_X: bf16 (m,k) in shared = %3 as Sw<3,3,3>o0o(128,64):(64,1) span 128 order (1,0)
//                                               box (64,64) stages 4
//     tile staged_Y: bf16 (m,n) in shared = %9 as ... parts (64,64) span 128 order (1,0)
//                                               box (16,64) stages 2
//     tile staged_Z: f32 (m,n) in shared = %9 as ... parts (64,32) span 128 stages 2
//                                               by threads (...):(...) vector 2 along n
//   for k in sequence step 128 alternating {
//   mma ... over k in intervals of 128 by "sm90.wgmma(...)" into 2 sets
//
// A view (operand_view.h) says of each mode of the tensor its extent, its digits of the rows and of
// the sum, and where and in which steps they go.
//
// and may have rows in segments, with tensors that launches before have computed, windows that
// zeros surround, and scales, which multiply the sums of intervals:
//
//     axis t = (t) of T by 128 in segments of %7, first rows first_row
//   for t in grid step 128 within segments {
//   copy tile_X[m,k] <- X[m,k] with zeros around
//   mma sum[m,n] += tile_A[m,k] * tile_B[n,k] over k in intervals of 128 times s[m,k / 128]
//
// `part p of 8` says that columns are split over the grid, `by 2 blocks` that a cluster shares a
// loop. `by 4` of an axis, `step 4`, `threads` and `by 8 along mode 1` stand in bound programs
// only. A `value` is a node of the kernel that tiles hold or that several nodes use.
#pragma once

#include <string>

#include "backend/tile/program.h"

namespace lay::tile {

std::string print(const Program& program);

// The first line of the statement, for messages; what tiles hold is not known here.
std::string print_first_line(const Program& program, const Stmt& stmt);

}  // namespace lay::tile
