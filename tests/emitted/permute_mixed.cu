// permute_mixed_bytes16, from permute.lay, for sm_90a.
//
//   // variant bytes16
//   // where these are aligned: Y to 8 bytes, X to 16 bytes, Z to 8 bytes
//   // bound by global memory: a tile moves 65792 bytes of global memory, 3582 cycles of an SM's share, and takes 512 wavefronts of shared memory
//   schedule permute_mixed for simt when M % 4 == 0 and N % 4 == 0 {
//     name          = "bytes16"
//     accesses      = 16
//     tile          = (1,64,128)
//     threads       = 256
//     smem X        = Sw<3,2,7> o 0 o (1,64,128):(0,128,1)
//     // X is read 4 elements at once along i; (thread,value) -> (b,i,j): ((8,4,2,4),(4,8)):((4@1,1@2,32@1,4@2),(1@1,16@2))
//     // Z is read 4 elements at once along j
//     rasterization = (ceil_div(M,128),ceil_div(N,64),B):(1@2,1@1,1@0)
//     // Y is written 4 elements at once along j
//     // outputs, (thread,value) -> (b,i,j): ((32,8),(4,8)):((4@2,1@1),(1@2,8@1))
//     // predicted: 126 registers a thread, 32768 bytes of shared memory
//     //   write X: 1 wavefront a warp, least 1
//     //   read X: 4 wavefronts a warp, least 4
//     //   8*B*M*N + 4*N bytes through L2
//     //   8*B*M*N + 4*N bytes of global memory at least, 0 floating-point operations
//   }
//
// Grid (B*ceil_div(M,128)*ceil_div(N,64), 1, 1), 256 threads a block, 32768 bytes of shared memory.
// Assumes M % 4 == 0.
// Assumes N % 4 == 0.

static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// Sw<3,2,7>
static __device__ __forceinline__ int swizzle_3_2_7(int x) {
  return x ^ ((x >> 7) & 28);
}

extern "C" __global__ void __launch_bounds__(256, 2)
lay_permute_mixed_bytes16(
    const float* __restrict__ X_,  // (B,M,N):(M*N,N,1)
    const unsigned short* __restrict__ Z_,  // (B,N,M):(M*N,M,1)
    const float* __restrict__ u_,  // N:1
    unsigned short* __restrict__ Y_,  // (B,N,M):(M*N,M,1)
    int B_,
    int M_,
    int N_,
    float a_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  __shared__ __align__(16) float X_shared_[8192];  // Sw<3,2,7> o 0 o (1,64,128):(0,128,1), coordinate in the tile -> offset in elements
  __align__(16) float X_ahead_[32];  // (4,8):(1,4), (element,access) of this thread's part of X
  __align__(16) float X_here_[4];  // 4:1, the elements of one access
  __align__(16) unsigned short Z_ahead_[32];  // (4,8):(1,4), (element,access) of this thread's part of Z
  __align__(16) unsigned short Y_out_[4];  // 4:1, values for one access

  // block -> tile: (ceil_div(M,128),ceil_div(N,64),B):(1@2,1@1,1@0)
  const int rest_ = block_x / ((M_ + 127) / 128);
  const int rest1_ = rest_ / ((N_ + 63) / 64);
  const int b_tile_ = rest1_;
  const int i_tile_ = rest_ % ((N_ + 63) / 64) * 64;
  const int j_tile_ = block_x % ((M_ + 127) / 128) * 128;
  if (b_tile_ < B_ && i_tile_ < N_ && j_tile_ < M_) {
    // outputs, (thread,value) -> coordinate: ((32,8),(4,8)):((4@2,1@1),(1@2,8@1))
    const int i_in_ = thread / 32;
    const int i_first_ = i_tile_ + i_in_;
    const int j_in_ = thread % 32 * 4;
    const int j_first_ = j_tile_ + j_in_;
    // X, (thread,value) -> coordinate: ((8,4,2,4),(4,8)):((4@1,1@2,32@1,4@2),(1@1,16@2))
    const int i_in_X_ = thread % 8 * 4 + thread / 32 % 2 * 32;
    const int i_first_X_ = i_tile_ + i_in_X_;
    const int j_in_X_ = thread / 8 % 4 + thread / 64 * 4;
    const int j_first_X_ = j_tile_ + j_in_X_;
    // X: global -> registers
    #pragma unroll
    for (int access_ = 0; access_ < 8; ++access_) {
      *(float4*)&X_ahead_[access_ * 4] = i_first_X_ < N_ && j_first_X_ + access_ * 16 < M_
          ? *(const float4*)&X_[b_tile_ * ((long long)M_ * N_) + (long long)(j_first_X_ + access_ * 16) * N_
          + i_first_X_] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    // Z: global -> registers
    #pragma unroll
    for (int access_ = 0; access_ < 8; ++access_) {
      *(uint2*)&Z_ahead_[access_ * 4] = i_first_ + access_ * 8 < N_ && j_first_ < M_
          ? *(const uint2*)&Z_[b_tile_ * ((long long)M_ * N_) + (long long)(i_first_ + access_ * 8) * M_
          + j_first_] : make_uint2(0, 0);
    }
    // X: registers -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 8; ++access_) {
      #pragma unroll
      for (int element_ = 0; element_ < 4; ++element_) {
        X_shared_[swizzle_3_2_7((i_in_X_ + element_) * 128 + j_in_X_ + access_ * 16)] =
            X_ahead_[element_ + access_ * 4];
      }
    }
    // the tile is in shared memory
    __syncthreads();
    // the elements of this thread
    #pragma unroll
    for (int access_ = 0; access_ < 8; ++access_) {
      if (i_first_ + access_ * 8 < N_ && j_first_ < M_) {
        // shared -> registers
        *(float4*)&X_here_[0] = *(const float4*)&X_shared_[swizzle_3_2_7((i_in_ + access_ * 8) * 128
            + j_in_)];
        #pragma unroll
        for (int element_ = 0; element_ < 4; ++element_) {
          Y_out_[element_] = bf16_from_f32(a_ * X_here_[element_] + f32_from_bf16(Z_ahead_[element_
              + access_ * 4]) + u_[i_first_ + access_ * 8]);
        }
        *(uint2*)&Y_[b_tile_ * ((long long)M_ * N_) + (long long)(i_first_ + access_ * 8) * M_ + j_first_] =
            *(const uint2*)&Y_out_[0];
      }
    }
  }
}
