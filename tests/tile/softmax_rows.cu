// softmax_rows_rows_64, from reductions.lay, for sm_90a.
//
//   // variant rows_64
//   // where these are aligned: X to 16 bytes, Y to 16 bytes
//   schedule softmax_rows for simt when N <= 64 and N % 8 == 0 {
//     name          = "rows_64"
//     accesses      = "vectors"
//     threads       = ((8,16),(8,4)):((8@1,1@0),(1@1,16@0))
//     columns       = "kept"
//     stages        = 0
//     // a tile: 64 rows m, 64 columns n, whole rows
//     // X is read 8 elements at once
//     // Y is written 8 elements at once
//     // predicted: 76 registers a thread, 0 bytes of shared memory
//     //   4*M*N bytes through L2
//     //   4*M*N bytes of global memory at least, 4*M*N floating-point operations
//   }
//
// Grid (ceil_div(M,64), 1, 1), 128 threads a block, 0 bytes of shared memory.
// Assumes N <= 64.
// Assumes N % 8 == 0.

static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

static __device__ __forceinline__ float max_nan_f32(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

extern "C" __global__ void __launch_bounds__(128, 8)
lay_softmax_rows_rows_64(
    const unsigned short* __restrict__ X_,  // (M,N):(N,1)
    unsigned short* __restrict__ Y_,  // (M,N):(N,1)
    int M_,
    int N_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  __align__(16) unsigned short tile_X_[32];  // (8,4):(1,8), the values of this thread
  float all_max_[4];  // 4:1, the values of this thread
  float kept_[32];  // (8,4):(1,8), the values of this thread
  float all_sum_[4];  // 4:1, the values of this thread
  float of_row_[4];  // 4:1, the values of this thread
  float of_row2_[4];  // 4:1, the values of this thread
  __align__(16) unsigned short out_Y1_[8];  // 8:1, registers -> global

  // (thread,value) -> (m,n) in the tile: ((8,16),(8,4)):((8@1,1@0),(1@1,16@0))
  const int row_in_tile_ = thread / 8;
  const int column_in_tile_ = thread % 8 * 8;
  const int first_row_ = block_x * 64 + row_in_tile_;
  // X: global -> registers
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    *(uint4*)&tile_X_[row_ * 8] = first_row_ + row_ * 16 < M_ && column_in_tile_ < N_
        ? *(const uint4*)&X_[(long long)(first_row_ + row_ * 16) * N_ + column_in_tile_]
        : make_uint4(0, 0, 0, 0);
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) all_max_[i] = -__int_as_float(0x7f800000);
  // the columns of this thread
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    if (column_in_tile_ < N_) {
      #pragma unroll
      for (int lane_element_ = 0; lane_element_ < 8; ++lane_element_) {
        const float t1_ = f32_from_bf16(tile_X_[lane_element_ + row_ * 8]);
        all_max_[row_] = max_nan_f32(all_max_[row_], t1_);
      }
    }
  }
  // the lanes that share rows
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    const float joined1_ = all_max_[row_];
    const float theirs1_ = __shfl_xor_sync(0xffffffffu, joined1_, 1);
    const float joined2_ = max_nan_f32(joined1_, theirs1_);
    const float theirs2_ = __shfl_xor_sync(0xffffffffu, joined2_, 2);
    const float joined3_ = max_nan_f32(joined2_, theirs2_);
    const float theirs3_ = __shfl_xor_sync(0xffffffffu, joined3_, 4);
    const float joined4_ = max_nan_f32(joined3_, theirs3_);
    all_max_[row_] = joined4_;
  }
  // kept in registers
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    #pragma unroll
    for (int element_ = 0; element_ < 8; ++element_) {
      const float t2_ = expf(f32_from_bf16(tile_X_[element_ + row_ * 8]) - all_max_[row_]);
      kept_[element_ + row_ * 8] = t2_;
    }
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) all_sum_[i] = 0.0f;
  // the columns of this thread
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    if (column_in_tile_ < N_) {
      #pragma unroll
      for (int lane_element_ = 0; lane_element_ < 8; ++lane_element_) {
        all_sum_[row_] = all_sum_[row_] + kept_[lane_element_ + row_ * 8];
      }
    }
  }
  // the lanes that share rows
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    const float joined5_ = all_sum_[row_];
    const float theirs4_ = __shfl_xor_sync(0xffffffffu, joined5_, 1);
    const float joined6_ = joined5_ + theirs4_;
    const float theirs5_ = __shfl_xor_sync(0xffffffffu, joined6_, 2);
    const float joined7_ = joined6_ + theirs5_;
    const float theirs6_ = __shfl_xor_sync(0xffffffffu, joined7_, 4);
    const float joined8_ = joined7_ + theirs6_;
    all_sum_[row_] = joined8_;
  }
  // kept in registers
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    const float t3_ = fabsf(all_sum_[row_]) < 1.1754944e-38f ? 1.8446744e+19f : 1.0f;
    of_row_[row_] = t3_;
  }
  // kept in registers
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    of_row2_[row_] = 1.0f / (all_sum_[row_] * of_row_[row_]);
  }
  // registers -> global
  #pragma unroll
  for (int row_ = 0; row_ < 4; ++row_) {
    if (first_row_ + row_ * 16 < M_ && column_in_tile_ < N_) {
      #pragma unroll
      for (int lane_element_ = 0; lane_element_ < 8; ++lane_element_) {
        out_Y1_[lane_element_] = bf16_from_f32(kept_[lane_element_
            + row_ * 8] * of_row2_[row_] * of_row_[row_]);
      }
      *(uint4*)&Y_[(long long)(first_row_ + row_ * 16) * N_ + column_in_tile_] = *(const uint4*)&out_Y1_[0];
    }
  }
}
