// pipeline, from pipeline.lay, for sm_90a.
//
// Grid (ceil_div(M,64), 1, 1), 128 threads a block, 32768 bytes of shared memory.
// Assumes K % 8 == 0.

static __device__ __forceinline__ float f32_from_f16(unsigned short x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

// async16; only `bytes` of them are read, the rest is zero.
static __device__ __forceinline__ void cp_async_16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

// Sw<3,3,3>
static __device__ __forceinline__ int swizzle_3_3_3(int x) {
  return x ^ ((x >> 3) & 56);
}

extern "C" __global__ void __launch_bounds__(128, 1)
lay_pipeline(
    const unsigned short* __restrict__ X_,  // (M,K):(K,1)
    float* __restrict__ Y_,  // (M,K):(K,1)
    int M_,
    int K_) {
  const int thread = (int)threadIdx.x;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  __shared__ __align__(1024) unsigned short X_tile_[16384];  // Sw<3,3,3> o 0 o (64,64,4):(64,1,4096)
  __align__(16) unsigned short piece_[8];  // 8:1

  const int row_ = thread / 8;
  const int column_ = thread % 8 * 8;
  // pipeline.lay:3: three stages are filled
  #pragma unroll
  for (int s_ = 0; s_ < 3; ++s_) {
    #pragma unroll
    for (int r_ = 0; r_ < 4; ++r_) {
      const int m_ = block_x * 64 + row_ + r_ * 16;
      {
        const bool inside = m_ < M_ && s_ * 64 + column_ < K_;
        const unsigned short* const from = inside ? &X_[(long long)m_ * K_ + (s_ * 64 + column_)] : X_;
        cp_async_16(&X_tile_[swizzle_3_3_3((row_ + r_ * 16) * 64 + column_) + s_ * 4096], from, inside
            ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int t_ = 0; t_ < (K_ + 63) / 64; ++t_) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    const int m_ = block_x * 64 + thread % 64;
    if (warp < 2) {  // pipeline.lay:4
      asm volatile("bar.sync 1, 64;" ::: "memory");  // half
      *(uint4*)&piece_[0] = *(const uint4*)&X_tile_[swizzle_3_3_3(thread * 64) + t_ % 4 * 4096];
      #pragma unroll
      for (int i_ = 0; i_ < 8; ++i_) {
        if (m_ < M_ && t_ * 64 + i_ < K_) {
          Y_[(long long)m_ * K_ + (t_ * 64 + i_)] = f32_from_f16(piece_[i_]);  // pipeline.lay:5
        }
      }
    }
  }
}
