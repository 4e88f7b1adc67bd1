// permute_transposed_bytes16, from permute.lay, for sm_90a.
//
//   // variant bytes16
//   // where these are aligned: Y to 16 bytes, X to 16 bytes
//   // bound by global memory: a tile moves 65536 bytes of global memory, 3568 cycles of an SM's share, and takes 768 wavefronts of shared memory
//   schedule permute_transposed for simt when M % 8 == 0 and N % 8 == 0 {
//     name          = "bytes16"
//     accesses      = 16
//     tile          = (128,128)
//     threads       = 512
//     smem X        = Sw<3,3,7> o 0 o (128,128):(128,1)
//     // X is read 8 elements at once along i; (thread,value) -> (i,j): ((8,4,2,8),(8,4)):((8@0,1@1,64@0,4@1),(1@0,32@1))
//     rasterization = (ceil_div(M,128),ceil_div(N,128)):(1@1,1@0)
//     // Y is written 8 elements at once along j
//     // outputs, (thread,value) -> (i,j): ((16,32),(8,4)):((8@1,1@0),(1@1,32@0))
//     // predicted: 64 registers a thread, 32768 bytes of shared memory
//     //   write X: 1 wavefront a warp, least 1
//     //   read X: 4 wavefronts a warp, least 4
//     //   4*M*N bytes through L2
//     //   4*M*N bytes of global memory at least, 0 floating-point operations
//   }
//
// Grid (ceil_div(M,128)*ceil_div(N,128), 1, 1), 512 threads a block, 32768 bytes of shared memory.
// Assumes M % 8 == 0.
// Assumes N % 8 == 0.

// Sw<3,3,7>
static __device__ __forceinline__ int swizzle_3_3_7(int x) {
  return x ^ ((x >> 7) & 56);
}

extern "C" __global__ void __launch_bounds__(512, 2)
lay_permute_transposed_bytes16(
    const unsigned short* __restrict__ X_,  // (M,N):(N,1)
    unsigned short* __restrict__ Y_,  // (N,M):(M,1)
    int M_,
    int N_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  __shared__ __align__(16) unsigned short X_shared_[16384];  // Sw<3,3,7> o 0 o (128,128):(128,1), coordinate in the tile -> offset in elements
  __align__(16) unsigned short X_ahead_[32];  // (8,4):(1,8), (element,access) of this thread's part of X
  __align__(16) unsigned short X_here_[8];  // 8:1, the elements of one access

  // block -> tile: (ceil_div(M,128),ceil_div(N,128)):(1@1,1@0)
  const int rest_ = block_x / ((M_ + 127) / 128);
  const int i_tile_ = rest_ * 128;
  const int j_tile_ = block_x % ((M_ + 127) / 128) * 128;
  if (i_tile_ < N_ && j_tile_ < M_) {
    // outputs, (thread,value) -> coordinate: ((16,32),(8,4)):((8@1,1@0),(1@1,32@0))
    const int i_in_ = thread / 16;
    const int i_first_ = i_tile_ + i_in_;
    const int j_in_ = thread % 16 * 8;
    const int j_first_ = j_tile_ + j_in_;
    // X, (thread,value) -> coordinate: ((8,4,2,8),(8,4)):((8@0,1@1,64@0,4@1),(1@0,32@1))
    const int i_in_X_ = thread % 8 * 8 + thread / 32 % 2 * 64;
    const int i_first_X_ = i_tile_ + i_in_X_;
    const int j_in_X_ = thread / 8 % 4 + thread / 64 * 4;
    const int j_first_X_ = j_tile_ + j_in_X_;
    // X: global -> registers
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      *(uint4*)&X_ahead_[access_ * 8] = i_first_X_ < N_ && j_first_X_ + access_ * 32 < M_
          ? *(const uint4*)&X_[(long long)(j_first_X_ + access_ * 32) * N_ + i_first_X_]
          : make_uint4(0, 0, 0, 0);
    }
    // X: registers -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      #pragma unroll
      for (int element_ = 0; element_ < 8; ++element_) {
        X_shared_[swizzle_3_3_7((i_in_X_ + element_) * 128 + j_in_X_ + access_ * 32)] =
            X_ahead_[element_ + access_ * 8];
      }
    }
    // the tile is in shared memory
    __syncthreads();
    // the elements of this thread
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      if (i_first_ + access_ * 32 < N_ && j_first_ < M_) {
        // shared -> registers
        *(uint4*)&X_here_[0] = *(const uint4*)&X_shared_[swizzle_3_3_7((i_in_ + access_ * 32) * 128 + j_in_)];
        *(uint4*)&Y_[(long long)(i_first_ + access_ * 32) * M_ + j_first_] = *(const uint4*)&X_here_[0];
      }
    }
  }
}
