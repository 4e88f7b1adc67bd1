// permute_straight_bytes16, from permute.lay, for sm_90a.
//
//   // variant bytes16
//   // where these are aligned: Y to 16 bytes, X to 16 bytes
//   // bound by global memory: a tile moves 32768 bytes of global memory, 1784 cycles of an SM's share, and takes 0 wavefronts of shared memory
//   schedule permute_straight for simt {
//     name          = "bytes16"
//     accesses      = 16
//     tile          = (32,128)
//     threads       = 256
//     // X is read 4 elements at once along j
//     rasterization = (ceil_div(M,32),ceil_div(N,128)):(1@0,1@1)
//     // Y is written 4 elements at once along j
//     // outputs, (thread,value) -> (i,j): ((2,8,2,4,2),(4,4)):((4@1,1@0,8@1,8@0,16@1),(1@1,32@1))
//     // predicted: 60 registers a thread, 0 bytes of shared memory
//     //   8*M*N bytes through L2
//     //   8*M*N bytes of global memory at least, 0 floating-point operations
//   }
//
// Grid (ceil_div(M,32)*ceil_div(N,128), 1, 1), 256 threads a block, 0 bytes of shared memory.
// Assumes M % 8 == 0.
// Assumes N % 8 == 0.

extern "C" __global__ void __launch_bounds__(256, 4)
lay_permute_straight_bytes16(
    const float* __restrict__ X_,  // (M,N):(N,1)
    float* __restrict__ Y_,  // ((8,M/8),(8,N/8)):((8,64),(1,8*M))
    int M_,
    int N_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  __align__(16) float X_ahead_[16];  // (4,4):(1,4), (element,access) of this thread's part of X

  // block -> tile: (ceil_div(M,32),ceil_div(N,128)):(1@0,1@1)
  const int rest_ = block_x / ((M_ + 31) / 32);
  const int i_tile_ = block_x % ((M_ + 31) / 32) * 32;
  const int j_tile_ = rest_ * 128;
  if (i_tile_ < M_ && j_tile_ < N_) {
    // outputs, (thread,value) -> coordinate: ((2,8,2,4,2),(4,4)):((4@1,1@0,8@1,8@0,16@1),(1@1,32@1))
    const int i_in_ = thread / 2 % 8 + thread / 32 % 4 * 8;
    const int i_first_ = i_tile_ + i_in_;
    const int j_in_ = thread % 2 * 4 + thread / 16 % 2 * 8 + thread / 128 * 16;
    const int j_first_ = j_tile_ + j_in_;
    // X: global -> registers
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      *(float4*)&X_ahead_[access_ * 4] = i_first_ < M_ && j_first_ + access_ * 32 < N_
          ? *(const float4*)&X_[(long long)i_first_ * N_ + (j_first_ + access_ * 32)]
          : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    // the elements of this thread
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      if (i_first_ < M_ && j_first_ + access_ * 32 < N_) {
        *(float4*)&Y_[(long long)i_first_ * 8 + (j_first_ + access_ * 32) % 8 + ((j_first_
            + access_ * 32) / 8) * ((long long)M_ * 8)] = *(const float4*)&X_ahead_[access_ * 4];
      }
    }
  }
}
